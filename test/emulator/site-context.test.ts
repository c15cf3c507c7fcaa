import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { EmulatorState, PlatformVersion } from '../../src/emulator/emulator.ts';
import { OPERATIONS } from '../../src/emulator/families.ts';
import { getFeatures } from '../../src/emulator/model/features.ts';
import { type Body, sharedFixture } from './fixture.ts';
import { checkRow, findUntested, long, type Row, readRow, titled } from './operation-world.ts';

/* Context records and the findings that a site learns from them: accepted, rejected, with their results and times. */

const DELAY = 400;
const world = await sharedFixture({ platform: '0.181' });
const { emulator, clock } = world;
const ids: Record<string, string> = {};
let state: EmulatorState;

const record = (id: string, title: string, body = title) => ({ id, type: 'ticket', title, body });
const EMPTY_PDF = [
  { ...record('1', 'PDF export is empty', 'The export to PDF gives an empty file.'), url: 'https://desk.example/1' },
  record('2', 'Empty PDF', 'PDF export: the file is empty.'),
];

const site = (method: string, path: string, body?: unknown) => world.org(method, `/sites/${ids.site}${path}`, body);
const be = (version: PlatformVersion) => emulator.setFeatures(getFeatures(version));

async function learn(records: unknown): Promise<void> {
  await site('PUT', '/context-records', records);
  clock.advance(DELAY);
}

beforeAll(async () => {
  ids.space = (await world.org('POST', '/spaces', { title: 'Guides' })).id;
  ids.site = (await world.org('POST', '/sites', { title: 'Docs', spaces: [ids.space] })).id;
  ids.bare = (await world.org('POST', '/sites', { title: 'Bare' })).id;
  await learn([...EMPTY_PDF, record('3', 'Dark theme', 'Is there one for the editor?')]);
  ids.topic = (await site('GET', '/topics')).items[0].id;
  const { items } = await site('GET', '/findings');
  [ids.finding = '', ids.second = ''] = items.map(({ id }: Body) => id);
  ids.record = (await site('GET', '/context-records')).items[0].id;
  state = emulator.state();
});
beforeEach(() => {
  emulator.restore(state);
  be('0.181');
});

const RECORDS = '/orgs/org_acme/sites/{site}/context-records';
const TOPICS = '/orgs/org_acme/sites/{site}/topics';
const FINDINGS = '/orgs/org_acme/sites/{site}/findings';
const ISSUES = '/orgs/org_acme/sites/{site}/issues';
const one = record('n', 'N');
const refuses = (body: unknown, says: string): Row => [`PUT ${RECORDS}`, body, 400, says];

const rows: readonly Row[] = [
  [`PUT ${RECORDS}`, [], 204],
  [`PUT ${RECORDS}`, [{ ...one, type: 'document', title: long(256), description: long(512), body: '' }], 204],
  [`PUT ${RECORDS}`, [{ ...one, metadata: { plan: 'pro', seats: 3 }, createdAt: '2026-02-28T12:00:00Z' }], 204],
  [`PUT ${RECORDS}`, Array.from({ length: 100 }, (_, at) => record(`${at}`, 'N')), 204],
  refuses(one, 'body: expected array'),
  refuses([{ ...one, title: '' }], 'body.0.title: must be 1-256 characters'),
  refuses([{ ...one, title: long(257) }], 'body.0.title: must be 1-256 characters'),
  refuses([{ ...one, title: undefined }], 'body.0.title: required'),
  refuses([{ ...one, id: '' }], 'body.0.id: must not be empty'),
  refuses([{ ...one, type: 'mail' }], 'body.0.type: must be one of ticket, document'),
  refuses([{ ...one, body: undefined }], 'body.0.body: required'),
  refuses([{ ...one, description: long(513) }], 'body.0.description: must be at most 512 characters'),
  refuses([{ ...one, url: 'tickets/1' }], 'body.0.url: must be a URL'),
  refuses([{ ...one, createdAt: '2026-02-28' }], 'body.0.createdAt: must be a date-time'),
  refuses([{ ...one, metadata: { vip: true } }], 'body.0.metadata.vip: '),
  refuses([{ ...one, parts: [] }], 'body.0.parts: unknown field'),
  refuses([one, { ...one, title: '' }], 'body.1.title'),
  refuses(
    Array.from({ length: 101 }, (_, at) => record(`${at}`, 'N')),
    'at most 100 context records',
  ),
  ['PUT /orgs/org_acme/sites/none/context-records', [], 404, 'Site "none" not found'],
  [`GET ${RECORDS}`, 200],
  [`GET ${RECORDS}?type=mail`, 400, 'query.type: must be one of ticket, document'],
  [`GET ${RECORDS}/{record}`, 200],
  [`GET ${RECORDS}/1`, 404, 'Context record "1" not found'],
  [`GET ${TOPICS}`, 200],
  [`GET ${TOPICS}?limit=1`, 400, 'query.limit: unknown parameter'],
  [`GET ${TOPICS}/{topic}`, 200],
  ['GET /orgs/org_acme/sites/{bare}/topics/{topic}', 404, 'Site topic'],
  [`PATCH ${TOPICS}/{topic}`, { usageSettings: { changeRequests: false } }, 200],
  [`PATCH ${TOPICS}/{topic}`, { usageSettings: {} }, 400, 'body.usageSettings.changeRequests: required'],
  [`PATCH ${TOPICS}/{topic}`, { muted: true }, 400, 'body.muted: unknown field'],
  [`GET ${FINDINGS}?topic={topic}&status=open&severity=low`, 200],
  [`GET ${FINDINGS}?priority=low`, 400, 'query.priority: unknown parameter'],
  [`GET ${FINDINGS}/{finding}`, 200],
  [`GET ${FINDINGS}/none`, 404, 'Site finding "none" not found'],
  [`PATCH ${FINDINGS}/{finding}`, { status: 'candidate' }, 200],
  [`PATCH ${FINDINGS}/{finding}`, { status: 'fixed' }, 400, 'body.status: must be one of candidate, open, done'],
  [`POST ${FINDINGS}/{finding}/change-requests`, 202],
  [`POST ${FINDINGS}/none/change-requests`, 404, 'Site finding'],
  [`GET ${FINDINGS}/{finding}/change-requests`, 200],
  [`GET ${FINDINGS}/none/change-requests`, 404, 'Site finding'],
];
const rows167: readonly Row[] = [
  [`GET ${ISSUES}?topic={topic}&status=open&priority=low`, 200],
  [`GET ${ISSUES}?status=candidate`, 400, 'query.status: must be one of open, done, canceled'],
  [`GET ${ISSUES}/{finding}`, 200],
  [`GET ${ISSUES}/none`, 404, 'Site finding'],
  [`PATCH ${ISSUES}/{finding}`, { status: 'done' }, 200],
  [`PATCH ${ISSUES}/{finding}`, { status: 'candidate' }, 400, 'body.status: must be one of open, done, canceled'],
];

