/** Operations on records, notes, history, commit statuses and sessions. */
import fc from 'fast-check';
import type { NewPass } from '../../../src/store/history.ts';
import { event } from './notification-operations.ts';
import { actor, few, json, name, type Operation, operation, organization, orNull, text, time } from './operation.ts';

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

const RECORD: Readonly<Record<string, Operation>> = {
  'record.read': operation(organization, ({ store }, id) => store.organization(id).read()),
  'record.put': operation(fc.tuple(organization, few(entry, 12)), ({ store }, [id, entries]) =>
    store.organization(id).put(entries),
  ),
  'record.remove': operation(fc.tuple(organization, few(address)), ({ store }, [id, addresses]) =>
    store.organization(id).remove(addresses),
  ),
  'record.moveHead': operation(
    fc.tuple(organization, fc.record({ commit: orNull(name), at: time }), few(checksum)),
    ({ store }, [id, head, served]) => store.organization(id).moveHead(head, served),
  ),
  'record.decisions': operation(organization, ({ store }, id) => store.organization(id).decisions()),
  'record.decide': operation(
    fc.tuple(
      organization,
      fc.record({
        checksum,
        verdict: fc.constantFrom('approved' as const, 'rejected' as const),
        by: actor,
        reason: text,
        at: time,
      }),
      few(event),
    ),
    ({ store }, [id, decision, events]) => store.organization(id).decide(decision, events),
  ),
  'note.read': operation(name, ({ store }, topic) => store.note(topic).read()),
  'note.write': operation(fc.tuple(name, json), ({ store }, [topic, value]) => store.note(topic).write(value)),
};

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

const HISTORY: Readonly<Record<string, Operation>> = {
  'history.addPass': operation(
    fc.tuple(organization, pass, few(event)),
    ({ store }, [id, added, events]) =>
      store.history(id).addPass(added, (number) => events.map((each) => ({ ...each, id: `${each.id}/${number}` }))),
    6,
  ),
  'history.passes': operation(
    fc.tuple(organization, fc.option(fc.nat(9), { nil: undefined }), fc.nat(4)),
    ({ store }, [id, before, limit]) => store.history(id).passes({ before, limit }),
  ),
  'history.pass': operation(fc.tuple(organization, fc.nat(6)), ({ store }, [id, number]) =>
    store.history(id).pass(number),
  ),
  'history.passOfPlan': operation(
    fc.tuple(organization, fc.constantFrom('sum_1', 'held_1', 'held_2')),
    ({ store }, [id, sum]) => store.history(id).passOfPlan(sum),
  ),
  'history.changesOf': operation(fc.tuple(organization, address, fc.nat(5)), ({ store }, [id, resource, limit]) =>
    store.history(id).changesOf(resource, limit),
  ),
  'history.addAudit': operation(
    fc.tuple(
      organization,
      fc.record({
        at: time,
        actor,
        action: name,
        subject: text,
        reason: text,
        outcome: fc.constantFrom('done' as const, 'refused' as const),
        detail: text,
      }),
      few(event),
    ),
    ({ store }, [id, added, events]) => store.history(id).addAudit(added, events),
  ),
  'history.audit': operation(
    fc.tuple(organization, fc.option(fc.record({ at: time, number: fc.nat(4) }), { nil: undefined }), fc.nat(5)),
    ({ store }, [id, before, limit]) => store.history(id).audit({ before, limit }),
  ),
  'history.pauses': operation(fc.tuple(organization, time), ({ store }, [id, now]) => store.history(id).pauses(now)),
  'history.pause': operation(
    fc.tuple(organization, fc.record({ address, reason: text, by: actor, since: time, until: orNull(time) })),
    ({ store }, [id, pause]) => store.history(id).pause(pause),
  ),
  'history.resume': operation(fc.tuple(organization, address), ({ store }, [id, paused]) =>
    store.history(id).resume(paused),
  ),
};

const status = fc.record({
  state: fc.constantFrom('pending' as const, 'success' as const),
  description: text,
  url: orNull(name),
});

const OTHERS: Readonly<Record<string, Operation>> = {
  'statuses.list': operation(organization, ({ store }, id) => store.commitStatuses(id).list()),
  'statuses.put': operation(
    fc.tuple(
      organization,
      few(
        fc.record({
          commit: fc.oneof(name, fc.nat(200).map(String)),
          context: name,
          wanted: status,
          sent: orNull(status),
          applied: fc.nat(3),
          total: fc.constantFrom(null, 3),
          deployment: fc.constant(null),
          changedAt: time,
        }),
        60,
      ),
    ),
    ({ store }, [id, records]) => store.commitStatuses(id).put(records),
  ),
  'sessions.get': operation(fc.tuple(name, time), ({ store }, [id, now]) => store.sessions().get(id, now)),
  'sessions.list': operation(time, ({ store }, now) => store.sessions().list(now)),
  'sessions.put': operation(
    fc.tuple(fc.record({ id: name, data: json, expiresAt: time }), time),
    ({ store }, [session, now]) => store.sessions().put(session, now),
  ),
  'sessions.update': operation(fc.tuple(name, json), ({ store }, [id, data]) => store.sessions().update(id, data)),
  'sessions.remove': operation(name, ({ store }, id) => store.sessions().remove(id)),
};

export const RECORD_OPERATIONS = { ...RECORD, ...HISTORY, ...OTHERS };
