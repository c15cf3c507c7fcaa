/** A comment on a pull request. */
export interface ForgeComment {
  readonly id: number;
  readonly body: string;
}

/** State of a commit status: the plan was made, was refused, or failed. */
export type CommitState = 'success' | 'failure' | 'error';

/** A commit status. */
export interface CommitStatus {
  readonly state: CommitState;
  /** Name of the status; the next one with the same name replaces it. */
  readonly context: string;
  /** One line. */
  readonly description: string;
}

/**
 * One pull request at a forge, as far as a plan is shown there. Throws AuthError where the token may not do it,
 * RateLimitedError, TransientError, or RejectedError (404 too: what is not there, or is not shown to this token).
 */
export interface Forge {
  /** `GitHub`. */
  readonly label: string;
  /** Characters that a comment may have. */
  readonly longest: number;
  /** Comments by the owner of the token, oldest first. Comments of others never count as plans. */
  listOwn(): Promise<readonly ForgeComment[]>;
  /** Not safe to repeat: a comment whose answer was lost may be there. */
  create(body: string): Promise<ForgeComment>;
  update(id: number, body: string): Promise<void>;
  /** A comment that is gone already is a success. */
  remove(id: number): Promise<void>;
  setStatus(status: CommitStatus): Promise<void>;
}

/** Milliseconds after which a request to a forge is given up. */
const FORGE_TIMEOUT = 30_000;

/** `fetch` that gives up after a while, and when the process is asked to end. */
export function timedFetch(signal: AbortSignal): typeof fetch {
  return (input, init) => {
    const signals = [signal, AbortSignal.timeout(FORGE_TIMEOUT), ...(init?.signal ? [init.signal] : [])];
    return fetch(input, { ...init, signal: AbortSignal.any(signals) });
  };
}
