/** Polls work that the platform does in the background. */
import type { Clock } from '../core/clock.ts';
import type { Progress } from '../kinds/model/request.ts';

/** Reason shown while a resource is pending because the platform works on it. */
export const PLATFORM_IS_WORKING = 'the platform is still working on it';

/** Milliseconds before the second poll; each later pause is twice as long. */
export const FIRST_POLL_DELAY = 200;
const MAX_PAUSE = 5000;
/** Milliseconds per polled resource, so that many of them do not use up the rate limit. */
const PAUSE_PER_RESOURCE = 250;

/** Returns the next pause, in milliseconds, while `count` resources are polled. */
export function nextPause(pause: number, count = 1): number {
  return Math.min(pause * 2, Math.max(MAX_PAUSE, count * PAUSE_PER_RESOURCE));
}

/**
 * Polls until the work is done or has failed, or until a deadline in monotonic milliseconds; at least once. Throws what
 * `poll` throws, and the reason of `signal` when that aborts during a pause.
 */
export async function pollUntil(
  deadline: number,
  poll: () => Promise<Progress>,
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
): Promise<Progress> {
  for (let pause = FIRST_POLL_DELAY; ; pause = nextPause(pause)) {
    const progress = await poll();
    const left = deadline - clock.monotonic();
    if (progress.state !== 'working' || left <= 0) {
      return progress;
    }
    await clock.sleep(Math.min(pause, left), signal);
  }
}
