import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { type Body, type SpaceFixture, startSpace } from './fixture.ts';

/* Content of spaces and change requests: changes, queries, and references. */

const titles = async ({ at }: SpaceFixture, base = ''): Promise<string[]> =>
  (await at('GET', `${base}/content/pages`)).pages.map((page: Body) => page.title);

const CR = '/change-requests/1';

test('a change request has the content from its creation and its own edits, apart from the space', async () => {
  const made = await startSpace();
  const { emulator, space, at } = made;
  const [page = ''] = emulator.writePages(space, [{ title: 'One', body: 'first' }]);
  const { revision } = await at('POST', '/change-requests', { subject: 's' });
  const edited = emulator.writeContent(space, { pages: [{ title: 'Two' }] }, { changeRequest: '1' });
  emulator.writeContent(space, { pages: [{ title: 'Three' }] });

  expect(edited.revision).not.toBe(revision);
  expect(await at('GET', CR)).toMatchObject({ revision: edited.revision, outdated: true });
  expect(await titles(made)).toEqual(['One', 'Three']);
  expect(await titles(made, CR)).toEqual(['One', 'Two']);
  expect(await at('GET', `${CR}/content/page/${page}`)).toMatchObject({
    ...{ markdown: 'first', urls: { app: expect.stringMatching(/\/~\/changes\/1\/one$/) } },
  });
  const [own = ''] = edited.pages;
  expect((await made.call('GET', `/spaces/${space}/content/page/${own}`)).status).toBe(404);
  expect(await at('GET', `${CR}/content`)).toMatchObject({
    ...{ id: edited.revision, type: 'edits', parents: [revision] },
  });
});

test('an update pulls changes of the space, and a merge applies the change request to it', async () => {
  const made = await startSpace();
  const { emulator, space, at } = made;
  emulator.writePages(space, [{ title: 'One' }]);
  await at('POST', '/change-requests', { subject: 's' });
  const edited = emulator.writeContent(space, { pages: [{ title: 'Two' }] }, { changeRequest: '1' });
  const moved = emulator.writeContent(space, { pages: [{ title: 'Three' }] });

  const pulled = await at('POST', `${CR}/update`);
  expect(pulled.result).toBe('update');
  expect(await titles(made, CR)).toEqual(['One', 'Two', 'Three']);
  expect(await at('GET', CR)).toMatchObject({ outdated: false, revisionMergedAncestor: moved.revision });
  expect(await at('GET', `${CR}/content`)).toMatchObject({
    ...{ id: pulled.revision, type: 'update', parents: [edited.revision, moved.revision] },
  });

  const merged = await at('POST', `${CR}/merge`);
  expect(merged.result).toBe('merge');
  expect(await titles(made)).toEqual(['One', 'Two', 'Three']);
  expect(await at('GET', '/content')).toMatchObject({
    ...{ id: merged.revision, type: 'merge', parents: [moved.revision, pulled.revision] },
    mergedFrom: { number: 1, status: 'merged', revisionMerged: merged.revision },
  });
  expect(await titles(made, CR)).toEqual(['One', 'Two', 'Three']);
});

test('reports conflicting changes, and keeps those of the change request', async () => {
  const made = await startSpace();
  const { emulator, space, at } = made;
  const [page] = emulator.writePages(space, [{ title: 'One', body: 'first' }]);
  const body = async (base = '') => (await at('GET', `${base}/content/page/${page}`)).markdown;
  await at('POST', '/change-requests', { subject: 'one' });
  await at('POST', '/change-requests', { subject: 'two' });
  for (const changeRequest of [undefined, '1', '2']) {
    const text = `of ${changeRequest ?? 'the space'}`;
    emulator.writeContent(space, { pages: [{ title: 'One', body: text }] }, { changeRequest });
  }
  expect((await at('POST', '/change-requests/1/update')).result).toBe('conflicts');
  expect(await body('/change-requests/1')).toBe('of 1');
  expect((await at('POST', '/change-requests/1/merge')).result).toBe('merge');
  expect(await body()).toBe('of 1');
  expect((await at('POST', '/change-requests/2/merge')).result).toBe('conflicts');
  expect(await body()).toBe('of 2');
  expect(await at('GET', '/change-requests/2')).toMatchObject({ status: 'merged' });
});

