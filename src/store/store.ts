import type { Json, JsonObject } from '../core/json.ts';
import type { Outbox, OutboxLimit } from './outbox.ts';

/** What was last applied for one resource. */
export interface RecordEntry {
  readonly address: string;
  readonly kind: string;
  /** The platform's id; null where the resource has none. */
  readonly id: string | null;
  /** The fields as declared, normalized. */
  readonly fields: JsonObject;
  /** Never deleted until a commit has set it to false and was applied. See docs/concepts.md#what-is-deleted. */
  readonly protect: boolean;
  /** What cannot be read back from the platform: content hashes, revisions. */
  readonly marks: JsonObject;
}

/** What was applied last, and when, in milliseconds since the epoch. */
export interface AppliedHead {
  /** Null where the manifests were in no repository. */
  readonly commit: string | null;
  readonly at: number;
}

/** What the record says: the base of the next plan. */
export interface AppliedRecord {
  /** Null: nothing was ever applied. */
  readonly head: AppliedHead | null;
  /** Sorted by address. */
  readonly entries: readonly RecordEntry[];
}

/**
 * What was last applied for one organization, and what a person approved. A promise that has resolved is on disk: a
 * process killed right after loses nothing. Every method throws StoreError where the state cannot be used.
 */
export interface OrganizationRecord {
  read(): Promise<AppliedRecord>;
  /** Adds entries, or replaces those of the same address; all of them or none. */
  put(entries: readonly RecordEntry[]): Promise<void>;
  /** Forgets entries; unknown addresses are no error. */
  remove(addresses: readonly string[]): Promise<void>;
  /**
   * Moves the head, and forgets the approvals (by their checksums) that this has used up: both, or neither. An approval
   * serves once; unknown checksums are no error.
   */
  moveHead(head: AppliedHead, served: readonly string[]): Promise<void>;
  /** The checksums of plans that were approved and not applied yet, oldest first. */
  approvals(): Promise<readonly string[]>;
  /** `at` in milliseconds since the epoch. Approving twice is approving once. */
  approve(checksum: string, at: number): Promise<void>;
}

/** One thing worth keeping that is no more than a help: to lose it costs time, and never what is owned. */
export interface Note {
  /** Null: nothing was noted. Throws StoreError where the state cannot be used, as `write` does. */
  read(): Promise<Json>;
  write(value: Json): Promise<void>;
}

/** State that must survive a restart. SQL is used behind this interface only. See docs/daemon.md#the-state-file. */
export interface Store {
  /** The record of an organization; one that was never seen has an empty one. Throws StoreError after `close`. */
  organization(id: string): OrganizationRecord;
  /** The note of this topic, which the one who keeps it chooses. */
  note(topic: string): Note;
  /** The conversations of an organization, of which no more than `limit` are kept with their content. */
  outbox(organization: string, limit: OutboxLimit): Outbox;
  close(): Promise<void>;
}
