import { describe, expect, test } from 'vitest';
import type { Backend } from '../../../src/web/model/page.ts';
import { type OrganizationView, organizationPage } from '../../../src/web/pages/organization.ts';
import { type ResourceView, resourcePage } from '../../../src/web/pages/resource.ts';
import { actual, type PlanCase } from '../../support/planning.ts';
import { COMMIT, fakeDaemon, NOW, type OrganizationCase, request, resultsOf } from '../fake-daemon.ts';
import { allPages, render, viewOf } from '../some-backend.ts';

const SITE: PlanCase = {
  manifests: {
    'docs.yaml': `
teams: { writers: { title: Docs writers } }
spaces: { guides: { title: Guides }, api: { title: API } }
sites:
  help:
    title: Help
    structure:
      - { section: start, title: Start, spaces: [{ key: guides, space: guides }, { key: api, space: api }] }`,
  },
};

type Query = Record<string, string>;

async function listOf(backend: Backend, query: Query = {}) {
  const { list } = await viewOf<OrganizationView>(organizationPage, backend, request({}, { query }));
  if (list === null) {
    throw new Error('nothing is declared');
  }
  return list;
}
const rows = async (given: OrganizationCase, query: Query = {}) =>
  (await listOf((await fakeDaemon(given)).backend, query)).rows;
const addresses = async (given: OrganizationCase, query: Query = {}) =>
  (await rows(given, query)).map(({ address }) => address);

