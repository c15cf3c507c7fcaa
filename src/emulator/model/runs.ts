// Work that takes time: processing of specifications, translations and conversations.

import type { Context } from './operation.ts';
import type { IndexedTable } from './table.ts';

/** Work that ends at `due`; until then the resource reports that it is in progress. */
export interface Run {
  readonly startedAt: number;
  readonly due: number;
}

/** Returns a run that starts now and takes that many milliseconds. */
export function startRun({ now }: Pick<Context, 'now'>, duration: number): Run {
  return { startedAt: now, due: now + duration };
}

/** Index key of records with a run. */
export function runningKey(record: { readonly run?: unknown }): string | undefined {
  return record.run ? 'yes' : undefined;
}

/** Returns the records whose runs are due, with the runs, in the order in which the records were added. */
export function findDue<R extends { readonly id: string; readonly run?: Run | null | undefined }>(
  table: Pick<IndexedTable<R, 'running'>, 'by' | 'count'>,
  now: number,
): { readonly record: R; readonly run: Run }[] {
  return table.count('running', 'yes') === 0
    ? []
    : table
        .by('running', 'yes')
        .flatMap((record) => (record.run && now >= record.run.due ? [{ record, run: record.run }] : []));
}

/**
 * Returns the state of a run: it waits for the first third of its time, then works. There is no failed state.
 * Source: docs/platform-notes.md#enumerations
 */
export function getProgress(run: Run | null, now: number): 'waiting' | 'working' | 'done' {
  if (run === null || now >= run.due) {
    return 'done';
  }
  return now - run.startedAt < (run.due - run.startedAt) / 3 ? 'waiting' : 'working';
}
