import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { EmulatorState } from '../../src/emulator/emulator.ts';
import { OPERATIONS } from '../../src/emulator/families.ts';
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
const UNLOCATED = /\/(?:teams|openapi|link-invites|mcp-servers|translations)\b/;

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

test('the tables call every operation, and a refused request changes nothing', async () => {
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
  const called = new Set(entries.filter(({ status }) => (status ?? 500) < 300).map(({ operation }) => operation));
  expect(OPERATIONS.filter(({ name }) => !called.has(name)).map(({ name }) => name)).toEqual([]);
});

/** Operations that take an unknown id: it is created, was deleted, or belongs to an unknown integration. */
const FOUND = [
  'GET /spaces/{spaceId} deleted 200',
  'PUT /orgs/{organizationId}/openapi/{specSlug} org_other 201',
  'PUT /orgs/{organizationId}/openapi/{specSlug} none 201',
  'POST /integrations/{integrationName} none 200',
  'DELETE /integrations/{integrationName}/installations/{installationId} none 204',
];

/** The path of the operation that a request calls, by its segments. */
function templateOf(method: string, parts: readonly string[]): readonly string[] {
  const isHole = (part: string) => part.startsWith('{');
  const fitting = OPERATIONS.filter((one) => one.method === method)
    .map(({ path }) => path.split('/'))
    .filter((one) => one.length === parts.length && one.every((part, at) => isHole(part) || part === parts[at]));
  return fitting.toSorted((a, b) => a.filter(isHole).length - b.filter(isHole).length)[0] ?? [];
}

test('whatever id of a path is unknown, it is not found, and its deletion is done', async () => {
  const found = new Set<string>();
  for (const row of rows.filter((one) => readRow(one, {}).status < 300)) {
    const { method, path, body } = readRow(row, world.ids);
    const [pathname = '', query = ''] = path.split(/(?=\?)/);
    const parts = pathname.split('/');
    const template = templateOf(method, parts);
    for (const [at, hole] of template.entries().filter(([, part]) => part.startsWith('{'))) {
      // Ids of nothing, of a deleted space, and of an organization that has nothing.
      const hasMore = template.slice(at + 1).some((part) => part.startsWith('{'));
      const others =
        { '{spaceId}': [world.ids.dead ?? ''], '{organizationId}': hasMore ? ['org_other'] : [] }[hole] ?? [];
      for (const other of ['none', ...others].filter((one) => one !== parts[at])) {
        world.emulator.restore(state);
        const reply = await world.call(method, parts.with(at, other).join('/') + query, body);
        const isDone =
          method === 'DELETE' && reply.status === 204 && (at === parts.length - 1 || other === 'org_other');
        if (!isDone && !(reply.status === 404 && / "[^"]+" not found$/.test(reply.body.error.message))) {
          const named = other === world.ids.dead ? 'deleted' : other;
          found.add(`${method} ${template.join('/')} ${named} ${reply.status}`);
        }
      }
    }
  }
  expect([...found]).toEqual(FOUND);
});
