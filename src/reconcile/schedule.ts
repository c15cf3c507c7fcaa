import cron from 'node-cron';
import type { Clock } from '../core/clock.ts';
import { messageOf } from '../core/errors.ts';
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

/** A timer counts no further than about 24 days; a pass made meanwhile asks again. */
const LONGEST_SLEEP = 24 * 60 * 60_000;

/** Commits, the drift schedule, and what failed or waits: each asks for a pass. */
export function createSchedule({ reconciler, source, drift, clock, onError }: ScheduleOptions): Schedule {
  const stopping = new AbortController();
  let later: AbortController | null = null;
  let polling: Promise<void> = Promise.resolve();
  const task = cron.createTask(drift, () => {
    void reconciler.trigger('schedule');
  });
  const poll = async (every: number) => {
    while (!stopping.signal.aborted) {
      await clock.sleep(every, stopping.signal).catch(() => undefined);
      if (stopping.signal.aborted) {
        return;
      }
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
      await task.start();
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
        polling = poll(source.poll);
      }
    },
    again(milliseconds) {
      later?.abort();
      const mine = new AbortController();
      later = mine;
      const until = AbortSignal.any([mine.signal, stopping.signal]);
      clock.sleep(Math.min(milliseconds, LONGEST_SLEEP), until).then(
        () => void reconciler.trigger('retry'),
        () => undefined,
      );
    },
    async stop() {
      stopping.abort();
      await task.destroy();
      await source.close();
      await polling;
    },
  };
}
