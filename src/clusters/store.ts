/** Stored state of an organization's clusters. */
import * as z from 'zod';
import type { Json } from '../core/json.ts';
import type { Note } from '../store/record.ts';
import type { Redaction } from './redaction.ts';

/** Ways to list all change requests of an organization; see `ChangeRequestLists`. */
export const LIST_MODES = ['statuses', 'status', 'all', 'spaces'] as const;
export type ListMode = (typeof LIST_MODES)[number];

const numbers = { issues: z.number(), conversations: z.number(), impact: z.string().nullable() };

/**
 * A change request that Octavo created or requested for a cluster. It is stored before it is requested: after a lost
 * response, Octavo searches for it and never requests it again.
 */
const ownRequest = z.object({
  cluster: z.string(),
  label: z.string(),
  /** Random word in its description, which distinguishes change requests of two daemons for one cluster. */
  claim: z.string(),
  /** Id of the change request; null until a response or a list contains it. */
  id: z.string().nullable(),
  /** Id of the space. */
  space: z.string(),
  subject: z.string(),
  url: z.string().nullable(),
  /** Revision at creation; null if unknown. */
  revision: z.string().nullable().default(null),
  /** Time of the request, in milliseconds since the epoch of the platform's clock. */
  at: z.number(),
  state: z.enum(['begun', 'draft', 'open', 'merged', 'archived']),
  /** Time of the merge; null if it is not merged, or the time is not known. */
  mergedAt: z.number().nullable().default(null),
  /** True if a person requested it; limits do not apply. */
  isManual: z.boolean(),
  /** Reason for the space. */
  why: z.string(),
  /** True if reviews must still be requested. */
  reviewersDue: z.boolean(),
  /** Numbers that its description or last progress comment reported, and when. */
  reported: z.object({ ...numbers, at: z.number() }),
  /** Numbers of the cluster as last read. */
  seen: z.object(numbers),
  /** True if the cluster must still be muted after the merge. */
  muteDue: z.boolean(),
  /** Time since when the platform no longer has it, for example because its space was deleted; null if it exists. */
  missingSince: z.number().nullable(),
});
export type OwnRequest = z.output<typeof ownRequest>;

/** Lasting reason why nothing is opened for a cluster. Checked again when the cluster or the settings change. */
const knownSkip = z.object({
  updatedAt: z.number().nullable(),
  issues: z.number(),
  at: z.number(),
  reason: z.enum(['unrouted', 'archived', 'merged']),
  why: z.string(),
});
export type KnownSkip = z.output<typeof knownSkip>;

/** Mute that a person set with a reason or an end, in milliseconds since the epoch; null: until somebody unmutes it. */
const knownMute = z.object({ reason: z.string(), until: z.number().nullable() });
type KnownMute = z.output<typeof knownMute>;

/** State from which the next read of clusters continues. */
const reading = z.object({
  /** Hash of the selection rule. */
  rule: z.string(),
  /** Newest `updatedAt` of the first page; null if unknown. */
  newest: z.number().nullable(),
  /** Clusters that may be selected without an update, with the time from which; 0 for any time. */
  waiting: z.record(z.string(), z.number()),
  /** Number of clusters, as far as known. */
  total: z.number(),
  /** Time of the last full read. */
  fullAt: z.number(),
});
export type ReaderState = z.output<typeof reading>;

const memory = z.object({
  format: z.literal(1),
  /** Version of the redaction rules that its texts passed. */
  redactedBy: z.string().default(''),
  /** Hash of the settings of these results. With other settings, all clusters are checked again. */
  settings: z.string().default(''),
  reading: reading.nullable().default(null),
  /** In the order of creation. */
  entries: z.array(ownRequest).default([]),
  /** Superseded change requests, newest last. They were not archived by a person. */
  superseded: z.array(z.object({ id: z.string(), cluster: z.string() })).default([]),
  /** Number of issues of the cluster when its change request was first seen merged, by change request id. */
  merges: z.record(z.string(), z.number()).default({}),
  skips: z.record(z.string(), knownSkip).default({}),
  mutes: z.record(z.string(), knownMute).default({}),
  /** Texts of issues that a run read, by cluster. */
  examples: z.record(z.string(), z.array(z.string())).default({}),
  /** Way in which the platform lists all change requests, and when it was detected; null if unknown. */
  listing: z
    .object({ mode: z.enum(LIST_MODES), since: z.number() })
    .nullable()
    .default(null),
  /** Time of the last list of all change requests, in milliseconds since the epoch. */
  listedAt: z.number().nullable().default(null),
  /** True if the last list had a draft of Octavo that is not stored here. Such a draft is archived after an hour. */
  hasStrayDrafts: z.boolean().default(false),
  /**
   * Difference between response times and the timestamps of records, which may be corrected later: milliseconds by which
   * the platform's timestamps are ahead of `Date` in its responses. Exact if measured on a record that was created here;
   * otherwise a lower bound.
   */
  skew: z.object({ milliseconds: z.number(), isExact: z.boolean() }).nullable().default(null),
});
export type Memory = z.output<typeof memory>;

