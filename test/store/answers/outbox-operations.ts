/** Operations on the outbox. */
import fc from 'fast-check';
import type { NewContent, ThreadMail } from '../../../src/store/outbox/tables.ts';
import type { Store } from '../../../src/store/store.ts';
import {
  few,
  json,
  methods,
  name,
  now,
  type Operation,
  operation,
  organization,
  orNull,
  text,
  time,
} from './operation.ts';

const LIMIT = { items: 20, bytes: 4000 };
const source = fc.constantFrom('desk', 'mail');
const version = fc.nat(2);
const openOutbox = (store: Store, id: string) => store.outbox(id, LIMIT);

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

/** One of the first batches, if it exists. */
const batch = fc.integer({ min: 1, max: 4 });
const later = time.map((at) => at + 0.5);

export const OUTBOX_OPERATIONS: Readonly<Record<string, Operation>> = {
  ...methods(
    'outbox',
    openOutbox,
    {
      position: [source],
      polled: [source, time],
      reset: [source, time],
      hint: [source, orNull(fc.constantFrom('d1', 'd3')), few(name), time],
      rechecks: [source, now, fc.nat(5)],
      recheckAt: [source],
      postponeRecheck: [source, name, time],
      recover: [],
      next: [limits, now],
      dueAt: [fc.record({ open: fc.integer({ min: 1, max: 3 }) })],
      correctTimes: [time],
      sent: [batch, time],
      doubt: [batch, later],
      rest: [batch, later],
      release: [batch],
      split: [batch],
      dead: [filter, fc.nat(5)],
      deadLetter: [name],
      retry: [filter, time],
      drop: [filter],
      status: [],
      recent: [time],
      find: [name],
      outdated: [fc.constant('1')],
    },
    { next: 8, sent: 2, doubt: 2, rest: 2, release: 2, split: 2 },
  ),
  'outbox.put': operation(
    fc.tuple(organization, deposit, fc.boolean()),
    ({ store, hints }, [id, added, handles]) =>
      openOutbox(store, id).put(handles ? { ...added, handled: hints } : added),
    8,
  ),
  'outbox.processed': operation(fc.tuple(organization, source), async ({ store }, [id, from]) =>
    [...(await openOutbox(store, id).processed(from))].toSorted(),
  ),
  'outbox.hints': operation(fc.tuple(organization, source, fc.nat(5)), async (run, [id, from, most]) => {
    run.hints = await openOutbox(run.store, id).hints(from, most);
    return run.hints.map((hint) => hint.id);
  }),
  'outbox.bury': operation(
    fc.tuple(organization, name, time),
    async ({ store }, [id, reason, at]) => {
      const outbox = openOutbox(store, id);
      const next = await outbox.next({ items: 1, bytes: 5000, open: 9 }, at);
      await outbox.bury(next?.id ?? 1, reason, at);
      return next;
    },
    4,
  ),
};
