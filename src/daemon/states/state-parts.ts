/**
 * State of an organization as its owner stores it for the pages of other replicas: parts of JSON, each written only when it
 * has changed. See docs/fleet.md#commands.
 */
import type { IngestionActivity } from '../../conversations/ingestion.ts';
import type { Address } from '../../core/address.ts';
import { errorFromJson, errorToJson } from '../../core/error-json.ts';
import type { Json } from '../../core/json.ts';
import { compareText } from '../../core/lists.ts';
import type { Declared } from '../../core/resource.ts';
import { planForReplicas, readPlan } from '../../plan/render/document.ts';
import { PRIORITIES } from '../../queue/request.ts';
import type { BudgetSnapshot, QueueSnapshot } from '../../queue/snapshot.ts';
import type { BudgetSample } from '../../web/model/budget-samples.ts';
import type { KnownResources, OrganizationState, ReconcilerState } from '../../web/model/page.ts';

/** State of an organization that only its owner has. */
export interface OwnedState extends Pick<OrganizationState, 'reconciler' | 'statuses' | 'clusters'> {
  /** Null before the manifests were read. */
  readonly resources: KnownResources | null;
  readonly ingestion: IngestionActivity;
  /** Null if the state of another organization of this replica has the queue. */
  readonly queue: OrganizationState['queue'] | null;
}

/** State of an organization that another replica has, or had. */
export interface StoredState {
  readonly reconciler: ReconcilerState;
  readonly statuses: OrganizationState['statuses'];
  readonly overview: OrganizationState['clusters']['overview'];
  readonly ingestion: IngestionActivity;
  /** Returns the queue at a time; null if the state of another organization has the queue of its token. */
  readonly queue: ((now: number) => QueueSnapshot) | null;
}

/** Part that names all others with their hashes, so that it changes with each of them. */
export const SUMMARY_PART = 'status';
/** All parts but resources and samples, which only some pages show. */
export const LISTED_PARTS = [SUMMARY_PART, 'end', 'plan', 'clusters', 'ingestion', 'queue'] as const;

/** Part of a state: its name, and its content as JSON. */
export interface PartContent {
  readonly part: string;
  readonly content: string;
}

/** Parts that depend on the same objects. */
export interface StateSection {
  readonly name: string;
  /** The parts stay the same as long as these are the same. */
  readonly of: readonly unknown[];
  readonly write: () => Promise<readonly PartContent[]> | readonly PartContent[];
}

/** Format of all parts. A version with another format treats these states as unknown. */
const FORMAT = 2;

/** Milliseconds for which samples of a queue are collected before they are written, and whose samples are one part. */
const SAMPLES_INTERVAL = 60_000;
const SAMPLES_PER_PART = 600_000;

/** Content of the part {@link SUMMARY_PART}. */
interface SummaryContent {
  readonly format: typeof FORMAT;
  /** Hashes by part. */
  readonly parts: Readonly<Record<string, string>>;
  readonly reconciler: {
    readonly isRunning: boolean;
    /** Absent in what earlier versions stored. */
    readonly reached?: number;
    readonly failingSince: number | null;
    readonly checkedAt: number | null;
    /** True if the last pass that ended made the plan of the last check. */
    readonly hasEnded: boolean;
    readonly desired: {
      readonly commit: string | null;
      readonly subject: string;
      /** Absent in what earlier versions stored. */
      readonly author?: string | null;
      readonly size: number;
    } | null;
  } | null;
  readonly statuses: OrganizationState['statuses'];
}

/** Returns the sections of a state, in addition to the summary. */
export function sectionsOf(state: OwnedState, now: number): readonly StateSection[] {
  const { reconciler, resources, clusters, ingestion, queue } = state;
  const { lastCheck = null, lastEnd = null } = reconciler ?? {};
  const sections: StateSection[] = [];
  const add = (name: string, of: readonly unknown[], value: () => unknown) =>
    sections.push({ name, of, write: () => [{ part: name, content: JSON.stringify(value()) }] });
  const addText = (name: string, value: object) => {
    const content = JSON.stringify(value);
    sections.push({ name, of: [content], write: () => [{ part: name, content }] });
  };
  const addMap = (name: string, map: ReadonlyMap<string, unknown>) =>
    sections.push({ name, of: [map], write: () => splitMap(name, map) });
  if (lastEnd !== null) {
    const { outcome, results, endedAt, retryIn, error } = lastEnd;
    add('end', [lastEnd], () => ({
      outcome,
      results,
      endedAt,
      retryIn,
      error: error === null ? null : errorToJson(error),
    }));
  }
  if (lastCheck !== null) {
    const { plan, drift, authors } = lastCheck;
    add('plan', [plan, drift, authors], () => ({
      plan: planForReplicas(plan),
      drift: plan.changes.flatMap((change, index) => (drift.has(change) ? [index] : [])),
      authors: authors === null ? null : { emails: [...authors.emails], isComplete: authors.isComplete },
    }));
  }
  if (resources !== null) {
    addMap('bindings', resources.ids);
    addMap('declared', resources.declared);
  }
  const { lastRun, clusters: list, omitted } = clusters.overview;
  if (lastRun !== null || list.length > 0) {
    addText('clusters', { lastRun, clusters: list, omitted });
  }
  addText('ingestion', { ...ingestion, errors: [...ingestion.errors] });
  if (queue !== null) {
    addText('queue', writeQueue(queue.snapshot(), now));
    const write = async () => writeSamples(await queue.samples());
    sections.push({ name: 'samples', of: [Math.floor(now / SAMPLES_INTERVAL)], write });
  }
  return sections;
}

