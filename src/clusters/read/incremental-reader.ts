import { largest } from '../../core/lists.ts';
import { ListProgress } from '../../platform/list-progress.ts';
import { evaluateCluster, type SelectionRule, type SelectionVerdict } from '../decide/select.ts';
import type { IssueCluster } from '../model/cluster.ts';
import type { ClusterPage, ClusterSource } from '../model/source.ts';

/** State from which the next read continues. */
export interface ReaderState {
  /** Hash of the selection rule. */
  readonly rule: string;
  /** Newest `updatedAt` of the first page; null if unknown. */
  readonly newest: number | null;
  /** Clusters that may be selected without an update, with the time from which; 0 for any time. */
  readonly waiting: Readonly<Record<string, number>>;
  /** Number of clusters, as far as known. */
  readonly total: number;
  /** Time of the last full read. */
  readonly fullAt: number;
}

const HOUR = 3_600_000;
const WEEK = 168 * HOUR;
/** Interval of full reads, which correct for undocumented behavior of the platform. */
const FULL_INTERVAL = 24 * HOUR;
/** Overlap with the last read, because timestamps may be written shortly before they become visible. */
const OVERLAP = 600_000;

/** A cluster with the verdict of the selection rule. */
export interface JudgedCluster {
  readonly cluster: IssueCluster;
  readonly verdict: SelectionVerdict;
}

/**
 * Reads the clusters, newest-updated first, and stops as early as is safe. Add pages with `addPage` while it returns
 * true, then each cluster of `idsToFetch`. After that, `judged` contains every selected cluster, except those that were
 * passed to `toState` as lasting.
 *
 * Stopping is safe. Let N be the newest `updatedAt` on the first page of the previous read. Everything updated since
 * then has a later timestamp and comes first in the list. Everything from the first timestamp before N on is unchanged
 * since it was evaluated under the same rule. Its verdict can change only through time, or through changes that may not
 * change the timestamp. Those clusters are in `waiting` and are fetched by id. If the rule requires an increase over
 * some weeks, a cluster without an update in these weeks has no issue in them, and cannot be selected before its next
 * update. A list in another order is read to its end.
 */
export class IncrementalReader {
  readonly #rule: SelectionRule;
  readonly #before: ReaderState | null;
  readonly #now: number;
  readonly #judged = new Map<string, JudgedCluster>();
  readonly #gone = new Set<string>();
  readonly #isWhole: boolean;
  #newest: number | null = null;
  #last = Number.POSITIVE_INFINITY;
  #isOrdered = true;
  #pages = 0;
  #pageSize = 1;
  #isComplete = false;
  /** True once no unread cluster can have an increase before its next update. */
  #isPastRise = false;

  /** `before`: state of the last read; ignored if it is of another rule or too old. */
  constructor(rule: SelectionRule, before: ReaderState | null, now: number) {
    const isOld = before === null || now - before.fullAt >= FULL_INTERVAL || now < before.fullAt;
    this.#rule = rule;
    this.#before = before?.rule === rule.hash ? before : null;
    this.#isWhole = isOld && before !== null;
    this.#now = now;
  }

  /** Adds the next page; `isLast` if no other follows. Returns whether the next page is needed. */
  addPage(page: readonly IssueCluster[], isLast: boolean): boolean {
    for (const cluster of page) {
      this.#follow(cluster.updatedAt);
      this.#evaluateCluster(cluster);
    }
    this.#pages += 1;
    this.#pageSize = Math.max(this.#pageSize, page.length);
    if (this.#pages === 1) {
      this.#newest = newestOf(page);
    }
    this.#isComplete = isLast;
    return !isLast && !this.#mayStop();
  }

  /** Ids of unread clusters that may be selected by now. Each must be fetched. */
  get idsToFetch(): readonly string[] {
    return this.#isComplete || this.#isPastRise ? [] : this.#due();
  }

  /** Adds a cluster that was fetched by id; null if it no longer exists. */
  addCluster(id: string, cluster: IssueCluster | null): void {
    if (cluster === null) {
      this.#gone.add(id);
    } else {
      this.#evaluateCluster(cluster);
    }
  }

