import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { EmulatorState } from '../../src/emulator/emulator.ts';
import { OPERATIONS } from '../../src/emulator/families.ts';
import { noBody, noQuery } from '../../src/emulator/model/schema.ts';
import { rows, tables } from './operation-rows.ts';
import { checkRow, type OperationWorld, openOperationWorld, readRow, titled } from './operation-world.ts';

/* Every operation, with valid and invalid input. */

let world: OperationWorld;
let state: EmulatorState;

beforeAll(async () => {
  world = await openOperationWorld();
  state = world.emulator.state();
});
afterAll(() => world.emulator.close());
/** True if a call may have changed the state: a refused request changes nothing, as a test below shows. */
let isChanged = true;
beforeEach(() => {
  if (isChanged) {
    world.emulator.restore(state);
  }
  isChanged = true;
});

/** Resources that are created without a Location. Source: docs/platform-notes.md#write-status-codes */
const UNLOCATED = /\/(?:teams|openapi|link-invites|translations)\b/;

describe.each(Object.entries(tables))('%s', (_, some) => {
  test.each(some.map(titled))('%s', async (_title, row) => {
    const { status, headers } = await checkRow(world, row);
    isChanged = status < 400;
    if (status === 201) {
      const located = expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/v1\/\w+/);
      expect(headers.get('location')).toEqual(UNLOCATED.test(row[0]) ? null : located);
    }
  });
});

test('the tables call every operation, also in vain, and a refused request changes nothing', async () => {
  world.emulator.requests.reset();
  const changed: string[] = [];
  for (const row of rows) {
    const { method, path, body, status } = readRow(row, world.ids);
    world.emulator.restore(state);
    await world.call(method, path, body);
    // Numbers may be used up: they are part of ids, and have no meaning.
    if (status >= 400 && !isDeepStrictEqual({ ...world.emulator.state(), sequence: 0 }, { ...state, sequence: 0 })) {
      changed.push(`${method} ${path} ${JSON.stringify(body)}`);
    }
  }
  expect(changed).toEqual([]);
  const { entries } = world.emulator.requests;
  const isCalled = (name: string, is: (status: number) => boolean) =>
    entries.some(({ operation, status }) => operation === name && is(status ?? 0));
  // Queries and bodies of another form are in test/contract/forms.test.ts.
  const untested = OPERATIONS.filter(({ name, query, body }) => {
    const hasForm = query !== noQuery || body !== noBody;
    return !isCalled(name, (status) => status < 300) || !(hasForm || isCalled(name, (status) => status >= 400));
  });
  expect(untested.map(({ name }) => name)).toEqual([]);
});
