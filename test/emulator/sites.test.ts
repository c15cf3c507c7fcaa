import { beforeEach, expect, test } from 'vitest';
import { type Body, sharedFixture } from './fixture.ts';

/* Sites: structure, defaults, paths, order. */

const { emulator, call, org } = await sharedFixture();
const fresh = emulator.state();
let a: string;
let b: string;
let c: string;

beforeEach(async () => {
  emulator.restore(fresh);
  a = (await org('POST', '/spaces', { title: 'Érable & Co', language: 'en' })).id;
  b = (await org('POST', '/spaces', { title: 'Beta Guide' })).id;
  c = (await org('POST', '/spaces', { title: 'C', language: 'en' })).id;
});

const newSite = async (body: unknown = {}): Promise<string> => `/sites/${(await org('POST', '/sites', body)).id}`;
const section = async (site: string, spaceId: string, title?: string): Promise<Body> =>
  org('POST', `${site}/sections`, { spaceId, title });
const group = async (site: string, title: string, rest: object = {}): Promise<string> =>
  (await org('POST', `${site}/section-groups`, { title, ...rest })).id;

/** Titles in display order; groups with their children. */
async function tree(site: string): Promise<Body> {
  const show = (item: Body): Body => (item.children ? { [item.title]: item.children.map(show) } : item.title);
  return (await org('GET', `${site}/structure`)).structure.map(show);
}

test('spaces of a creation become root site spaces in order, with the first as default', async () => {
  const site = await newSite({ spaces: [b, a, c] });
  const { type, structure } = await org('GET', `${site}/structure`);
  expect(type).toBe('siteSpaces');
  expect(structure).toMatchObject([
    { object: 'site-space', title: 'Beta Guide', path: 'beta-guide', default: true, space: { object: 'space', id: b } },
    { title: 'Érable & Co', path: 'en', default: false },
    { title: 'C', path: 'en-1', default: false, hidden: false },
  ]);
});

test('the first section gets the root site spaces after its own', async () => {
  const site = await newSite({ spaces: [a, c] });
  const made = await section(site, b, 'Guides');
  expect(made).toMatchObject({ default: true, path: 'guides', siteSpaces: [{}, {}, {}] });
  const { type, structure } = await org('GET', `${site}/structure`);
  expect(type).toBe('sections');
  expect(structure[0].siteSpaces.map((item: Body) => [item.title, item.path, item.default, item.section])).toEqual([
    ['Beta Guide', 'beta-guide', true, made.id],
    ['Érable & Co', 'en', false, made.id],
    ['C', 'en-1', false, made.id],
  ]);
  expect((await call('POST', `/orgs/org_acme${await newSite({ spaces: [a] })}/sections`, { spaceId: a })).status).toBe(
    400,
  );
});

test('section paths are unique in a site, also in groups', async () => {
  const site = await newSite();
  const first = await section(site, a);
  const second = await section(site, a);
  expect([first.path, second.path, first.title]).toEqual(['erable-co', 'erable-co-1', 'Érable & Co']);
  await group(site, 'G', { sections: [first.id] });
  const taken = await call('PATCH', `/orgs/org_acme${site}/sections/${second.id}`, { path: 'erable-co' });
  expect(taken).toMatchObject({ status: 400, body: { error: { message: 'body.path: path is already in use' } } });
  expect((await org('PATCH', `${site}/sections/${second.id}`, { path: 'erable-co-1' })).path).toBe('erable-co-1');
});

test('a site space without a section is added to the default section', async () => {
  const site = await newSite();
  await section(site, a, 'First');
  const second = await section(site, b, 'Second');
  await org('PATCH', site, { defaultSiteSection: second.id });
  expect((await org('POST', `${site}/site-spaces`, { spaceId: c })).section).toBe(second.id);
});

test('sections and sites have a default, which passes on when it is deleted', async () => {
  const site = await newSite();
  const first = await section(site, a, 'First');
  const second = await section(site, b, 'Second');
  const extra = await org('POST', `${site}/site-spaces`, { spaceId: c, sectionId: second.id });
  expect(extra.default).toBe(false);
  await org('PATCH', site, { defaultSiteSpace: extra.id });
  const { items } = await org('GET', `${site}/sections`);
  expect(items.map((item: Body) => item.default)).toEqual([false, true]);
  expect(items[1].siteSpaces.map((item: Body) => item.default)).toEqual([false, true]);
  await org('DELETE', `${site}/site-spaces/${extra.id}`);
  expect((await org('GET', `${site}/site-spaces?default=true`)).count).toBe(2);
  await org('DELETE', `${site}/sections/${second.id}`);
  expect((await org('GET', `${site}/sections`)).items).toMatchObject([{ id: first.id, default: true }]);
});

