/** Operations on commands and states of organizations. */
import fc from 'fast-check';
import { COMMAND_KINDS } from '../../../src/store/commands.ts';
import { actor, few, json, name, type Operation, operation, organization, text, time } from './operation.ts';

const number = fc.integer({ min: 1, max: 4 });
const epoch = fc.nat(5);
const part = fc.constantFrom('summary', 'plan');

const command = fc.record({
  organization,
  kind: fc.constantFrom(...COMMAND_KINDS),
  request: json,
  by: actor,
  at: time,
});
const change = fc.record({
  epoch,
  at: time,
  parts: few(fc.record({ part, hash: name, content: text })),
  removed: few(part, 1),
});

export const FLEET_OPERATIONS: Readonly<Record<string, Operation>> = {
  'commands.add': operation(
    fc.tuple(command, fc.boolean()),
    ({ store }, [added, isShared]) => store.commands().add(added, isShared),
    3,
  ),
  'commands.open': operation(fc.constant(null), ({ store }) => store.commands().open()),
  'commands.begin': operation(fc.tuple(organization, number, epoch), ({ store }, [id, which, since]) =>
    store.commands().begin(id, which, since),
  ),
  'commands.answer': operation(fc.tuple(organization, number, json, time), ({ store }, [id, which, answer, at]) =>
    store.commands().answer(id, which, answer, at),
  ),
  'commands.findAnswer': operation(fc.tuple(organization, number), ({ store }, [id, which]) =>
    store.commands().findAnswer(id, which),
  ),
  'commands.removeBefore': operation(time, ({ store }, at) => store.commands().removeBefore(at)),
  'states.write': operation(fc.tuple(organization, change), ({ store }, [id, changed]) =>
    store.organizationStates().write(id, changed),
  ),
  'states.versions': operation(organization, ({ store }, id) => store.organizationStates().versions(id)),
  'states.allVersions': operation(few(part, 2), ({ store }, parts) => store.organizationStates().allVersions(parts)),
  'states.read': operation(fc.tuple(few(organization, 2), few(part, 2)), ({ store }, [ids, parts]) =>
    store.organizationStates().read(ids, parts),
  ),
};
