import { beforeAll, beforeEach, expect, test } from 'vitest';
import type { EmulatorState, PlatformVersion } from '../../src/emulator/emulator.ts';
import { getFeatures } from '../../src/emulator/model/features.ts';
import { type Body, sharedFixture } from './fixture.ts';

/* What a site learns from context records, and when. */

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
  ids.finding = (await site('GET', '/findings')).items[0].id;
  ids.record = (await site('GET', '/context-records')).items[0].id;
  state = emulator.state();
});
beforeEach(() => {
  emulator.restore(state);
  be('0.181');
});

const one = record('n', 'N');

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
