import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../src/core/json.ts';
import { type PassesView, passesPage, passPage } from '../../../src/web/pages/passes.ts';
import { type PlanView, planFilePage, planPage } from '../../../src/web/pages/plan.ts';
import { actual, type PlanCase } from '../../support/planning.ts';
import { ana, COMMIT, fakeDaemon, NOW, type OrganizationCase, passOf, request, resultsOf } from '../fake-daemon.ts';
import { render, viewOf } from '../some-backend.ts';

const bo = { name: 'bo@acme.example', method: 'oidc' } as const;

const PLAN: PlanCase = {
  manifests: `teams:
  writers: { title: Docs writers, members: { ana@acme.example: owner, bo@acme.example: member } }
  readers: { title: Readers }`,
  base: 'teams: { writers: { title: Writers }, old: { title: Old } }',
  ids: { 'team/writers': 't1', 'team/old': 't2' },
  actuals: [
    actual('team', 't1', { title: 'Writers', members: { 'ana@acme.example': 'owner', 'cy@acme.example': 'member' } }),
    actual('team', 't2', { title: 'Old', members: {} }, { facts: { members: 2 } }),
  ],
  policy: { requireApproval: ['team'] },
};

async function current(rest: OrganizationCase = {}) {
  const fake = await fakeDaemon({ plan: PLAN, ...rest });
  const [plan] = fake.plans;
  const { checksum = '', heldChecksum = '' } = plan ?? {};
  const view = (of = checksum, actor = ana) =>
    planPage.load(fake.backend, request({ checksum: of }, { actor })) as Promise<PlanView | null>;
  return { ...fake, plan, checksum, heldChecksum: heldChecksum ?? '', view };
}