/** Returns the summary of a state. `hashes`: those of all other parts. */
export function summaryOf({ reconciler, statuses }: OwnedState, hashes: ReadonlyMap<string, string>): string {
  const { lastDesired = null, lastCheck = null } = reconciler ?? {};
  const content: SummaryContent = {
    format: FORMAT,
    parts: Object.fromEntries(hashes),
    reconciler:
      reconciler === null
        ? null
        : {
            isRunning: reconciler.isRunning,
            reached: reconciler.reached,
            failingSince: reconciler.failingSince,
            checkedAt: lastCheck?.at ?? null,
            hasEnded: lastCheck !== null && reconciler.lastEnd?.plan === lastCheck.plan,
            desired:
              lastDesired === null
                ? null
                : {
                    commit: lastDesired.commit,
                    subject: lastDesired.subject,
                    author: lastDesired.author,
                    size: lastDesired.state.declared.size,
                  },
          },
    statuses: statuses === null ? null : { failure: statuses.failure },
  };
  return JSON.stringify(content);
}

const NOTHING_RAN: ReconcilerState = {
  lastCheck: null,
  lastEnd: null,
  lastDesired: null,
  isRunning: false,
  reached: 0,
  failingSince: null,
};

/** State of an organization that nothing is known of. */
export const UNKNOWN_STATE: StoredState = {
  reconciler: NOTHING_RAN,
  statuses: { failure: null },
  overview: { lastRun: null, clusters: [], omitted: 0 },
  ingestion: { sender: { kind: 'stopped' }, inFlight: 0, errors: new Map() },
  queue: null,
};

/** A part that was read: its hash, and what it means. */
export interface ReadPart {
  readonly hash: string;
  readonly value: unknown;
}

/** Reads the content of a listed part. Throws if another program wrote it. */
export function readPart(part: string, content: string): unknown {
  const json = JSON.parse(content);
  switch (part) {
    case 'end':
      return { ...json, error: json.error === null ? null : errorFromJson(json.error) };
    case 'plan':
      return readCheck(json);
    case 'ingestion':
      return { ...json, errors: new Map(json.errors) };
    case 'queue':
      return readQueue(json);
    default:
      return json;
  }
}

type KnownCheck = Omit<NonNullable<ReconcilerState['lastCheck']>, 'at'>;

function readCheck({
  plan: document,
  drift,
  authors,
}: {
  readonly plan: Json;
  readonly drift: readonly number[];
  readonly authors: { readonly emails: readonly string[]; readonly isComplete: boolean } | null;
}): KnownCheck {
  const plan = readPlan(document);
  if (plan === null) {
    throw new TypeError('the plan is of another version');
  }
  return {
    plan,
    drift: new Set(drift.flatMap((index) => plan.changes[index] ?? [])),
    authors: authors === null ? null : { ...authors, emails: new Set(authors.emails) },
  };
}

/** Returns the hashes of the parts that a summary names; null if it is of another format or of another program. */
export function partsOf(summary: unknown): Readonly<Record<string, string>> | null {
  const { format, parts } = (summary ?? {}) as Partial<SummaryContent>;
  return format === FORMAT && Object.values(parts ?? { none: 0 }).every((hash) => typeof hash === 'string')
    ? (parts ?? null)
    : null;
}

/**
 * Returns the state that these parts have. `before`: the state that was read before, whose check stays the same object as
 * long as it is the same. Throws if another program wrote them.
 */
export function stateOf(parts: ReadonlyMap<string, ReadPart>, before: StoredState): StoredState {
  const read = <T>(part: string, missing: T) => (parts.has(part) ? (parts.get(part)?.value as T) : missing);
  const { reconciler, statuses } = read<SummaryContent>(SUMMARY_PART, null as never);
  return {
    reconciler: reconciler === null ? NOTHING_RAN : reconcilerOf(reconciler, read, before.reconciler.lastCheck),
    statuses: statuses ?? UNKNOWN_STATE.statuses,
    overview: read('clusters', UNKNOWN_STATE.overview),
    ingestion: read('ingestion', UNKNOWN_STATE.ingestion),
    queue: read<StoredState['queue']>('queue', null),
  };
}

