/** States of organizations for the pages of other replicas: written by the owner in parts that changed, and read by the others. */

import { hash } from 'node:crypto';
import type { IngestionActivity } from '../../conversations/ingestion.ts';
import type { Address } from '../../core/address.ts';
import { WakeUpSignal } from '../../core/clock.ts';
import { errorFromJson, errorToJson } from '../../core/error-json.ts';
import { LeaseLostError, messageOf } from '../../core/errors.ts';
import type { Json } from '../../core/json.ts';
import { compareText } from '../../core/lists.ts';
import type { Declared } from '../../core/resource.ts';
import { planForReplicas, readPlan } from '../../plan/render/document.ts';
import { PRIORITIES } from '../../queue/request.ts';
import type { BudgetSnapshot, QueueSnapshot } from '../../queue/snapshot.ts';
import type { Lease } from '../../store/leases.ts';
import type { OrganizationStates, StatePart } from '../../store/organization-states.ts';
import type { BudgetSample } from '../../web/model/budget-samples.ts';
import type { KnownResources, OrganizationState, ReconcilerState } from '../../web/model/page.ts';
import type { DaemonContext } from '../organization/feature.ts';

/** An organization of this replica. */
interface PublishedOrganization {
  readonly id: string;
  readonly lease: Pick<Lease, 'epoch' | 'lost'>;
  /** States, fenced by the lease. */
  readonly states: Pick<OrganizationStates, 'write' | 'versions'>;
  readonly read: () => OwnedState;
}

interface Published {
  readonly writer: StateWriter;
  /** Aborts when this replica does not have the organization any more. */
  readonly lost: AbortSignal;
  /** Time on the monotonic clock before which nothing is written. */
  notBefore: number;
  isWriting: boolean;
}

/** Least milliseconds between two writes of an organization, and after one that failed. */
const INTERVAL = 1000;
const RETRY = 5000;
/** Organizations that are written at the same time. */
const PARALLEL = 4;
/** Milliseconds until the next check if nothing changes. */
const IDLE = 60_000;

export class StatePublisher {
  readonly #context: Pick<DaemonContext, 'clock' | 'log'>;
  readonly #onWritten: (organization: string) => void;
  readonly #published = new Map<string, Published>();
  /** Ids of the organizations that have to be written. */
  readonly #changed = new Set<string>();
  readonly #wake = new WakeUpSignal();
  #writing = 0;

  /** `onWritten` is called after the state of an organization was written. */
  constructor(context: Pick<DaemonContext, 'clock' | 'log'>, onWritten: (organization: string) => void) {
    this.#context = context;
    this.#onWritten = onWritten;
  }

  /** Publishes an organization from now on. */
  add(organization: PublishedOrganization): void {
    const { id, lease } = organization;
    const writer = new StateWriter(organization);
    this.#published.set(id, { writer, lost: lease.lost, notBefore: Number.NEGATIVE_INFINITY, isWriting: false });
    this.changed(id);
  }

  /** Stops publishing an organization. Its state stays until the next owner writes. */
  remove(organization: string): void {
    this.#published.delete(organization);
  }

  /** Writes an organization soon. Does nothing for others. */
  changed(organization: string): void {
    if (this.#published.has(organization)) {
      this.#changed.add(organization);
      this.#wake.notify();
    }
  }

  /** Writes until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#context;
    while (!signal.aborted) {
      const seen = this.#wake.count;
      const wait = this.#writeDue();
      await this.#wake.wait(seen, wait, clock, signal);
    }
  }

  /** Starts to write what is due. Returns the milliseconds until the next check. */
  #writeDue(): number {
    const now = this.#context.clock.monotonic();
    let wait = IDLE;
    for (const id of this.#changed) {
      const published = this.#published.get(id);
      if (published === undefined) {
        this.#changed.delete(id);
      } else if (!published.isWriting && published.notBefore > now) {
        wait = Math.min(wait, published.notBefore - now);
      } else if (!published.isWriting && this.#writing < PARALLEL) {
        this.#changed.delete(id);
        void this.#write(id, published);
      }
    }
    return wait;
  }

  /** Writes an organization. Never rejects. */
  async #write(organization: string, published: Published): Promise<void> {
    const { clock, log } = this.#context;
    published.isWriting = true;
    this.#writing += 1;
    try {
      if (!published.lost.aborted && (await published.writer.write(clock.now()))) {
        this.#onWritten(organization);
      }
      published.notBefore = clock.monotonic() + INTERVAL;
    } catch (error) {
      if (!(error instanceof LeaseLostError)) {
        log.debug({ organization, reason: messageOf(error) }, 'cannot write the state for other replicas');
        published.notBefore = clock.monotonic() + RETRY;
        this.#changed.add(organization);
      }
    }
    this.#writing -= 1;
    published.isWriting = false;
    this.#wake.notify();
  }
}

