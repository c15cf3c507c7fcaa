/** State of an organization as its owner writes it, in parts that are written only when they have changed. */
import { hash } from 'node:crypto';
import type { IngestionActivity } from '../../conversations/ingestion/ingestion-status.ts';
import { errorToJson } from '../../core/error-json.ts';
import type { StatePart } from '../../store/organization-states.ts';
import type { OrganizationState, ReconcilerState } from '../../web/model/backend.ts';
import { type MapChunk, splitMap } from './map-chunks.ts';
import { writeCheck } from './plan-content.ts';
import { writeQueue, writeSamples } from './queue-content.ts';

/** Part that names all others with their hashes. It changes with each of them. */
export const SUMMARY_PART = 'status';
/** Parts that lists show. */
export const LISTED_PARTS = [SUMMARY_PART, 'end', 'plan', 'clusters', 'ingestion', 'queue'] as const;

/** State of an organization that only its owner has. */
export interface OwnedState extends Pick<OrganizationState, 'reconciler' | 'statuses' | 'clusters'> {
  readonly ingestion: IngestionActivity;
  /** Null if the state of another organization of this replica has the queue. */
  readonly queue: OrganizationState['queue'] | null;
}

/** Format of all parts. A version with another format treats these states as unknown. */
const FORMAT = 1;

/** Content of the part {@link SUMMARY_PART}. */
export interface SummaryContent {
  readonly format: typeof FORMAT;
  /** Hashes by part. */
  readonly parts: Readonly<Record<string, string>>;
  readonly reconciler: {
    readonly isRunning: boolean;
    readonly failingSince: number | null;
    readonly checkedAt: number | null;
    /** True if the last pass that ended made the plan of the last check. */
    readonly hasEnded: boolean;
    readonly desired: { readonly commit: string | null; readonly subject: string; readonly size: number } | null;
  } | null;
  readonly statuses: OrganizationState['statuses'];
}

type EndedPass = NonNullable<ReconcilerState['lastEnd']>;

/** Content of the part `end`. */
export interface EndContent extends Pick<EndedPass, 'outcome' | 'results' | 'endedAt' | 'retryIn'> {
  readonly error: ReturnType<typeof errorToJson> | null;
}

/** Parts that depend on the same objects. */
interface Section {
  readonly name: string;
  /** The parts stay the same as long as these are the same. */
  readonly of: readonly unknown[];
  readonly write: () => Promise<readonly MapChunk[]> | readonly MapChunk[];
}

export interface WrittenState {
  /** Parts that differ from what was written before. */
  readonly parts: readonly StatePart[];
  readonly removed: readonly string[];
  /** Hashes by part, of all parts. */
  readonly hashes: ReadonlyMap<string, string>;
}

/** Milliseconds for which samples of a queue are collected before they are written. */
const SAMPLES_INTERVAL = 60_000;

/** Writes the states of one organization, one after the other. */
export class StateWriter {
  #written: ReadonlyMap<string, string>;
  readonly #known = new Map<
    string,
    { readonly of: readonly unknown[]; readonly hashes: readonly [string, string][] }
  >();

  /** `written`: hashes of the parts that exist, by part. */
  constructor(written: ReadonlyMap<string, string>) {
    this.#written = written;
  }