test('refuses edits of a merged change request and deletions of missing pages', async () => {
  const { emulator, space, at, call } = await startSpace();
  const { files } = emulator.writeContent(space, { files: [{ name: 'a.txt', text: 'a' }] });
  await at('POST', '/change-requests', { subject: 's' });
  emulator.writeContent(space, { remove: files }, { changeRequest: '1' });
  expect((await at('GET', '/content/files')).count).toBe(1);
  await at('POST', `${CR}/merge`);
  expect((await at('GET', '/content/files')).count).toBe(0);
  expect(() => emulator.writeContent(space, {}, { changeRequest: '1' })).toThrow('is merged');
  expect(() => emulator.writeContent(space, { remove: files })).toThrow('not found');
  expect((await call('POST', `/_emulator/content/${space}/1`, {})).status).toBe(400);
  expect((await call('POST', `/_emulator/content/${space}`, { remove: ['none'] })).status).toBe(404);
  expect((await call('POST', `/_emulator/content/${space}`, { pages: [{ title: 'T', type: 'link' }] })).status).toBe(
    400,
  );
  expect((await call('POST', `/_emulator/content/${space}`, { pages: [{ title: 'T' }] })).body).toMatchObject({
    ...{ revision: expect.any(String), pages: [expect.any(String)], files: [] },
  });
});

test('stores the content examples of the documentation', async () => {
  const { space, at, call } = await startSpace();
  const page = await readFile(new URL('../../docs/embedded-platform.md', import.meta.url), 'utf8');
  const [, example = ''] = /```json\n([\s\S]*?)```/.exec(page) ?? [];
  const content = { ...JSON.parse(example), remove: [] };
  expect((await call('POST', `/_emulator/content/${space}`, content)).status).toBe(200);
  expect(await at('GET', '/content')).toMatchObject({
    pages: [{ path: 'access/sso' }, { type: 'link' }],
    files: [{ name: 'logo.svg', size: 6 }],
    variables: { version: '1.2' },
    git: { oid: '3f2a9c1' },
  });
});

test('authors of edits in a change request are its contributors', async () => {
  const { emulator, space, at, org } = await startSpace();
  const people = (await org('GET', '/members?order=asc')).items.map((item: Body) => item.id);
  await at('POST', '/change-requests', { subject: 's' });
  const counts = () =>
    Promise.all(
      people.map(async (user: string) => (await at('GET', `/change-requests?status=draft&contributor=${user}`)).count),
    );
  expect(await counts()).toEqual([1, 0, 0]);
  emulator.writeContent(space, { pages: [{ title: 'T' }] }, { changeRequest: '1', by: 'Bo@acme.example' });
  expect(await counts()).toEqual([1, 1, 0]);
  expect((await at('GET', `/change-requests?status=draft&creator=${people[1]}`)).count).toBe(0);
});