const tables = [
  ['0.181', rows],
  ['0.167', rows167],
] as const;

describe.each(tables)('a platform of %s', (version, each) => {
  test.each(each.map(titled))('%s', async (_, row) => {
    be(version);
    await checkRow(world, row, ids);
  });
});

test('the tables call every operation with valid and invalid input', async () => {
  emulator.requests.reset();
  for (const [version, each] of tables) {
    be(version);
    for (const row of each) {
      emulator.restore(state);
      const { method, path, body } = readRow(row, ids);
      await world.call(method, path, body);
    }
  }
  const features: readonly unknown[] = ['contextRecords', 'siteIssues', 'siteFindings'];
  const names = OPERATIONS.filter(({ feature }) => features.includes(feature)).map(({ name }) => name);
  expect(names).toHaveLength(14);
  expect(findUntested(emulator.requests.entries, names)).toEqual([]);
});

test.each([
  ['0.146', ['conversations-clusters']],
  ['0.167', ['topics', 'issues', 'context-records']],
  ['0.181', ['topics', 'findings', 'context-records']],
  ['0.201', ['topics', 'findings', 'context-records']],
] as const)('version %s has the operations %j', async (version, has) => {
  be(version);
  const lists = ['topics', 'issues', 'findings', 'context-records'].map((name) => [name, `/sites/${ids.site}/${name}`]);
  const there = [];
  for (const [name = '', path = ''] of [['conversations-clusters', '/conversations-clusters'], ...lists]) {
    const { status } = await world.call('GET', `/orgs/org_acme${path}`);
    there.push(...(status === 200 ? [name] : []));
  }
  expect(there.sort()).toEqual([...has].sort());
});

test('similar records become a topic with a finding each, and others have none', async () => {
  const { items } = await site('GET', '/topics');
  expect(items).toMatchObject([
    {
      object: 'context-topic',
      id: ids.topic,
      label: 'PDF export is empty',
      usageSettings: { changeRequests: true },
      records: 2,
      findings: { open: 2, total: 2 },
    },
  ]);
  const findings = (await site('GET', '/findings')).items;
  expect(findings.map(({ title, topic, severity }: Body) => [title, topic, severity])).toEqual([
    ['PDF export is empty', ids.topic, 'low'],
    ['Empty PDF', ids.topic, 'low'],
    ['Dark theme', null, 'low'],
  ]);
  expect((await site('GET', `/context-records?topic=${ids.topic}`)).items).toMatchObject([
    { object: 'context-record', title: 'PDF export is empty', urls: { source: 'https://desk.example/1' } },
    { title: 'Empty PDF', topics: [ids.topic] },
  ]);
});

