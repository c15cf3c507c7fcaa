/** Operations on records, notes, history, commit statuses and sessions. */
import fc from 'fast-check';
import type { NewPass } from '../../../src/store/history.ts';
import { event } from './notification-operations.ts';
import { actor, few, json, methods, name, type Operation, operation, orNull, text, time } from './operation.ts';

const address = name.map((value) => `team/${value}`);
const checksum = fc.constantFrom('sum_1', 'sum_2');

const entry = fc.record({
  address,
  kind: fc.constantFrom('team', 'page'),
  id: orNull(name),
  fields: json,
  protect: fc.boolean(),
  metadata: json,
});

const decision = fc.record({
  checksum,
  verdict: fc.constantFrom('approved' as const, 'rejected' as const),
  by: actor,
  reason: text,
  at: time,
});

const change = fc.record({
  address,
  action: fc.constantFrom('create', 'update'),
  status: fc.constantFrom('done', 'failed'),
  error: orNull(text),
});

const pass: fc.Arbitrary<NewPass> = fc.record({
  trigger: name,
  commit: orNull(name),
  subject: text,
  author: orNull(name),
  outcome: fc.constantFrom('done', 'held', 'failed'),
  checksum: orNull(checksum),
  counts: fc.dictionary(fc.constantFrom('created', 'failed'), fc.nat(5), { noNullPrototype: true }),
  reads: fc.nat(9),
  writes: fc.nat(1),
  refused: fc.nat(1),
  milliseconds: fc.constantFrom(0, 0.25, 1234.5, 1e9),
  error: orNull(text),
  endedAt: time,
  changes: few(change, 12),
  plan: orNull(fc.record({ heldChecksum: fc.constantFrom('held_1', 'held_2'), more: json })),
});

const auditEntry = fc.record({
  at: time,
  actor,
  action: name,
  subject: text,
  reason: text,
  outcome: fc.constantFrom('done' as const, 'refused' as const),
  detail: text,
});

const audited = fc.record({
  before: fc.option(fc.record({ at: time, number: fc.nat(4) }), { nil: undefined }),
  limit: fc.nat(5),
});

const pause = fc.record({ address, reason: text, by: actor, since: time, until: orNull(time) });

const status = fc.record({
  state: fc.constantFrom('pending' as const, 'success' as const),
  description: text,
  url: orNull(name),
});

const commitStatus = fc.record({
  commit: fc.oneof(name, fc.nat(200).map(String)),
  context: name,
  wanted: status,
  sent: orNull(status),
  applied: fc.nat(3),
  total: fc.constantFrom(null, 3),
  deployment: fc.constant(null),
  changedAt: time,
});

/** Events of a pass, whose ids depend on its number. */
const passEvents = few(event).map(
  (events) => (number: number) => events.map((each) => ({ ...each, id: `${each.id}/${number}` })),
);

export const RECORD_OPERATIONS: Readonly<Record<string, Operation>> = {
  ...methods('record', (store, id) => store.organization(id), {
    read: [],
    put: [few(entry, 12)],
    remove: [few(address)],
    moveHead: [fc.record({ commit: orNull(name), at: time }), few(checksum)],
    decisions: [],
    decide: [decision, few(event)],
  }),
  'note.read': operation(name, ({ store }, topic) => store.note(topic).read()),
  'note.write': operation(fc.tuple(name, json), ({ store }, [topic, value]) => store.note(topic).write(value)),
  ...methods(
    'history',
    (store, id) => store.history(id),
    {
      addPass: [pass, passEvents],
      passes: [fc.record({ before: fc.option(fc.nat(9), { nil: undefined }), limit: fc.nat(4) })],
      pass: [fc.nat(6)],
      passOfPlan: [fc.constantFrom('sum_1', 'held_1', 'held_2')],
      changesOf: [address, fc.nat(5)],
      addAudit: [auditEntry, few(event)],
      audit: [audited],
      pauses: [time],
      pause: [pause],
      resume: [address],
    },
    { addPass: 6 },
  ),
  ...methods('statuses', (store, id) => store.commitStatuses(id), { list: [], put: [few(commitStatus, 60)] }),
  ...methods('sessions', (store) => store.sessions(), {
    get: [name, time],
    list: [time],
    put: [fc.record({ id: name, data: json, expiresAt: time }), time],
    update: [name, json],
    remove: [name],
  }),
};