/** Number of finished entries to keep. */
const MAX_FINISHED = 2000;
/** Number of clusters to keep examples of. */
const MAX_EXAMPLES = 200;

/**
 * Stored state of an organization's clusters, in one note. An optimization: without it, the platform's lists show which
 * clusters have a change request. Each change is durable when its promise resolves. Every write throws StoreError.
 */
export class ClusterStore {
  readonly #note: Note | null;
  memory: Memory;

  /** `note` null: nothing is written. */
  private constructor(note: Note | null, remembered: Memory) {
    this.#note = note;
    this.memory = remembered;
  }

  /**
   * Opens the stored state; an unreadable state counts as empty. Results of other settings are dropped, and texts that
   * were redacted with other rules are redacted again. `keeps` false: nothing is written.
   */
  static async open(
    note: Note,
    settings: string,
    { keeps, redaction }: { readonly keeps: boolean; readonly redaction: Pick<Redaction, 'version' | 'text'> },
  ): Promise<ClusterStore> {
    const read = memory.safeParse(await note.read());
    const known = read.success ? read.data : memory.parse({ format: 1, redactedBy: redaction.version });
    const isOther = known.settings !== settings;
    const current = isOther ? { ...known, settings, reading: null, skips: {} } : known;
    const store = new ClusterStore(keeps ? note : null, current);
    if (current.redactedBy !== redaction.version) {
      await store.#keep(redacted(current, redaction));
    }
    return store;
  }

  /** Change requests that are neither merged nor archived, or that still have an action due. */
  get active(): readonly OwnRequest[] {
    return this.memory.entries.filter((each) => !isOver(each));
  }

  /** The stored change request with this id; null if there is none. */
  findById(id: string): OwnRequest | null {
    return this.memory.entries.find((each) => each.id === id) ?? null;
  }

  /** Ids of own drafts. A list that lacks one of them is incomplete. */
  get draftIds(): ReadonlySet<string> {
    return new Set(this.active.flatMap(({ id, state }) => (id !== null && state === 'draft' ? [id] : [])));
  }

  /** Number of issues at the merge, by the id of the change request. */
  get issuesAtMerge(): ReadonlyMap<string, number> {
    return new Map(Object.entries(this.memory.merges));
  }

  /** The active change request of a cluster; null if there is none. */
  findActive(cluster: string): OwnRequest | null {
    return this.active.find((each) => each.cluster === cluster) ?? null;
  }

  /** Applies a change; without an effect, nothing is written. */
  async change(change: Partial<Omit<Memory, 'format' | 'entries' | 'superseded'>>): Promise<void> {
    const next = this.#changed(change);
    if (JSON.stringify(next) !== JSON.stringify(this.memory)) {
      await this.#keep(next);
    }
  }

  /** Keeps the examples of a cluster. */
  async keepExamples(cluster: string, examples: string[]): Promise<void> {
    const others = Object.entries(this.memory.examples).filter(([id]) => id !== cluster);
    await this.change({ examples: Object.fromEntries([...others, [cluster, examples] as const].slice(-MAX_EXAMPLES)) });
  }

  /** Records why and until when a person muted a cluster; null: it is not muted any more, or neither is known. */
  async keepMute(cluster: string, mute: KnownMute | null): Promise<void> {
    const others = Object.entries(this.memory.mutes).filter(([id]) => id !== cluster);
    const own = mute === null ? [] : [[cluster, mute] as const];
    await this.change({ mutes: Object.fromEntries([...others, ...own].slice(-MAX_FINISHED)) });
  }

