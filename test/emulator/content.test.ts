import { expect, test } from 'vitest';
import { createState, emptyOrganization } from '../../src/emulator/emulator.ts';
import { type Body, fixture, sharedFixture } from './fixture.ts';

/* Collections and spaces: places, moves, transfers, deletion and restoration. */

const organization = (id: string) =>
  emptyOrganization({ id, title: id, members: [{ email: 'ana@acme.example', role: 'admin' }] });
const shared = await sharedFixture({
  seed: createState({ organizations: [organization('org_one'), organization('org_two')] }),
});
const { call, org, emulator, clock } = shared;

async function space(title: string, parent?: string): Promise<string> {
  return (await org('POST', '/spaces', { title, parent })).id;
}

async function collection(title: string, parent?: string): Promise<string> {
  return (await org('POST', '/collections', { title, parent })).id;
}

async function titlesIn(parent: string): Promise<string[]> {
  return (await call('GET', `/collections/${parent}/spaces`)).body.items.map((item: Body) => item.title);
}

test('spaces move before and after sibling spaces and collections, and a move without effect is refused', async () => {
  const parent = await collection('Moves');
  const [a, b, c] = [await space('a', parent), await space('b', parent), await space('c', parent)];
  const nested = await collection('n', parent);
  const move = async (id: string, position: Body) => (await call('POST', `/spaces/${id}/move`, { position })).status;

  expect(await move(c, { before: { type: 'space', space: a } })).toBe(200);
  expect(await titlesIn(parent)).toEqual(['c', 'a', 'b']);
  expect(await move(c, { after: { type: 'space', space: a } })).toBe(200);
  expect(await titlesIn(parent)).toEqual(['a', 'c', 'b']);
  expect(await move(c, { after: { type: 'space', space: a }, before: { type: 'space', space: b } })).toBe(409);
  expect(await move(c, { after: { type: 'space', space: b }, before: { type: 'space', space: a } })).toBe(400);
  expect(await move(a, { after: { type: 'collection', collection: nested } })).toBe(200);
  expect(await titlesIn(parent)).toEqual(['c', 'b', 'a']);
  expect(await move(a, { after: { type: 'collection', collection: nested } })).toBe(409);
  expect(await move(a, { after: { type: 'space', space: a } })).toBe(400);
  expect(await move(a, {})).toBe(409);
});

test('a move to another parent appends, or uses the given position', async () => {
  const [from, to] = [await collection('From'), await collection('To')];
  const [a, b] = [await space('a', to), await space('b', to)];
  const [x, y] = [await space('x', from), await space('y', from)];
  await call('POST', `/spaces/${x}/move`, { parent: to });
  await call('POST', `/spaces/${y}/move`, { parent: to, position: { after: { type: 'space', space: a } } });
  expect(await titlesIn(to)).toEqual(['a', 'y', 'b', 'x']);
  const lost = { parent: from, position: { after: { type: 'space', space: b } } };
  expect((await call('POST', `/spaces/${y}/move`, lost)).status).toBe(400);
  const root = await call('POST', `/spaces/${y}/move`, { parent: null });
  expect(root.body).toMatchObject({ visibility: 'private' });
  expect(root.body).not.toHaveProperty('parent');
});

test('collections move, but not into themselves', async () => {
  const outer = await collection('Outer');
  const inner = await collection('Inner', outer);
  const innermost = await collection('Innermost', inner);
  expect((await call('POST', `/collections/${outer}/move`, { parent: innermost })).status).toBe(400);
  expect((await call('POST', `/collections/${inner}/move`, { parent: inner })).status).toBe(400);
  const moved = await call('POST', `/collections/${innermost}/move`, { parent: outer });
  expect(moved.body).toMatchObject({ parent: outer });
  const before = { position: { before: { type: 'collection', collection: inner } } };
  expect((await call('POST', `/collections/${innermost}/move`, before)).status).toBe(200);
});

