import type { Change, ChangeResult, Plan } from '../../core/change.ts';
import type { Undone } from '../../plan/identity/flapping.ts';
import type { Planned } from '../planning.ts';
import type { Outcome } from '../reconcile.ts';
import type { Desired } from './source.ts';

/** What makes a pass begin. */
export type Trigger = 'start' | 'commit' | 'schedule' | 'hand' | 'retry' | 'window' | 'approval';

/** What a pass tells whoever wants to know: the log, the metrics, the demo. */
export interface PassEvents {
  onPassStart?(trigger: Trigger): void;
  /** The manifests were read; or could not be, and the last good ones stay in force. */
  onSource?(desired: Desired): void;
  onBadSource?(error: Error, lastGood: string | null): void;
  onPlan?(planned: Planned, drift: readonly Change[]): void;
  /** The record is empty, and what the repository says was applied is owned: so many resources, of that commit. */
  onTakenOver?(commit: string, count: number): void;
  /** What was applied could not be kept in the repository; the next pass tries again. */
  onNotRecorded?(error: Error): void;
  /** The plan is not applied now. */
  onWait?(reason: string): void;
  onResult?(result: ChangeResult, change: Change | undefined): void;
  /** The fields that something else keeps changing back, after every pass that looked; mostly none. */
  onFights?(fights: readonly Undone[]): void;
  onPassEnd?(end: PassEnd): void;
}

/** How a pass ended. */
export interface PassEnd {
  readonly trigger: Trigger;
  readonly outcome: Outcome;
  readonly plan: Plan | null;
  readonly results: readonly ChangeResult[];
  readonly requests: { readonly reads: number; readonly writes: number };
  readonly error: Error | null;
  readonly milliseconds: number;
  /** Milliseconds since the epoch. */
  readonly endedAt: number;
  /** When to look again without being asked, in milliseconds; null: only when something happens. */
  readonly again: number | null;
}