describe('a plan', () => {
  test('says who gains and loses access, and names dangerous changes before the others', async () => {
    const { view, backend, checksum } = await current();
    const found = await view();
    expect(found?.access.map(({ effect, text }) => [effect, text])).toEqual([
      ['gains', 'bo@acme.example joins team/writers (member)'],
      ['loses', 'cy@acme.example leaves team/writers (member)'],
    ]);
    expect(found?.changes.map(({ action, address, isDangerous }) => [action, address, isDangerous])).toEqual([
      ['delete', 'team/old', true],
      ['update', 'team/writers', false],
      ['create', 'team/readers', false],
    ]);
    expect(found?.changes[0]).toMatchObject({
      held: 'deleting teams needs approval',
      impact: expect.stringContaining('2'),
    });
    expect(found?.changes[1]?.lines).toContainEqual(
      expect.objectContaining({ name: 'title', from: 'Writers', to: 'Docs writers' }),
    );
    const page = (from: string) => planPage.load(backend, request({ checksum }, { query: { from } }));
    expect(await page('2')).toMatchObject({ from: 2, changes: [{ address: 'team/readers' }] });
    expect(await page('3')).toMatchObject({ from: 0, total: 3 });
  });

  test('is in groups by what changes do, and a filter shows some of them', async () => {
    const { backend, checksum } = await current();
    const page = (query = {}) => render(planPage, backend, request({ checksum }, { query }));
    const headings = (text: string) =>
      [...text.matchAll(/<h[23][^>]*>(?:<svg.*?<\/svg>)?(.*?)<\/h[23]>/gs)].map(([, each = '']) =>
        each.replaceAll(/<[^>]*>/g, '').trim(),
      );
    expect(headings(await page()).filter((each) => !each.startsWith('Deletes'))).toEqual([
      ...['Deleted 1', '1 team', 'Access 2', '1 team', 'Created 1', '1 team'],
    ]);
    const created = await page({ effect: 'created' });
    expect(created).toContain('1 of 3 changes');
    expect(created).toContain('team/readers');
    expect(created).not.toContain('team/old<');
    const named = await page({ q: 'WRITERS' });
    expect(named).toContain('1 of 3 changes');
    // People who gain access are listed, whatever is filtered.
    expect(named).toMatch(/bo@acme.example.*gains access.*team\/writers/s);
    expect(await page({ q: '"><script>', effect: 'nothing' })).toContain('0 of 3 changes');
    // The choice of the form keeps the filter.
    expect(await page({ q: 'writers', view: 'split' })).toMatch(/href="[^"]*\?q=writers">In one column</);
  });

  test('shows old and new values in a line or side by side, by words where they have some in common', async () => {
    const fields = [
      { path: 'title', from: 'Guides for writers', to: 'Guides for <b>readers</b>' },
      { path: 'description', from: 'one', to: 'two' },
      { path: 'emoji', from: '1f4d8', to: '202e' },
      { path: 'slug', from: '1', to: 1 },
      { path: 'header', from: 'x', to: null },
      { path: 'footer', from: `${'a '.repeat(300)}b`, to: `${'a '.repeat(300)}c` },
      { path: 'text', from: '\u202eab\u200b cd ef gh', to: '\u202eab cd ef gh' },
    ];
    const { backend, checksum } = await current({
      edit: (plan, declared) => [
        {
          ...plan,
          changes: plan.changes.map((change) => (change.action === 'update' ? { ...change, fields } : change)),
        },
        declared,
      ],
    });
    const values = async (query = {}) => {
      const shown = await render(planPage, backend, request({ checksum }, { query }));
      const found = [...shown.matchAll(/<dt>(\w+)<\/dt>(.*?)<\/div>/gs)].map(
        ([, name, value]) => [name, value] as const,
      );
      return Object.fromEntries(found.toReversed().filter(([name]) => fields.some(({ path }) => path === name)));
    };
    const inOneColumn = await values();
    expect(inOneColumn).toMatchObject({
      title: '<dd>Guides for <del>writers</del><ins>&lt;b&gt;readers&lt;/b&gt;</ins></dd>',
      description: '<dd><del>one</del> → <ins>two</ins></dd>',
      emoji: '<dd><del>📘</del> → <ins>\\u202e</ins></dd>',
      slug: '<dd><del>&quot;</del>1<del>&quot;</del></dd>',
      header: '<dd><del>x</del></dd>',
      text: expect.stringMatching(/^<dd>[ -~]*\\u202eab[ -~]*\\u200b/),
    });
    expect(inOneColumn.footer?.length).toBeLessThan(400);
    expect(await values({ view: 'split' })).toMatchObject({
      title: '<dd><del>Guides for writers</del></dd><dd><ins>Guides for &lt;b&gt;readers&lt;/b&gt;</ins></dd>',
      emoji: '<dd><del>📘</del></dd><dd><ins>\\u202e</ins></dd>',
      header: '<dd><del>x</del></dd><dd></dd>',
    });
  });

  test('folds what is more than twenty changes of a kind, and the fields of what is new', async () => {
    const teams = Array.from({ length: 30 }, (_, index) => `t${index}: { title: Team ${index} }`);
    const { backend, plans } = await fakeDaemon({ plan: { manifests: `teams: { ${teams.join(', ')} }` } });
    const shown = await render(planPage, backend, request({ checksum: plans[0]?.checksum ?? '' }));
    expect(shown).toContain('<summary>10 more</summary>');
    expect(shown.slice(0, shown.indexOf('10 more')).match(/<li class="create">/g)).toHaveLength(20);
    expect(shown.match(/<details><summary>1 field<\/summary>/g)).toHaveLength(30);
  });

  test('says what became of it once it was applied', async () => {
    const { plans } = await fakeDaemon({ plan: PLAN });
    const all = plans[0] == null ? [] : resultsOf(plans[0], 'applied');
    const badge = async (results: typeof all) => {
      const { backend, checksum } = await current({ plan: { ...PLAN, policy: {} }, end: { results } });
      const shown = await render(planPage, backend, request({ checksum }));
      return /<h1>.*?<span class="badge">(.*?)<\/h1>/s
        .exec(shown)?.[1]
        ?.replaceAll(/<[^>]*>/g, '')
        .trim();
    };
    expect(await badge([])).toBe('needs no approval');
    expect(await badge(all)).toBe('applied');
    expect(
      await badge(all.map((each, index) => (index === 0 ? { ...each, status: 'failed', error: 'no' } : each))),
    ).toBe('1 failed');
  });

  test('lists the decisions of people, each once', async () => {
    const { view, store, heldChecksum, checksum } = await current({
      config: { approvals: { count: 2, notAuthor: false } },
    });
    for (const each of [heldChecksum, checksum]) {
      await store
        .organization('org_1')
        .decide({ checksum: each, verdict: 'approved', by: bo, reason: 'fine', at: NOW });
    }
    await store
      .organization('org_1')
      .decide({ checksum: 'sha256:other', verdict: 'approved', by: ana, reason: '', at: NOW });
    const found = await view();
    expect(found?.decisions).toEqual([
      expect.objectContaining({ by: 'bo@acme.example', verdict: 'approved', reason: 'fine' }),
    ]);
    expect(found?.approval).toMatchObject({ needed: 2, given: 1 });
  });

  test('can be downloaded as a whole', async () => {
    const { backend, plan, checksum, heldChecksum, view } = await current();
    const file = (of: string) => planFilePage.load(backend, request({ checksum: of }));
    for (const each of [checksum, heldChecksum]) {
      expect(await file(each)).toMatchObject({ format: 'octavo.plan/2', checksum: plan?.checksum });
    }
    expect((await view(heldChecksum))?.checksum).toBe(checksum);
    expect(await file('sha256:0')).toBeNull();
    expect(planFilePage.render).toBeNull();
  });
});

