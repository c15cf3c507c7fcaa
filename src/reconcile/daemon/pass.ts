import type { Change, ChangeResult, Plan } from '../../core/change.ts';
import type { Revert } from '../../plan/identity/flapping.ts';
import type { PassOutcome } from '../apply.ts';
import type { Planned } from '../planning.ts';
import type { Desired, SourceHead } from './source.ts';

/** The cause of a pass. */
export type Trigger = 'start' | 'commit' | 'schedule' | 'manual' | 'retry' | 'window' | 'approval';

/** Listener for the events of passes: the log, the metrics, the demo. */
export interface PassEvents {
  onPassStart?(trigger: Trigger): void;
  /** The manifests were read. */
  onSource?(desired: Desired): void;
  /** The manifests could not be read; the last valid ones stay in use. `head`: the last commit that was read, valid or not. */
  onBadSource?(error: Error, lastGood: string | null, head: SourceHead | null): void;
  onPlan?(planned: Planned, drift: readonly Change[]): void;
  /** The record was empty: the base was restored from the repository, with `count` resources of this commit. */
  onBaseRestored?(commit: string, count: number): void;
  /** Recording the applied commit in the repository failed; the next pass tries again. */
  onRecordFailed?(error: Error): void;
  /** The plan is not applied now. `until`: when a sync window may open, in milliseconds since the epoch. */
  onWait?(reason: string, until: number | null): void;
  /** The plan is applied now. */
  onApply?(planned: Planned): void;
  onResult?(result: ChangeResult, change: Change | undefined): void;
  /** The fields that are flapping, after every pass that planned; usually none. */
  onFlapping?(flapping: readonly Revert[]): void;
  onPassEnd?(end: PassEnd): void;
}

/** The result of one pass. */
export interface PassEnd {
  readonly trigger: Trigger;
  readonly outcome: PassOutcome;
  readonly plan: Plan | null;
  readonly results: readonly ChangeResult[];
  readonly requests: { readonly reads: number; readonly writes: number };
  readonly error: Error | null;
  readonly milliseconds: number;
  /** Milliseconds since the epoch. */
  readonly endedAt: number;
  /** Milliseconds until the next pass without a trigger; null: only a trigger starts one. */
  readonly retryIn: number | null;
}
