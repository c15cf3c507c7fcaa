/** State of the daemon that views are made from. */
import type { ClusterRequest } from '../clusters/run/control-api.ts';
import type { OrganizationConfig } from '../config/config.ts';
import type { ConversationRequest } from '../conversations/ingestion/control-api.ts';
import type { Clock } from '../core/clock.ts';
import type { JsonObject } from '../core/json.ts';
import type { QueueSnapshot } from '../queue/model/snapshot.ts';
import type { ActionRequest } from '../reconcile/daemon/action-request.ts';
import type { OrganizationReconciler } from '../reconcile/daemon/organization.ts';
import type { Actor, History } from '../store/history.ts';
import type { OrganizationRecord } from '../store/store.ts';

/** Reconciler of an organization, as views read it. */
export type ReconcilerState = Pick<
  OrganizationReconciler,
  'lastCheck' | 'lastEnd' | 'lastPlan' | 'lastDesired' | 'isRunning'
>;

/** One organization of the daemon. */
export interface OrganizationState {
  readonly id: string;
  readonly config: OrganizationConfig;
  /** Null if the configuration has no source of manifests. */
  readonly reconciler: ReconcilerState | null;
  readonly record: OrganizationRecord;
  readonly history: History;
  /** Name of the queue, which organizations with the same token share, and its state. */
  readonly queue: { readonly name: string; snapshot(): QueueSnapshot };
  /** Milliseconds between checks for commits; null if changes are noticed as they happen. */
  readonly pollInterval: number | null;
}

/** What people can ask the daemon to do. Every call that changes something is recorded in the audit. */
export interface ActionHandlers {
  act(by: Actor, organization: string | null, request: ActionRequest): Promise<JsonObject>;
  conversations(by: Actor, organization: string | null, request: ConversationRequest): Promise<JsonObject>;
  clusters(by: Actor, organization: string | null, request: ClusterRequest): Promise<JsonObject>;
}

/** The daemon, as views and pages see it. */
export interface Backend {
  readonly version: string;
  readonly clock: Clock;
  /** Sorted by id. */
  organizations(): readonly OrganizationState[];
  readonly actions: ActionHandlers;
  /**
   * Calls back when something changed. A topic is the id of an organization, or `budget` or `log`. Returns a function
   * that stops it.
   */
  onChange(listener: (topic: string) => void): () => void;
}
