/** A pull request from a branch of the repository itself. */
export interface OpenPull {
  readonly number: number;
  /** Address of its page; null if the forge gives no link that can be shown. */
  readonly url: string | null;
  readonly title: string;
  readonly body: string;
}

/** Source and target branch of a pull request. */
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
 * Pull requests of a repository. Throws AuthError if the token lacks the permission, RateLimitedError, TransientError,
 * or RejectedError (including 404: missing, or hidden from this token).
 */
export interface Pulls {
  /** `GitHub`. */
  readonly label: string;
  /** Maximum length of a description, in characters. */
  readonly maxLength: number;
  /** Finds the open one from a branch of this repository, never from a fork's branch of the same name. */
  findOpen(branches: PullBranches): Promise<OpenPull | null>;
  /** Returns the number of one that was closed without being merged while the branch was at this commit. */
  findDeclined(branches: PullBranches, head: string): Promise<number | null>;
  /**
   * Returns the number of one that was merged while the branch was at this commit, even if a squash or rebase changed
   * its commits.
   */
  findMerged(branches: PullBranches, head: string): Promise<number | null>;
  /** Opens one. Rejected (409 or 422) if one from this branch is already open. */
  open(branches: PullBranches, text: PullText): Promise<OpenPull>;
  update(number: number, text: PullText): Promise<void>;
  /** Writes a comment. Not safe to repeat: a comment whose response was lost may exist. */
  comment(number: number, body: string): Promise<void>;
  /** Closes one; succeeds if it is already closed. */
  close(number: number): Promise<void>;
}