/** Writes the states of one organization, one after the other. */
export class StateWriter {
  readonly #organization: PublishedOrganization;
  /** Hashes of the parts that exist, by part; null before they were read. */
  #written: ReadonlyMap<string, string> | null = null;
  readonly #known = new Map<
    string,
    { readonly of: readonly unknown[]; readonly hashes: readonly (readonly [string, string])[] }
  >();

  constructor(organization: PublishedOrganization) {
    this.#organization = organization;
  }

  /** Writes the parts that have changed since the last state that was stored. Returns false if none has. */
  async write(now: number): Promise<boolean> {
    const { id, lease, states, read } = this.#organization;
    const written = this.#written ?? new Map((await states.versions(id)).map(({ part, hash }) => [part, hash]));
    const hashes = new Map<string, string>();
    const parts: StatePart[] = [];
    const add = (part: string, content: string): readonly [string, string] => {
      const digest = hash('sha256', content, 'base64url').slice(0, 22);
      if (written.get(part) !== digest) {
        parts.push({ part, hash: digest, content });
      }
      return [part, digest];
    };
    const state = read();
    for (const { name, of, write } of sectionsOf(state, now)) {
      const known = this.#known.get(name);
      const isSame = known?.of.length === of.length && known.of.every((each, index) => each === of[index]);
      const current = isSame ? known.hashes : (await write()).map(({ part, content }) => add(part, content));
      this.#known.set(name, { of, hashes: current });
      for (const [part, digest] of current) {
        hashes.set(part, digest);
      }
    }
    hashes.set(...add(SUMMARY_PART, summaryOf(state, hashes)));
    const removed = [...written.keys()].filter((part) => !hashes.has(part));
    if (parts.length > 0 || removed.length > 0) {
      await states.write(id, { epoch: lease.epoch, at: now, parts, removed }).catch((error: unknown) => {
        // The next state is written from the beginning.
        this.#known.clear();
        throw error;
      });
    }
    this.#written = hashes;
    return parts.length > 0 || removed.length > 0;
  }
}

/** State of an organization that only its owner has. */
export interface OwnedState extends Pick<OrganizationState, 'reconciler' | 'statuses' | 'clusters'> {
  /** Null before the manifests were read. */
  readonly resources: KnownResources | null;
  readonly ingestion: IngestionActivity;
  /** Null if the state of another organization of this replica has the queue. */
  readonly queue: OrganizationState['queue'] | null;
}

/** State of an organization that another replica has, or had. */
interface StoredState {
  readonly reconciler: ReconcilerState;
  readonly statuses: OrganizationState['statuses'];
  readonly overview: OrganizationState['clusters']['overview'];
  readonly ingestion: IngestionActivity;
  /** Returns the queue at a time; null if the state of another organization has the queue of its token. */
  readonly queue: ((now: number) => QueueSnapshot) | null;
}

/** Part that names all others with their hashes, so that it changes with each of them. */
const SUMMARY_PART = 'status';
/** All parts but resources and samples, which only some pages show. */
const LISTED_PARTS = [SUMMARY_PART, 'end', 'plan', 'clusters', 'ingestion', 'queue'] as const;

/** Part of a state: its name, and its content as JSON. */
interface PartContent {
  readonly part: string;
  readonly content: string;
}