describe('a plan that is not the present one', () => {
  async function past() {
    const before = await fakeDaemon({
      plan: { ...PLAN, manifests: 'teams: { writers: { title: Authors }, gone: { title: G } }' },
    });
    const old = before.plans[0] ?? null;
    const now = await current();
    await now.store.history('org_1').addPass(passOf(old));
    return { ...now, old };
  }

  test('is shown from the history, cannot be approved, and names what differs', async () => {
    const { view, old, checksum } = await past();
    expect([await view('sha256:0'), await view('')]).toEqual([null, null]);
    const found = await view(old?.checksum);
    expect(found).toMatchObject({ isCurrent: false, approval: null, subject: 'Rename "docs"', pass: { number: 1 } });
    expect(found?.notice).toContain('not the present plan');
    expect(found?.current).toMatchObject({
      checksum,
      difference: {
        added: [{ action: 'create', address: 'team/readers' }],
        removed: [{ action: 'create', address: 'team/gone' }],
        changed: [{ action: 'update', address: 'team/writers' }],
        counts: { added: 1, removed: 1, changed: 1, same: 1 },
      },
    });
  });
});

describe('passes', () => {
  test('are grouped by commit, newest first, and paged by number', async () => {
    const { backend, store, plan } = await current();
    const history = store.history('org_1');
    for (let index = 1; index <= 60; index += 1) {
      await history.addPass(
        passOf(plan ?? null, { writes: 1, commit: index < 59 ? 'a'.repeat(40) : COMMIT, endedAt: NOW }),
      );
    }
    const view = await viewOf<PassesView>(passesPage, backend, request());
    expect(view?.commits.map(({ commit, passes }) => [commit, passes.length])).toEqual([
      [COMMIT, 2],
      ['a'.repeat(40), 48],
    ]);
    expect(view?.next).toBe(11);
    const query = { before: String(view.next) };
    const rest = await viewOf<PassesView>(passesPage, backend, request({}, { query }));
    expect(rest?.commits[0]?.passes.map(({ number }) => number)).toEqual([10, 9, 8, 7, 6, 5, 4, 3, 2, 1]);
    expect(rest?.next).toBeNull();
  });

  test('are lines, and one of them is opened in place', async () => {
    const { backend, store, plan } = await current();
    const history = store.history('org_1');
    await history.addPass(passOf(plan ?? null, { counts: { applied: 2, failed: 1 } }));
    await history.addPass(passOf(null, { trigger: 'schedule', outcome: 'done', commit: 'c'.repeat(40) }));
    const page = (query = {}) => render(passesPage, backend, request({}, { query }));
    const closed = await page();
    expect(closed).not.toContain('team/old');
    expect(closed).toMatch(
      /#2<.*nothing to do.*regular check.*#1<.*href="[^"]*run=1#run-1"[^>]*>2 applied, 1 failed</s,
    );
    const opened = await page({ run: '1' });
    expect(opened).toMatch(/id="run-1".*<table.*team\/old.*Delete.*held/s);
    expect(opened).toContain('href="/o/org_1/history#run-1"');
    for (const run of ['9', '2', '-1', '1e3', '<b>', '99999999999999999999']) {
      expect(await page({ run })).not.toContain('team/old');
    }
  });

  test('say how many of their changes are not kept', async () => {
    const { backend, store, plan } = await current();
    const history = store.history('org_1');
    const kept = passOf(plan ?? null, { counts: { create: 1000, delete: 203, held: 7 } });
    const json = { ...(kept.plan as JsonObject), notKept: { changes: 1200 } };
    await history.addPass({ ...kept, checksum: 'sha256:old', plan: json });
    await history.addPass({ ...kept, plan: null, changes: [] });
    const pass = (number: string) => passPage.load(backend, request({ number }));
    expect(await pass('1')).toMatchObject({ notKept: 1200, planPath: expect.any(String) });
    expect(await pass('2')).toMatchObject({ notKept: 1203, planPath: null });
    const view = await planPage.load(backend, request({ checksum: 'sha256:old' }));
    expect(view).toMatchObject({ notKept: 1200, notice: expect.stringContaining('1200 more changes were not kept.') });
    expect(await render(passPage, backend, request({ number: '2' }))).toContain('1203 changes not kept.');
  });

  test('show the plan they made, with the results', async () => {
    const { backend, store, plan } = await current();
    await store.history('org_1').addPass(passOf(plan ?? null, { counts: { create: 1, update: 1, delete: 1 } }));
    const pass = (number: string) => passPage.load(backend, request({ number }));
    expect(await pass('1')).toMatchObject({
      changes: [{ address: 'team/old' }, { address: 'team/readers' }, { address: 'team/writers' }],
      plan: { total: 3 },
      planPath: `/o/org_1/plans/${encodeURIComponent(plan?.checksum ?? '')}`,
    });
    expect([await pass('2'), await pass('NaN')]).toEqual([null, null]);
  });

  test('list results apart from the plan only if a change was not applied', async () => {
    const { backend, store, plan } = await current();
    const history = store.history('org_1');
    const { changes, ...rest } = passOf(plan ?? null);
    const applied = changes.map((change) => ({ ...change, status: 'applied' as const }));
    const failed = applied.map((change) => ({ ...change, status: 'failed' as const, error: 'No answer' }));
    for (const some of [applied, failed, changes]) {
      await history.addPass({ ...rest, changes: some, writes: 1 });
    }
    const page = (number: string) => render(passPage, backend, request({ number }));
    expect(await page('1')).not.toContain('Results</h2>');
    expect(await page('1')).toMatch(/Plan<\/h2>.*>applied</s);
    expect(await page('2')).toMatch(/Results<\/h2>.*>Error<\/th>.*No answer.*Plan<\/h2>/s);
    expect(await page('3')).toMatch(/Results<\/h2>/);
    expect(await page('3')).not.toContain('>Error</th>');
  });
});
