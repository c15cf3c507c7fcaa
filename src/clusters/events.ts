/** Events of the cluster automation, and the overview that collects them. */
import type { Clock } from '../core/clock.ts';
import { type AppError, AuthError, RejectedError } from '../core/errors.ts';
import { clusterFacts, compareSeverity, type IssueCluster } from './cluster.ts';
import { type Redaction, redactError } from './redaction.ts';
import { describeReasons, type JudgedCluster } from './select.ts';
import type { ClusterSource } from './sources.ts';
import type { OwnRequest } from './store.ts';

/** Reason why nothing is opened for a selected cluster, for logs and metrics. */
export type SkipReason =
  /** The cluster has an open change request or a draft. */
  | 'exists'
  /** A person archived the change request of the cluster. */
  | 'archived'
  /** The change request of the cluster was merged, and the cluster has not grown enough since. */
  | 'merged'
  | 'muted'
  /** No route, search result or default leads to a usable space. */
  | 'unrouted'
  /** The space is declared but does not exist yet. */
  | 'waiting'
  | 'limit-run'
  | 'limit-open'
  | 'limit-space'
  | 'limit-day'
  /** The platform refused the change request. */
  | 'failed';

/** A change request of a cluster, as events report it. */
export interface ChangeRequestEvent {
  readonly cluster: string;
  readonly label: string;
  /** The change request's id. */
  readonly request: string;
  /** The space's id. */
  readonly space: string;
  readonly url: string | null;
}

/** Converts an own change request to the form that events report. */
export function toEvent({ cluster, label, id, space, url }: OwnRequest): ChangeRequestEvent {
  return { cluster, label, request: id ?? '', space, url };
}

/** Outcome of a run, with counts. */
export interface RunEnd {
  readonly outcome: 'done' | 'failed' | 'unsupported';
  readonly error: AppError | Error | null;
  /** Source of the clusters; null if unknown. */
  readonly source: ClusterSource['kind'] | null;
  /** Number of clusters that were read, and of those that were selected. */
  readonly read: number;
  readonly passing: number;
  readonly opened: number;
  readonly superseded: number;
  readonly commented: number;
  readonly skipped: Readonly<Partial<Record<SkipReason, number>>>;
  /** Number of Octavo's change requests that are open, as far as known. */
  readonly open: number;
  readonly requests: number;
  readonly milliseconds: number;
  readonly dryRun: boolean;
}

/** Listeners for events of the cluster automation. */
export interface ClusterEvents {
  /** A run read these clusters; those that it did not read are unchanged. */
  onRead?(judged: readonly JudgedCluster[]): void;
  onOpened?(opened: ChangeRequestEvent & { readonly why: string }): void;
  /** Called in a dry run instead of `onOpened`. */
  onWouldOpen?(
    opened: Omit<ChangeRequestEvent, 'request' | 'url'> & { readonly subject: string; readonly why: string },
  ): void;
  /** `isEmpty`: merged without any edit, so another one may be opened for the cluster. */
  onMerged?(merged: ChangeRequestEvent & { readonly isEmpty: boolean }): void;
  onArchived?(archived: ChangeRequestEvent): void;
  /** A person reopened it. */
  onReopened?(reopened: ChangeRequestEvent): void;
  /** A draft was archived because an earlier one exists or a limit was reached. */
  onSuperseded?(superseded: ChangeRequestEvent & { readonly why: string }): void;
  onCommented?(commented: ChangeRequestEvent): void;
  onMuted?(muted: { readonly cluster: string; readonly label: string }): void;
  /** The time for which a person muted it has ended. */
  onUnmuted?(unmuted: { readonly cluster: string }): void;
  onSkipped?(skipped: {
    readonly cluster: string;
    readonly label: string;
    readonly reason: SkipReason;
    readonly why: string;
  }): void;
  /** A problem that a person should check; the run continues. */
  onTrouble?(trouble: { readonly cluster: string | null; readonly message: string }): void;
  onRunEnd?(end: RunEnd): void;
}