test('a template creates a page that links its parameters, also in a change request', async () => {
  const { emulator, space, at, org, call } = await startSpace();
  const other = (await org('POST', '/spaces', { title: 'Other' })).id;
  const { pages, files } = emulator.writeContent(space, {
    pages: [{ title: 'One', body: '# Top' }],
    files: [{ name: 'a b.txt', text: 'a' }],
  });
  const contentRefs = {
    page: { kind: 'page', page: pages[0] },
    anchor: { kind: 'anchor', page: pages[0], anchor: 'top' },
    file: { kind: 'file', file: files[0] },
    url: { kind: 'url', url: 'https://acme.example/' },
    space: { kind: 'space', space: other },
  };
  await at('POST', '/content/template', { id: 'Start', params: { contentRefs } });
  const [, page] = (await at('GET', '/content/pages')).pages;
  expect(page).toMatchObject({ title: 'Start', path: 'start' });
  const { items, stats } = await at('GET', `/content/page/${page.id}/links`);
  expect(items.map((item: Body) => [item.status, item.targetReference.kind])).toEqual([
    ['ok', 'page'],
    ['ok', 'page'],
    ['ok', 'file'],
    ['ok', 'url'],
    ['in-app', 'url'],
  ]);
  expect(stats).toEqual({ total: 5, broken: { total: 0, changeRequest: 0 } });

  const made = (await org('POST', '/spaces', { template: { id: 'Start' } })).id;
  expect((await call('GET', `/spaces/${made}/content/pages`)).body.pages).toMatchObject([{ title: 'Start' }]);

  await at('POST', '/change-requests', { subject: 's', template: { id: 'From the start' } });
  await at('POST', '/content/template', { id: 'Later', changeRequestId: '1' });
  const inside = (await at('GET', `${CR}/content/pages`)).pages.map((one: Body) => one.title);
  expect(inside).toEqual(['One', 'Start', 'From the start', 'Later']);
  expect((await at('GET', '/content/pages')).pages).toHaveLength(2);
});

const LINKED = [
  {
    title: 'Setup',
    path: 'guides/setup',
    body: [
      '# First steps',
      '[sibling](other.md) and [again](./other) and [up](../start#what-it-is "Title") and [here](#first-steps).',
      '[no page](missing.md), [no heading](other.md#none), [nowhere](#none), [empty]().',
      'https://acme.example and <mailto:ana@acme.example>, [by name][other].',
      '![](/files/a%20b.txt) `[code](nothing.md)` {% include "Note" %}',
      '```\n[code](nothing.md)\n{% include "None" %}\n```',
      '{% include "Gone" %}',
      '[other]: other.md',
    ].join('\n\n'),
  },
  { title: 'Other', path: 'guides/other', body: 'See [the file](../files/a b.txt) and [it](</files/a b.txt>).' },
  { title: 'Start', path: 'start', body: '## What it *is*' },
];

test('lists the links of pages as valid, broken or in-app', async () => {
  const { emulator, space, at } = await startSpace();
  const { pages } = emulator.writeContent(space, {
    pages: [...LINKED, { title: 'Away', type: 'link', target: { kind: 'space', space } }],
    files: [{ name: 'a b.txt', text: 'a' }],
    reusableContents: [{ title: 'Note', body: 'N' }],
  });
  const short = ({ status, relation, targetReference: target, locationReferences }: Body) => {
    const what = target.url ?? target.page?.path ?? target.file?.name ?? target.reusableContent?.title ?? target.kind;
    const anchor = target.internalLocation === undefined ? '' : `#${target.internalLocation.anchor}`;
    const on = locationReferences.map((location: Body) => location.page.title).join();
    return `${status} ${relation} ${what}${anchor} on ${on}`;
  };
  const all = await at('GET', '/links');
  expect(all.items.map(short)).toEqual([
    'ok reference guides/other on Setup',
    'ok reference start#what-it-is on Setup',
    'ok reference guides/setup#first-steps on Setup',
    'broken reference /guides/missing.md on Setup',
    'broken reference guides/other#none on Setup',
    'broken reference guides/setup#none on Setup',
    'broken reference  on Setup',
    'ok reference https://acme.example on Setup',
    'ok reference mailto:ana@acme.example on Setup',
    'ok dependsOn a b.txt on Setup',
    'ok dependsOn Note on Setup',
    'broken dependsOn Gone on Setup',
    'ok reference a b.txt on Other',
    'ok reference space on Away',
  ]);
  expect(all).toMatchObject({ count: 14, stats: { total: 14, broken: { total: 5 } } });
  const broken = await at('GET', '/links?status=broken&limit=2');
  expect(broken).toMatchObject({ count: 5, items: [{}, {}], stats: { total: 14 } });
  expect((await at('GET', `/links?status=broken&page=${broken.next.page}`)).items).toHaveLength(3);
  const onOther = await at('GET', `/content/page/${pages[1]}/links`);
  expect(onOther.stats).toEqual({ total: 1, broken: { total: 0, changeRequest: 0 } });
});

