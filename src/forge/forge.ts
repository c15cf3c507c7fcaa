/** Defines what Octavo asks of a forge: comments, pull requests, commit statuses, deployments and webhooks. */
import type { Refusal } from './requests.ts';

/** A comment on a pull request. */
export interface ForgeComment {
  readonly id: number;
  readonly body: string;
}

/** An account at a forge. */
export interface ForgeAccount {
  readonly id: number;
  readonly login: string;
}

/** A comment on a pull request, by anybody. Times are milliseconds since the epoch. */
export interface PullComment extends ForgeComment {
  /** Null if the account no longer exists. */
  readonly author: ForgeAccount | null;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** A pull request that people comment on. */
export interface CommentedPull {
  readonly state: 'open' | 'closed' | 'merged';
  /** Time of its merge, in milliseconds since the epoch; NaN if it is not merged. */
  readonly mergedAt: number;
  /** Commit that it proposes. */
  readonly head: string;
  /** Branch that it goes to. */
  readonly into: string;
  /** Account that opened it. */
  readonly author: number | undefined;
  /** Address of its page; null if the forge gives no link that can be shown. */
  readonly url: string | null;
}

/** Rights of an account in a repository. */
export interface Membership {
  readonly permission: 'none' | 'write' | 'maintain' | 'admin';
  readonly isBot: boolean;
  /** True if a comment by it counts as that of a job: outsiders can write comments, too. */
  readonly showsPlans: boolean;
}

/** Requests about comments that approve plans. */
export interface ApprovalApi {
  /** Text between the address of a pull request and the id of a comment. */
  readonly anchor: string;
  readPull(pull: number): Promise<CommentedPull>;
  /** Lists the comments, by whom they may be. */
  listComments(pull: number): Promise<PullComment[]>;
  /** Reads what an account may do now. Rejected with 404 if it is not a member. */
  readMembership(account: ForgeAccount): Promise<Membership>;
  /** Returns whether an account wrote a commit of the pull request, as far as the forge tells; null: not known. */
  hasCommit(pull: number, account: ForgeAccount): Promise<boolean | null>;
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
interface LinkedStatus extends CommitStatus {
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

/** Repository at a forge, and the access to it. */
export interface ForgeAccess {
  /** Without a slash at its end. */
  readonly apiUrl: string;
  /** `owner/name`; at GitLab also a number. */
  readonly repository: string;
  readonly token: string;
  /** Ends all requests. */
  readonly signal: AbortSignal;
  readonly userAgent: string;
  /** Branch or tag that commit statuses follow; null if it is a commit: the forge selects one. */
  readonly ref: string | null;
}

/** Address that receives a webhook, and its secret. */
export interface HookTarget {
  readonly url: string;
  readonly secret: string;
  /** True: comments on pull requests are sent, too. */
  readonly hasComments: boolean;
}

/** Commit statuses of a repository. */
export type CommitStatuses = Pick<ForgeApi, 'label' | 'maxDescription' | 'deployments' | 'setStatus'>;

/** The requests to a repository at one forge. They fail as its client does, which `ask` turns into errors. */
export interface ForgeApi {
  /** `GitHub`. */
  readonly label: string;
  /** Maximum length of the description of a commit status, in characters. */
  readonly maxDescription: number;
  /** Null if the forge has none that Octavo supports. */
  readonly deployments: Deployments | null;
  /** Reads the error response from what the client has thrown; null if there is none. */
  refusalOf(error: unknown): Refusal | null;
  /** Sets the status of a commit, by its full id. */
  setStatus(commit: string, status: LinkedStatus): Promise<unknown>;
  listHooks(): Promise<readonly { readonly id: string | number; readonly url: string | undefined }[]>;
  createHook(hook: HookTarget): Promise<unknown>;
  updateHook(id: string | number, hook: HookTarget): Promise<unknown>;
}

/** A pull request from a branch of the repository itself. */
export interface OpenPull extends PullText {
  readonly number: number;
  /** Address of its page; null if the forge gives no link that can be shown. */
  readonly url: string | null;
  /** Commit of its branch. */
  readonly head: string | undefined;
}

/** A forge with pull requests that Octavo comments on and opens. */
export interface PullApi extends ForgeApi {
  /** Name of a pull request at the forge. */
  readonly noun: 'pull request' | 'merge request';
  /** Maximum length of a comment and of a description, in characters. */
  readonly maxLength: number;
  /** Null if Octavo does not support approvals by comment there. */
  readonly approvals: ApprovalApi | null;
  /** Lists the comments on a pull request by the owner of the token: those of others never count as plans. */
  listOwn(pull: number): Promise<ForgeComment[]>;
  createComment(pull: number, body: string): Promise<ForgeComment>;
  updateComment(pull: number, id: number, body: string): Promise<unknown>;
  removeComment(pull: number, id: number): Promise<unknown>;
  /** Lists the pull requests between two branches of this repository, none of forks. `closed`: without being merged. */
  listPulls(branches: PullBranches, state: 'open' | 'closed' | 'merged'): Promise<readonly OpenPull[]>;
  openPull(branches: PullBranches, text: PullText): Promise<OpenPull>;
  updatePull(number: number, text: PullText): Promise<unknown>;
  closePull(number: number): Promise<unknown>;
}