  /** Every cluster that was read, in order. */
  get judged(): readonly JudgedCluster[] {
    return [...this.#judged.values()];
  }

  /**
   * Returns the state for the next read. `lasting`: selected clusters that need no check before their next update,
   * because they have or had a change request.
   */
  toState(lasting: ReadonlySet<string>): ReaderState {
    const waiting: Record<string, number> = {};
    for (const [id, due] of this.#isComplete || this.#isPastRise ? [] : Object.entries(this.#before?.waiting ?? {})) {
      if (!this.#judged.has(id) && !this.#gone.has(id)) {
        waiting[id] = due;
      }
    }
    for (const { cluster, verdict } of this.#judged.values()) {
      const due = dueOf(verdict);
      if (due !== null && !(verdict.passes && lasting.has(cluster.id))) {
        waiting[cluster.id] = due;
      }
    }
    const total = this.#isComplete ? this.#judged.size : Math.max(this.#before?.total ?? 0, this.#judged.size);
    const fullAt = this.#isComplete ? this.#now : (this.#before?.fullAt ?? this.#now);
    return { rule: this.#rule.hash, newest: this.#newest, waiting, total, fullAt };
  }

  #evaluateCluster(cluster: IssueCluster): void {
    this.#judged.set(cluster.id, { cluster, verdict: evaluateCluster(cluster, this.#rule, this.#now) });
  }

  #follow(updatedAt: number | null): void {
    this.#isOrdered &&= updatedAt !== null && updatedAt <= this.#last;
    this.#last = updatedAt ?? this.#last;
  }

  #mayStop(): boolean {
    if (!this.#isOrdered || this.#isWhole) {
      return false;
    }
    const { risingWeeks: rising } = this.#rule.settings;
    // One more week than required: the newest week of a pulse may be the current or the last complete one.
    if (rising > 0 && this.#last < this.#now - (rising + 1) * WEEK) {
      this.#isPastRise = true;
      return true;
    }
    const before = this.#before;
    if (before?.newest == null || this.#last >= before.newest - OVERLAP) {
      return false;
    }
    const pagesLeft = Math.ceil(Math.max(0, before.total - this.#judged.size) / this.#pageSize);
    return this.#due().length <= Math.max(1, pagesLeft);
  }

  #due(): readonly string[] {
    return Object.entries(this.#before?.waiting ?? {}).flatMap(([id, due]) =>
      due <= this.#now && !this.#judged.has(id) && !this.#gone.has(id) ? [id] : [],
    );
  }
}

function newestOf(page: readonly IssueCluster[]): number | null {
  const stamps = page.flatMap(({ updatedAt }) => updatedAt ?? []);
  return stamps.length === 0 ? null : largest(stamps);
}

/** Time from which the verdict may change without an update; null for never. */
function dueOf(verdict: SelectionVerdict): number | null {
  if (verdict.passes) {
    return 0;
  }
  const times = verdict.reasons.map(({ until }) => until);
  return times.includes(null) ? null : largest(times.map((until) => until ?? 0));
}

/**
 * Reads the clusters newest-updated first, as far as needed; null if the platform has none (404 on their list).
 * `before` null: reads all. `now` is called after the first response, which contains the platform's time. Throws
 * AppError.
 */
export async function readClusters(
  source: Pick<ClusterSource, 'page' | 'one'>,
  rule: SelectionRule,
  before: ReaderState | null,
  now: () => number,
): Promise<IncrementalReader | null> {
  let answer: ClusterPage | null = await source.page(null);
  if (answer === null) {
    return null;
  }
  const reader = new IncrementalReader(rule, before, now());
  const progress = new ListProgress('listConversationClusters');
  let page: string | null = null;
  do {
    answer ??= await source.page(page);
    if (answer === null) {
      return null;
    }
    page = reader.addPage(answer.clusters, answer.next === null) ? answer.next : null;
    progress.add(answer.clusters.length, page);
    answer = null;
  } while (page !== null);
  for (const id of reader.idsToFetch) {
    reader.addCluster(id, await source.one(id));
  }
  return reader;
}
