import type { DatabaseSync } from 'node:sqlite';
import type { Json } from '../core/json.ts';
import type { Outbox, OutboxLimit } from './outbox.ts';
import { DeadTables } from './outbox-dead.ts';
import { DepositTables } from './outbox-deposit.ts';
import { RecheckTables } from './outbox-rechecks.ts';
import { SendingTables } from './outbox-sending.ts';
import { SourceTables } from './outbox-sources.ts';
import { StatusTables } from './outbox-status.ts';
import { OutboxTables } from './outbox-tables.ts';
import { ThreadTables } from './outbox-threads.ts';

/** Error handling of the file that holds the outbox; both members throw StoreError. */
export interface OutboxFile {
  run<T>(work: () => T): T;
  parse(text: unknown): Json;
}

/**
 * Outbox of one organization in a database that has its tables. Times are stored as whole milliseconds, because times
 * from a provider, a monotonic clock or random jitter may have fractions.
 */
export function openOutbox(database: DatabaseSync, file: OutboxFile, organization: string, limit: OutboxLimit): Outbox {
  const tables = new OutboxTables(database, organization, file.run);
  const sources = new SourceTables(tables, file.parse);
  const rechecks = new RecheckTables(tables);
  const threads = new ThreadTables(tables);
  const deposits = new DepositTables(tables, { sources, rechecks, threads, limit });
  const sending = new SendingTables(tables, rechecks);
  const dead = new DeadTables(tables, rechecks);
  const status = new StatusTables(tables, file.parse);
  return {
    put: (deposit) => deposits.put(deposit),
    position: (source) => tables.read(() => sources.position(source)),
    processed: (source) => tables.read(() => sources.processed(source)),
    polled: (source, at) => tables.write(() => sources.polled(source, at)),
    reset: (source, since) => tables.write(() => sources.reset(source, since)),
    hint: (source, delivery, ids, at) =>
      tables.write(() => {
        const isNew = delivery === null || sources.remember(source, delivery, at);
        sources.hint(source, isNew ? ids : []);
        tables.count(source, 'hinted', isNew ? ids.length : 0);
        return isNew;
      }),
    hints: (source, most) => tables.read(() => sources.hints(source, most)),
    rechecks: (source, now, most) => tables.read(() => rechecks.due(source, now, most)),
    recheckAt: (source) => tables.read(() => rechecks.at(source)),
    postponeRecheck: (source, key, until) => tables.write(() => rechecks.postpone(source, key, Math.ceil(until))),
    recover: () => sending.recover(),
    next: (limits, now) => sending.next(limits, now),
    dueAt: (open) => sending.dueAt(open),
    setBack: (by, now) => sending.setBack(Math.round(by), now),
    sent: (batch, at) => sending.sent(batch, at),
    doubt: (batch, until) => sending.doubt(batch, Math.ceil(until)),
    rest: (batch, until) => sending.rest(batch, Math.ceil(until)),
    release: (batch) => sending.release(batch),
    split: (batch) => sending.split(batch),
    bury: (batch, reason, at) => sending.bury(batch, reason, at),
    dead: (filter, most) => dead.list(filter, most),
    deadLetter: (key) => dead.show(key),
    retry: (filter, now) => dead.retry(filter, now),
    drop: (filter) => dead.drop(filter),
    status: () =>
      tables.read(() => ({ stored: tables.stored(), limit, isFull: deposits.isFull(), sources: status.sources() })),
    outdated: (redactor) => tables.read(() => status.outdated(redactor)),
  };
}
