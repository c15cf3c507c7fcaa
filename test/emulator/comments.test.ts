import { expect, test } from 'vitest';
import { type Body, as as bearer, document, startSpace } from './fixture.ts';

/* Comments on spaces and change requests, over time: authors, reactions, replies and resolution. */

const PEOPLE = { ana: 'emulator-token', bo: 'of-bo', cy: 'of-cy', robot: 'of-nobody' };

/** One of the two families of comments, with calls in the name of a user; throws unless they answer 2xx. */
async function start(family: 'space' | 'change request') {
  const made = await startSpace({
    tokens: {
      [PEOPLE.bo]: { user: 'bo@acme.example', permission: 'admin' },
      [PEOPLE.cy]: { user: 'cy@acme.example', permission: 'admin' },
      [PEOPLE.robot]: { user: 'robot@nowhere.example', permission: 'admin' },
    },
  });
  const { space } = made;
  const [page = ''] = made.emulator.writePages(space, [{ title: 'Login' }]);
  await made.call('POST', `/spaces/${space}/change-requests`, { subject: 's' });
  const base = family === 'space' ? '' : '/change-requests/1';
  const as = (who: keyof typeof PEOPLE, method: string, path: string, body?: unknown) =>
    made.at(method, `${base}${path}`, body, bearer(PEOPLE[who]));
  const say = (who: keyof typeof PEOPLE, markdown: string, more = {}) =>
    as(who, 'POST', '/comments', { body: { markdown }, ...more });
  return { ...made, space, page, as, say };
}

const both = ['space', 'change request'] as const;

test.each(both)('on a %s a user adds each reaction once and removes only own ones', async (family) => {
  const { as, say, clock } = await start(family);
  const { id } = await say('ana', 'Well');
  await as('bo', 'PUT', `/comments/${id}`, { addedReactions: ['+1', 'eyes', '+1'] });
  clock.advance(1000);
  await as('cy', 'PUT', `/comments/${id}`, { addedReactions: ['+1'] });
  await as('bo', 'PUT', `/comments/${id}`, { addedReactions: ['eyes'], removedReactions: ['eyes', 'none'] });
  const { reactions, editedAt } = await as('cy', 'PUT', `/comments/${id}`, { removedReactions: ['eyes'] });
  expect(reactions).toEqual([
    {
      emoji: '+1',
      count: 2,
      users: [
        { user: expect.objectContaining({ displayName: 'Bo' }), reactedAt: '2026-03-01T12:00:00.000Z' },
        { user: expect.objectContaining({ displayName: 'Cy' }), reactedAt: '2026-03-01T12:00:01.000Z' },
      ],
    },
  ]);
  expect(editedAt).toBeUndefined();
});

test.each(both)('a comment on a %s counts its replies and their authors', async (family) => {
  const { as, say, clock, call, space } = await start(family);
  const { id } = await say('ana', 'Well');
  const reply = (who: 'bo' | 'cy', markdown: string) =>
    as(who, 'POST', `/comments/${id}/replies`, { body: { markdown } });
  await reply('bo', 'One');
  clock.advance(1000);
  const last = await reply('bo', 'Two');
  await reply('cy', 'Three');
  expect(await as('ana', 'GET', `/comments/${id}`)).toMatchObject({
    replies: 3,
    repliers: [
      { user: { displayName: 'Bo' }, count: 2, updatedAt: '2026-03-01T12:00:01.000Z' },
      { user: { displayName: 'Cy' }, count: 1 },
    ],
  });
  const page = await as('ana', 'GET', `/comments/${id}/replies?limit=2`);
  expect(page).toMatchObject({ count: 3, items: [{ body: { markdown: 'One' } }, { body: { markdown: 'Two' } }] });
  await as('bo', 'PUT', `/comments/${id}/replies/${last.id}`, { addedReactions: ['+1'], body: { markdown: 'Too' } });
  expect(await as('ana', 'GET', `/comments/${id}/replies/${last.id}`)).toMatchObject({
    ...{ body: { markdown: 'Too' }, editedAt: '2026-03-01T12:00:01.000Z', reactions: [{ emoji: '+1', count: 1 }] },
  });
  await as('bo', 'DELETE', `/comments/${id}/replies/${last.id}`);
  expect(await as('ana', 'GET', `/comments/${id}`)).toMatchObject({
    replies: 2,
    repliers: [{ count: 1 }, { count: 1 }],
  });
  await as('ana', 'DELETE', `/comments/${id}`);
  expect(await as('ana', 'GET', '/comments')).toMatchObject({ count: 0 });
  const gone = family === 'space' ? '' : '/change-requests/1';
  expect((await call('GET', `/spaces/${space}${gone}/comments/${id}/replies`)).status).toBe(404);
});

