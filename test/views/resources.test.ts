import { describe, expect, test } from 'vitest';
import { organizationView } from '../../src/web/pages/organization.ts';
import { resourceView } from '../../src/web/pages/resource.ts';
import { actual, type PlanCase } from '../support/planning.ts';
import { COMMIT, fakeDaemon, NOW, type OrganizationCase, resultsOf } from './backend.ts';

const NO_FILTER = { kind: '', state: '', text: '', after: '' };
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

async function list(given: OrganizationCase, filter: Partial<typeof NO_FILTER> = {}) {
  const { backend } = await fakeDaemon(given);
  const view = await organizationView(backend, 'org_1', { filter: { ...NO_FILTER, ...filter }, now: NOW });
  return view?.list;
}
const addresses = async (given: OrganizationCase, filter: Partial<typeof NO_FILTER> = {}) =>
  (await list(given, filter))?.rows.map(({ address }) => address);

describe('the tree of resources', () => {
  test('lists a site with its sections and their spaces below it, in the declared order', async () => {
    const rows = (await list({ plan: SITE }))?.rows.filter(({ address }) => address.includes('help')) ?? [];
    expect(rows.map(({ address, ancestors }) => [address, ancestors])).toEqual([
      ['site/help', []],
      ['section/help/start', ['site/help']],
      ['site-space/help/start/guides', ['site/help', 'section/help/start']],
      ['site-space/help/start/api', ['site/help', 'section/help/start']],
    ]);
  });

  test('filters by kind, state and text', async () => {
    expect(await addresses({ plan: SITE }, { kind: 'team' })).toEqual(['team/writers']);
    expect(await addresses({ plan: SITE }, { text: 'DOCS WR' })).toEqual(['team/writers']);
    expect(await addresses({ plan: SITE }, { state: 'in-sync' })).toEqual([]);
    expect(await addresses({ plan: SITE, checked: null }, { state: 'unknown', kind: 'space' })).toEqual([
      'space/api',
      'space/guides',
    ]);
  });

  test('lists what is no longer declared first, until it is deleted', async () => {
    const plan: PlanCase = {
      manifests: 'teams: { b: { title: B } }',
      base: 'teams: { a: { title: A }, b: { title: B } }',
      ids: { 'team/a': 't1', 'team/b': 't2' },
      actuals: [actual('team', 't1', { title: 'A' }), actual('team', 't2', { title: 'B' })],
    };
    expect((await list({ plan }))?.rows.map(({ address, state, isDeclared }) => [address, state, isDeclared])).toEqual([
      ['team/a', 'planned', false],
      ['team/b', 'in-sync', true],
    ]);
    const { plans } = await fakeDaemon({ plan });
    const [made] = plans;
    // The plan of the second daemon is another object, so the results are set on it.
    const { backend } = await fakeDaemon({ plan, end: { results: made == null ? [] : resultsOf(made, 'applied') } });
    const view = await organizationView(backend, 'org_1', { filter: NO_FILTER, now: NOW });
    expect(view?.list?.rows.map(({ address }) => address)).toEqual(['team/b']);
  });

  test('pages miss no resource and repeat none, with and without a filter', async () => {
    const teams = Array.from({ length: 250 }, (_, index) => `  t${index}: { title: T${index} }`).join('\n');
    const { backend } = await fakeDaemon({ plan: { manifests: `teams:\n${teams}\nspaces: { s: { title: S } }` } });
    for (const [filter, count] of [
      [NO_FILTER, 251],
      [{ ...NO_FILTER, kind: 'team' }, 250],
    ] as const) {
      const seen: string[] = [];
      for (let after: string | null = ''; after !== null; ) {
        const view = await organizationView(backend, 'org_1', { filter: { ...filter, after }, now: NOW });
        seen.push(...(view?.list?.rows ?? []).map(({ address }) => address));
        after = view?.list?.next ?? null;
      }
      expect(seen).toHaveLength(count);
      expect(new Set(seen).size).toBe(count);
    }
  });

  test('calls nothing in sync when the last check is too old', async () => {
    const plan: PlanCase = { manifests: 'teams: { a: { title: A } }', actuals: [actual('team', 't1', { title: 'A' })] };
    expect((await list({ plan }))?.rows[0]?.state).toBe('in-sync');
    expect((await list({ plan, checked: 60 }))?.rows[0]?.state).toBe('stale');
    expect((await list({ plan, checked: null }))?.rows[0]?.state).toBe('unknown');
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
    const view = await resourceView(backend, 'org_1', { address: 'team/a', now: NOW });
    expect(view).toMatchObject({ id: 't1', title: 'A', state: 'planned' });
    expect(view?.source?.url).toBe(`https://github.com/acme/docs/blob/${COMMIT}/manifests/${view?.source?.file}#L1`);
    expect(view?.fields).toEqual([
      expect.objectContaining({
        name: 'title',
        declared: 'A',
        live: 'Somebody else',
        liveText: '"Somebody else"',
        differs: true,
      }),
    ]);
    expect(view?.changes).toEqual([expect.objectContaining({ action: 'update', isDrift: true, status: null })]);
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
    const view = await resourceView(backend, 'org_1', { address: 'team/a', now: NOW });
    expect(view?.history).toEqual([
      expect.objectContaining({
        status: 'applied',
        subject: 'S',
        commitUrl: `https://github.com/acme/docs/commit/${COMMIT}`,
      }),
    ]);
    expect(view?.pause).toMatchObject({ address: '', reason: 'r', until: null });
  });

  test('that nothing knows does not exist', async () => {
    const { backend } = await fakeDaemon({ plan: DRIFTED });
    for (const address of ['team/b', '', '__proto__', 'constructor']) {
      expect(await resourceView(backend, 'org_1', { address, now: NOW })).toBeNull();
    }
  });
});