describe('the tree of resources', () => {
  test('lists a site with its sections and their spaces below it, in the declared order', async () => {
    const found = (await rows({ plan: SITE })).filter(({ address }) => address.includes('help'));
    expect(found.map(({ address, ancestors }) => [address, ancestors])).toEqual([
      ['site/help', []],
      ['section/help/start', ['site/help']],
      ['site-space/help/start/guides', ['site/help', 'section/help/start']],
      ['site-space/help/start/api', ['site/help', 'section/help/start']],
    ]);
  });

  test('filters by kind, state and text', async () => {
    expect(await addresses({ plan: SITE }, { kind: 'team' })).toEqual(['team/writers']);
    expect(await addresses({ plan: SITE }, { q: 'DOCS WR' })).toEqual(['team/writers']);
    expect(await addresses({ plan: SITE }, { state: 'in-sync' })).toEqual([]);
    expect(await addresses({ plan: SITE, checked: null }, { state: 'unknown', kind: 'space' })).toEqual([
      'space/api',
      'space/guides',
    ]);
  });

  test('counts the resources of a kind, also those in the tree of another kind, and only what a filter selects', async () => {
    const plan: PlanCase = {
      manifests: {
        'docs.yaml': `
collections: { handbook: { title: Handbook } }
spaces: { guides: { title: Guides }, api: { title: API }, onboarding: { title: Onboarding, collection: handbook } }`,
      },
    };
    const { backend } = await fakeDaemon({ plan });
    const headings = async (query: Query) =>
      [...(await render(organizationPage, backend, request({}, { query }))).matchAll(/<h3>(.*?)<\/h3>/g)].map(
        ([, heading = '']) => heading.replaceAll(/<[^>]*>/g, ''),
      );
    expect(await headings({})).toEqual(['Spaces 3, 1 in collections', 'Collections 1']);
    expect(await headings({ q: 'api' })).toEqual(['Spaces 1']);
  });

  test('lists what is no longer declared first, until it is deleted', async () => {
    const plan: PlanCase = {
      manifests: 'teams: { b: { title: B } }',
      base: 'teams: { a: { title: A }, b: { title: B } }',
      ids: { 'team/a': 't1', 'team/b': 't2' },
      actuals: [actual('team', 't1', { title: 'A' }), actual('team', 't2', { title: 'B' })],
    };
    expect((await rows({ plan })).map(({ address, state, isDeclared }) => [address, state, isDeclared])).toEqual([
      ['team/a', 'planned', false],
      ['team/b', 'in-sync', true],
    ]);
    const { plans } = await fakeDaemon({ plan });
    const [made] = plans;
    // The plan of the second daemon is another object, so the results are set on it.
    const end = { results: made == null ? [] : resultsOf(made, 'applied') };
    expect(await addresses({ plan, end })).toEqual(['team/b']);
  });

  test('names what shows and translates a space by its title', async () => {
    const plan: PlanCase = {
      manifests: {
        'docs.yaml': `
spaces: { guides: { title: Guides } }
translations: { guides-fr: { space: guides, from: en, to: fr } }
sites: { help: { title: Help, structure: [{ key: guides, space: guides }] } }`,
      },
    };
    const titles = new Map((await rows({ plan })).map(({ address, title }) => [address, title]));
    expect(titles.get('site-space/help/guides' as never)).toBe('Guides');
    expect(titles.get('translation/guides-fr' as never)).toBe('Guides (fr)');
    expect(await addresses({ plan }, { q: 'guides (FR)' })).toContain('translation/guides-fr');
  });

  test('counts resources by what they need, and lists those of a figure', async () => {
    const plan: PlanCase = {
      manifests: 'teams: { same: { title: Same }, new: { title: New } }',
      base: 'teams: { same: { title: Same }, old: { title: Old } }',
      ids: { 'team/same': 't1', 'team/old': 't2' },
      actuals: [actual('team', 't1', { title: 'Same' }), actual('team', 't2', { title: 'Old' })],
      policy: { requireApproval: ['team'] },
    };
    const failed = resultsOf((await fakeDaemon({ plan })).plans[0] as never, 'failed', 'no').slice(-1);
    const figures = async (given: OrganizationCase) => {
      const { backend } = await fakeDaemon({ plan, ...given });
      const { counts } = await viewOf<OrganizationView>(organizationPage, backend, request());
      // Each figure is the number of the rows that it links to.
      for (const [state, count] of Object.entries(counts ?? {})) {
        expect((await listOf(backend, { state })).selected, state).toBe(count);
      }
      return counts;
    };
    expect(await figures({})).toEqual({ 'in-sync': 1, waiting: 1, pending: 1, failed: 0 });
    expect(await figures({ end: { results: failed } })).toMatchObject({ 'in-sync': 1, failed: 1 });
    // The state of old checks is not known: what changes is counted as before, the rest is not in sync.
    expect(await figures({ checked: 60 })).toEqual({ 'in-sync': 1, waiting: 1, pending: 1, failed: 0 });
    expect(await figures({ checked: null })).toEqual({ 'in-sync': 2, waiting: 0, pending: 0, failed: 0 });
    expect(await listOf((await fakeDaemon({ plan })).backend, { state: 'constructor' })).toMatchObject({ selected: 0 });
  });

  test('pages miss no resource and repeat none, with and without a filter', async () => {
    const teams = Array.from({ length: 250 }, (_, index) => `  t${index}: { title: T${index} }`).join('\n');
    const { backend } = await fakeDaemon({ plan: { manifests: `teams:\n${teams}\nspaces: { s: { title: S } }` } });
    for (const [query, count] of [
      [{}, 251],
      [{ kind: 'team' }, 250],
    ] as const) {
      const seen = await allPages(
        (after) => listOf(backend, { ...query, after }),
        ({ rows }) => rows.map(({ address }) => address),
      );
      expect(seen).toHaveLength(count);
      expect(new Set(seen).size).toBe(count);
    }
  });

  test('calls nothing in sync when the last check is too old', async () => {
    const plan: PlanCase = { manifests: 'teams: { a: { title: A } }', actuals: [actual('team', 't1', { title: 'A' })] };
    expect((await rows({ plan }))[0]?.state).toBe('in-sync');
    expect((await rows({ plan, checked: 60 }))[0]?.state).toBe('stale');
    expect((await rows({ plan, checked: null }))[0]?.state).toBe('unknown');
  });
});

