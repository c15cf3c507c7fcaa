import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { findDocumentProblems } from '../../src/emulator/documents/rich-document.ts';
import { createState } from '../../src/emulator/emulator.ts';
import { type Body, type Fixture, fixture, start, temporaryFolder } from './fixture.ts';

/* Conversations from other systems: storage, delayed processing, results, and platforms without conversations. */

const DELAY = 400;
const DAY = 24 * 60 * 60 * 1000;

const say = (body: string, role = 'user') => ({ type: 'message', role, body });
const ticket = (id: string, subject: string, body = subject, metadata?: object) => ({
  id,
  subject,
  parts: [say(body)],
  ...(metadata === undefined ? {} : { metadata }),
});

const EMPTY_PDF = [
  ticket('1', 'PDF export is empty', 'The export to PDF gives an empty file.'),
  ticket('2', 'Empty PDF', 'PDF export: the file is empty.'),
];

const conversation = (made: Fixture, externalId: string) =>
  made.emulator.state().conversations?.find((record) => record.externalId === externalId);

async function ingest({ org, clock }: Fixture, body: unknown): Promise<void> {
  await org('POST', '/conversations', body);
  clock.advance(DELAY);
}

const clusters = async ({ org }: Fixture, query = ''): Promise<Body[]> =>
  (await org('GET', `/conversations-clusters${query}`)).items;
const issues = async ({ org }: Fixture, query = ''): Promise<Body[]> =>
  (await org('GET', `/conversations-issues${query}`)).items;

test('a conversation is readable at once, and has an issue once it is processed', async () => {
  const made = await start();
  const metadata = { url: 'https://desk.example/1', attributes: { plan: 'pro' }, createdAt: '2026-02-01T08:00:00Z' };
  const parts = [say('PDF is empty'), say('Which page?', 'team-member'), say('Hm', 'assistant')];
  await made.org('POST', '/conversations', { id: 'a/1 ü', subject: 'PDF', parts, metadata });
  const { items } = await made.org('GET', '/conversations');
  expect(items).toEqual([
    {
      object: 'conversation',
      id: expect.stringMatching(/^[\w-]+$/),
      subject: 'PDF',
      createdAt: metadata.createdAt,
      source: 'integration:api:ana@acme.example',
      urls: { location: expect.stringContaining(`/conversations/${items[0].id}`), source: metadata.url },
    },
  ]);
  made.clock.advance(DELAY - 1);
  expect(await issues(made)).toEqual([]);
  expect(await made.org('GET', `/conversations/${items[0].id}`)).toEqual({ conversation: items[0], parts, metadata });
  made.clock.advance(1);
  expect(await made.org('GET', `/conversations/${items[0].id}`)).toEqual({
    conversation: { ...items[0], processedAt: new Date(made.clock.now()).toISOString(), impact: 'low' },
    parts,
    metadata,
  });
  expect(await issues(made)).toHaveLength(1);
});

test('a later conversation with the same source and id replaces the earlier one', async () => {
  const made = await start();
  await ingest(made, [ticket('1', 'First'), ticket('1', 'Second')]);
  const first = conversation(made, '1');
  expect(first).toMatchObject({ content: { subject: 'Second' }, received: 2, repeats: 0 });
  await ingest(made, ticket('1', 'Third'));
  expect(conversation(made, '1')).toMatchObject({
    id: first?.id,
    content: { subject: 'Third' },
    createdAt: first?.createdAt,
    received: 3,
  });
  expect(made.emulator.state().conversations).toHaveLength(1);
  expect((await issues(made)).map((item) => item.issue.title)).toEqual(['Third']);
});

test('unchanged content is counted and not processed again', async () => {
  const made = await start();
  await ingest(made, ticket('1', 'First'));
  const before = conversation(made, '1');
  await made.org('POST', '/conversations', { parts: [say('First')], subject: 'First', id: '1' });
  expect(conversation(made, '1')).toEqual({ ...before, received: 2, repeats: 1 });
});

test('an edited conversation is unprocessed until its issue is updated', async () => {
  const made = await start();
  await ingest(made, ticket('1', 'Typo', 'A typo.'));
  const [before] = await issues(made);
  await made.org('POST', '/conversations', ticket('1', 'Data loss', 'All pages gone.'));
  expect(conversation(made, '1')).not.toHaveProperty('processedAt');
  expect(await issues(made)).toMatchObject([{ issue: { title: 'Typo', impact: 'low' } }]);
  made.clock.advance(DELAY);
  expect(await issues(made)).toMatchObject([{ issue: { id: before.issue.id, title: 'Data loss', impact: 'high' } }]);
});

