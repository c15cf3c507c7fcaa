import type { AppError } from '../../core/errors.ts';
import type { ClusterSource } from '../model/source.ts';
import type { OwnRequest } from '../read/cluster-store.ts';

/** Why nothing is opened for a cluster that passes, for logs and metrics. */
export type SkipReason =
  /** A change request of it is open, or a draft. */
  | 'exists'
  /** Its change request was archived by hand. */
  | 'archived'
  /** Its change request was merged, and it has not grown enough since. */
  | 'merged'
  | 'muted'
  /** No route, no search result and no default says a space that can be written to. */
  | 'unrouted'
  /** It goes to a space that is declared and not there yet. */
  | 'waiting'
  | 'limit-run'
  | 'limit-open'
  | 'limit-space'
  | 'limit-day'
  /** The platform refused it. */
  | 'failed';

/** A change request of a cluster, as it is told of. */
export interface ChangeRequestEvent {
  readonly cluster: string;
  readonly label: string;
  /** The change request's id. */
  readonly request: string;
  /** The space's id. */
  readonly space: string;
  readonly url: string | null;
}

/** What is told of a change request that was made here. */
export function toEvent({ cluster, label, id, space, url }: OwnRequest): ChangeRequestEvent {
  return { cluster, label, request: id ?? '', space, url };
}

/** How a run ended, in numbers. */
export interface RunEnd {
  readonly outcome: 'done' | 'failed' | 'unsupported';
  readonly error: AppError | Error | null;
  /** What was looked at, as far as that was found out. */
  readonly source: ClusterSource['kind'] | null;
  /** Clusters that were read, and how many of those pass. */
  readonly read: number;
  readonly passing: number;
  readonly opened: number;
  readonly superseded: number;
  readonly commented: number;
  readonly skipped: Readonly<Partial<Record<SkipReason, number>>>;
  /** Change requests of Octavo that are open now, as far as is known. */
  readonly open: number;
  readonly requests: number;
  readonly milliseconds: number;
  readonly dryRun: boolean;
}

/** What can be told while issue clusters become change requests. */
export interface ClusterEvents {
  onOpened?(opened: ChangeRequestEvent & { readonly why: string }): void;
  /** In a dry run. */
  onWouldOpen?(
    opened: Omit<ChangeRequestEvent, 'request' | 'url'> & { readonly subject: string; readonly why: string },
  ): void;
  /** `isEmpty`: without any edit, so that the cluster may get another. */
  onMerged?(merged: ChangeRequestEvent & { readonly isEmpty: boolean }): void;
  onArchived?(archived: ChangeRequestEvent): void;
  /** Somebody opened it again. */
  onReopened?(reopened: ChangeRequestEvent): void;
  /** A draft was archived, because another one came first or a limit was reached. */
  onSuperseded?(superseded: ChangeRequestEvent & { readonly why: string }): void;
  onCommented?(commented: ChangeRequestEvent): void;
  onMuted?(muted: { readonly cluster: string; readonly label: string }): void;
  onSkipped?(skipped: {
    readonly cluster: string;
    readonly label: string;
    readonly reason: SkipReason;
    readonly why: string;
  }): void;
  /** Something that is worth a person's look, and stops nothing else. */
  onTrouble?(trouble: { readonly cluster: string | null; readonly message: string }): void;
  onRunEnd?(end: RunEnd): void;
}
