/** Triggers the passes of an organization: on new commits, on the drift schedule, and after delays. */
import cron, { type ScheduledTask } from 'node-cron';
import { cronFiring } from '../config/windows.ts';
import { type Clock, WakeUpSignal } from '../core/clock.ts';
import { messageOf } from '../core/errors.ts';
import type { OrganizationReconciler } from './organization.ts';
import type { DesiredSource } from './source.ts';

/** Milliseconds between two checks of the wall clock during a delay: it may be set meanwhile. */
const CLOCK_CHECK = 60_000;

const SECOND = 1000;

/**
 * Milliseconds after which a requested check that found nothing is repeated once: the servers of a forge may not all have
 * a push yet when its webhook is sent.
 */
const SECOND_CHECK = 5000;

/** Longest jump of the clock, in milliseconds, whose seconds are checked one by one. */
const MAX_STEP = 60 * 60_000;

/** Automatic triggers of an organization's passes. */
export type Schedule = ReturnType<typeof createSchedule>;

/** Triggers passes on new commits, on the drift schedule, and after retry delays. `drift`: cron expression of the checks. */
export function createSchedule(
  reconciler: OrganizationReconciler,
  source: DesiredSource,
  drift: string,
  clock: Clock,
  onError: (message: string) => void,
) {
  const stopping = new AbortController();
  const { signal } = stopping;
  let retry: AbortController | null = null;
  let working: readonly Promise<void>[] = [];
  const requests = new WakeUpSignal();
  /** Consecutive checks that failed. */
  let failures = 0;
  const poll = async (every: number) => {
    let seen = requests.count;
    let delay = every;
    while (!signal.aborted) {
      await requests.wait(seen, delay, clock, signal);
      if (signal.aborted) {
        return;
      }
      const isRequested = requests.count !== seen;
      seen = requests.count;
      const hasMoved = await follow();
      delay = isRequested && !hasMoved ? Math.min(SECOND_CHECK, every) : every;
    }
  };
  /** Runs a pass if there is a new commit, or if that is unknown. Returns true in both cases. */
  const follow = async () => {
    try {
      const hasMoved = await source.hasMoved();
      failures = 0;
      if (!hasMoved) {
        return false;
      }
    } catch (error) {
      failures += 1;
      // Reported after 1, 2, 4, 8 and so on, so that an outage does not fill the log.
      if (Number.isInteger(Math.log2(failures))) {
        onError(failures === 1 ? messageOf(error) : `${messageOf(error)}; failed ${failures} times in a row`);
      }
    }
    await reconciler.trigger('commit');
    return true;
  };
  return {
    /** Starts; resolves once every later change of the source is noticed. */
    async start() {
      working = [runOnCron(drift, clock, signal, () => void reconciler.trigger('schedule'))];
      try {
        await source.watch(
          () => void reconciler.trigger('commit'),
          (error) => onError(messageOf(error)),
        );
      } catch (error) {
        // The drift schedule keeps running.
        onError(messageOf(error));
      }
      if (source.poll !== null) {
        working = [...working, poll(source.poll)];
      }
    },
    /** Triggers a pass after a delay; replaces the delay of an earlier call. */
    retryIn(milliseconds: number) {
      retry?.abort();
      retry = new AbortController();
      void callAfter(
        milliseconds,
        clock,
        AbortSignal.any([retry.signal, signal]),
        () => void reconciler.trigger('retry'),
      );
    },
    /** Checks for a new commit now. Calls during a check are coalesced into one more. Git only. */
    fetchNow: () => requests.notify(),
    async stop() {
      stopping.abort();
      await source.close();
      await Promise.all(working);
    },
  };
}

/** Returns true after the delay, or false as soon as the signal aborts. */
async function sleep(clock: Clock, milliseconds: number, signal: AbortSignal): Promise<boolean> {
  await clock.sleep(milliseconds, signal).catch(() => undefined);
  return !signal.aborted;
}

/**
 * Calls `fire` whenever a cron expression matches, until the signal aborts. Checks every second, since the wall clock
 * may be set at any time. Several matches that a jump forward skips fire once; after a jump back, matching continues
 * from the new time.
 */
export async function runOnCron(
  expression: string,
  clock: Clock,
  signal: AbortSignal,
  fire: () => void,
): Promise<void> {
  // Never started: its own timers do not notice when the clock is set.
  const task = cron.createTask(expression, () => undefined);
  let last = wholeSecond(clock);
  while (await sleep(clock, SECOND - (clock.now() % SECOND), signal)) {
    const now = wholeSecond(clock);
    if (hasMatch(expression, task, last, now)) {
      fire();
    }
    last = now;
  }
  await task.destroy();
}

/** Returns true if the expression matches after one instant and up to another. */
function hasMatch(expression: string, task: ScheduledTask, after: number, until: number): boolean {
  if (until - after > MAX_STEP) {
    const next = cronFiring(expression, 'next', after);
    return next !== null && next <= until;
  }
  return seconds(after, until).some((second) => task.match(new Date(second)));
}

function wholeSecond(clock: Clock): number {
  return Math.floor(clock.now() / SECOND) * SECOND;
}

/** The whole seconds after one instant and up to another; none if that is earlier. */
function seconds(after: number, until: number): readonly number[] {
  return Array.from({ length: Math.max(0, (until - after) / SECOND) }, (_, index) => after + (index + 1) * SECOND);
}

/**
 * Calls `call` once after a delay, or earlier if the wall clock is set forward past its end: the delay may be until a
 * time of day.
 */
async function callAfter(milliseconds: number, clock: Clock, signal: AbortSignal, call: () => void): Promise<void> {
  const ends = clock.monotonic() + milliseconds;
  const due = clock.now() + milliseconds;
  const left = () => Math.min(ends - clock.monotonic(), due - clock.now());
  do {
    if (!(await sleep(clock, nextCheck(left()), signal))) {
      return;
    }
  } while (left() > 0);
  call();
}

/** A timer may end slightly early, so it is never set to 0. */
function nextCheck(milliseconds: number): number {
  return Math.max(1, Math.min(milliseconds, CLOCK_CHECK));
}
