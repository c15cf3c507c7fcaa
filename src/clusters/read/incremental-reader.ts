import { largest } from '../../core/lists.ts';
import { evaluateCluster, type SelectionRule, type Verdict } from '../decide/select.ts';
import type { IssueCluster } from '../model/cluster.ts';

/** What is remembered of a reading, in the note. */
export interface ReaderState {
  /** The rule that was asked. */
  readonly rule: string;
  /** The newest `updatedAt` when the reading began; null: none was told. */
  readonly newest: number | null;
  /** Clusters that may pass without having been updated, and from when on: 0 at any moment. */
  readonly waiting: Readonly<Record<string, number>>;
  /** How many clusters there are, as far as is known. */
  readonly total: number;
  /** When everything was read last. */
  readonly wholeAt: number;
}

const HOUR = 3_600_000;
const WEEK = 168 * HOUR;
/** Everything is read so often, whatever is remembered: heals what is not documented of the platform. */
const WHOLE_EVERY = 24 * HOUR;
/** Stamps may be written a little before they are seen. */
const OVERLAP = 600_000;

/** A cluster and what the rule says of it. */
export interface JudgedCluster {
  readonly cluster: IssueCluster;
  readonly verdict: Verdict;
}

/**
 * One reading of the clusters, newest-updated first, that ends as early as is sound. Pages go in with `take` as long as
 * it asks for more, then the clusters of `toAsk` one by one; then `judged` holds every cluster that passes, except
 * those that were settled.
 *
 * Why it is sound: let N be the newest `updatedAt` of the reading before, in its first page. What was updated since
 * that page was read has a later stamp, and stands before all that has an earlier one. So whatever stands behind the
 * first stamp before N is as it was when it was judged before, under the same rule. Its verdict may differ only by
 * time passing or by what is not known to leave a stamp, and those are the waiting ones, who are asked one by one.
 * Where a rise over some weeks is asked, a cluster that was not updated within them has no issue in them, and does not
 * rise until it is updated. A list in another order than was asked for is read to its end.
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
  /** What was not read does not rise, and cannot without an update. */
  #isPastRise = false;

  /** `before`: what the last reading left; one under another rule, or too old, counts as none. */
  constructor(rule: SelectionRule, before: ReaderState | null, now: number) {
    const isOld = before === null || now - before.wholeAt >= WHOLE_EVERY || now < before.wholeAt;
    this.#rule = rule;
    this.#before = before?.rule === rule.hash ? before : null;
    this.#isWhole = isOld && before !== null;
    this.#now = now;
  }

  /** Takes the next page; `isLast` where no other follows. Whether the next page is needed. */
  take(page: readonly IssueCluster[], isLast: boolean): boolean {
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

  /** Clusters that were not read and may pass by now: each is to be asked for by its id. */
  get toAsk(): readonly string[] {
    return this.#isComplete || this.#isPastRise ? [] : this.#due();
  }

  /** Takes one that was asked for; null where it is not there any more. */
  takeOne(id: string, cluster: IssueCluster | null): void {
    if (cluster === null) {
      this.#gone.add(id);
    } else {
      this.#evaluateCluster(cluster);
    }
  }

  /** Everything that was looked at, in the order it was read. */
  get judged(): readonly JudgedCluster[] {
    return [...this.#judged.values()];
  }

  /**
   * What to remember. `settled` are those that pass and need not be looked at again until they are updated: they have
   * a change request, or had one.
   */
  remember(settled: ReadonlySet<string>): ReaderState {
    const waiting: Record<string, number> = {};
    for (const [id, due] of this.#isComplete || this.#isPastRise ? [] : Object.entries(this.#before?.waiting ?? {})) {
      if (!this.#judged.has(id) && !this.#gone.has(id)) {
        waiting[id] = due;
      }
    }
    for (const { cluster, verdict } of this.#judged.values()) {
      const due = dueOf(verdict);
      if (due !== null && !(verdict.passes && settled.has(cluster.id))) {
        waiting[cluster.id] = due;
      }
    }
    const total = this.#isComplete ? this.#judged.size : Math.max(this.#before?.total ?? 0, this.#judged.size);
    const wholeAt = this.#isComplete ? this.#now : (this.#before?.wholeAt ?? this.#now);
    return { rule: this.#rule.hash, newest: this.#newest, waiting, total, wholeAt };
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
    // One week more than is asked: the newest week of a pulse may be one that goes on, or the last that is over.
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

/** From when on the verdict may be another one without an update; null: never. */
function dueOf(verdict: Verdict): number | null {
  if (verdict.passes) {
    return 0;
  }
  const times = verdict.reasons.map(({ until }) => until);
  return times.includes(null) ? null : largest(times.map((until) => until ?? 0));
}
