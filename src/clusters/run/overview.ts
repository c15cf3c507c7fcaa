/** Latest known state of the issue clusters of an organization, collected from its runs. */
import type { Clock } from '../../core/clock.ts';
import type { IssueCluster } from '../model/cluster.ts';
import type { JudgedCluster } from '../read/incremental-reader.ts';
import type { ClusterEvents, RunEnd, SkipReason } from './events.ts';
import { compareSeverity } from './opening-rules.ts';

/** A cluster as a run read it last. */
export interface KnownCluster
  extends Pick<
    IssueCluster,
    'id' | 'label' | 'impact' | 'muted' | 'issues' | 'conversations' | 'url' | 'createdAt' | 'updatedAt' | 'weeklyPulse'
  > {
  readonly isSelected: boolean;
  /** Reason why the last run that considered it opened nothing; null if it opened a change request. */
  readonly why: string | null;
  readonly skipped: SkipReason | null;
  /** When it was read, in milliseconds since the epoch. */
  readonly readAt: number;
}

export interface LastRun extends Omit<RunEnd, 'error'> {
  readonly error: string | null;
  /** Milliseconds since the epoch. */
  readonly endedAt: number;
  /** Problems that a person should check. */
  readonly troubles: readonly string[];
}

/** Maximum number of clusters that are kept, the most severe ones, and of problems of a run. */
const MAX_CLUSTERS = 100;
const MAX_TROUBLES = 20;
const MAX_TEXT = 300;

/** Collects what runs read and decided since the daemon started. */
export class ClusterOverview {
  readonly #clock: Pick<Clock, 'now'>;
  #clusters = new Map<string, KnownCluster>();
  #omitted = 0;
  #troubles: string[] = [];
  #lastRun: LastRun | null = null;

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
  }

  /** Null until a run has ended. */
  get lastRun(): LastRun | null {
    return this.#lastRun;
  }

  /** The most severe clusters that were read since the daemon started, selected ones first. */
  get clusters(): readonly KnownCluster[] {
    return [...this.#clusters.values()];
  }

  /** Number of clusters that the last read had in addition to those that are kept. */
  get omitted(): number {
    return this.#omitted;
  }

  /** Listeners that collect the state. */
  events(): ClusterEvents {
    return {
      onRead: (judged) => this.#read(judged),
      onSkipped: ({ cluster, reason, why }) => this.#update(cluster, { skipped: reason, why: shortened(why) }),
      onOpened: ({ cluster }) => this.#update(cluster, { skipped: null, why: null }),
      onMuted: ({ cluster }) => this.mute(cluster, true),
      onTrouble: ({ message }) => {
        if (this.#troubles.length < MAX_TROUBLES) {
          this.#troubles.push(shortened(message));
        }
      },
      onRunEnd: ({ error, ...end }) => {
        this.#lastRun = {
          ...end,
          error: error?.message ?? null,
          endedAt: this.#clock.now(),
          troubles: this.#troubles,
        };
        this.#troubles = [];
      },
    };
  }

  /** Records that a person or Octavo muted a cluster, or ended that. */
  mute(cluster: string, muted: boolean): void {
    this.#update(cluster, { muted });
  }

  #read(judged: readonly JudgedCluster[]): void {
    const readAt = this.#clock.now();
    const all = new Map(this.#clusters);
    for (const each of judged) {
      all.set(each.cluster.id, toKnown(each, readAt));
    }
    const sorted = [...all.values()].sort(
      (a, b) => Number(b.isSelected) - Number(a.isSelected) || compareSeverity(a, b),
    );
    this.#omitted = Math.max(0, sorted.length - MAX_CLUSTERS);
    this.#clusters = new Map(sorted.slice(0, MAX_CLUSTERS).map((each) => [each.id, each]));
  }

  #update(id: string, change: Partial<KnownCluster>): void {
    const known = this.#clusters.get(id);
    if (known !== undefined) {
      this.#clusters.set(id, { ...known, ...change });
    }
  }
}

function toKnown({ cluster, verdict }: JudgedCluster, readAt: number): KnownCluster {
  const { id, impact, muted, issues, conversations, url, createdAt, updatedAt, weeklyPulse } = cluster;
  return {
    ...{ id, impact, muted, issues, conversations, url, createdAt, updatedAt, weeklyPulse, readAt },
    label: shortened(cluster.label),
    isSelected: verdict.passes,
    why: verdict.passes ? null : shortened(verdict.reasons.map(({ words }) => words).join('; ')),
    skipped: null,
  };
}

function shortened(text: string): string {
  return text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT).toWellFormed()}…` : text;
}