test('lists the pages that link or show a file', async () => {
  const { emulator, space, at } = await startSpace();
  const { files } = emulator.writeContent(space, { pages: LINKED, files: [{ name: 'a b.txt', text: 'a' }] });
  const { items } = await at('GET', `/content/files/${files[0]}/backlinks`);
  expect(items.map((item: Body) => [item.kind, item.page.title, item.relation, item.status])).toEqual([
    ['page', 'Setup', 'dependsOn', 'ok'],
    ['page', 'Other', 'reference', 'ok'],
  ]);
  expect(items[0]).toMatchObject({
    organization: { object: 'organization' },
    space: { id: space },
    versionContext: { type: 'revision', revision: { object: 'revision' } },
    targetReference: { kind: 'file', file: { id: files[0] } },
    locationReferences: [{ kind: 'page', page: { title: 'Setup' } }],
  });
});

test('a link that a change request breaks is broken only there until the merge', async () => {
  const { emulator, space, at } = await startSpace();
  const { pages, files } = emulator.writeContent(space, { pages: LINKED, files: [{ name: 'a b.txt', text: 'a' }] });
  await at('POST', '/change-requests', { subject: 's' });
  emulator.writeContent(space, { remove: [pages[2] ?? ''] }, { changeRequest: '1' });
  const count = async () => (await at('GET', '/links?status=broken')).count;
  const before = await count();
  expect((await at('GET', `${CR}/content/files/${files[0]}/backlinks`)).count).toBe(2);
  await at('POST', `${CR}/merge`);
  expect(await count()).toBe(before + 1);
});

const TEXT = [
  'In **version** <code class="expression">space.vars.version</code> of',
  '<code class="expression">page.vars.product</code>, <code class="expression">visitor.claims.name</code>;',
  'see [Other](other.md#x "T").\n\n{% include "Note" %}\n\n![A logo](/files/logo.svg)\n',
].join(' ');

async function textual() {
  const made = await startSpace();
  const { pages } = made.emulator.writeContent(made.space, {
    pages: [
      { title: 'Text', path: 'text', body: TEXT, variables: { product: 'Acme' } },
      { title: 'Other', path: 'other', body: '# x' },
    ],
    files: [{ name: 'logo.svg', contentType: 'image/svg+xml', text: '<svg/>' }],
    reusableContents: [{ title: 'Note', body: 'Ask *us* about <code class="expression">space.vars.version</code>.' }],
    variables: { version: '1.2' },
  });
  return { ...made, read: async (query = '') => made.at('GET', `/content/page/${pages[0]}${query}`) };
}

test('returns a page as raw, evaluated or resolved Markdown', async () => {
  const { read, emulator } = await textual();
  expect((await read()).markdown).toBe(TEXT);
  expect((await read('?evaluated=true')).markdown).toContain('In **version** 1.2 of Acme, ; see [Other](other.md#x');
  const sure = (await read('?evaluated=deterministic-only')).markdown;
  expect(sure).toContain('1.2 of Acme, <code class="expression">visitor.claims.name</code>; see');
  const included = (await read('?dereferenced=reusable-contents')).markdown;
  expect(included).toContain('Ask *us* about <code class="expression">');
  expect(included).toContain('[Other](other.md#x "T")');
  const whole = (await read('?dereferenced=true&evaluated=true')).markdown;
  expect(whole).toContain('Ask *us* about 1.2.');
  expect(whole).toMatch(new RegExp(`\\[Other\\]\\(${emulator.url}/app/s/\\w+/other#x "T"\\)`));
  expect(whole).toMatch(new RegExp(`!\\[A logo\\]\\(${emulator.url}/app/files/\\w+/\\w+/logo.svg\\)`));
});

