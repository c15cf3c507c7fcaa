import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { EmulatorState, PlatformVersion } from '../../src/emulator/emulator.ts';
import { getFeatures } from '../../src/emulator/model/features.ts';
import { versionRows } from './operation-rows-versions.ts';
import {
  at,
  checkRow,
  type OperationWorld,
  ORG,
  openOperationWorld,
  type Row,
  readRow,
  SITE,
  titled,
} from './operation-world.ts';

/* Differences between the versions of the platform: the same state and the same requests. */

let world: OperationWorld;
let state: EmulatorState;

beforeAll(async () => {
  world = await openOperationWorld();
  state = world.emulator.state();
});
afterAll(() => world.emulator.close());

function be(version: PlatformVersion): void {
  world.emulator.restore(state);
  world.emulator.setFeatures(getFeatures(version));
}

const call = (row: Row, headers?: Record<string, string>) => {
  const { method, path, body } = readRow(row, world.ids);
  return world.call(method, path, body, headers);
};

describe.each(Object.entries(versionRows))('%s', (version, rows) => {
  beforeEach(() => be(version as PlatformVersion));

  test.each(rows.map(titled))('%s', async (_, row) => {
    await checkRow(world, row);
  });
});

const VERSIONS = ['0.146', '0.167', '0.181', '0.201', '0.202'] as const satisfies readonly PlatformVersion[];

const rule = (name: string) => ({ mergeRules: { type: 'rules', rules: [{ rule: name }] } });
const helper = { title: 'Helper', description: '', script: '', organization: 'org_acme' };
const toTaiwan = { source: { space: '{two}', language: 'en' }, language: 'zh-tw' };

/** Values, and the first version that accepts them. */
const LATER: readonly (readonly [request: string, body: object, status: number, since: PlatformVersion])[] = [
  [`POST ${ORG}/spaces`, { language: 'zh-tw' }, 201, '0.181'],
  [`POST ${ORG}/spaces`, { language: 'zh' }, 201, '0.146'],
  ['PATCH /spaces/{one}', { language: 'zh-tw' }, 200, '0.181'],
  [`POST ${ORG}/translations`, toTaiwan, 201, '0.181'],
  ['PATCH /spaces/{one}', rule('require_author_to_merge'), 200, '0.167'],
  [`PATCH ${ORG}`, rule('require_at_least_one_approved_review'), 200, '0.167'],
  [`PATCH ${ORG}`, rule('require_at_least_one_review'), 200, '0.146'],
  ['POST /integrations/helper', { ...helper, scopes: ['site:visitor:claims'] }, 200, '0.201'],
  ['POST /integrations/helper', { ...helper, scopes: ['openapi:read'], runtime: 'v2' }, 200, '0.146'],
];

describe.each(VERSIONS)('a value of a later version than %s', (version) => {
  test.each(LATER)('%s %j answers %i from %s on', async (request, body, status, since) => {
    be(version);
    const isKnown = VERSIONS.indexOf(version) >= VERSIONS.indexOf(since);
    await checkRow(world, [request, body, isKnown ? status : 400]);
  });
});

describe('responses of a version', () => {
  const read = async (path: string) => (await call([`GET ${path}`, 200])).body;

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
      id: world.ids.link,
      title: 'Forum',
      url: 'https://forum.acme.example',
      draft: false,
    });
    world.emulator.setFeatures({ hiddenSiteSpaces: false });
    expect((await read(`${SITE}/site-spaces`)).items[0]).not.toHaveProperty('hidden');
    expect((await call([`PATCH ${SITE}/site-spaces/{variant}`, { hidden: true }, 400])).status).toBe(400);
  });

  test('show a link at its position, and keep it when its group is deleted', async () => {
    be('0.201');
    await call([`PATCH ${SITE}/external-links/{link}`, { parent: '{group}' }, 200]);
    const { structure } = await read(`${SITE}/structure`);
    const group = structure.find((item: { id: string }) => item.id === world.ids.group);
    expect(group.children.map((child: { id: string }) => child.id)).toEqual([world.ids.link]);
    await call([`DELETE ${SITE}/section-groups/{group}`, 205]);
    expect((await read(`${SITE}/structure`)).structure.map((item: { id: string }) => item.id)).toContain(
      world.ids.link,
    );
  });
});

describe('prefer: return=minimal', () => {
  const prefer = { prefer: 'return=minimal' };
  const writes: readonly Row[] = [
    [`PATCH ${SITE}`, { title: 'Help 2' }, 200],
    [`PATCH ${SITE}/sections/{api}`, { title: 'New' }, 204],
    [`PATCH ${SITE}/section-groups/{group}`, { title: 'New' }, 204],
    [`PATCH ${SITE}/site-spaces/{variant}`, { path: 'new' }, 204],
    [`POST ${SITE}/site-spaces`, { spaceId: '{inside}' }, 204],
    [`PATCH ${SITE}/external-links/{link}`, { title: 'New' }, 204],
    ['PATCH /spaces/{one}/change-requests/{draft}', { subject: 'New' }, 204],
    [
      `PATCH ${SITE}/structure/sort`,
      { item: at('site-section', '{api}'), position: { before: at('site-section', '{section}') } },
      204,
    ],
    [`POST ${SITE}/sections`, { spaceId: '{inside}' }, 201],
    [`PATCH ${ORG}`, { title: 'Acme 2' }, 200],
  ];

  test.each(writes.map(titled))('%s from 0.201 on, and as usual before', async (_, row) => {
    be('0.201');
    const { status, headers } = await checkRow(world, row, prefer);
    expect(headers.get('preference-applied')).toBe(status === 204 ? 'return=minimal' : null);
    be('0.201');
    expect((await call(row)).status).not.toBe(204);
    if (!row[0].includes('external-links')) {
      be('0.181');
      expect((await call(row, prefer)).status).not.toBe(204);
    }
  });

  test('does not change a refusal', async () => {
    be('0.201');
    expect((await call([`PATCH ${SITE}/sections/none`, {}, 404], prefer)).status).toBe(404);
  });
});

test.each(VERSIONS)('version %s reports its version', async (version) => {
  be(version);
  expect(await call(['GET /', 200])).toMatchObject({ body: { version: `${version}.0` } });
});