describe('a resource', () => {
  const DRIFTED: PlanCase = {
    manifests: 'teams: { a: { title: A } }',
    base: 'teams: { a: { title: A } }',
    ids: { 'team/a': 't1' },
    actuals: [actual('team', 't1', { title: 'Somebody else', members: {} })],
  };
  const git = { source: { git: { url: 'https://x:pw@github.com/acme/docs.git', path: 'manifests' } } } as never;

  test('shows where it is declared, both values, and that somebody changed it', async () => {
    const { backend } = await fakeDaemon({ plan: DRIFTED, config: git, drift: () => true });
    const view = await viewOf<ResourceView>(resourcePage, backend, request({ '*': 'team/a' }));
    expect(view).toMatchObject({ id: 't1', title: 'A', state: 'planned' });
    expect(view.source?.url).toBe(`https://github.com/acme/docs/blob/${COMMIT}/manifests/${view.source?.file}#L1`);
    expect(view.fields).toEqual([
      expect.objectContaining({
        name: 'title',
        declared: 'A',
        live: 'Somebody else',
        liveText: 'Somebody else',
        differs: true,
      }),
    ]);
    expect(view.changes).toEqual([expect.objectContaining({ action: 'update', isDrift: true, status: null })]);
  });

  test('shows its past changes with their commits, and the pause that covers it', async () => {
    const { backend, store } = await fakeDaemon({ plan: DRIFTED, config: git });
    const history = store.history('org_1');
    const change = { address: 'team/a', action: 'update', status: 'applied', error: null };
    await history.addPass({
      ...{ trigger: 'commit', commit: COMMIT, subject: 'S', author: null, outcome: 'done', checksum: 'c', counts: {} },
      ...{ reads: 1, writes: 1, refused: 0, milliseconds: 1, error: null, endedAt: NOW, plan: null, changes: [change] },
    });
    await history.pause({ address: '', reason: 'r', by: { name: 'a', method: 'none' }, since: 1, until: null });
    const view = await viewOf<ResourceView>(resourcePage, backend, request({ '*': 'team/a' }));
    expect(view.history).toEqual([
      expect.objectContaining({
        status: 'applied',
        subject: 'S',
        commitUrl: `https://github.com/acme/docs/commit/${COMMIT}`,
      }),
    ]);
    expect(view.pause).toMatchObject({ address: '', reason: 'r', until: null });
  });

  const DELETED: PlanCase = { ...DRIFTED, manifests: '', policy: { requireApproval: ['team'] } };

  test.each<[string, OrganizationCase, string]>([
    ['in sync', { plan: { ...DRIFTED, actuals: [actual('team', 't1', { title: 'A' })] } }, 'had it as declared'],
    ['that somebody changed', { plan: DRIFTED, drift: () => true }, 'Somebody changed it on the platform. The'],
    ['that waits for a person', { plan: DELETED }, 'What differs waits for approval'],
  ])('%s says why first', async (_state, given, words) => {
    const { backend } = await fakeDaemon(given);
    const lead = (await render(resourcePage, backend, request({ '*': 'team/a' }))).split('class="lead"')[1] ?? '';
    expect(lead.slice(0, 120)).toContain(words);
  });

  test('that nothing knows does not exist', async () => {
    const { backend } = await fakeDaemon({ plan: DRIFTED });
    for (const address of ['team/b', '', '__proto__', 'constructor']) {
      expect(await resourcePage.load(backend, request({ '*': address }))).toBeNull();
    }
  });
});

test('a pending resource says first what it waits for, once', async () => {
  const manifests = 'members: { dana@acme.example: { role: read } }';
  const fake = await fakeDaemon({ plan: { manifests, base: manifests } });
  const shown = await render(resourcePage, fake.backend, request({ '*': 'member/dana@acme.example' }));
  expect(shown).toContain(
    '<p class="lead">It waits for something outside of Octavo: not a member of the organization yet; an invitation is sent only once.</p>',
  );
  expect(shown.match(/not a member/g)).toHaveLength(1);
});