test('returns a page as a rich document', async () => {
  const { read, space } = await textual();
  const { document } = await read('?format=document');
  expect(document).toMatchObject({
    object: 'document',
    data: {},
    nodes: [
      { type: 'paragraph' },
      { type: 'reusable-content', isVoid: true, data: { ref: { kind: 'reusable-content', space } } },
      { type: 'images', nodes: [{ type: 'image', data: { alt: 'A logo', ref: { kind: 'file', space } } }] },
    ],
  });
  const inline = document.nodes[0].nodes.map(
    (node: Body) => node.leaves?.[0].text ?? node.data.expression ?? node.data.ref,
  );
  expect(inline).toEqual([
    ...['In ', 'version', ' ', 'space.vars.version', ' of ', 'page.vars.product', ', ', 'visitor.claims.name'],
    ...['; see ', expect.objectContaining({ kind: 'anchor', anchor: 'x', space }), '.'],
  ]);
  expect(document.nodes[0].nodes[1].leaves[0].marks).toEqual([{ object: 'mark', type: 'bold' }]);
});

test('converts every Markdown element to a block', async () => {
  const { emulator, space, at } = await startSpace();
  const body = [
    '#### Deep\n\n- one\n- two\n\n3. three\n\n- [x] done\n\n> said\n>\n> ```\n> code\n> ```\n',
    '```ts\na\nb\n```\n\n---\n\n| a |\n|---|\n| b |\n\n<div>tags</div>\n\nText[^1]  \nand ~~that~~ `this`\n\n[^1]: Note',
  ].join('\n');
  const [page] = emulator.writePages(space, [{ title: 'All', body }]);
  const { nodes } = (await at('GET', `/content/page/${page}?format=document`)).document;
  expect(nodes.map((node: Body) => node.type)).toEqual([
    ...['heading-3', 'list-unordered', 'list-ordered', 'list-tasks', 'blockquote', 'code', 'divider', 'code'],
    ...['paragraph', 'paragraph'],
  ]);
  expect(nodes[2].data).toEqual({ start: 3 });
  expect(nodes[3].nodes[0].data).toEqual({ checked: true });
  expect(nodes[4].nodes.map((node: Body) => node.type)).toEqual(['paragraph', 'paragraph']);
  expect(nodes[5]).toMatchObject({ data: { syntax: 'ts' }, nodes: [{ type: 'code-line' }, { type: 'code-line' }] });
  expect(nodes[7].nodes[0].nodes[0].leaves[0].text).toBe('| a |');
});

test('git metadata comes from a synchronization, can be left out, and is removed by an edit', async () => {
  const { emulator, space, at } = await startSpace();
  const written = emulator.writeContent(space, {
    ...{ pages: [{ title: 'One', body: 'hello\n' }], files: [{ name: 'a.txt', text: 'a' }] },
    ...{ reusableContents: [{ title: 'Note', body: 'N' }], git: { oid: 'c0ffee', message: 'Docs', ref: 'main' } },
  });
  // The hash that git calculates for these bytes: git hash-object.
  const git = { oid: 'ce013625030ba8dba906f756967f9e9ca394464a', path: 'one.md' };
  expect(await at('GET', '/content')).toMatchObject({
    git: { oid: 'c0ffee', message: 'Docs', ref: 'main', createdByGitBook: false },
    pages: [{ git }],
    files: [{ git: { path: 'files/a.txt' } }],
    reusableContents: [{ title: 'Note', git: { path: 'includes/note.md' } }],
  });
  expect(JSON.stringify(await at('GET', '/content?metadata=false'))).not.toContain('"git"');
  expect(await at('GET', `/content/files/${written.files[0]}?metadata=false`)).not.toHaveProperty('git');
  emulator.writePages(space, [{ title: 'One', body: 'by hand' }]);
  const after = await at('GET', '/content');
  expect([after.git, after.pages[0].git, after.files[0].git?.path]).toEqual([undefined, undefined, 'files/a.txt']);
});