/**
 * Adds redaction of messages to listeners. `own`: values of the configuration, such as email addresses, that are not
 * redacted.
 */
export function redactEvents(events: ClusterEvents, redaction: Redaction, own: readonly string[]): ClusterEvents {
  const redacted: ClusterEvents = {
    onSkipped: (skipped) => events.onSkipped?.({ ...skipped, why: redaction.text(skipped.why) }),
    onTrouble: ({ cluster, message }) =>
      events.onTrouble?.({ cluster, message: redactExcept(message, own, redaction) }),
    onRunEnd: (end) => events.onRunEnd?.({ ...end, error: redactError(end.error, redaction) }),
  };
  // Inherits the other events: a spread would not copy those of a bus.
  return Object.assign(Object.create(events) as ClusterEvents, redacted);
}

function redactExcept(message: string, own: readonly string[], redaction: Redaction): string {
  const kept = own.find((word) => word !== '' && message.includes(word));
  return kept === undefined
    ? redaction.text(message)
    : message
        .split(kept)
        .map((piece) => redactExcept(piece, own, redaction))
        .join(kept);
}

/** Returns whether the platform refused this one request, so that others may succeed. */
export function isRefusal(error: unknown): error is RejectedError | AuthError {
  return error instanceof RejectedError || error instanceof AuthError;
}

/** Runs `work` for one cluster. Reports a refusal of the platform as trouble, after `prefix`, and returns null. */
export async function nullIfRefused<T>(
  { onTrouble }: Pick<ClusterEvents, 'onTrouble'>,
  cluster: string,
  work: () => Promise<T>,
  prefix = '',
): Promise<T | null> {
  try {
    return await work();
  } catch (error) {
    if (!isRefusal(error)) {
      throw error;
    }
    onTrouble?.({ cluster, message: prefix + error.message });
    return null;
  }
}

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
/** Weeks of the pulse that are kept: three months. */
const MAX_WEEKS = 13;

/** Collects what runs read and decided since the daemon started. */
export class ClusterOverview {
  readonly #clock: Pick<Clock, 'now'>;
  #clusters = new Map<string, KnownCluster>();
  /** Number of clusters that the last read had in addition to those that are kept. */
  omitted = 0;
  #troubles: string[] = [];
  /** Null until a run has ended. */
  lastRun: LastRun | null = null;

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
  }

  /** The most severe clusters that were read since the daemon started, selected ones first. */
  get clusters(): readonly KnownCluster[] {
    return [...this.#clusters.values()];
  }

  /** Listeners that collect the state. */
  events(): ClusterEvents {
    return {
      onRead: (judged) => this.#read(judged),
      onSkipped: ({ cluster, reason, why }) => this.#update(cluster, { skipped: reason, why: shortened(why) }),
      onOpened: ({ cluster }) => this.#update(cluster, { skipped: null, why: null }),
      onMuted: ({ cluster }) => this.mute(cluster, true),
      onUnmuted: ({ cluster }) => this.mute(cluster, false),
      onTrouble: ({ message }) => {
        if (this.#troubles.length < MAX_TROUBLES) {
          this.#troubles.push(shortened(message));
        }
      },
      onRunEnd: ({ error, ...end }) => {
        this.lastRun = {
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
    this.omitted = Math.max(0, sorted.length - MAX_CLUSTERS);
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
  const { createdAt, updatedAt, weeklyPulse } = cluster;
  return {
    ...clusterFacts(cluster),
    createdAt,
    updatedAt,
    weeklyPulse: weeklyPulse.slice(-MAX_WEEKS),
    readAt,
    label: shortened(cluster.label),
    isSelected: verdict.passes,
    why: verdict.passes ? null : shortened(describeReasons(verdict) ?? ''),
    skipped: null,
  };
}

function shortened(text: string): string {
  return text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT).toWellFormed()}…` : text;
}