test('responds 413 to more than 5 MiB', async () => {
  const { call, emulator } = await start();
  const empty = JSON.stringify(ticket('1', 'Long', '')).length;
  const most = 5 * 1024 * 1024 - empty;
  expect((await call('POST', '/orgs/org_acme/conversations', ticket('1', 'Long', 'x'.repeat(most + 1)))).status).toBe(
    413,
  );
  expect(emulator.state().conversations).toEqual([]);
  expect((await call('POST', '/orgs/org_acme/conversations', ticket('1', 'Long', 'x'.repeat(most)))).status).toBe(204);
});

test('every credential is a separate source', async () => {
  const source = 'integration:zendesk:inst_1';
  const made = await start({ tokens: { zendesk: { user: 'bo@acme.example', permission: 'admin', source } } });
  const authorization = { Authorization: 'Bearer zendesk' };
  await made.call('POST', '/orgs/org_acme/conversations', EMPTY_PDF, authorization);
  await ingest(made, ticket('1', 'The PDF file is empty', 'Export'));
  expect(made.emulator.state().conversations).toHaveLength(3);
  const { items, count } = await made.org('GET', `/conversations?source=${source}`);
  expect([count, items.map((item: Body) => item.subject)]).toEqual([2, ['PDF export is empty', 'Empty PDF']]);
  expect(await clusters(made)).toMatchObject([
    { sources: { [source]: 2, 'integration:api:ana@acme.example': 1 }, stats: { issues: 3, conversations: 3 } },
  ]);
});

test('a platform without conversations lacks all their operations', async () => {
  const made = await start();
  await ingest(made, EMPTY_PDF);
  expect((await made.call('POST', '/_emulator/features', { conversations: false })).status).toBe(204);
  for (const [method, path] of [
    ['GET', '/conversations'],
    ['POST', '/conversations'],
    ['GET', '/conversations/x'],
    ['GET', '/conversations-issues'],
    ['GET', '/conversations-issues/x'],
    ['GET', '/conversations-clusters?limit=1'],
    ['GET', '/conversations-clusters/x'],
    ['PATCH', '/conversations-clusters/x'],
  ] as const) {
    const reply = await made.call(method, `/orgs/org_acme${path}`);
    expect({ path, status: reply.status }).toEqual({ path, status: 404 });
  }
  expect((await made.org('GET', '')).permissions.ingestConversations).toBe(false);
  expect((await made.org('GET', '/members')).count).toBe(3);
  made.emulator.setFeatures({ conversations: true });
  expect((await made.org('GET', '')).permissions.ingestConversations).toBe(true);
  expect(await clusters(made)).toHaveLength(1);
  expect((await made.call('POST', '/_emulator/features', { chat: true })).status).toBe(400);
});

test('refuses lists if only single conversations are supported', async () => {
  const { call, org } = await start({ features: { conversationLists: false } });
  expect(await call('POST', '/orgs/org_acme/conversations', EMPTY_PDF)).toMatchObject({
    status: 400,
    body: { error: { message: 'body: expected object, received array' } },
  });
  await org('POST', '/conversations', EMPTY_PDF[0]);
});

test('ingestion uses its own rate limit, or that of writes if there is none', async () => {
  const fixed = (limit: number) => ({ kind: 'fixed', limit, window: 60_000 }) as const;
  const made = await start({ limits: { ingest: fixed(1), write: fixed(2) } });
  const post = async () => {
    const { status, headers } = await made.call('POST', '/orgs/org_acme/conversations', EMPTY_PDF);
    return [status, headers.get('x-ratelimit-limit')];
  };
  expect([await post(), await post()]).toEqual([
    [204, '1'],
    [429, '1'],
  ]);
  const saml = await made.call('POST', '/orgs/org_acme/saml', { label: 'Okta' });
  expect([saml.status, saml.headers.get('x-ratelimit-remaining')]).toEqual([201, '1']);
  expect((await made.call('POST', '/_emulator/limits', { write: fixed(1), read: fixed(9) })).status).toBe(204);
  expect([await post(), await post()]).toEqual([
    [204, '1'],
    [429, '1'],
  ]);
});

