import type { CommitStatus } from './statuses/commit-statuses.ts';

/** A comment on a pull request. */
export interface ForgeComment {
  readonly id: number;
  readonly body: string;
}

/**
 * Pull request at a forge, reduced to the operations that show a plan. Throws AuthError if the token lacks the
 * permission, RateLimitedError, TransientError, or RejectedError (including 404: missing, or hidden from this token).
 */
export interface Forge {
  /** `GitHub`. */
  readonly label: string;
  /** Maximum length of a comment, in characters. */
  readonly maxLength: number;
  /** Comments by the owner of the token, oldest first. Comments of others never count as plans. */
  listOwn(): Promise<readonly ForgeComment[]>;
  /** Creates a comment. Not safe to repeat: a comment whose response was lost may exist. */
  create(body: string): Promise<ForgeComment>;
  update(id: number, body: string): Promise<void>;
  /** Deletes a comment; succeeds if it no longer exists. */
  remove(id: number): Promise<void>;
  /** Sets a status of the commit that the pull request proposes. */
  setStatus(status: CommitStatus): Promise<void>;
}
