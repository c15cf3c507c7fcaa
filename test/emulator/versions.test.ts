import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { EmulatorState, PlatformVersion } from '../../src/emulator/emulator.ts';
import { OPERATIONS } from '../../src/emulator/families.ts';
import { getFeatures } from '../../src/emulator/model/features.ts';
import { type Fixture, fixture } from './fixture.ts';
import { versionRows } from './operation-rows-versions.ts';
import { at, buildWorld, ORG, type Row, SEED, SITE } from './operation-world.ts';

/* Differences between the versions of the platform: the same state and the same requests. */

let world: Fixture;
let state: EmulatorState;
let ids: Record<string, string>;

beforeAll(async () => {
  world = await fixture({ seed: SEED, processing: { conversations: 0 } });
  ids = await buildWorld(world);
  world.emulator.setFeatures(getFeatures('0.201'));
  const link = { title: 'Forum', url: 'https://forum.acme.example' };
  ids = { ...ids, link: (await world.org('POST', `/sites/${ids.site}/external-links`, link)).id };
  state = world.emulator.state();
});
afterAll(() => world.emulator.close());

function filled<T>(value: T): T {
  const text = JSON.stringify(value).replace(/\{(\w+)\}/g, (whole, name: string) => ids[name] ?? whole);
  return JSON.parse(text) as T;
}

function be(version: PlatformVersion): void {
  world.emulator.restore(state);
  world.emulator.setFeatures(getFeatures(version));
}

const call = ([method, path, body]: Row, headers?: Record<string, string>) =>
  world.call(method, filled(path), body === undefined ? undefined : filled(body), headers);

describe.each(Object.entries(versionRows))('%s', (version, rows) => {
  beforeEach(() => be(version as PlatformVersion));

  test.each(rows.map((row) => ({ row, named: `${row[0]} ${row[1]} ${JSON.stringify(row[2])}` })))(
    '$named',
    async ({ row }) => {
      const [, , , status, says] = row;
      const reply = await call(row);
      expect({ status: reply.status, error: reply.body.error?.message }).toMatchObject({ status });
      if (status >= 400) {
        expect(reply.body.error.message).toContain(String(says ?? ''));
      } else if (says !== undefined) {
        expect(reply.body).toMatchObject(filled(says) as object);
      }
    },
  );
});

test('the tables create, update and delete external links with valid and invalid input', async () => {
  world.emulator.requests.reset();
  for (const row of versionRows['0.201']) {
    be('0.201');
    await call(row);
  }
  const names = OPERATIONS.filter(({ feature }) => feature === 'externalLinks').map(({ name }) => name);
  const { entries } = world.emulator.requests;
  const answered = (isOf: (status: number) => boolean) =>
    new Set(entries.filter(({ status }) => isOf(status ?? 0)).map(({ operation }) => operation));
  expect(names).toHaveLength(3);
  expect(names.filter((name) => !answered((status) => status < 300).has(name))).toEqual([]);
  expect(names.filter((name) => !answered((status) => status >= 400).has(name))).toEqual([]);
});

describe('responses of a version', () => {
  const read = async (path: string) => (await call(['GET', path, undefined, 200])).body;

  test('contain agentsContext until 0.167, and hidden and links from their versions on', async () => {
    be('0.146');
    expect(await read(SITE)).toHaveProperty('agentsContext', 'included');
    expect((await read(`${SITE}/structure`)).structure).not.toContainEqual(
      expect.objectContaining({ object: 'site-external-link' }),
    );
    be('0.201');
    expect(await read(SITE)).not.toHaveProperty('agentsContext');
    expect((await read(`${SITE}/structure`)).structure.at(-1)).toEqual({
      object: 'site-external-link',
      id: ids.link,
      title: 'Forum',
      url: 'https://forum.acme.example',
      draft: false,
    });
    world.emulator.setFeatures({ hiddenSiteSpaces: false });
    expect((await read(`${SITE}/site-spaces`)).items[0]).not.toHaveProperty('hidden');
    expect((await call(['PATCH', `${SITE}/site-spaces/{variant}`, { hidden: true }, 400])).status).toBe(400);
  });

  test('show a link at its position, and keep it when its group is deleted', async () => {
    be('0.201');
    await call(['PATCH', `${SITE}/external-links/{link}`, { parent: '{group}' }, 200]);
    const { structure } = await read(`${SITE}/structure`);
    const group = structure.find((item: { id: string }) => item.id === ids.group);
    expect(group.children.map((child: { id: string }) => child.id)).toEqual([ids.link]);
    await call(['DELETE', `${SITE}/section-groups/{group}`, undefined, 205]);
    expect((await read(`${SITE}/structure`)).structure.map((item: { id: string }) => item.id)).toContain(ids.link);
  });
});

describe('prefer: return=minimal', () => {
  const prefer = { prefer: 'return=minimal' };
  const writes: readonly Row[] = [
    ['PATCH', SITE, { title: 'Help 2' }, 200],
    ['PATCH', `${SITE}/sections/{api}`, { title: 'New' }, 204],
    ['PATCH', `${SITE}/section-groups/{group}`, { title: 'New' }, 204],
    ['PATCH', `${SITE}/site-spaces/{variant}`, { path: 'new' }, 204],
    ['POST', `${SITE}/site-spaces`, { spaceId: '{inside}' }, 204],
    ['PATCH', `${SITE}/external-links/{link}`, { title: 'New' }, 204],
    ['PATCH', '/spaces/{one}/change-requests/{draft}', { subject: 'New' }, 204],
    [
      'PATCH',
      `${SITE}/structure/sort`,
      { item: at('site-section', '{api}'), position: { before: at('site-section', '{section}') } },
      204,
    ],
    ['POST', `${SITE}/sections`, { spaceId: '{inside}' }, 201],
    ['PATCH', ORG, { title: 'Acme 2' }, 200],
  ];

  test.each(writes.map((row) => ({ row, named: `${row[0]} ${row[1]}`, status: row[3] })))(
    '$named responds $status from 0.201 on, and as usual before',
    async ({ row, status }) => {
      be('0.201');
      const reply = await call(row, prefer);
      expect(reply.status).toBe(status);
      expect(reply.headers.get('preference-applied')).toBe(status === 204 ? 'return=minimal' : null);
      be('0.201');
      expect((await call(row)).status).not.toBe(204);
      if (!String(row[1]).includes('external-links')) {
        be('0.181');
        expect((await call(row, prefer)).status).not.toBe(204);
      }
    },
  );

  test('does not change a refusal', async () => {
    be('0.201');
    expect((await call(['PATCH', `${SITE}/sections/none`, {}, 404], prefer)).status).toBe(404);
  });
});

test.each(['0.146', '0.167', '0.181', '0.201'] as const)('version %s reports its version', async (version) => {
  be(version);
  expect(await call(['GET', '/', undefined, 200])).toMatchObject({ body: { version: `${version}.0` } });
});
