import { expect, test } from 'vitest';
import { type Body, type Fixture, start } from './fixture.ts';

/* Pages and search. */

interface World extends Fixture {
  readonly spaces: Readonly<Record<'guides' | 'api', string>>;
}

async function startWorld(): Promise<World> {
  const made = await start();
  const space = async (title: string) => (await made.org('POST', '/spaces', { title })).id as string;
  const spaces = { guides: await space('Guides'), api: await space('API') };
  made.emulator.writePages(spaces.guides, [
    { title: 'Access', body: 'Who may do what.' },
    {
      title: 'Single sign-on',
      path: 'access/sso',
      body: 'SAML.\n\n## Okta\n\nAdd the app.\n\n## Azure\n\nUse metadata.',
    },
    { title: 'Exports', body: 'PDF export. See webhooks.' },
  ]);
  made.emulator.writePages(spaces.api, [{ title: 'Webhooks', body: '# Retries\n\nA webhook is sent again.' }]);
  return { ...made, spaces };
}

const found = async ({ org }: Fixture, query: string): Promise<[string, string[]][]> =>
  (await org('GET', `/search?query=${encodeURIComponent(query)}`)).items.map((item: Body) => [
    item.title,
    item.pages.map((page: Body) => page.title),
  ]);

test('searches an organization by space, best match first, titles before texts', async () => {
  const made = await startWorld();
  expect(await found(made, 'webhooks are not sent')).toEqual([
    ['API', ['Webhooks']],
    ['Guides', ['Exports']],
  ]);
  expect(await found(made, 'PDF export')).toEqual([['Guides', ['Exports']]]);
  expect(await found(made, 'Zeppelin')).toEqual([]);
});

test('a result contains the matching sections, its ancestors and URLs', async () => {
  const made = await startWorld();
  const { items } = await made.org('GET', '/search?query=okta');
  expect(items).toEqual([
    {
      id: made.spaces.guides,
      title: 'Guides',
      pages: [
        {
          id: expect.any(String),
          title: 'Single sign-on',
          path: 'access/sso',
          sections: [
            {
              id: expect.any(String),
              title: 'Okta',
              path: 'access/sso#okta',
              body: 'Add the app.',
              urls: { app: expect.stringMatching(/access\/sso#okta$/) },
            },
          ],
          ancestors: [{ title: 'Access' }],
          urls: { app: expect.stringMatching(/^http.*\/access\/sso$/) },
        },
      ],
    },
  ]);
  const inSpace = await made.call('GET', `/spaces/${made.spaces.guides}/search?query=okta`);
  expect(inSpace.body.items).toEqual(items[0].pages);
});

test('returns each result once over several pages', async () => {
  const made = await startWorld();
  const first = await made.org('GET', '/search?query=webhooks&limit=1');
  const second = await made.org('GET', `/search?query=webhooks&limit=1&page=${first.next.page}`);
  expect([first, second].map((page) => page.items.map((item: Body) => item.title))).toEqual([['API'], ['Guides']]);
  expect(second.next).toBeUndefined();
});

test('does not search deleted spaces', async () => {
  const made = await startWorld();
  await made.call('DELETE', `/spaces/${made.spaces.api}`);
  expect(await found(made, 'webhooks')).toEqual([['Guides', ['Exports']]]);
});

test('returns pages as a tree, and copies them with a space', async () => {
  const made = await startWorld();
  const tree = async (space: string) => (await made.call('GET', `/spaces/${space}/content/pages`)).body.pages;
  expect(await tree(made.spaces.guides)).toMatchObject([
    { title: 'Access', path: 'access', pages: [{ title: 'Single sign-on', slug: 'sso', pages: [] }] },
    { title: 'Exports', type: 'document' },
  ]);
  const copy = (await made.call('POST', `/spaces/${made.spaces.guides}/duplicate`)).body.id;
  const copied = await tree(copy);
  expect(copied).toMatchObject([{ title: 'Access', pages: [{ title: 'Single sign-on' }] }, { title: 'Exports' }]);
  expect(copied[0].id).not.toBe((await tree(made.spaces.guides))[0].id);
});

test('replaces a page in place, also over HTTP', async () => {
  const made = await startWorld();
  const written = await made.call('POST', `/_emulator/pages/${made.spaces.api}`, [
    { title: 'Hooks', path: '/webhooks/' },
  ]);
  expect(written).toMatchObject({ status: 200, body: { pages: [expect.any(String)] } });
  expect((await made.call('GET', `/spaces/${made.spaces.api}/content/pages`)).body.pages).toMatchObject([
    { id: written.body.pages[0], title: 'Hooks', path: 'webhooks' },
  ]);
  expect((await made.call('POST', '/_emulator/pages/none', [])).status).toBe(404);
  expect((await made.call('POST', `/_emulator/pages/${made.spaces.api}`, [{}])).status).toBe(400);
});

test('ignores headings in code blocks', async () => {
  const made = await startWorld();
  made.emulator.writePages(made.spaces.api, [{ title: 'Code', body: '```\n# zebra\n```' }]);
  const [space] = (await made.org('GET', '/search?query=zebra')).items;
  expect(space.pages[0].sections).toMatchObject([{ title: '', body: '```\n# zebra\n```' }]);
});

test('orders sections by relevance', async () => {
  const made = await startWorld();
  const body = 'Export a file.\n\n## Files\n\nAny file.\n\n## Export a PDF\n\nAs a PDF file, with pictures.';
  made.emulator.writePages(made.spaces.api, [{ title: 'Sections', body }]);
  const { items } = await made
    .call('GET', `/spaces/${made.spaces.api}/search?query=How+to+export+a+PDF+file`)
    .then((reply) => reply.body);
  expect(items[0].sections.map((section: Body) => section.title)).toEqual(['Export a PDF', 'Files', '']);
});

test('finds pages by included content and values of expressions', async () => {
  const made = await startWorld();
  made.emulator.writeContent(made.spaces.api, {
    pages: [{ title: 'Help', body: '{% include "Note" %}\n\nOf <code class="expression">space.vars.product</code>.' }],
    reusableContents: [{ title: 'Note', body: 'Ask the zookeeper.' }],
    variables: { product: 'Terrarium' },
  });
  expect(await found(made, 'zookeeper')).toEqual([['API', ['Help']]]);
  expect(await found(made, 'terrarium')).toEqual([['API', ['Help']]]);
  expect(await found(made, 'expression')).toEqual([]);
});
