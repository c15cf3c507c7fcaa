import * as z from 'zod';
import type { Json } from '../../core/json.ts';
import type { Note } from '../../store/store.ts';
import type { Redaction } from '../model/redaction.ts';
import type { ReaderState } from './incremental-reader.ts';

/** Ways to list all change requests of an organization; see `listRequests`. */
export const LIST_MODES = ['statuses', 'status', 'all', 'spaces'] as const;
export type ListMode = (typeof LIST_MODES)[number];

const numbers = { issues: z.number(), conversations: z.number(), impact: z.string().nullable() };

/**
 * A change request that was made here for a cluster, or was begun. It is written down before it is asked for, so that
 * a lost answer is looked for and the request is never made again.
 */
const entry = z.object({
  cluster: z.string(),
  label: z.string(),
  /** A random word that its description carries: whose it is, where two daemons are at one cluster. */
  claim: z.string(),
  /** The change request's id; null until an answer or a list has told it. */
  id: z.string().nullable(),
  /** The space's id. */
  space: z.string(),
  subject: z.string(),
  url: z.string().nullable(),
  /** Its revision when it was created; null: not known. */
  revision: z.string().nullable().default(null),
  /** When it was begun, in milliseconds since the epoch, by the platform's time. */
  at: z.number(),
  state: z.enum(['begun', 'draft', 'open', 'merged', 'archived']),
  /** Whether a person asked for it, whom no limit holds back. */
  isManual: z.boolean(),
  /** Why it is in this space. */
  why: z.string(),
  /** Whether the reviewers are still to be asked. */
  reviewersDue: z.boolean(),
  /** What its readers were told last, and when. */
  told: z.object({ ...numbers, at: z.number() }),
  /** The cluster's numbers as they were read last. */
  seen: z.object(numbers),
  /** Whether the cluster is still to be muted, as it was merged. */
  muteDue: z.boolean(),
  /** Since when the platform does not have it any more, as when its space was deleted; null: it has it. */
  missingSince: z.number().nullable(),
});
export type OwnRequest = z.output<typeof entry>;

/** Why nothing is opened for a cluster as it is: it is looked at again when it, or the settings, are not as they were. */
const settled = z.object({
  updatedAt: z.number().nullable(),
  issues: z.number(),
  at: z.number(),
  reason: z.enum(['unrouted', 'archived', 'merged']),
  why: z.string(),
});
export type KnownSkip = z.output<typeof settled>;

const reading: z.ZodType<ReaderState> = z.object({
  rule: z.string(),
  newest: z.number().nullable(),
  waiting: z.record(z.string(), z.number()),
  total: z.number(),
  wholeAt: z.number(),
});

const memory = z.object({
  format: z.literal(1),
  /** The version of the redaction that texts in it passed. */
  redactedBy: z.string().default(''),
  /** The settings that all of this was found out with: under others, clusters are looked at anew. */
  settings: z.string(),
  reading: reading.nullable(),
  /** In the order they were begun. */
  entries: z.array(entry),
  /** Change requests that gave way, the newest last: they were not archived by hand. */
  superseded: z.array(z.object({ id: z.string(), cluster: z.string() })),
  /** How many issues a cluster had when a change request of it was first seen to be merged, by that one's id. */
  merges: z.record(z.string(), z.number()),
  settled: z.record(z.string(), settled),
  /** How the platform lists all change requests, and when that was found out; null: not known. */
  listing: z
    .object({ mode: z.enum(LIST_MODES), since: z.number() })
    .nullable()
    .default(null),
  /** When all change requests were listed last, in milliseconds since the epoch. */
  listedAt: z.number().nullable().default(null),
  /** Whether the last list had a draft of Octavo that is not known here: it is archived after an hour. */
  hasStrayDrafts: z.boolean().default(false),
  /** See `StampSkew`. */
  skew: z.object({ milliseconds: z.number(), isExact: z.boolean() }).nullable().default(null),
});
export type Memory = z.output<typeof memory>;

const NOTHING: Memory = {
  format: 1,
  redactedBy: '',
  settings: '',
  reading: null,
  entries: [],
  superseded: [],
  merges: {},
  settled: {},
  listing: null,
  listedAt: null,
  hasStrayDrafts: false,
  skew: null,
};

/** What is over and done with: no more of it is kept. */
const MOST = 2000;

/**
 * What is remembered of an organization's clusters, in one note. It is a help: without it the platform's own lists
 * tell which clusters have a change request. A change is on disk when its promise resolves; all throw StoreError.
 */
export class ClusterStore {
  readonly #note: Note;
  readonly #keeps: boolean;
  #memory: Memory;

