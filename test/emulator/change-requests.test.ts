import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { EmulatorOptions } from '../../src/emulator/emulator.ts';
import { as, type Body, document, type Fixture, fixture, startSpace, temporaryFolder } from './fixture.ts';

/* Change requests over time: their order, effects of merging, and platforms that lack some of their features. */

async function start(options: EmulatorOptions = {}) {
  const made = await startSpace(options);
  const [cluster = ''] = made.emulator.writeClusters('org_acme', [{ label: 'SSO', impact: 'high' }]);
  return { ...made, cluster };
}

const subjects = async ({ org }: Fixture, query = ''): Promise<string[]> =>
  (await org('GET', `/change-requests${query}`)).items.map((item: Body) => item.subject);

test('creation times follow the order of creation while the clock is stopped, and numbers count per space', async () => {
  const made = await start();
  const other = (await made.org('POST', '/spaces', {})).id;
  const all = [
    await made.at('POST', '/change-requests', { subject: 'a' }),
    (await made.call('POST', `/spaces/${other}/change-requests`, { subject: 'b' })).body,
    await made.at('POST', '/change-requests', { subject: 'c' }),
  ];
  expect(all.map((record) => record.number)).toEqual([1, 1, 2]);
  const times = all.map((record) => record.createdAt);
  expect(times).toEqual([...new Set(times)].toSorted());
  expect(await subjects(made, '?status=draft')).toEqual(['c', 'b', 'a']);
  const page = await made.org('GET', '/change-requests?status=draft&limit=2');
  await made.at('POST', '/change-requests', { subject: 'd' });
  expect(await subjects(made, `?status=draft&page=${page.next.page}`)).toEqual(['a']);
});

test('an update never has a time before the creation', async () => {
  const made = await start();
  await made.at('POST', '/change-requests', { subject: 'a' });
  const { id, createdAt } = await made.at('POST', '/change-requests', { subject: 'b' });
  const updated = await made.at('PATCH', `/change-requests/${id}`, { status: 'open' });
  expect(updated.updatedAt).toBe(createdAt);
  made.clock.advance(60_000);
  const later = await made.at('PATCH', `/change-requests/${id}`, { status: 'archived' });
  expect(Date.parse(later.updatedAt)).toBe(made.clock.now());
});

test('a merge creates a revision of the space, which other change requests get by an update', async () => {
  const made = await start();
  const one = await made.at('POST', '/change-requests', { subject: 'one' });
  const two = await made.at('POST', '/change-requests', { subject: 'two' });
  const { revision } = await made.at('POST', '/change-requests/1/merge');
  expect((await made.at('GET', '')).revision).toBe(revision);
  expect(await made.at('GET', '/change-requests/1')).toMatchObject({
    ...{ id: one.id, status: 'merged', revisionMerged: revision, outdated: false },
  });
  expect(await made.at('GET', '/change-requests/2')).toMatchObject({ outdated: true, revision: two.revision });
  const pulled = await made.at('POST', '/change-requests/2/update');
  expect(await made.at('GET', '/change-requests/2')).toMatchObject({
    ...{ outdated: false, revision: pulled.revision, revisionMergedAncestor: revision },
    revisionInitial: two.revisionInitial,
  });
  expect((await made.at('POST', '/change-requests/2/update')).revision).toBe(pulled.revision);
});

test('an archived change request cannot be merged until it is reopened', async () => {
  const made = await start();
  await made.at('POST', '/change-requests', { subject: 'one' });
  await made.at('PATCH', '/change-requests/1', { status: 'archived' });
  expect((await made.call('POST', `/spaces/${made.space}/change-requests/1/merge`)).status).toBe(400);
  await made.at('PATCH', '/change-requests/1', { status: 'open' });
  expect((await made.at('POST', '/change-requests/1/merge')).result).toBe('merge');
});

test('a space counts its change requests and open comments, and a locked one accepts no new change request', async () => {
  const made = await start();
  await made.at('POST', '/change-requests', { subject: 'one' });
  await made.at('POST', '/change-requests', { subject: 'two' });
  await made.at('PATCH', '/change-requests/2', { status: 'open' });
  await made.at('POST', '/comments', { body: { markdown: 'on the space' } });
  const posted = await made.at('POST', '/change-requests/1/comments', { body: { markdown: 'on the change request' } });
  expect(await made.at('GET', '')).toMatchObject({
    ...{ comments: 1, changeRequests: 2, changeRequestsOpen: 1, changeRequestsDraft: 1 },
  });
  expect((await made.at('GET', '/change-requests/1')).comments).toBe(1);
  await made.at('PUT', `/change-requests/1/comments/${posted.id}`, { resolved: true });
  expect((await made.at('GET', '/change-requests/1')).comments).toBe(0);

  await made.at('PATCH', '', { editMode: 'locked' });
  expect((await made.call('POST', `/spaces/${made.space}/change-requests`, { subject: 'x' })).status).toBe(403);
  expect((await made.call('POST', `/spaces/${made.space}/change-requests/1/merge`)).status).toBe(403);
  expect(await made.at('PATCH', '/change-requests/1', { status: 'archived' })).toMatchObject({ status: 'archived' });
});

