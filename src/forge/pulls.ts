/** A pull request from a branch of the repository itself. */
export interface OpenPull {
  readonly number: number;
  /** Address of its page; null if the forge gives no link that can be shown. */
  readonly url: string | null;
  readonly title: string;
  readonly body: string;
}

/** Which branch a pull request brings where. */
export interface PullBranches {
  readonly from: string;
  readonly into: string;
}

/** Title and description of a pull request. */
export interface PullText {
  readonly title: string;
  readonly body: string;
}

/**
 * The pull requests of one repository. Throws AuthError where the token may not do it, RateLimitedError, TransientError,
 * or RejectedError (404 too: what is not there, or is not shown to this token).
 */
export interface Pulls {
  /** `GitHub`. */
  readonly label: string;
  /** Characters that a description may have. */
  readonly longest: number;
  /** The open one from a branch of this repository, never from one of the same name of a fork. */
  findOpen(branches: PullBranches): Promise<OpenPull | null>;
  /** The number of one that was closed without being merged when the branch was at this commit. */
  findDeclined(branches: PullBranches, head: string): Promise<number | null>;
  /** The number of one that was merged when the branch was at this commit, whatever commits it was merged as. */
  findMerged(branches: PullBranches, head: string): Promise<number | null>;
  /** Rejected (409 or 422) where one from this branch is open already: a forge has no two. */
  open(branches: PullBranches, text: PullText): Promise<OpenPull>;
  update(number: number, text: PullText): Promise<void>;
  /** Not safe to repeat: a comment whose answer was lost may be there. */
  comment(number: number, body: string): Promise<void>;
  /** One that is closed already is a success. */
  close(number: number): Promise<void>;
}
