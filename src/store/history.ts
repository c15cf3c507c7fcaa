/** History of one organization: passes, changes of resources, pauses, and what people did. See docs/web-page.md#history. */
import type { Json } from '../core/json.ts';
import type { NotificationEvent } from './notification-events.ts';

/** Number of changes by status or action; only those above 0. */
export type PassCounts = Readonly<Record<string, number>>;

/** Result of a pass, as it is recorded. Times are milliseconds since the epoch. */
export interface NewPass {
  readonly trigger: string;
  /** Null if the manifests have no commit, or could never be read. */
  readonly commit: string | null;
  /** First line of the commit's message. */
  readonly subject: string;
  /** Email of the commit's author; null if it is not known. */
  readonly author: string | null;
  readonly outcome: 'done' | 'held' | 'failed';
  /** Checksum of the plan; null if the pass ended before it. */
  readonly checksum: string | null;
  readonly counts: PassCounts;
  readonly reads: number;
  readonly writes: number;
  /** Requests that the platform refused because of its rate limit (429) during the pass. */
  readonly refused: number;
  readonly milliseconds: number;
  readonly error: string | null;
  readonly endedAt: number;
  /** Changes of resources that the pass tried to apply, and those that wait. */
  readonly changes: readonly NewResourceChange[];
  /** The plan as JSON; null if it had no changes. */
  readonly plan: Json;
}

export interface NewResourceChange {
  readonly address: string;
  readonly action: string;
  readonly status: string;
  readonly error: string | null;
}

/** A recorded pass. Consecutive passes without writes that ended the same way are one record. */
export interface PassRecord extends Omit<NewPass, 'changes' | 'plan'> {
  /** Counts from 1 for each organization. */
  readonly number: number;
  /** End of the first of the passes, in milliseconds since the epoch. `endedAt` is the end of the last one. */
  readonly firstEndedAt: number;
  readonly times: number;
  /** False if the plan had no changes, or is not kept any more. */
  readonly hasPlan: boolean;
}

/** A change of a resource, with the pass that made it. */
export interface ResourceChange extends NewResourceChange {
  readonly pass: number;
  readonly commit: string | null;
  readonly subject: string;
  readonly at: number;
}

export interface PassDetails {
  readonly pass: PassRecord;
  readonly changes: readonly NewResourceChange[];
  readonly plan: Json;
}

/** Name of the history of what concerns no single organization; no organization has this id. */
export const DAEMON_HISTORY = '';

/** A person, and how Octavo knows who it is. */
export interface Actor {
  readonly name: string;
  /** `socket`: a user of the machine who can open the control socket; the others: see docs/web-page.md#sign-in. */
  readonly method: 'socket' | 'none' | 'token' | 'proxy' | 'oidc';
}

/** Action of a person, carried out or refused. */
export interface NewAuditEntry {
  readonly at: number;
  readonly actor: Actor;
  /** Such as `approve`, `pause` or `reconcile`. */
  readonly action: string;
  /** Address, checksum, cluster or dead letter; empty for the whole organization. */
  readonly subject: string;
  readonly reason: string;
  readonly outcome: 'done' | 'refused';
  /** Result, or why it was refused. */
  readonly detail: string;
}

export interface AuditEntry extends NewAuditEntry {
  readonly number: number;
}

/** A pause that a person set. Nothing is applied to its subject until it ends. */
export interface ManualPause {
  /** Address of a resource; empty for the whole organization. */
  readonly address: string;
  readonly reason: string;
  readonly by: Actor;
  readonly since: number;
  /** Null: until it is resumed. */
  readonly until: number | null;
}

/** Selects records before a number, newest first. */
export interface HistoryQuery {
  readonly before?: number | undefined;
  readonly limit: number;
}

/** Selects entries of the audit before a position, by time and then by number, newest first. */
export interface AuditQuery {
  readonly before?: { readonly at: number; readonly number: number } | undefined;
  readonly limit: number;
}

/** History of one organization. Every method throws StoreError if the state cannot be used. */
export interface History {
  /**
   * Records a pass; merges it into the last one if both wrote nothing and ended the same way. Removes what is older than
   * the retention, and the plans and changes of the oldest passes while all plans take more bytes than `RETENTION.plans`.
   * Adds the events of the pass in the same transaction; they may depend on its number. Returns the number of the record.
   * `isRepeated`: an earlier call with this pass, the last one, may have stored it although it failed.
   */
  addPass(
    pass: NewPass,
    events?: (number: number) => readonly NotificationEvent[],
    isRepeated?: boolean,
  ): Promise<number>;
  passes(query: HistoryQuery): Promise<readonly PassRecord[]>;
  /** Returns null if it does not exist any more. */
  pass(number: number): Promise<PassDetails | null>;
  /** Returns the last pass with this plan, by its checksum or that of its held changes; null if there is none any more. */
  passOfPlan(checksum: string): Promise<PassDetails | null>;
  /** Returns the changes of a resource, newest first. */
  changesOf(address: string, limit: number): Promise<readonly ResourceChange[]>;
  /**
   * Adds an entry, with its events in the same transaction. `isRepeated`: an earlier call with this entry may have stored
   * it although it failed.
   */
  addAudit(entry: NewAuditEntry, events?: readonly NotificationEvent[], isRepeated?: boolean): Promise<void>;
  audit(query: AuditQuery): Promise<readonly AuditEntry[]>;
  /** Returns the pauses that have not ended at this time. */
  pauses(now: number): Promise<readonly ManualPause[]>;
  /** Adds a pause, or replaces the one with the same address. */
  pause(pause: ManualPause): Promise<void>;
  /** Ends a pause. Returns false if there is none. */
  resume(address: string): Promise<boolean>;
}

/**
 * Number of passes and audit entries that are kept, the age of passes in milliseconds, and the bytes of all plans of an
 * organization.
 */
export const RETENTION = { passes: 1000, audit: 10_000, age: 90 * 24 * 3_600_000, plans: 16_000_000 } as const;
