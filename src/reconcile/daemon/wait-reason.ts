/** Decides whether a plan has to wait: for approval, for the end of a pause, or for a sync window. */
import { windowState } from '../../config/windows.ts';
import type { Plan } from '../../core/change.ts';
import type { ManualPause } from '../../store/history.ts';
import { describePause, isOfOrganization, untilPauseEnds } from './manual-pauses.ts';
import type { PassOptions } from './pass-options.ts';

/** Reason for not applying a plan now. */
export interface PlanWait {
  readonly reason: string;
  /** Milliseconds until it may be applied; null: only a trigger changes that. */
  readonly retryIn: number | null;
  /** Next time at which a sync window may open, in milliseconds since the epoch. */
  readonly until: number | null;
}

/** Returns why a plan is not applied now; null: it is applied. */
export function planWait(
  { verdict, changes }: Plan,
  pauses: readonly ManualPause[],
  { config, clock, openWriter }: Pick<PassOptions, 'config' | 'clock' | 'openWriter'>,
): PlanWait | null {
  if (openWriter === null) {
    return { reason: 'dry run: nothing is written', retryIn: null, until: null };
  }
  if (verdict.state !== 'ready') {
    return { reason: verdict.reasons.join('; '), retryIn: null, until: null };
  }
  const now = clock.now();
  const pause = pauses.find((each) => isOfOrganization(each, now));
  if (pause !== undefined) {
    return { reason: describePause(pause), retryIn: untilPauseEnds([pause], now), until: null };
  }
  const { open, reason, until } = windowState(config.syncWindows, now);
  return open || !changes.some((change) => change.held === null && change.paused === null)
    ? null
    : { reason, retryIn: until === null ? null : Math.max(0, until - now), until };
}