test('an issue has a title and valid details that link its conversation', async () => {
  const made = await start();
  await ingest(made, [
    { id: '1', subject: 'Re: AW: Broken *export*', parts: [], metadata: { url: 'https://desk.example/1' } },
    { id: '2', parts: [say('How are you?', 'team-member'), say('<p>Tables break &amp; stay. All of them.</p>')] },
    { id: '3', parts: [say('Nobody asked', 'assistant')] },
    { id: '4', parts: [say(`${'word '.repeat(400)}`)] },
    { id: '5', subject: ' ', parts: [say('<br>')] },
  ]);
  const items = await issues(made);
  expect(items.map((item) => item.issue.title.slice(0, 30))).toEqual([
    'Broken export',
    'Tables break & stay.',
    'Nobody asked',
    'word word word word word word ',
  ]);
  for (const { issue } of items) {
    expect(findDocumentProblems(issue.details, 'details')).toEqual([]);
    expect([...issue.title].length).toBeLessThanOrEqual(120);
  }
  expect(JSON.stringify(items[0].issue.details)).toContain('https://desk.example/1');
  expect(items[1].issue).toMatchObject({
    object: 'conversation-issue',
    conversation: items[1].conversation.id,
    createdAt: items[1].conversation.createdAt,
    impact: 'medium',
  });
  expect(conversation(made, '5')).toHaveProperty('processedAt');
  await ingest(made, { id: '3', parts: [] });
  expect(await issues(made)).toHaveLength(3);
});

test('a cluster has a label, an impact, numbers and a start', async () => {
  const made = await start();
  const ago = (days: number) => ({ createdAt: new Date(made.clock.now() - days * DAY).toISOString() });
  await ingest(made, [
    ticket('1', 'PDF export is empty', 'The export to PDF gives an empty file.', ago(0)),
    ticket('2', 'Empty PDF', 'PDF export: the file is empty. This is urgent.', ago(6)),
    ticket('3', 'Empty PDF file', 'After the export the PDF is empty.', ago(8)),
    ticket('4', 'Export gives an empty PDF', 'Urgent: the file is empty.', ago(90)),
    ticket('5', 'Empty PDF since January', 'Every export', ago(92)),
    ticket('6', 'Empty PDF tomorrow', 'Every export', ago(-1)),
  ]);
  const [cluster, ...others] = await clusters(made);
  expect(others).toEqual([]);
  expect(cluster).toEqual({
    object: 'issues-cluster',
    id: expect.any(String),
    label: expect.stringMatching(/empty/i),
    createdAt: new Date(made.clock.now()).toISOString(),
    updatedAt: new Date(made.clock.now()).toISOString(),
    icon: 'triangle-exclamation',
    summary: expect.objectContaining({ object: 'document' }),
    muted: false,
    impact: 'high',
    weeklyPulse: [1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 3],
    sources: { 'integration:api:ana@acme.example': 6 },
    stats: { issues: 6, conversations: 6 },
    urls: { location: expect.stringContaining(`/conversations-clusters/${cluster.id}`) },
  });
  expect(findDocumentProblems(cluster.summary, 'summary')).toEqual([]);
  expect(JSON.stringify(cluster.summary)).toContain(cluster.label);
  made.clock.advance(7 * DAY);
  expect((await made.org('GET', `/conversations-clusters/${cluster.id}`)).weeklyPulse).toEqual([
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 1,
  ]);
});

test('a growing cluster keeps its id and stays muted', async () => {
  const made = await start();
  await ingest(made, EMPTY_PDF);
  const [before] = await clusters(made);
  const { muted, updatedAt } = await made.org('PATCH', `/conversations-clusters/${before.id}`, { muted: true });
  expect({ muted, updatedAt }).toEqual({ muted: true, updatedAt: before.updatedAt });
  await ingest(made, ticket('3', 'The PDF is empty', 'Export of a file'));
  expect(await clusters(made)).toMatchObject([{ id: before.id, muted: true, stats: { issues: 3 } }]);
  expect((await clusters(made))[0].updatedAt).toBe(new Date(made.clock.now()).toISOString());
  await made.org('PATCH', `/conversations-clusters/${before.id}`, { muted: false });
  expect(await clusters(made)).toMatchObject([{ muted: false }]);
});

test('an edited conversation changes its cluster, and an empty cluster is deleted', async () => {
  const made = await start();
  await ingest(made, [...EMPTY_PDF, ticket('3', 'SSO login loop', 'Okta login loop')]);
  await ingest(made, ticket('4', 'Login loop with Okta', 'SSO'));
  const [sso, pdf] = await clusters(made);
  await ingest(made, ticket('1', 'Okta SSO', 'The login is a loop.'));
  expect(await clusters(made)).toMatchObject(
    [
      { id: sso.id, stats: { issues: 3 } },
      { id: pdf.id, label: 'Empty PDF', stats: { issues: 1 } },
    ].toSorted((a, b) => (a.id < b.id ? 1 : -1)),
  );
  await ingest(made, ticket('2', 'Another Okta SSO login loop'));
  expect(await clusters(made)).toMatchObject([{ id: sso.id, stats: { issues: 4 } }]);
  expect((await made.call('GET', `/orgs/org_acme/conversations-clusters/${pdf.id}`)).status).toBe(404);
});