test('a record with the same id replaces the earlier one, and unchanged ones are not processed again', async () => {
  const [first] = EMPTY_PDF;
  await site('PUT', '/context-records', [first]);
  const records = () => emulator.state().conversations?.filter(({ externalId }) => externalId === '1') ?? [];
  expect(records()).toMatchObject([{ received: 2, repeats: 1, run: null }]);
  await learn([{ ...first, title: 'Dark theme', body: 'For the editor?' }]);
  expect(records()).toMatchObject([{ received: 3, repeats: 1, content: { subject: 'Dark theme' } }]);
  expect((await site('GET', '/topics')).items).toMatchObject([
    { id: ids.topic, records: 1 },
    { label: 'Dark theme', records: 2 },
  ]);
});

test('records of a site are not visible in other sites and organizations', async () => {
  const other = `/sites/${ids.bare}`;
  await world.org('PUT', `${other}/context-records`, EMPTY_PDF);
  clock.advance(DELAY);
  const [topic] = (await world.org('GET', `${other}/topics`)).items;
  expect(topic.id).not.toBe(ids.topic);
  expect(await site('GET', '/topics')).toMatchObject({ items: [{ records: 2 }] });
  emulator.setFeatures({ conversations: true });
  for (const list of ['conversations', 'conversations-issues', 'conversations-clusters']) {
    expect((await world.org('GET', `/${list}`)).items).toEqual([]);
  }
  for (const path of [`/conversations/${ids.record}`, `/conversations-clusters/${topic.id}`]) {
    expect((await world.call('GET', `/orgs/org_acme${path}`)).status).toBe(404);
  }
});

test('a resolved finding is not listed as open, and updates its topic', async () => {
  const before = (await site('GET', `/topics/${ids.topic}`)).updatedAt;
  clock.advance(1000);
  expect(await site('PATCH', `/findings/${ids.finding}`, { status: 'done' })).toMatchObject({ status: 'done' });
  const topic = await site('GET', `/topics/${ids.topic}`);
  expect(topic).toMatchObject({ findings: { open: 1, total: 2 } });
  expect(topic.updatedAt > before).toBe(true);
  expect((await site('GET', '/findings?status=open')).items).toHaveLength(2);
});

test('drafts one change request for a finding in the background, linked to finding and topic', async () => {
  const path = `/findings/${ids.finding}/change-requests`;
  await site('POST', path);
  await site('POST', path);
  expect((await site('GET', path)).items).toEqual([]);
  clock.advance(DELAY);
  const siteTopic = { site: ids.site, topic: ids.topic, finding: ids.finding };
  const drafted = (await site('GET', path)).items;
  expect(drafted).toMatchObject([{ status: 'open', space: ids.space, subject: 'PDF export is empty', siteTopic }]);
  const requests = async (query: string) => (await world.org('GET', `/change-requests?${query}`)).items;
  expect(await requests(`topic=${ids.topic}&finding=all`)).toMatchObject([{ id: drafted[0].id }]);
  expect(await requests('topic=none&finding=all')).toEqual([]);
  expect(await requests(`topic=${ids.topic}`)).toEqual([]);
  expect(await requests(`topic=${ids.topic}&finding=none`)).toEqual([]);
  expect((await world.call('GET', `/spaces/${ids.space}/change-requests?topic=${ids.topic}`)).body.items).toHaveLength(
    1,
  );
  // While it is open, another one is rejected; once it is archived, another one is accepted.
  await site('POST', path);
  clock.advance(DELAY);
  expect((await site('GET', path)).items).toHaveLength(1);
  await world.call('PATCH', `/spaces/${ids.space}/change-requests/${drafted[0].id}`, { status: 'archived' });
  await site('POST', path);
  clock.advance(DELAY);
  expect((await site('GET', path)).items).toHaveLength(2);
});

test('refuses to draft for a site without a space, and links no topic before 0.167', async () => {
  await world.org('PUT', `/sites/${ids.bare}/context-records`, [one]);
  clock.advance(DELAY);
  const [finding] = (await world.org('GET', `/sites/${ids.bare}/findings`)).items;
  const reply = await world.call('POST', `/orgs/org_acme/sites/${ids.bare}/findings/${finding.id}/change-requests`);
  expect(reply).toMatchObject({ status: 400, body: { error: { message: expect.stringContaining('has no space') } } });
  be('0.146');
  const refused = await world.call('GET', '/orgs/org_acme/change-requests?topic=t');
  expect(refused).toMatchObject({ status: 400, body: { error: { message: 'query.topic: unknown parameter' } } });
  be('0.167');
  const early = await world.call('GET', '/orgs/org_acme/change-requests?finding=all');
  expect(early).toMatchObject({ status: 400, body: { error: { message: 'query.finding: unknown parameter' } } });
});
