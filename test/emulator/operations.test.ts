import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { EmulatorState } from '../../src/emulator/emulator.ts';
import { OPERATIONS } from '../../src/emulator/families.ts';
import { ALL_FEATURES } from '../../src/emulator/model/features.ts';
import { type Fixture, fixture } from './fixture.ts';
import { collaborationRows } from './operation-rows-collaboration.ts';
import { contentRows } from './operation-rows-content.ts';
import { conversationRows } from './operation-rows-conversations.ts';
import { documentRows } from './operation-rows-documents.ts';
import { integrationRows } from './operation-rows-integrations.ts';
import { organizationRows } from './operation-rows-organization.ts';
import { siteRows } from './operation-rows-site.ts';
import { buildWorld, checkRow, findUntested, ORG, type Row, readRow, SEED, SITE, titled } from './operation-world.ts';

/* Every operation: accepted requests with their answers, and rejected requests with their messages. */

const tables = {
  ...organizationRows,
  ...contentRows,
  ...conversationRows,
  ...siteRows,
  ...collaborationRows,
  ...documentRows,
  ...integrationRows,
};

let world: Fixture;
let state: EmulatorState;
let ids: Record<string, string>;

beforeAll(async () => {
  world = await fixture({ seed: SEED, processing: { conversations: 0 } });
  ids = await buildWorld(world);
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

describe.each(Object.entries(tables))('%s', (_, rows) => {
  test.each(rows.map(titled))('%s', async (_title, row) => {
    isChanged = (await checkRow(world, row, ids)).status < 400;
  });
});

test('the tables call every operation with valid and invalid input', async () => {
  world.emulator.requests.reset();
  for (const row of Object.values(tables).flat()) {
    world.emulator.restore(state);
    const { method, path, body } = readRow(row, ids);
    await world.call(method, path, body);
  }
  const names = OPERATIONS.filter(({ feature }) => feature === undefined || ALL_FEATURES[feature]);
  const called = names.map((operation) => operation.name);
  expect(findUntested(world.emulator.requests.entries, called)).toEqual([]);
});

test('a refused request changes nothing', async () => {
  const changed: string[] = [];
  for (const row of Object.values(tables).flat()) {
    const { method, path, body, status } = readRow(row, ids);
    if (status >= 400) {
      world.emulator.restore(state);
      await world.call(method, path, body);
      // Numbers may be used up: they are part of ids, and have no meaning.
      if (!isDeepStrictEqual({ ...world.emulator.state(), sequence: 0 }, { ...state, sequence: 0 })) {
        changed.push(`${method} ${path} ${JSON.stringify(body)}`);
      }
    }
  }
  expect(changed).toEqual([]);
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
  const reply = await checkRow(world, row, ids);
  expect(reply.headers.get('location')).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/v1\/\w+/);
});

const unlocated: readonly Row[] = [
  [`PUT ${ORG}/teams`, { title: 'T' }, 201],
  [`POST ${ORG}/openapi`, { slug: 'x', source: { text: '-' } }, 201],
  ['POST /orgs/org_other/link-invites', { role: 'read' }, 201],
  [`POST ${ORG}/translations`, { source: { space: '{two}', language: 'en' }, language: 'de' }, 201],
];

test.each(unlocated.map(titled))('%s without a Location', async (_, row) => {
  const reply = await checkRow(world, row, ids);
  expect(reply.headers.get('location')).toBeNull();
});