test('computed content names its source, and can be left out', async () => {
  const { emulator, space, at } = await startSpace();
  const computed = { type: 'builtin:openapi', props: { doc: 'info', page: 'info' } };
  emulator.writePages(space, [{ title: 'API', body: 'Computed.', computed }]);
  const read = async (query = '') => (await at('GET', `/content/pages${query}`)).pages[0];
  expect(await read()).toMatchObject({ markdown: 'Computed.', computed, computedSeed: expect.any(String) });
  expect(await read('?computed=false')).toMatchObject({ markdown: '', computed });
});

test('groups and links are separate page types that searches skip', async () => {
  const { emulator, space, at } = await startSpace();
  emulator.writeContent(space, {
    pages: [
      { title: 'Zebras', type: 'group', path: 'z' },
      { title: 'Zebra one', path: 'z/one', hidden: true, emoji: '1f993' },
      { title: 'Zebra two', path: 'z/two', noIndex: true },
      { title: 'Zebra away', path: 'away', type: 'link', target: { kind: 'url', url: 'https://zebra.example' } },
    ],
  });
  expect((await at('GET', '/content/pages')).pages).toMatchObject([
    { type: 'group', kind: 'group', pages: [{ hidden: true, emoji: '1f993' }, { noIndex: true }] },
    { type: 'link', target: { kind: 'url' } },
  ]);
  expect((await at('GET', '/search?query=zebra')).items.map((item: Body) => item.title)).toEqual(['Zebra one']);
});

test('a copied space contains copies of pages, and a restored one its own pages', async () => {
  const made = await startSpace();
  const { emulator, space, at, call } = made;
  emulator.writeContent(space, {
    ...{ pages: LINKED, files: [{ name: 'a b.txt', text: 'a' }], variables: { version: '1.2' } },
    reusableContents: [{ title: 'Note', body: 'N' }],
  });
  const here = await at('GET', '/content');
  const copy = (await call('POST', `/spaces/${space}/duplicate`)).body.id;
  const there = (await call('GET', `/spaces/${copy}/content`)).body;
  const shape = ({ pages, files, reusableContents, variables }: Body) =>
    JSON.stringify([pages, files, reusableContents, variables]).replace(/"(id|downloadURL|app)":"[^"]*",?/g, '');
  expect(shape(there)).toBe(shape(here));
  expect(there.files[0].id).not.toBe(here.files[0].id);
  expect((await call('GET', `/spaces/${copy}/links?status=broken`)).body.count).toBe(
    (await at('GET', '/links?status=broken')).count,
  );
  await at('DELETE', '');
  expect((await call('GET', `/spaces/${space}/content`)).status).toBe(404);
  await at('POST', '/restore');
  expect(await at('GET', '/content')).toEqual(here);
});

test('content is restored from a state, and change requests of an older state get the content of the space', async () => {
  const made = await startSpace();
  const { emulator, space, at } = made;
  emulator.writePages(space, [{ title: 'One' }]);
  await at('POST', '/change-requests', { subject: 's' });
  await at('POST', '/change-requests', { subject: 'from the same revision' });
  emulator.writeContent(space, { pages: [{ title: 'Two' }] }, { changeRequest: '1' });
  const { changeRequestContents, revisions, ...older } = emulator.state();
  expect([changeRequestContents?.length, revisions?.length]).toEqual([2, 2]);
  emulator.restore({ ...older, changeRequestContents: changeRequestContents ?? [], revisions: revisions ?? [] });
  expect(emulator.state().snapshots).toHaveLength(1);
  expect(await titles(made, CR)).toEqual(['One', 'Two']);
  emulator.restore(older);
  expect(await titles(made, CR)).toEqual(['One']);
  expect(await at('POST', `${CR}/merge`)).toMatchObject({ result: 'merge' });
});
