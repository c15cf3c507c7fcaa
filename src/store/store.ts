import type { Json, JsonObject } from '../core/json.ts';
import type { CommitStatusTable } from './commit-statuses.ts';
import type { CommandTable } from './fleet/commands.ts';
import type { OrganizationStates } from './fleet/organization-states.ts';
import type { Actor, History } from './history.ts';
import type { FleetStore, Lease } from './leases.ts';
import type { NotificationEvent } from './notification-events.ts';
import type { Notifications } from './notifications.ts';
import type { Outbox, OutboxLimit } from './outbox/outbox.ts';
import type { Sessions } from './sessions.ts';

/** Last applied state of one resource. */
export interface RecordEntry {
  readonly address: string;
  readonly kind: string;
  /** Id on the platform; null if the resource has none. */
  readonly id: string | null;
  /** Declared fields, normalized. */
  readonly fields: JsonObject;
  /** True: not deleted until a commit that sets it to false was applied. See docs/concepts.md#ownership-and-deletion. */
  readonly protect: boolean;
  /** State that cannot be read back from the platform: content hashes, revisions. */
  readonly metadata: JsonObject;
}

/** Last applied commit, and the time in milliseconds since the epoch. */
export interface AppliedHead {
  /** Null if the manifests were not in a repository. */
  readonly commit: string | null;
  readonly at: number;
}

/** Content of the record, which is the base of the next plan. */
export interface AppliedRecord {
  /** Null if nothing was ever applied. */
  readonly head: AppliedHead | null;
  /** Sorted by address. */
  readonly entries: readonly RecordEntry[];
}

/** Decision of a person on a plan with held changes. */
export interface PlanDecision {
  readonly checksum: string;
  readonly verdict: 'approved' | 'rejected';
  readonly by: Actor;
  readonly reason: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/**
 * Last applied state of one organization, and the decisions on its plans. Data is on disk when a promise resolves, and survives a
 * killed process. Every method throws StoreError if the state cannot be used.
 */
export interface OrganizationRecord {
  read(): Promise<AppliedRecord>;
  /** Adds entries, or replaces those with the same address, in one transaction. */
  put(entries: readonly RecordEntry[]): Promise<void>;
  /** Removes entries; unknown addresses are ignored. */
  remove(addresses: readonly string[]): Promise<void>;
  /**
   * Moves the head and removes the decisions on the plans (by checksum) that were applied, in one transaction. An approval
   * is used once; unknown checksums are ignored.
   */
  moveHead(head: AppliedHead, served: readonly string[]): Promise<void>;
  /** Returns the decisions on plans that are not applied yet, oldest first. */
  decisions(): Promise<readonly PlanDecision[]>;
  /**
   * Records a decision. It removes the decisions on the same plan with the other verdict, by anyone; a second one by the
   * same person changes nothing. Adds the events of the decision in the same transaction.
   */
  decide(decision: PlanDecision, events?: readonly NotificationEvent[]): Promise<void>;
}

/** Optional state for one topic: losing it costs time, but never ownership. */
export interface Note {
  /** Returns null if nothing was written. Throws StoreError if the state cannot be used, like `write`. */
  read(): Promise<Json>;
  write(value: Json): Promise<void>;
}

/** State that survives a restart. Only implementations of this interface use SQL. See docs/daemon.md#the-state-file. */
export interface Store {
  /** Returns the record of an organization; empty for an unknown one. */
  organization(id: string): OrganizationRecord;
  /** Returns the note of a topic; its owner chooses the name. */
  note(topic: string): Note;
  /** Returns the history of an organization; empty for an unknown one. */
  history(organization: string): History;
  /** Returns the commit statuses of an organization; empty for an unknown one. */
  commitStatuses(organization: string): CommitStatusTable;
  /** Returns the sessions of the web page. */
  sessions(): Sessions;
  /** Returns the notifications of all organizations. */
  notifications(): Notifications;
  /** Returns the commands of all organizations. */
  commands(): CommandTable;
  /** Returns the states of all organizations, for the pages of other replicas. */
  organizationStates(): OrganizationStates;
  /**
   * Returns the outbox of an organization; `limit` bounds the stored content. `onWritten` is called after each write
   * through this outbox, also after one that failed, because it may be stored nevertheless.
   */
  outbox(organization: string, limit: OutboxLimit, onWritten?: () => void): Outbox;
  /**
   * Returns the same store, but its writes fail with LeaseLostError, and change nothing, once the lease is lost. A state
   * file has one owner, and returns itself.
   */
  fenced(lease: Pick<Lease, 'name' | 'epoch'>): Store;
  /** Returns what the replicas of a fleet share; null for a state file, which one process uses. */
  fleet(): FleetStore | null;
  close(): Promise<void>;
}
