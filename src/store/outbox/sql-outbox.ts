import type { SqlDatabase } from '../sql/database.ts';
import { dropDeadLetters, listDeadLetters, readDeadLetter, retryDeadLetters } from './dead-letters.ts';
import { putDeposit } from './deposit.ts';
import type { Outbox, OutboxLimit } from './outbox.ts';
import { postponeRecheck, readRechecks, readRecheckTime } from './rechecks.ts';
import * as sending from './sending.ts';
import * as sources from './sources.ts';
import { countOutdated, readStatus } from './status.ts';
import { addCounts, type OutboxSql } from './tables.ts';

/**
 * Outbox of one organization in a database that has its tables. Times are stored as whole milliseconds, because times
 * from a provider, a monotonic clock or random jitter may have fractions.
 */
export function openOutbox(
  database: SqlDatabase,
  organization: string,
  limit: OutboxLimit,
  onWritten: () => void = () => undefined,
): Outbox {
  const parse = (text: unknown) => database.parse(text);
  const read = <T>(work: (context: OutboxSql) => Promise<T>) =>
    database.read((sql) => work({ sql, organization, parse }));
  const write = <T>(work: (context: OutboxSql) => Promise<T>, keeps?: (result: T) => boolean) =>
    database.write(organization, (sql) => work({ sql, organization, parse }), keeps).finally(onWritten);
  return {
    put: (deposit) =>
      write(
        (context) => putDeposit(context, deposit, limit),
        ({ kind }) => kind === 'kept',
      ),
    position: (source) => read((context) => sources.readPosition(context, source)),
    processed: (source) => read((context) => sources.readProcessed(context, source)),
    polled: (source, at) => write((context) => sources.recordPoll(context, source, at)),
    reset: (source, since) => write((context) => sources.resetSource(context, source, since)),
    hint: (source, delivery, ids, at) =>
      write(async (context) => {
        const isNew = delivery === null || (await sources.rememberDelivery(context, source, delivery, at));
        await sources.addHints(context, source, isNew ? ids : []);
        await addCounts(context, source, { hinted: isNew ? ids.length : 0 });
        return isNew;
      }),
    hints: (source, most) => read((context) => sources.readHints(context, source, most)),
    rechecks: (source, now, most) => read((context) => readRechecks(context, source, now, most)),
    recheckAt: (source) => read((context) => readRecheckTime(context, source)),
    postponeRecheck: (source, key, until) =>
      write((context) => postponeRecheck(context, source, key, Math.ceil(until))),
    recover: () => write(sending.recoverBatches),
    next: (limits, now) => write((context) => sending.nextBatch(context, limits, now)),
    dueAt: (limits) => read((context) => sending.nextBatchTime(context, limits)),
    correctTimes: (now) => write((context) => sending.correctTimes(context, Math.floor(now))),
    sent: (batch, at) => write((context) => sending.recordSent(context, batch, at)),
    doubt: (batch, until) => write((context) => sending.doubtBatch(context, batch, Math.ceil(until))),
    rest: (batch, until) => write((context) => sending.restBatch(context, batch, Math.ceil(until))),
    release: (batch) => write((context) => sending.releaseBatch(context, batch)),
    split: (batch) => write((context) => sending.splitBatch(context, batch)),
    bury: (batch, reason, at) => write((context) => sending.buryBatch(context, batch, reason, at)),
    dead: (filter, most) => read((context) => listDeadLetters(context, filter, most)),
    deadLetter: (key) => read((context) => readDeadLetter(context, key)),
    retry: (filter, now) => write((context) => retryDeadLetters(context, filter, now)),
    drop: (filter) => write((context) => dropDeadLetters(context, filter)),
    status: () => read((context) => readStatus(context, limit)),
    outdated: (redactor) => read((context) => countOutdated(context, redactor)),
  };
}
