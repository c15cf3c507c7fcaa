import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { EmulatorState } from '../../src/emulator/emulator.ts';
import { OPERATIONS } from '../../src/emulator/families.ts';
import { rows, tables } from './operation-rows.ts';
import {
  checkRow,
  type OperationWorld,
  ORG,
  openOperationWorld,
  type Row,
  readRow,
  SITE,
  titled,
} from './operation-world.ts';

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

describe.each(Object.entries(tables))('%s', (_, some) => {
  test.each(some.map(titled))('%s', async (_title, row) => {
    isChanged = (await checkRow(world, row)).status < 400;
  });
});

test('the tables call every operation with valid and invalid input, and a refused request changes nothing', async () => {
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
  const isTested = (name: string) =>
    isCalled(name, (status) => status < 300) && isCalled(name, (status) => status >= 400);
  expect(OPERATIONS.map(({ name }) => name).filter((name) => !isTested(name))).toEqual([]);
});

/** Resources that are created with a Location. Source: docs/platform-notes.md#write-status-codes */
const located: readonly Row[] = [
  [`POST ${ORG}/spaces`, {}, 201],
  ['POST /spaces/{one}/duplicate', 201],
  [`POST ${ORG}/collections`, {}, 201],
  [`POST ${ORG}/sites`, {}, 201],
  [`POST ${SITE}/site-spaces`, { spaceId: '{inside}' }, 201],
  [`POST ${SITE}/sections`, { spaceId: '{inside}' }, 201],
  [`POST ${SITE}/section-groups`, { title: 'G' }, 201],
  [`POST ${SITE}/section-groups/{group}/sections`, { sectionId: '{api}' }, 201],
  [`POST ${ORG}/saml`, { label: 'L' }, 201],
  ['POST /spaces/{one}/change-requests', { subject: 'S' }, 201],
  ['POST /spaces/{one}/change-requests/{draft}/reviews', { status: 'approved' }, 201],
  ['POST /integrations/zendesk/installations', { organization: 'org_other' }, 201],
];

test.each(located.map(titled))('%s with a Location', async (_, row) => {
  const reply = await checkRow(world, row);
  expect(reply.headers.get('location')).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/v1\/\w+/);
});

const unlocated: readonly Row[] = [
  [`PUT ${ORG}/teams`, { title: 'T' }, 201],
  [`POST ${ORG}/openapi`, { slug: 'x', source: { text: '-' } }, 201],
  ['POST /orgs/org_other/link-invites', { role: 'read' }, 201],
  [`POST ${ORG}/translations`, { source: { space: '{two}', language: 'en' }, language: 'de' }, 201],
];

test.each(unlocated.map(titled))('%s without a Location', async (_, row) => {
  const reply = await checkRow(world, row);
  expect(reply.headers.get('location')).toBeNull();
});