test.each(both)('a comment on a %s keeps who resolved it first, and can be reopened', async (family) => {
  const { as, say, clock } = await start(family);
  const { id } = await say('ana', 'Well');
  await say('ana', 'Open');
  const counted = async () => (await as('ana', 'GET', '')).comments;
  expect(await counted()).toBe(2);
  await as('bo', 'PUT', `/comments/${id}`, { resolved: true });
  clock.advance(1000);
  expect(await as('cy', 'PUT', `/comments/${id}`, { resolved: true })).toMatchObject({
    ...{ status: 'resolved', resolvedAt: '2026-03-01T12:00:00.000Z', resolvedBy: { displayName: 'Bo' } },
  });
  expect(await counted()).toBe(1);
  const listed = async (status: string) =>
    (await as('ana', 'GET', `/comments?status=${status}`)).items.map((item: Body) => item.body.markdown);
  expect([await listed('resolved'), await listed('open')]).toEqual([['Well'], ['Open']]);
  expect((await listed('all')).toSorted()).toEqual(['Open', 'Well']);
  const opened = await as('ana', 'PUT', `/comments/${id}`, { resolved: false });
  expect([opened.status, opened.resolvedAt, opened.resolvedBy]).toEqual(['open', undefined, undefined]);
});

test.each(both)('comments on a %s can be filtered by page and author, and ordered', async (family) => {
  const { as, say, clock, page } = await start(family);
  await say('ana', 'a', { page, node: 'n1' });
  clock.advance(1000);
  await say('bo', 'b', { page });
  clock.advance(1000);
  await say('bo', 'c');
  const listed = async (query: string) =>
    (await as('ana', 'GET', `/comments${query}`)).items.map((item: Body) => item.body.markdown).join('');
  const { items } = await as('ana', 'GET', '/comments');
  const bo = items[0].postedBy.id;
  const ana = items[2].postedBy.id;
  expect(await listed('')).toBe('cba');
  expect(await listed('?order=asc')).toBe('abc');
  expect(await listed(`?targetPage=${page}`)).toBe('ba');
  expect(await listed(`?authors=${bo}`)).toBe('cb');
  expect(await listed(`?authors=${bo}&authors=${ana}&targetPage=${page}&order=asc`)).toBe('ab');
  expect(await listed('?targetPage=none')).toBe('');
  const target = { page: { id: page }, node: { id: 'n1' }, revision: expect.any(String) };
  expect(items[2].target).toMatchObject(target);
});

test.each(both)('commenters of a %s are the distinct members who commented', async (family) => {
  const { as, say, org } = await start(family);
  const { id } = await say('bo', 'Well');
  await say('bo', 'Again');
  await say('robot', 'Beep');
  await as('cy', 'POST', `/comments/${id}/replies`, { body: { markdown: 'Yes' } });
  const names = async () => (await as('ana', 'GET', '/commenters')).items.map((item: Body) => item.user.displayName);
  expect(await names()).toEqual(['Bo', 'Cy']);
  const [first] = (await as('ana', 'GET', '/commenters?limit=1')).items;
  await org('DELETE', `/members/${first.id}`);
  expect(await names()).toEqual(['Cy']);
});

test('a comment on a page of a change request belongs to the change request', async () => {
  const { emulator, space, call } = await start('space');
  const { pages } = emulator.writeContent(space, { pages: [{ title: 'New' }] }, { changeRequest: '1' });
  const body = { body: { markdown: 'Here' }, page: pages[0] };
  expect((await call('POST', `/spaces/${space}/comments`, body)).status).toBe(400);
  const posted = await call('POST', `/spaces/${space}/change-requests/1/comments`, body);
  const { revision } = (await call('GET', `/spaces/${space}/change-requests/1`)).body;
  expect(posted.body.target).toMatchObject({ page: { id: pages[0] }, revision });
});

test('a comment can be written and read as Markdown or as a document', async () => {
  const { as, say } = await start('space');
  const { id } = await say('ana', 'So **it** is');
  expect((await as('ana', 'GET', `/comments/${id}?format=document`)).body.document.nodes).toMatchObject([
    { nodes: [{ leaves: [{ text: 'So ' }] }, { leaves: [{ text: 'it', marks: [{ type: 'bold' }] }] }, {}] },
  ]);
  const written = await as('ana', 'POST', '/comments', { body: { document: document('Written') } });
  expect(written.body).toEqual({ markdown: 'Written' });
});