test('change requests of a deleted space are hidden until it is restored', async () => {
  const made = await start();
  const { id } = await made.at('POST', '/change-requests', { subject: 'one' });
  await made.at('DELETE', '');
  expect(await subjects(made, '?status=draft')).toEqual([]);
  expect((await made.call('GET', `/spaces/${made.space}/change-requests/${id}`)).status).toBe(404);
  await made.at('POST', '/restore');
  expect(await subjects(made, '?status=draft')).toEqual(['one']);
});

test('without changeRequestLinks the link of a creation is accepted and ignored', async () => {
  const made = await start({ features: { changeRequestLinks: false } });
  const body = { subject: 's', conversationsIssuesCluster: made.cluster, description: document('d') };
  const record = await made.at('POST', '/change-requests', body);
  expect([record.conversationsIssuesCluster, record.description]).toEqual([undefined, undefined]);
  await made.at('POST', '/change-requests', { ...body, conversationsIssuesCluster: 'none', description: 'none' });
});

test('with changeRequestDrafts and without changeRequestStatus an organization lists all change requests and refuses a status', async () => {
  const made = await start({ features: { changeRequestDrafts: true, changeRequestStatus: false } });
  await made.at('POST', '/change-requests', { subject: 'draft' });
  expect(await subjects(made)).toEqual(['draft']);
  const refused = await made.call('GET', '/orgs/org_acme/change-requests?status=draft');
  expect(refused).toMatchObject({ status: 400, body: { error: { message: 'query.status: unknown parameter' } } });
});

test('without conversations change requests have no cluster and no filter by cluster', async () => {
  const made = await start();
  await made.at('POST', '/change-requests', { subject: 's', conversationsIssuesCluster: made.cluster });
  made.emulator.setFeatures({ conversations: false });
  expect(await made.at('GET', '/change-requests/1')).not.toHaveProperty('conversationsIssuesCluster');
  await made.at('POST', '/change-requests', { subject: 's', conversationsIssuesCluster: made.cluster });
  const filtered = await made.call('GET', `/orgs/org_acme/change-requests?conversationsIssuesCluster=${made.cluster}`);
  expect(filtered.status).toBe(400);
});

test('without requestedReviewers there are no reviewer operations', async () => {
  const made = await start({ features: { requestedReviewers: false } });
  await made.at('POST', '/change-requests', { subject: 's' });
  const path = `/spaces/${made.space}/change-requests/1/requested-reviewers`;
  expect((await made.call('GET', path)).status).toBe(404);
  expect((await made.call('POST', path, { users: ['usr_0002'] })).status).toBe(404);
});

test('a token without a user creates without an author', async () => {
  const made = await start({ tokens: { robot: { user: 'robot@nowhere.example', permission: 'admin' } } });
  const robot = await made.at('POST', '/change-requests', { subject: 's' }, as('robot'));
  expect(robot).not.toHaveProperty('createdBy');
});

test('change requests are restored from the state file', async () => {
  const file = join(await temporaryFolder(), 'state.json');
  const first = await start({ file });
  await first.at('POST', '/change-requests', {
    ...{ subject: 's', conversationsIssuesCluster: first.cluster, description: document('d') },
  });
  const comment = await first.at('POST', '/change-requests/1/comments', { body: { markdown: 'Well' } });
  await first.at('POST', `/change-requests/1/comments/${comment.id}/replies`, { body: { markdown: 'Yes' } });
  first.emulator.writePages(first.space, [{ title: 'SSO', body: 'Single sign-on.' }]);
  const paths = [
    ...['/change-requests/1', '/change-requests/1/comments', `/change-requests/1/comments/${comment.id}/replies`],
    ...['/content/pages', '/search?query=sign-on'],
  ];
  const look = (call: Fixture['call']) =>
    Promise.all(paths.map(async (path) => (await call('GET', `/spaces/${first.space}${path}`)).body));
  const bare = (bodies: Body[]) => JSON.stringify(bodies).replace(/http:\/\/127\.0\.0\.1:\d+/g, '');
  const before = bare(await look(first.call));
  await first.emulator.close();
  const second = await fixture({ file });
  onTestFinished(() => second.emulator.close());
  expect(bare(await look(second.call))).toBe(before);
});