test('deleting a collection deletes its contents, whose spaces can be restored to the root', async () => {
  const outer = await collection('Outer');
  const inner = await collection('Inner', outer);
  const inside = await space('Inside', inner);
  expect((await call('DELETE', `/collections/${outer}`)).status).toBe(205);
  expect((await call('GET', `/collections/${inner}`)).status).toBe(404);
  expect((await call('GET', `/spaces/${inside}`)).body.deletedAt).toBe(new Date(clock.now()).toISOString());
  const restored = await call('POST', `/spaces/${inside}/restore`);
  expect(restored).toMatchObject({ status: 200, body: { id: inside, visibility: 'private' } });
  expect(restored.body).not.toHaveProperty('deletedAt');
});

test('a deleted space is kept for 7 days', async () => {
  const made = await fixture();
  const { id } = await made.org('POST', '/spaces', {});
  await made.call('DELETE', `/spaces/${id}`);
  made.clock.advance(7 * 86_400_000 - 1);
  expect((await made.call('POST', `/spaces/${id}/restore`)).status).toBe(200);
  await made.call('DELETE', `/spaces/${id}`);
  made.clock.advance(7 * 86_400_000);
  expect((await made.call('POST', `/spaces/${id}/restore`)).status).toBe(404);
  expect((await made.call('GET', `/spaces/${id}`)).status).toBe(404);
  await made.emulator.close();
});

test('a deleted space is removed from lists, counts and sites', async () => {
  const [a, b] = [await space('a'), await space('b')];
  const site = (await org('POST', '/sites', { spaces: [a, b] })).id;
  const before = (await org('GET', '/spaces')).count;
  await call('DELETE', `/spaces/${a}`);
  expect((await org('GET', '/spaces')).count).toBe(before - 1);
  const { structure } = await org('GET', `/sites/${site}/structure`);
  expect(structure).toMatchObject([{ title: 'b', default: true }]);
  expect(await org('GET', `/sites/${site}`)).toMatchObject({ siteSpaces: 1 });
});

test('a section is deleted with its last space', async () => {
  const [a, b] = [await space('a'), await space('b')];
  const site = (await org('POST', '/sites', {})).id;
  await org('POST', `/sites/${site}/sections`, { spaceId: a, title: 'First' });
  await org('POST', `/sites/${site}/sections`, { spaceId: b, title: 'Second' });
  await call('DELETE', `/spaces/${a}`);
  const { structure } = await org('GET', `/sites/${site}/structure`);
  expect(structure).toMatchObject([{ title: 'Second', default: true }]);
});

test('a collection is transferred with its contents, unless a site shows one of its spaces', async () => {
  const outer = await collection('Outer');
  const inner = await collection('Inner', outer);
  const inside = await space('Inside', inner);
  const site = (await org('POST', '/sites', { spaces: [inside] })).id;
  const transfer = () => call('POST', `/collections/${outer}/transfer`, { organization: 'org_two' });
  expect(await transfer()).toMatchObject({ status: 412, body: { error: { code: 412 } } });
  await org('DELETE', `/sites/${site}`);
  expect((await transfer()).status).toBe(200);
  expect((await call('GET', `/spaces/${inside}`)).body).toMatchObject({ organization: 'org_two', parent: inner });
  expect((await call('GET', '/orgs/org_two/collections')).body.count).toBe(2);
});

test('an emoji and an icon replace each other, and null clears both', async () => {
  const id = await space('Look');
  const patch = async (body: unknown) => (await call('PATCH', `/spaces/${id}`, body)).body;
  expect(await patch({ emoji: '1f4d6' })).toMatchObject({ emoji: '1f4d6' });
  const withIcon = await patch({ icon: 'https://acme.example/i.png' });
  expect(withIcon).toMatchObject({ urls: { icon: 'https://acme.example/i.png' } });
  expect(withIcon).not.toHaveProperty('emoji');
  expect((await patch({ icon: null })).urls).not.toHaveProperty('icon');
});

test('an edit of a space creates a revision', async () => {
  const id = await space('Edited');
  const before = (await call('GET', `/spaces/${id}`)).body;
  clock.advance(1000);
  const revision = emulator.reviseSpace(id);
  const after = (await call('GET', `/spaces/${id}`)).body;
  expect(after.revision).toBe(revision);
  expect(after.revision).not.toBe(before.revision);
  expect(Date.parse(after.updatedAt)).toBe(Date.parse(before.updatedAt) + 1000);
});