test('clusters are listed by their last change, newest first by default', async () => {
  const made = await start();
  const subjects = ['PDF export empty', 'Okta login loop', 'Webhook signature mismatch'];
  for (const [at, subject] of subjects.entries()) {
    await ingest(made, [ticket(`${at}-1`, subject), ticket(`${at}-2`, subject)]);
  }
  await ingest(made, ticket('0-3', 'PDF export empty'));
  const labels = async (order: string) => {
    const seen: string[] = [];
    let page = '';
    do {
      const body = await made.org('GET', `/conversations-clusters?limit=2&sort=updatedAt${order}${page}`);
      seen.push(...body.items.map((item: Body) => item.label));
      page = body.next === undefined ? '' : `&page=${encodeURIComponent(body.next.page)}`;
    } while (page !== '');
    return seen;
  };
  const newest = ['PDF export empty', 'Webhook signature mismatch', 'Okta login loop'];
  expect(await labels('')).toEqual(newest);
  expect(await labels('&order=asc')).toEqual(newest.toReversed());
  const page = await made.org('GET', '/conversations-issues?limit=4');
  expect([page.count, page.items.length, page.next.page]).toEqual([7, 4, expect.any(String)]);
});

test('an organization sees only its own conversations', async () => {
  const members = [{ email: 'ana@acme.example', role: 'admin' }] as const;
  const made = await start({
    seed: createState({ organizations: ['a', 'b'].map((id) => ({ id, title: id, members })) }),
  });
  for (const id of ['a', 'b']) {
    await made.call('POST', `/orgs/${id}/conversations`, EMPTY_PDF[0]);
  }
  made.clock.advance(DELAY);
  for (const id of ['a', 'b']) {
    expect((await made.call('GET', `/orgs/${id}/conversations`)).body.count).toBe(1);
    expect((await made.call('GET', `/orgs/${id}/conversations-clusters`)).body.count).toBe(0);
  }
});

test('a restart keeps waiting conversations and clusters', async () => {
  const file = join(await temporaryFolder(), 'state.json');
  const made = await fixture({ file });
  await ingest(made, EMPTY_PDF);
  const [before] = await clusters(made);
  await made.org('PATCH', `/conversations-clusters/${before.id}`, { muted: true });
  await made.org('POST', '/conversations', ticket('3', 'PDF empty after export'));
  const restarted = made.emulator.restart();
  while (made.clock.sleeping.length === 0) {
    await setImmediate();
  }
  made.clock.advance(0);
  await restarted;
  expect(await clusters(made)).toMatchObject([{ stats: { issues: 2 } }]);
  await made.emulator.close();
  const again = await start({ file });
  again.clock.advance(2 * DELAY);
  expect(await clusters(again)).toMatchObject([{ id: before.id, muted: true, stats: { issues: 3 } }]);
  const state = again.emulator.state();
  await ingest(again, ticket('4', 'Empty PDF export'));
  expect(await clusters(again)).toMatchObject([{ id: before.id, stats: { issues: 4 } }]);
  again.emulator.restore(state);
  expect(again.emulator.state()).toEqual(state);
  await ingest(again, ticket('4', 'Empty PDF export'));
  expect(await clusters(again)).toMatchObject([{ id: before.id, stats: { issues: 4 } }]);
});

test.each([
  'a',
  'a ',
  '.',
  '<',
  '<style>',
  '<style',
  '<!--',
  '[',
  '[](',
  '@a',
  '[a _',
  'data ',
  'login-',
  '<a ',
  '\n ',
])('a conversation of 4 MB of %j is processed in seconds', async (unit) => {
  const made = await start();
  const filled = (bytes: number) => unit.repeat(bytes / (JSON.stringify(unit).length - 2));
  const before = performance.now();
  await ingest(made, ticket('1', 'PDF', filled(4e6)));
  expect(await issues(made)).toHaveLength(1);
  expect((await made.call('POST', '/orgs/org_acme/conversations', ticket('2', 'PDF', filled(6e6)))).status).toBe(413);
  expect(performance.now() - before).toBeLessThan(10_000);
});
