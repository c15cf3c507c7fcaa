/** Interface of the commit statuses and deployments of a repository. */

/** State of a commit status. `superseded`: a newer commit takes its place. */
export type CommitState = 'pending' | 'running' | 'success' | 'failure' | 'error' | 'superseded';

/** States of forges that have neither a running state nor one for a superseded commit. */
export const PLAIN_STATES = {
  pending: 'pending',
  running: 'pending',
  success: 'success',
  failure: 'failure',
  error: 'error',
  superseded: 'success',
} as const satisfies Record<CommitState, string>;

/** A commit status. */
export interface CommitStatus {
  readonly state: CommitState;
  /** Name of the status; the next one with the same name replaces it. */
  readonly context: string;
  /** One line. */
  readonly description: string;
}

/** A commit status with the page that it links to; null: none. */
export interface LinkedStatus extends CommitStatus {
  readonly url: string | null;
}

/** State of a deployment. `inactive`: a newer commit takes its place. */
export type DeploymentState = 'in_progress' | 'success' | 'failure' | 'inactive';

/** A deployment of a commit, which does not run anything at the forge. */
export interface NewDeployment {
  /** Full id. */
  readonly commit: string;
  readonly environment: string;
  readonly description: string;
}

export interface Deployments {
  /** State of a new deployment; null: none until it is set. */
  readonly createdState: 'in_progress' | null;
  /** Creates a deployment, and returns its id. Not safe to repeat: look with `find` after a lost response. */
  create(deployment: NewDeployment): Promise<string>;
  /** Returns the id of the newest deployment of a commit to an environment; null if there is none. */
  find(deployment: NewDeployment): Promise<string | null>;
  setState(id: string, state: DeploymentState, status: Pick<LinkedStatus, 'description' | 'url'>): Promise<void>;
}

/** Repository at a forge. `apiUrl` has no slash at its end; `repository` is `owner/name`, at GitLab also a number. */
export interface StatusTarget {
  readonly apiUrl: string;
  readonly repository: string;
}

/**
 * Commit statuses of a repository. Throws AuthError if the token lacks the permission, RateLimitedError, TransientError,
 * or RejectedError (including 404: missing, or hidden from this token).
 */
export interface CommitStatuses {
  /** `GitHub`. */
  readonly label: string;
  /** Maximum length of a description, in characters. */
  readonly maxDescription: number;
  /** Null if the forge has none that Octavo supports. */
  readonly deployments: Deployments | null;
  /** Sets the status of a commit, by its full id. */
  setStatus(commit: string, status: LinkedStatus): Promise<void>;
}