  private constructor(note: Note, keeps: boolean, remembered: Memory) {
    this.#note = note;
    this.#keeps = keeps;
    this.#memory = remembered;
  }

  /**
   * What is noted; what cannot be read is as if nothing were. What was found out under other settings than these is
   * forgotten; what was redacted by other rules is redacted again. `keeps` false: nothing is written.
   */
  static async open(
    note: Note,
    settings: string,
    { keeps, redaction }: { readonly keeps: boolean; readonly redaction: Pick<Redaction, 'version' | 'text'> },
  ): Promise<ClusterStore> {
    const read = memory.safeParse(await note.read());
    const known = read.success ? read.data : { ...NOTHING, redactedBy: redaction.version };
    const isOther = known.settings !== settings;
    const current = isOther ? { ...known, settings, reading: null, settled: {} } : known;
    const book = new ClusterStore(note, keeps, current);
    if (current.redactedBy !== redaction.version) {
      await book.#keep(redacted(current, redaction));
    }
    return book;
  }

  get memory(): Memory {
    return this.#memory;
  }

  /** Those that are neither merged nor archived, and those that are but still have something due. */
  get live(): readonly OwnRequest[] {
    return this.#memory.entries.filter((each) => !isOver(each));
  }

  /** The entry of a change request; null where it is not known here. */
  byId(id: string): OwnRequest | null {
    return this.#memory.entries.find((each) => each.id === id) ?? null;
  }

  /** The one of a cluster that may still be opened, or is open. */
  liveOf(cluster: string): OwnRequest | null {
    return this.live.find((each) => each.cluster === cluster) ?? null;
  }

  /** Nothing is written where nothing is changed by it. */
  async change(change: Partial<Omit<Memory, 'format' | 'entries' | 'superseded'>>): Promise<void> {
    const next = { ...this.#memory, ...change, merges: newest({ ...this.#memory.merges, ...change.merges }) };
    if (JSON.stringify(next) !== JSON.stringify(this.#memory)) {
      await this.#keep(next);
    }
  }

  /** Adds an entry, or puts it in the place of the one with its claim; `change` is kept with it. */
  async put(added: OwnRequest, change: Partial<Pick<Memory, 'skew' | 'merges'>> = {}): Promise<void> {
    const { entries } = this.#memory;
    const index = entries.findIndex(({ claim }) => claim === added.claim);
    const next = index < 0 ? [...entries, added] : entries.toSpliced(index, 1, added);
    const merges = newest({ ...this.#memory.merges, ...change.merges });
    await this.#keep({ ...this.#memory, ...change, merges, entries: bounded(next) });
  }

  /** Puts entries in the places of those with their claims. */
  async putAll(changed: readonly OwnRequest[]): Promise<void> {
    const byClaim = new Map(changed.map((each) => [each.claim, each]));
    if (changed.length > 0) {
      const entries = this.#memory.entries.map((each) => byClaim.get(each.claim) ?? each);
      await this.#keep({ ...this.#memory, entries });
    }
  }

  /** Forgets an entry; of one that gave way the id is kept. */
  async remove(gone: OwnRequest, { superseded }: { readonly superseded: boolean }): Promise<void> {
    const { entries, superseded: before } = this.#memory;
    const ids = superseded && gone.id !== null ? [...before, { id: gone.id, cluster: gone.cluster }] : before;
    await this.#keep({
      ...this.#memory,
      entries: entries.filter(({ claim }) => claim !== gone.claim),
      superseded: ids.slice(-MOST),
    });
  }

  async #keep(next: Memory): Promise<void> {
    if (this.#keeps) {
      await this.#note.write(next as unknown as Json);
    }
    this.#memory = next;
  }
}

/** Labels, subjects and reasons come from tickets, and older rules may have left something in them. */
function redacted(known: Memory, { version, text }: Pick<Redaction, 'version' | 'text'>): Memory {
  const entries = known.entries.map((each) => ({
    ...each,
    label: text(each.label),
    subject: text(each.subject),
    why: text(each.why),
  }));
  const settled = Object.entries(known.settled).map(([id, each]) => [id, { ...each, why: text(each.why) }] as const);
  return { ...known, entries, settled: Object.fromEntries(settled), redactedBy: version };
}

function isOver({ state, muteDue }: OwnRequest): boolean {
  return (state === 'merged' || state === 'archived') && !muteDue;
}

/** The oldest are forgotten first. */
function bounded(entries: readonly OwnRequest[]): OwnRequest[] {
  const over = entries.filter(isOver);
  const gone = new Set(over.slice(0, Math.max(0, over.length - MOST)));
  return entries.filter((each) => !gone.has(each));
}

function newest(merges: Memory['merges']): Memory['merges'] {
  return Object.fromEntries(Object.entries(merges).slice(-MOST));
}