  /** Returns the parts that have changed since the last state that was stored; none if nothing has. */
  async write(state: OwnedState, now: number): Promise<WrittenState> {
    const hashes = new Map<string, string>();
    const parts: StatePart[] = [];
    const add = (part: string, hashOfPart: string, content: string) => {
      if (this.#written.get(part) !== hashOfPart) {
        parts.push({ part, hash: hashOfPart, content });
      }
    };
    for (const { name, of, write } of sectionsOf(state, now)) {
      const known = this.#known.get(name);
      if (known === undefined || known.of.length !== of.length || known.of.some((each, index) => each !== of[index])) {
        const chunks = (await write()).map((chunk) => ({ ...chunk, hash: hashOf(chunk.content) }));
        for (const chunk of chunks) {
          add(chunk.part, chunk.hash, chunk.content);
        }
        this.#known.set(name, { of, hashes: chunks.map((chunk) => [chunk.part, chunk.hash]) });
      }
      for (const [part, hashOfPart] of this.#known.get(name)?.hashes ?? []) {
        hashes.set(part, hashOfPart);
      }
    }
    const status = statusContent(state, hashes);
    hashes.set(SUMMARY_PART, hashOf(status));
    add(SUMMARY_PART, hashOf(status), status);
    return { parts, hashes, removed: [...this.#written.keys()].filter((part) => !hashes.has(part)) };
  }

  /** Records that a state was stored. */
  stored({ hashes }: WrittenState): void {
    this.#written = hashes;
  }

  /** Records that a state could not be stored: the next one is written from the beginning. */
  failed(): void {
    this.#known.clear();
  }
}

function sectionsOf({ reconciler, clusters, ingestion, queue }: OwnedState, now: number): readonly Section[] {
  const { lastCheck = null, lastEnd = null, lastDesired = null } = reconciler ?? {};
  const sections: Section[] = [];
  const add = (name: string, of: readonly unknown[], write: Section['write']) => sections.push({ name, of, write });
  if (lastEnd !== null) {
    add('end', [lastEnd], () => [{ part: 'end', content: endContent(lastEnd) }]);
  }
  if (lastCheck !== null) {
    const { plan, drift, authors } = lastCheck;
    add('plan', [plan, drift, authors], () => [{ part: 'plan', content: writeCheck(lastCheck) }]);
    add('bindings', [plan.bindings], () => splitMap('bindings', plan.bindings));
  }
  if (lastDesired !== null) {
    const { declared } = lastDesired.state;
    add('declared', [declared], () => splitMap('declared', declared));
  }
  const { overview } = clusters;
  if (overview.lastRun !== null || overview.clusters.length > 0) {
    const { lastRun, omitted } = overview;
    const content = JSON.stringify({ lastRun, clusters: overview.clusters, omitted });
    add('clusters', [content], () => [{ part: 'clusters', content }]);
  }
  const activity = JSON.stringify({ ...ingestion, errors: [...ingestion.errors] });
  add('ingestion', [activity], () => [{ part: 'ingestion', content: activity }]);
  if (queue !== null) {
    const content = writeQueue(queue.snapshot(), now);
    add('queue', [content], () => [{ part: 'queue', content }]);
    add('samples', [Math.floor(now / SAMPLES_INTERVAL)], async () => writeSamples(await queue.samples()));
  }
  return sections;
}

function statusContent({ reconciler, statuses }: OwnedState, hashes: ReadonlyMap<string, string>): string {
  const { lastDesired = null, lastCheck = null } = reconciler ?? {};
  const content: SummaryContent = {
    format: FORMAT,
    parts: Object.fromEntries(hashes),
    reconciler:
      reconciler === null
        ? null
        : {
            isRunning: reconciler.isRunning,
            failingSince: reconciler.failingSince,
            checkedAt: lastCheck?.at ?? null,
            hasEnded: lastCheck !== null && reconciler.lastEnd?.plan === lastCheck.plan,
            desired:
              lastDesired === null
                ? null
                : {
                    commit: lastDesired.commit,
                    subject: lastDesired.subject,
                    size: lastDesired.state.declared.size,
                  },
          },
    statuses: statuses === null ? null : { failure: statuses.failure },
  };
  return JSON.stringify(content);
}

/** Reads a summary. One of another format or of another program becomes that of an organization without a state. */
export function readSummary(content: string): SummaryContent {
  try {
    const summary = JSON.parse(content) as SummaryContent;
    if (summary.format === FORMAT && Object.values(summary.parts).every((hash) => typeof hash === 'string')) {
      return summary;
    }
  } catch {
    // Not JSON, or not an object.
  }
  return { format: FORMAT, parts: {}, reconciler: null, statuses: null };
}

function endContent({ outcome, results, endedAt, retryIn, error }: EndedPass): string {
  const content: EndContent = {
    ...{ outcome, results, endedAt, retryIn },
    error: error === null ? null : errorToJson(error),
  };
  return JSON.stringify(content);
}

function hashOf(content: string): string {
  return hash('sha256', content, 'base64url').slice(0, 22);
}
