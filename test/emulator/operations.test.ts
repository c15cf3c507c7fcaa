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
import { buildWorld, ORG, type Row, SEED, SITE } from './operation-world.ts';

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

function filled<T>(value: T): T {
  const text = JSON.stringify(value).replace(/\{(\w+)\}/g, (whole, name: string) => ids[name] ?? whole);
  return JSON.parse(text) as T;
}

const named = ([method, path, body, status, says]: Row) => ({ method, path, body, status, says });

describe.each(Object.entries(tables))('%s', (_, rows) => {
  test.each(rows.map(named))('$method $path $body → $status', async ({ method, path, body, status, says }) => {
    const filledBody = body === undefined ? undefined : filled(body);
    const reply = await world.call(method, filled(path), filledBody);
    isChanged = reply.status < 400;
    expect({ status: reply.status, error: reply.body.error?.message }).toMatchObject({ status });
    if (status >= 400) {
      expect(reply.body).toEqual({ error: { code: status, message: expect.stringContaining(String(says ?? '')) } });
    } else if (says !== undefined) {
      expect(reply.body).toMatchObject(filled(says) as object);
    }
    if (status === 204 || status === 205) {
      expect(reply.body).toBe('');
    }
  });
});

test('the tables call every operation with valid and invalid input', async () => {
  world.emulator.requests.reset();
  for (const [method, path, body] of Object.values(tables).flat()) {
    world.emulator.restore(state);
    await world.call(method, filled(path), body === undefined ? undefined : filled(body));
  }
  const { entries } = world.emulator.requests;
  const good = new Set(entries.filter((entry) => (entry.status ?? 0) < 300).map((entry) => entry.operation));
  const bad = new Set(entries.filter((entry) => (entry.status ?? 0) >= 400).map((entry) => entry.operation));
  const names = OPERATIONS.filter(({ feature }) => feature === undefined || ALL_FEATURES[feature]).map(
    (operation) => operation.name,
  );
  expect(names.filter((name) => !good.has(name))).toEqual([]);
  expect(names.filter((name) => !bad.has(name))).toEqual([]);
});

test('a refused request changes nothing', async () => {
  const changed: string[] = [];
  for (const [method, path, body, status] of Object.values(tables).flat()) {
    if (status >= 400) {
      world.emulator.restore(state);
      await world.call(method, filled(path), body === undefined ? undefined : filled(body));
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
  ['POST', `${ORG}/spaces`, {}, 201],
  ['POST', '/spaces/{one}/duplicate', undefined, 201],
  ['POST', `${ORG}/collections`, {}, 201],
  ['POST', `${ORG}/sites`, {}, 201],
  ['POST', `${SITE}/site-spaces`, { spaceId: '{inside}' }, 201],
  ['POST', `${SITE}/sections`, { spaceId: '{inside}' }, 201],
  ['POST', `${SITE}/section-groups`, { title: 'G' }, 201],
  ['POST', `${SITE}/section-groups/{group}/sections`, { sectionId: '{api}' }, 201],
  ['POST', `${ORG}/saml`, { label: 'L' }, 201],
  ['POST', '/spaces/{one}/change-requests', { subject: 'S' }, 201],
  ['POST', '/spaces/{one}/change-requests/{draft}/reviews', { status: 'approved' }, 201],
  ['POST', '/integrations/zendesk/installations', { organization: 'org_other' }, 201],
];

test.each(located.map(named))('$method $path sends a Location', async ({ method, path, body }) => {
  const reply = await world.call(method, filled(path), body === undefined ? undefined : filled(body));
  expect(reply.headers.get('location')).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/v1\/\w+/);
});

const unlocated: readonly Row[] = [
  ['PUT', `${ORG}/teams`, { title: 'T' }, 201],
  ['POST', `${ORG}/openapi`, { slug: 'x', source: { text: '-' } }, 201],
  ['POST', '/orgs/org_other/link-invites', { role: 'read' }, 201],
  ['POST', `${ORG}/translations`, { source: { space: '{two}', language: 'en' }, language: 'de' }, 201],
];

test.each(unlocated.map(named))('$method $path sends no Location', async ({ method, path, body }) => {
  const reply = await world.call(method, filled(path), filled(body));
  expect(reply.status).toBe(201);
  expect(reply.headers.get('location')).toBeNull();
});