/** Parts that depend on the same objects. */
interface StateSection {
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
function sectionsOf(state: OwnedState, now: number): readonly StateSection[] {
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
function summaryOf({ reconciler, statuses }: OwnedState, hashes: ReadonlyMap<string, string>): string {
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
interface ReadPart {
  readonly hash: string;
  readonly value: unknown;
}

/** Reads the content of a listed part. Throws if another program wrote it. */
function readPart(part: string, content: string): unknown {
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
function partsOf(summary: unknown): Readonly<Record<string, string>> | null {
  const { format, parts } = (summary ?? {}) as Partial<SummaryContent>;
  return format === FORMAT && Object.values(parts ?? { none: 0 }).every((hash) => typeof hash === 'string')
    ? (parts ?? null)
    : null;
}

/**
 * Returns the state that these parts have. `before`: the state that was read before, whose check stays the same object as
 * long as it is the same. Throws if another program wrote them.
 */
function stateOf(parts: ReadonlyMap<string, ReadPart>, before: StoredState): StoredState {
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
function hasResources(part: string): boolean {
  return part.startsWith('declared/') || part.startsWith('bindings/');
}

/** Returns the resources that these parts have. */
function resourcesOf(parts: readonly PartContent[]): KnownResources {
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
function readSamples(contents: readonly string[]): readonly BudgetSample[] {
  return contents.flatMap((content) => JSON.parse(content) as BudgetSample[]).sort((a, b) => a.at - b.at);
}

/** State of an organization, as it was read last. */
interface Known {
  /** Hash of its summary. */
  readonly hash: string;
  readonly parts: ReadonlyMap<string, ReadPart>;
  readonly state: StoredState;
}

const NOTHING: Known = { hash: '', parts: new Map(), state: UNKNOWN_STATE };
/** Organizations that one statement reads. */
const BATCH = 200;
/** Attempts to read parts that belong together, while their owner writes others. */
const ATTEMPTS = 3;

export class StateReader {
  readonly #states: OrganizationStates;
  readonly #known = new Map<string, Known>();
  /** Resources of the organization that a page showed last. */
  #resources: { readonly key: string; readonly value: KnownResources | null } | null = null;

  constructor(states: OrganizationStates) {
    this.#states = states;
  }

  /** Reads what these organizations have stored since, without their resources. Throws StoreError. */
  async refresh(organizations: ReadonlySet<string>): Promise<void> {
    for (const id of [...this.#known.keys()].filter((each) => !organizations.has(each))) {
      this.#known.delete(id);
    }
    const changed = (await this.#states.allVersions([SUMMARY_PART])).filter(
      ({ organization, hash }) => organizations.has(organization) && this.#of(organization).hash !== hash,
    );
    for (let start = 0; start < changed.length; start += BATCH) {
      const ids = changed.slice(start, start + BATCH).map(({ organization }) => organization);
      const known = ids.flatMap((id) => [...this.#of(id).parts].map(([part, { hash }]) => `${id}/${part}/${hash}`));
      // One statement reads all parts, so that they belong together.
      const rows = Map.groupBy(await this.#states.read(ids, LISTED_PARTS, known), (row) => row.organization);
      for (const [id, parts] of rows) {
        this.#known.set(id, this.#changed(this.#of(id), parts));
      }
    }
  }

  /** Returns the state of an organization; null if no replica has written one. */
  find(organization: string): StoredState | null {
    return this.#known.get(organization)?.state ?? null;
  }

  /** Reads the resources of an organization; null if another program wrote them. Throws StoreError. */
  async resources(organization: string): Promise<KnownResources | null> {
    for (let attempt = 1; ; attempt += 1) {
      const versions = (await this.#states.versions(organization)).filter(({ part }) => hasResources(part));
      const key = JSON.stringify([organization, ...versions.map(({ part, hash }) => `${part}/${hash}`)]);
      if (this.#resources?.key !== key) {
        const names = versions.map(({ part }) => part);
        const parts = await this.#states.read([organization], names);
        const isOther = parts.length < names.length || parts.some(({ hash }, index) => hash !== versions[index]?.hash);
        if (isOther && attempt < ATTEMPTS) {
          continue;
        }
        this.#resources = { key, value: readableResources(parts) };
      }
      return this.#resources.value;
    }
  }

  /** Reads the samples of the queue that an organization's state has. Throws StoreError. */
  async samples(organization: string): Promise<readonly BudgetSample[]> {
    const versions = await this.#states.versions(organization);
    const parts = versions.map(({ part }) => part).filter((part) => part.startsWith('samples/'));
    return parts.length === 0
      ? []
      : readSamples((await this.#states.read([organization], parts)).map(({ content }) => content));
  }

  #of(organization: string): Known {
    return this.#known.get(organization) ?? NOTHING;
  }

  /** Returns what is known after these parts were read. What another program wrote is unknown: other pages still show. */
  #changed(
    before: Known,
    read: readonly { readonly part: string; readonly hash: string; readonly content: string }[],
  ): Known {
    const hash = read.find(({ part }) => part === SUMMARY_PART)?.hash ?? before.hash;
    try {
      const parts = new Map(before.parts);
      for (const { part, hash: hashOfPart, content } of read) {
        parts.set(part, { hash: hashOfPart, value: readPart(part, content) });
      }
      const named = partsOf(parts.get(SUMMARY_PART)?.value);
      if (named !== null) {
        for (const part of [...parts.keys()].filter((each) => each !== SUMMARY_PART && named[each] === undefined)) {
          parts.delete(part);
        }
        return { hash, parts, state: stateOf(parts, before.state) };
      }
    } catch {
      // Not JSON, or of another form.
    }
    return { ...NOTHING, hash };
  }
}

function readableResources(parts: Parameters<typeof resourcesOf>[0]): KnownResources | null {
  try {
    return resourcesOf(parts);
  } catch {
    return null;
  }
}
