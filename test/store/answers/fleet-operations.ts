/** Operations on commands and states of organizations. */
import fc from 'fast-check';
import { COMMAND_KINDS } from '../../../src/store/commands.ts';
import { actor, few, json, methods, name, type Operation, organization, text, time } from './operation.ts';

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
  ...methods(
    'commands',
    (store) => store.commands(),
    {
      add: [command, fc.boolean()],
      open: [],
      begin: [organization, number, epoch],
      answer: [organization, number, json, time],
      findAnswer: [organization, number],
      removeBefore: [time],
    },
    { add: 3 },
  ),
  ...methods('states', (store) => store.organizationStates(), {
    write: [organization, change],
    versions: [organization],
    allVersions: [few(part, 2)],
    read: [few(organization, 2), few(part, 2)],
  }),
};