test('a section keeps at least one site space, and deleting the last section leaves an empty root', async () => {
  const site = await newSite();
  const only = await section(site, a);
  const last = await call('DELETE', `/orgs/org_acme${site}/site-spaces/${only.siteSpaces[0].id}`);
  expect(last).toMatchObject({ status: 400, body: { error: { message: expect.stringContaining('at least one') } } });
  await org('DELETE', `${site}/sections/${only.id}`);
  expect(await org('GET', `${site}/structure`)).toEqual({ type: 'siteSpaces', structure: [] });
  expect((await org('GET', site)).siteSpaces).toBe(0);
});

test('sort reorders only siblings of both kinds', async () => {
  const site = await newSite();
  const one = (await section(site, a, 'one')).id;
  const two = (await section(site, b, 'two')).id;
  const three = (await section(site, c, 'three')).id;
  const g = await group(site, 'g', { sections: [three] });
  const sort = (item: Body, position: Body) =>
    call('PATCH', `/orgs/org_acme${site}/structure/sort`, { item, position });
  const sec = (id: string) => ({ type: 'site-section', id });
  const grp = (id: string) => ({ type: 'site-section-group', id });

  expect(await tree(site)).toEqual(['one', 'two', { g: ['three'] }]);
  expect((await sort(grp(g), { before: sec(one) })).body).toMatchObject({ object: 'site-section-group', id: g });
  expect(await tree(site)).toEqual([{ g: ['three'] }, 'one', 'two']);
  expect((await sort(sec(one), { after: sec(two) })).status).toBe(200);
  expect(await tree(site)).toEqual([{ g: ['three'] }, 'two', 'one']);
  expect((await sort(sec(one), { after: sec(two) })).status).toBe(200);

  expect((await sort(sec(one), { after: sec(three) })).body.error.message).toContain('is not a sibling');
  expect((await sort(sec(one), { before: sec(two), after: sec(two) })).status).toBe(400);
  expect((await sort(sec(one), { after: sec(one) })).status).toBe(400);
  expect((await sort(grp(one), { after: sec(two) })).status).toBe(400);
  expect(await tree(site)).toEqual([{ g: ['three'] }, 'two', 'one']);
});

test('site spaces are sorted within their section, also by the deprecated move', async () => {
  const site = await newSite({ spaces: [a, b, c] });
  const { items } = await org('GET', `${site}/site-spaces`);
  const [first, , third] = items.map((item: Body) => item.id);
  await org('PATCH', `${site}/structure/sort`, {
    item: { type: 'site-space', id: third },
    position: { before: { type: 'site-space', id: first } },
  });
  expect(await tree(site)).toEqual(['C', 'Érable & Co', 'Beta Guide']);
  await org('POST', `${site}/site-spaces/${third}/move`, {
    position: { after: { type: 'site-space', siteSpace: first } },
  });
  expect(await tree(site)).toEqual(['Érable & Co', 'C', 'Beta Guide']);
});

test('groups nest, and deleting one appends its children to its parent', async () => {
  const site = await newSite();
  const one = (await section(site, a, 'one')).id;
  const two = (await section(site, b, 'two')).id;
  const outer = await group(site, 'outer');
  const inner = await group(site, 'inner', { parent: outer, sections: [one] });
  await group(site, 'leaf', { parent: inner });
  await org('POST', `${site}/section-groups/${outer}/sections`, { sectionId: two });
  expect(await tree(site)).toEqual([{ outer: [{ inner: ['one', { leaf: [] }] }, 'two'] }]);
  expect((await org('GET', `${site}/section-groups`)).count).toBe(3);

  await org('DELETE', `${site}/section-groups/${inner}`);
  expect(await tree(site)).toEqual([{ outer: ['two', 'one', { leaf: [] }] }]);
  await org('DELETE', `${site}/section-groups/${outer}`);
  expect(await tree(site)).toEqual(['two', 'one', { leaf: [] }]);
});

test('a section moves into a group from anywhere, and out to the end of the root', async () => {
  const site = await newSite();
  const one = (await section(site, a, 'one')).id;
  const two = (await section(site, b, 'two')).id;
  const [g, h] = [await group(site, 'g', { sections: [one] }), await group(site, 'h')];
  const add = () => call('POST', `/orgs/org_acme${site}/section-groups/${h}/sections`, { sectionId: one });
  expect(await add()).toMatchObject({ status: 201, body: { id: h, children: [{ id: one, sectionGroup: h }] } });
  await org('POST', `${site}/section-groups/${h}/sections`, { sectionId: two });
  expect((await add()).status).toBe(201);
  expect(await tree(site)).toEqual([{ g: [] }, { h: ['one', 'two'] }]);
  const remove = (from: string) => call('DELETE', `/orgs/org_acme${site}/section-groups/${from}/sections/${one}`);
  expect((await remove(g)).status).toBe(204);
  expect((await remove(h)).status).toBe(205);
  expect(await tree(site)).toEqual([{ g: [] }, { h: ['two'] }, 'one']);
});