  /** Adds a change request, or replaces the one with its claim. `change` is written with it. */
  async put(added: OwnRequest, change: Partial<Pick<Memory, 'skew' | 'merges'>> = {}): Promise<void> {
    const { entries } = this.memory;
    const index = entries.findIndex(({ claim }) => claim === added.claim);
    const next = index < 0 ? [...entries, added] : entries.toSpliced(index, 1, added);
    await this.#keep({ ...this.#changed(change), entries: bounded(next) });
  }

  /** Replaces change requests by their claims. */
  async putAll(changed: readonly OwnRequest[]): Promise<void> {
    if (changed.length > 0) {
      const byClaim = new Map(changed.map((each) => [each.claim, each]));
      const entries = this.memory.entries.map((each) => byClaim.get(each.claim) ?? each);
      await this.#keep({ ...this.memory, entries });
    }
  }

  /** Removes a change request; the id of a superseded one is kept. */
  async remove(gone: OwnRequest, { superseded }: { readonly superseded: boolean }): Promise<void> {
    const { entries, superseded: before } = this.memory;
    const ids = superseded && gone.id !== null ? [...before, { id: gone.id, cluster: gone.cluster }] : before;
    await this.#keep({
      ...this.memory,
      entries: entries.filter(({ claim }) => claim !== gone.claim),
      superseded: ids.slice(-MAX_FINISHED),
    });
  }

  #changed(change: Partial<Memory>): Memory {
    const merges = Object.entries({ ...this.memory.merges, ...change.merges }).slice(-MAX_FINISHED);
    return { ...this.memory, ...change, merges: Object.fromEntries(merges) };
  }

  async #keep(next: Memory): Promise<void> {
    await this.#note?.write(next as unknown as Json);
    this.memory = next;
  }
}

/** Stored state of the clusters of an organization that people see. */
export interface StoredClusters {
  /** Octavo's change requests, oldest first. */
  readonly changeRequests: readonly OwnRequest[];
  /** Texts of issues that a run read, by cluster. */
  readonly examples: ReadonlyMap<string, readonly string[]>;
  /** Number of issues at the merge, by the id of the change request. */
  readonly issuesAtMerge: ReadonlyMap<string, number>;
  /** Reasons and ends of mutes, by cluster. */
  readonly mutes: ReadonlyMap<string, KnownMute>;
}

/** Reads what is stored; nothing if the state is unreadable. Throws StoreError. */
export async function readStoredClusters(note: Note): Promise<StoredClusters> {
  const read = memory.safeParse(await note.read());
  const { entries, examples, merges, mutes } = read.success ? read.data : memory.parse({ format: 1 });
  return {
    changeRequests: entries,
    examples: new Map(Object.entries(examples)),
    issuesAtMerge: new Map(Object.entries(merges)),
    mutes: new Map(Object.entries(mutes)),
  };
}

/** Redacts stored labels, subjects, reasons and examples with the current rules, because they come from tickets. */
function redacted(known: Memory, { version, text }: Pick<Redaction, 'version' | 'text'>): Memory {
  const entries = known.entries.map((each) => ({
    ...each,
    label: text(each.label),
    subject: text(each.subject),
    why: text(each.why),
  }));
  const skips = Object.entries(known.skips).map(([id, each]) => [id, { ...each, why: text(each.why) }] as const);
  const examples = Object.entries(known.examples).map(([id, texts]) => [id, texts.map(text)] as const);
  return {
    ...known,
    entries,
    skips: Object.fromEntries(skips),
    examples: Object.fromEntries(examples),
    redactedBy: version,
  };
}

function isOver({ state, muteDue }: OwnRequest): boolean {
  return (state === 'merged' || state === 'archived') && !muteDue;
}

/** Drops the oldest finished change requests. */
function bounded(entries: readonly OwnRequest[]): OwnRequest[] {
  const over = entries.filter(isOver);
  const gone = new Set(over.slice(0, Math.max(0, over.length - MAX_FINISHED)));
  return entries.filter((each) => !gone.has(each));
}