function reconcilerOf(
  { isRunning, reached = 0, failingSince, checkedAt, hasEnded, desired }: NonNullable<SummaryContent['reconciler']>,
  read: <T>(part: string, missing: T) => T,
  before: ReconcilerState['lastCheck'],
): ReconcilerState {
  const check = read<KnownCheck | null>('plan', null);
  const isSame = before !== null && before.plan === check?.plan && before.at === checkedAt;
  const lastCheck = isSame ? before : check === null || checkedAt === null ? null : { ...check, at: checkedAt };
  const end = read<ReconcilerState['lastEnd']>('end', null);
  return {
    isRunning,
    reached,
    failingSince,
    lastCheck,
    lastEnd: end === null ? null : { ...end, plan: hasEnded ? (lastCheck?.plan ?? null) : null },
    lastDesired:
      desired === null
        ? null
        : {
            commit: desired.commit,
            subject: desired.subject,
            author: desired.author ?? null,
            state: { declared: { size: desired.size } },
          },
  };
}

/** Returns true for the parts that {@link resourcesOf} reads. */
export function hasResources(part: string): boolean {
  return part.startsWith('declared/') || part.startsWith('bindings/');
}

/** Returns the resources that these parts have. */
export function resourcesOf(parts: readonly PartContent[]): KnownResources {
  const join = <V>(name: string) => {
    const own = parts.filter(({ part }) => part.startsWith(`${name}/`));
    const entries = own.flatMap(({ content }) => JSON.parse(content) as [Address, V][]);
    return new Map(entries.sort(([a], [b]) => compareText(a, b)));
  };
  return { declared: join<Declared>('declared'), ids: join<string>('bindings') };
}

/** Entries of a part of a map, on average. */
const CHUNK = 256;

/**
 * Splits a map by its keys, so that a change writes only the part that it is in. The same key is in the same part until the
 * map has doubled: the number of parts is a power of two.
 */
function splitMap<V>(name: string, map: ReadonlyMap<string, V>): readonly PartContent[] {
  let count = 1;
  while (count * CHUNK < map.size) {
    count *= 2;
  }
  const chunks: (readonly [string, V])[][] = Array.from({ length: count }, () => []);
  for (const entry of map) {
    chunks[fnv1a(entry[0]) % count]?.push(entry);
  }
  return chunks.map((entries, index) => ({
    part: `${name}/${count}/${index}`,
    content: JSON.stringify(entries.sort(([a], [b]) => compareText(a, b))),
  }));
}

function fnv1a(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  return hash >>> 0;
}

/** Budget whose durations are times in milliseconds since the epoch, which stay true; null if there is none. */
interface StoredBudget extends Omit<BudgetSnapshot, 'resetIn' | 'cooldown'> {
  readonly resetAt: number | null;
  readonly cooldownUntil: number | null;
}

interface StoredQueue extends Omit<QueueSnapshot, 'budgets' | 'oldest'> {
  readonly budgets: readonly StoredBudget[];
  readonly oldestAt: number | null;
}

function writeQueue({ budgets, oldest, ...rest }: QueueSnapshot, now: number): StoredQueue {
  return {
    ...rest,
    budgets: budgets.map(({ resetIn, cooldown, ...budget }) => ({
      ...budget,
      resetAt: resetIn === null ? null : resetIn <= 0 ? 0 : now + resetIn,
      cooldownUntil: cooldown <= 0 ? null : now + cooldown,
    })),
    oldestAt: oldest === null ? null : now - oldest,
  };
}

function readQueue({ budgets, oldestAt, ...rest }: StoredQueue): (now: number) => QueueSnapshot {
  return (now) => ({
    ...rest,
    budgets: budgets.map(({ resetAt, cooldownUntil, ...budget }) => ({
      ...budget,
      resetIn: resetAt === null ? null : Math.max(0, resetAt - now),
      cooldown: cooldownUntil === null ? 0 : Math.max(0, cooldownUntil - now),
    })),
    oldest: oldestAt === null ? null : Math.max(0, now - oldestAt),
  });
}

/** State of a queue that is not known. */
export const UNKNOWN_QUEUE: QueueSnapshot = {
  budgets: [],
  waiting: Object.fromEntries(PRIORITIES.map((priority) => [priority, 0])) as QueueSnapshot['waiting'],
  oldest: null,
  inFlight: 0,
  outcomes: { answered: 0, rejected: 0, refused: 0, failed: 0, retried: 0, cancelled: 0 },
  rtt: null,
  clockSkew: null,
  breaker: 'closed',
  retryQuota: 0,
};

/** Writes samples in parts of ten minutes. All but the last part stay the same. */
function writeSamples(samples: readonly BudgetSample[]): readonly PartContent[] {
  const parts = Map.groupBy(samples, ({ at }) => Math.floor(at / SAMPLES_PER_PART));
  return [...parts].map(([part, some]) => ({ part: `samples/${part}`, content: JSON.stringify(some) }));
}

/** Reads samples, oldest first. */
export function readSamples(contents: readonly string[]): readonly BudgetSample[] {
  return contents.flatMap((content) => JSON.parse(content) as BudgetSample[]).sort((a, b) => a.at - b.at);
}