test('null clears a condition, an icon, a description and a proxy, and an absent field keeps them', async () => {
  const site = await newSite({ spaces: [a] });
  const [{ id }] = (await org('GET', `${site}/site-spaces`)).items;
  await org('PATCH', `${site}/site-spaces/${id}`, { condition: 'visitor.claims.beta' });
  expect(await org('PATCH', `${site}/site-spaces/${id}`, { hidden: true })).toHaveProperty('condition');
  expect(await org('PATCH', `${site}/site-spaces/${id}`, { condition: null })).not.toHaveProperty('condition');
  const made = await section(site, b, 'Guides');
  await org('PATCH', `${site}/sections/${made.id}`, { icon: 'gear', description: 'D' });
  const cleared = await org('PATCH', `${site}/sections/${made.id}`, { icon: null, description: null });
  expect(cleared).not.toHaveProperty('icon');
  expect(cleared).not.toHaveProperty('description');
  const proxied = await org('PATCH', site, { proxy: 'acme.example/docs' });
  expect(proxied.proxy).toEqual({ origin: 'acme.example/docs', target: expect.stringMatching(/^http:.*\/docs\//) });
  expect(await org('PATCH', site, { proxy: null })).not.toHaveProperty('proxy');
});

test('a site with content can be published, and returns its URL', async () => {
  const empty = await newSite();
  expect((await call('POST', `/orgs/org_acme${empty}/publish`)).status).toBe(400);
  const site = await newSite({ spaces: [a] });
  expect((await org('GET', site)).urls).not.toHaveProperty('published');
  const published = await org('POST', `${site}/publish`);
  expect(published).toMatchObject({ published: true, urls: { published: expect.stringMatching(/^http/) } });
  const { site: shown, structure, customizations } = await org('GET', `${site}/published`);
  expect({ shown: shown.id, type: structure.type, site: customizations.site.title }).toEqual({
    shown: published.id,
    type: 'siteSpaces',
    site: 'Untitled site',
  });
});

test('deleting a site removes it as default content of the organization', async () => {
  const { id } = await org('POST', '/sites', {});
  await org('PATCH', '', { defaultContent: { type: 'site', site: id } });
  await org('DELETE', `/sites/${id}`);
  expect(await org('GET', '')).not.toHaveProperty('defaultContent');
});

test('lists conditions for boolean and enumerated claims, also unsigned ones', async () => {
  const site = await newSite();
  await org('PUT', `${site}/adaptive-schema`, {
    jsonSchema: {
      type: 'object',
      properties: {
        beta: { type: 'boolean', description: 'Beta user' },
        plan: { type: 'string', description: 'Plan', enum: ['free', 'pro'] },
        unsigned: {
          type: 'object',
          description: 'Unsigned claims of the site visitor.',
          properties: { vip: { type: 'boolean', description: 'Pays much' } },
          additionalProperties: false,
        },
      },
      additionalProperties: false,
    },
  });
  const { items } = await org('GET', `${site}/adaptive-schema/template-conditions`);
  expect(items).toEqual([
    { description: 'Beta user', condition: 'visitor.claims.beta == true' },
    { description: 'Plan', condition: 'visitor.claims.plan == "free"' },
    { description: 'Plan', condition: 'visitor.claims.plan == "pro"' },
    { description: 'Pays much', condition: 'visitor.claims.unsigned.vip == true' },
  ]);
});

test('publishes the customization as written, including deprecated parts', async () => {
  const site = await newSite({ spaces: [a] });
  const { internationalization, ...settings } = await org('GET', `${site}/customization`);
  const { background, ...styling } = settings.styling;
  const written = { ...settings, styling: { ...styling, theme: 'gradient' }, pdf: { enabled: false } };
  const answered = await org('PUT', `${site}/customization`, written);
  expect(answered).toEqual({ ...written, internationalization, styling: { ...written.styling, background } });
  await org('POST', `${site}/publish`);
  const { items } = await org('GET', `${site}/site-spaces`);
  expect((await org('GET', `${site}/published`)).customizations).toEqual({
    site: answered,
    siteSpaces: { [items[0].id]: answered },
  });
});
