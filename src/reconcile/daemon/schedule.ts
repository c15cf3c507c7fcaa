import cron, { type ScheduledTask } from 'node-cron';
import { cronFiring } from '../../config/cron.ts';
import type { Clock } from '../../core/clock.ts';
import { messageOf } from '../../core/errors.ts';
import type { OrganizationReconciler } from './organization.ts';
import type { DesiredSource } from './source.ts';

/** What makes an organization's passes begin, besides a person. */
export interface Schedule {
  /** Begins; resolves once every later change of the source is noticed. */
  start(): Promise<void>;
  /** A pass asks to be made again after so many milliseconds; the last one who asks is heard. */
  again(milliseconds: number): void;
  stop(): Promise<void>;
}

export interface ScheduleOptions {
  readonly reconciler: OrganizationReconciler;
  readonly source: DesiredSource;
  /** The cron expression at which drift is looked for. */
  readonly drift: string;
  readonly clock: Clock;
  readonly onError: (message: string) => void;
}

/** Milliseconds between two looks at the wall clock while a time of day is waited for: it may be set meanwhile. */
const LOOK = 60_000;
const SECOND = 1000;
/** Milliseconds that a clock may go forward at once and still be asked about second by second. */
const LEAP = 60 * 60_000;

/** Commits, the drift schedule, and what failed or waits: each asks for a pass. */
export function createSchedule({ reconciler, source, drift, clock, onError }: ScheduleOptions): Schedule {
  const stopping = new AbortController();
  const { signal } = stopping;
  let later: AbortController | null = null;
  let working: readonly Promise<void>[] = [];
  const poll = async (every: number) => {
    while (await slept(clock, every, signal)) {
      try {
        if (await source.hasMoved()) {
          await reconciler.trigger('commit');
        }
      } catch (error) {
        onError(messageOf(error));
        await reconciler.trigger('commit');
      }
    }
  };
  return {
    async start() {
      working = [firing(drift, clock, signal, () => void reconciler.trigger('schedule'))];
      try {
        await source.watch(
          () => void reconciler.trigger('commit'),
          (error) => onError(messageOf(error)),
        );
      } catch (error) {
        // The drift schedule still looks.
        onError(messageOf(error));
      }
      if (source.poll !== null) {
        working = [...working, poll(source.poll)];
      }
    },
    again(milliseconds) {
      later?.abort();
      later = new AbortController();
      void after(milliseconds, clock, AbortSignal.any([later.signal, signal]), () => void reconciler.trigger('retry'));
    },
    async stop() {
      stopping.abort();
      await source.close();
      await Promise.all(working);
    },
  };
}

/** Whether so many milliseconds went by; false: it was ended first. */
async function slept(clock: Clock, milliseconds: number, signal: AbortSignal): Promise<boolean> {
  await clock.sleep(milliseconds, signal).catch(() => undefined);
  return !signal.aborted;
}

/**
 * Calls whenever a cron expression fires, until the signal aborts. It is asked second by second, since the wall clock may be set at any time: set
 * forward past firings it has one for all of them, and set back it goes on from there.
 */
export async function firing(expression: string, clock: Clock, signal: AbortSignal, fire: () => void): Promise<void> {
  // Never started: its own timers go by a clock that is never set.
  const task = cron.createTask(expression, () => undefined);
  let last = wholeSecond(clock);
  while (await slept(clock, SECOND - (clock.now() % SECOND), signal)) {
    const now = wholeSecond(clock);
    if (firedIn(expression, task, last, now)) {
      fire();
    }
    last = now;
  }
  await task.destroy();
}

/** Whether it fires after one instant and up to another; of a long time the next firing is looked up instead. */
function firedIn(expression: string, task: ScheduledTask, after: number, until: number): boolean {
  if (until - after > LEAP) {
    const next = cronFiring(expression, 'next', after);
    return next !== null && next <= until;
  }
  return seconds(after, until).some((second) => task.match(new Date(second)));
}

function wholeSecond(clock: Clock): number {
  return Math.floor(clock.now() / SECOND) * SECOND;
}

/** The whole seconds after one instant up to another; none where it is earlier. */
function seconds(after: number, until: number): readonly number[] {
  return Array.from({ length: Math.max(0, (until - after) / SECOND) }, (_, index) => after + (index + 1) * SECOND);
}

/**
 * Calls once after so many milliseconds, or sooner where the wall clock says that they are over: it was set forward,
 * and what is waited for may be a time of day.
 */
async function after(milliseconds: number, clock: Clock, signal: AbortSignal, call: () => void): Promise<void> {
  const ends = clock.monotonic() + milliseconds;
  const due = clock.now() + milliseconds;
  const left = () => Math.min(ends - clock.monotonic(), due - clock.now());
  do {
    if (!(await slept(clock, untilLook(left()), signal))) {
      return;
    }
  } while (left() > 0);
  call();
}

/** A timer may end a little early: it is never set for nothing. */
function untilLook(milliseconds: number): number {
  return Math.max(1, Math.min(milliseconds, LOOK));
}
