/** Operations on the outbox. */
import fc from 'fast-check';
import type { NewContent, ThreadMail } from '../../../src/store/outbox/outbox.ts';
import {
  few,
  json,
  name,
  now,
  type Operation,
  operation,
  organization,
  orNull,
  type StoreRun,
  text,
  time,
} from './operation.ts';

const LIMIT = { items: 20, bytes: 4000 };
const source = fc.constantFrom('desk', 'mail');
const version = fc.nat(2);
const open = ({ store }: StoreRun, id: string) => store.outbox(id, LIMIT);

const mail = fc.record({
  id: fc.constantFrom('m1', 'm2', 'm3', 'm4'),
  at: orNull(time),
  role: fc.constantFrom('customer', 'agent'),
  subject: name,
  body: text,
});

const thread = fc.record({ mails: fc.array(mail, { minLength: 1, maxLength: 3 }), more: few(mail) }).map((input) => ({
  mails: input.mails,
  links: [...new Set([...input.mails, ...input.more].map((each) => each.id))],
  redactAgain: (body: string) => `${body}!`,
  compose: (key: string, mails: readonly ThreadMail[]) => {
    const payload = JSON.stringify({ key, mails });
    return mails.some((each) => each.role === 'customer') ? { payload, hash: payload, notBefore: null } : null;
  },
}));

const content = fc
  .record({
    key: name,
    version,
    redactor: fc.constantFrom('1', '2'),
    size: fc.nat(300),
    at: orNull(time),
    recheck: fc.boolean(),
  })
  .map(({ key, version: number, redactor, size, at, recheck }): NewContent => {
    const payload = JSON.stringify({ key, number, text: 'x'.repeat(size) });
    return {
      ...{ kind: 'content', key, hash: `${key}#${number}`, redactor, payload, notBefore: at },
      ...(recheck ? { recheck: `id-${key}` } : {}),
    };
  });

const entry = fc.oneof(
  { weight: 5, arbitrary: content },
  { weight: 1, arbitrary: fc.tuple(content, thread).map(([base, added]): NewContent => ({ ...base, thread: added })) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('ineligible' as const, 'gone' as const), key: name }) },
);

const deposit = fc.record(
  {
    source,
    at: time,
    entries: fc.array(entry, { minLength: 1, maxLength: 10 }),
    counts: fc.dictionary(fc.constantFrom('read', 'skipped'), fc.nat(3), { noNullPrototype: true }),
    cursor: fc.record(
      { value: json, round: fc.nat(1), processed: fc.record({ add: few(name), remove: few(name) }) },
      { requiredKeys: ['value', 'round'] },
    ),
    delivery: orNull(fc.constantFrom('d1', 'd2')),
    lookedAt: time,
    rechecked: few(name),
  },
  { requiredKeys: ['source', 'at', 'entries', 'counts'] },
);

const limits = fc.record({
  items: fc.integer({ min: 1, max: 4 }),
  bytes: fc.constantFrom(200, 5000),
  open: fc.integer({ min: 1, max: 3 }),
});
const filter = fc.record({ source, key: name }, { requiredKeys: [] });

/** Operation on one of the first batches, if it exists. */
const onBatch = (call: (outbox: ReturnType<typeof open>, batch: number, at: number) => Promise<unknown>) =>
  operation(
    fc.tuple(organization, fc.integer({ min: 1, max: 4 }), time),
    (run, [id, batch, at]) => call(open(run, id), batch, at),
    2,
  );

export const OUTBOX_OPERATIONS: Readonly<Record<string, Operation>> = {
  'outbox.put': operation(
    fc.tuple(organization, deposit, fc.boolean()),
    (run, [id, added, handles]) => open(run, id).put(handles ? { ...added, handled: run.hints } : added),
    8,
  ),
  'outbox.position': operation(fc.tuple(organization, source), (run, [id, from]) => open(run, id).position(from)),
  'outbox.processed': operation(fc.tuple(organization, source), async (run, [id, from]) =>
    [...(await open(run, id).processed(from))].toSorted(),
  ),
  'outbox.polled': operation(fc.tuple(organization, source, time), (run, [id, from, at]) =>
    open(run, id).polled(from, at),
  ),
  'outbox.reset': operation(fc.tuple(organization, source, time), (run, [id, from, at]) =>
    open(run, id).reset(from, at),
  ),
  'outbox.hint': operation(
    fc.tuple(organization, source, orNull(fc.constantFrom('d1', 'd3')), few(name), time),
    (run, [id, from, delivery, ids, at]) => open(run, id).hint(from, delivery, ids, at),
  ),
  'outbox.hints': operation(fc.tuple(organization, source, fc.nat(5)), async (run, [id, from, most]) => {
    run.hints = await open(run, id).hints(from, most);
    return run.hints.map((hint) => hint.id);
  }),
  'outbox.rechecks': operation(fc.tuple(organization, source, now, fc.nat(5)), (run, [id, from, at, most]) =>
    open(run, id).rechecks(from, at, most),
  ),
  'outbox.recheckAt': operation(fc.tuple(organization, source), (run, [id, from]) => open(run, id).recheckAt(from)),
  'outbox.postponeRecheck': operation(fc.tuple(organization, source, name, time), (run, [id, from, key, until]) =>
    open(run, id).postponeRecheck(from, key, until),
  ),
  'outbox.recover': operation(organization, (run, id) => open(run, id).recover()),
  'outbox.next': operation(
    fc.tuple(organization, limits, now),
    (run, [id, most, at]) => open(run, id).next(most, at),
    8,
  ),
  'outbox.dueAt': operation(fc.tuple(organization, fc.integer({ min: 1, max: 3 })), (run, [id, most]) =>
    open(run, id).dueAt({ open: most }),
  ),
  'outbox.correctTimes': operation(fc.tuple(organization, time), (run, [id, at]) => open(run, id).correctTimes(at)),
  'outbox.sent': onBatch((outbox, batch, at) => outbox.sent(batch, at)),
  'outbox.doubt': onBatch((outbox, batch, at) => outbox.doubt(batch, at + 0.5)),
  'outbox.rest': onBatch((outbox, batch, at) => outbox.rest(batch, at + 0.5)),
  'outbox.release': onBatch((outbox, batch) => outbox.release(batch)),
  'outbox.split': onBatch((outbox, batch) => outbox.split(batch)),
  'outbox.bury': operation(
    fc.tuple(organization, name, time),
    async (run, [id, reason, at]) => {
      const outbox = open(run, id);
      const batch = await outbox.next({ items: 1, bytes: 5000, open: 9 }, at);
      await outbox.bury(batch?.id ?? 1, reason, at);
      return batch;
    },
    4,
  ),
  'outbox.dead': operation(fc.tuple(organization, filter, fc.nat(5)), (run, [id, which, most]) =>
    open(run, id).dead(which, most),
  ),
  'outbox.deadLetter': operation(fc.tuple(organization, name), (run, [id, key]) => open(run, id).deadLetter(key)),
  'outbox.retry': operation(fc.tuple(organization, filter, time), (run, [id, which, now]) =>
    open(run, id).retry(which, now),
  ),
  'outbox.drop': operation(fc.tuple(organization, filter), (run, [id, which]) => open(run, id).drop(which)),
  'outbox.status': operation(organization, (run, id) => open(run, id).status()),
  'outbox.outdated': operation(organization, (run, id) => open(run, id).outdated('1')),
};
