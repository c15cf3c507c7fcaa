import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { PlatformVersion } from '../../src/emulator/emulator.ts';
import { getFeatures } from '../../src/emulator/model/features.ts';
import { declare, openWorld, UNLIMITED, type World } from '../support/world.ts';
import { problemsIn } from './problems.ts';

const SPACES = 'spaces: { one: { title: One }, two: { title: Two } }\n';
const STRUCTURE =
  'structure: [{ section: guides, title: Guides, path: guides, spaces: [{ key: en, space: one, path: en }] }, { section: api, title: API, path: api, spaces: [{ key: v2, space: two, path: v2 }] }]';

/** A site with two sections and these redirects. */
function site(redirects: string, more = ''): string {
  return `${SPACES}sites:\n  docs: { title: Docs, ${STRUCTURE}${more}, redirects: ${redirects} }\n`;
}

async function problemsOf(redirects: string, csv?: string): Promise<string[]> {
  const files = { 'octavo.yaml': site(redirects), ...(csv === undefined ? {} : { 'moved/old.csv': csv }) };
  return (await problemsIn(files)).map(({ file, line, message }) => `${file}:${line} ${message}`);
}

const FILE = '{ file: moved/old.csv }';

describe('a source', () => {
  test.each([
    ['old', 'is not a path on the site'],
    ['//evil.example/a', 'is not a path on the site'],
    ['https://docs.example/a', 'is not a path on the site'],
    ['javascript:alert(1)', 'is not a path on the site'],
    ['/a/../b', 'is not a path on the site'],
    ['/a/%2e%2e/b', 'is not a path on the site'],
    ['/a/%2fb', 'is not a path on the site'],
    ['/a\\u0000b', 'is not a path on the site'],
    ['/a%0d%0aSet-Cookie', 'is not a path on the site'],
    ['/%zz', 'is not a path on the site'],
    ['/*', 'is not a path on the site'],
    ['/a*b', 'is not a path on the site'],
    ['/', 'is not a path on the site'],
    ['/a/', 'has another normal form; write /a'],
    ['/a//b', 'has another normal form; write /a/b'],
    ['/a?x=1#top', 'has another normal form; write /a'],
    ['/k\u00f6ln und', 'has another normal form; write /k%C3%B6ln%20und'],
    ['/%41', 'has another normal form; write /A'],
    [`/${'a'.repeat(512)}`, 'is 513 characters long, must be at most 512'],
  ])('%j is refused: %s', async (from, says) => {
    const [problem = '', ...others] = await problemsOf(`[{ from: "${from}", to: { section: api } }]`);
    expect(problem).toContain('octavo.yaml:3 redirects[0].from ');
    expect(problem).toContain(says);
    expect(others).toEqual([]);
  });

  test('is a path, with or without a wildcard', async () => {
    const sources = ['/a', '/a/b.html', '/a/*', '/a*', '/%C3%A4', '/a+b', '/~a_b'];
    const list = sources.map((from) => `{ from: "${from}", to: https://acme.example }`);
    const declared = await declare(site(`[${list.join(', ')}]`));
    expect([...declared.keys()].filter((address) => address.startsWith('redirect/')).toSorted()).toEqual(
      sources.map((from) => `redirect/docs${from}`).toSorted(),
    );
  });
});

describe('a target', () => {
  test.each([
    ['{ section: apx }', 'no section "apx"; did you mean "api"'],
    ['{ siteSpace: guides/de }', 'no site-space "guides/de"'],
    ['{ siteSpace: a/b/c }', 'is not the key of a site space'],
    ['{ section: ../other/api }', 'is not a key'],
    ['"javascript:alert(1)"', 'is not an address that begins with https://'],
    ['"//evil.example"', 'is not an address that begins with https://'],
    ['"/new"', 'is not an address that begins with https://'],
    ['"https://acme.example/a b"', 'has white space; encode it'],
    [`"https://acme.example/${'a'.repeat(2048)}"`, 'must be at most 2048'],
    ['{ section: api, siteSpace: api/v2 }', 'must be an address that begins with https://, { section'],
  ])('%s is refused', async (to, says) => {
    const problems = await problemsOf(`[{ from: /a, to: ${to} }]`);
    expect(problems).toHaveLength(1);
    expect(problems[0]).toContain(says);
    expect(problems[0]).toContain('octavo.yaml:3');
  });
});

describe('a CSV file', () => {
  const apply = async (csv: string) => declare({ 'octavo.yaml': site(FILE), 'moved/old.csv': csv });

  test('declares one redirect in each row, at its line', async () => {
    const declared = await apply(
      '\ufeffto,from,permanent,captureWildcard,draft\nhttps://acme.example/new,/a,true,,\n\n"section:api","/b/*",,true,false\nsiteSpace:guides/en#page_1,/c\n',
    );
    const redirects = [...declared.values()].filter(({ kind }) => kind === 'redirect');
    expect(redirects.map(({ fields, source }) => ({ ...fields, source }))).toEqual([
      {
        ...{ from: '/a', to: 'https://acme.example/new', permanent: true },
        source: { file: 'moved/old.csv', line: 2, column: 1 },
      },
      {
        ...{ from: '/b/*', to: 'section/docs/api', captureWildcard: true, draft: false },
        source: { file: 'moved/old.csv', line: 4, column: 1 },
      },
      {
        ...{ from: '/c', to: { siteSpace: 'site-space/docs/guides/en', page: 'page_1' } },
        source: { file: 'moved/old.csv', line: 5, column: 1 },
      },
    ]);
  });

  test('has all its problems reported at once, each at its line', async () => {
    const csv =
      'from,to,permanent\n/a,section:apx,\n/b/,https://acme.example,\n/c,,\n/d,https://acme.example,yes\n/a,https://acme.example,\n/e,https://acme.example,true,more\n';
    expect(await problemsOf(FILE, csv)).toEqual([
      'moved/old.csv:3 from "/b/" has another normal form; write /b',
      expect.stringMatching(/^moved\/old\.csv:4 to is missing/),
      expect.stringMatching(/^moved\/old\.csv:5 permanent must be true or false, not "yes"/),
      'moved/old.csv:7 has 4 values, and the header names 3',
    ]);
    const [first, second] = await problemsOf(FILE, 'from,to\n/a,section:apx\n/b,section:api\n/a,section:api\n');
    expect(first).toContain('moved/old.csv:4 is declared twice; first at moved/old.csv:2');
    expect(second).toContain('moved/old.csv:2 no section "apx"');
  });

  test.each([
    ['', 1, 'must name the columns: from and to'],
    ['from;to\n/a;b\n', 1, 'must name the columns: from and to'],
    ['from,to,from\n', 1, 'must name the columns: from and to'],
    ['from,to\n"/a,https://secret.example\n', 2, 'is not CSV'],
    [`from,to\n"${'a'.repeat(9000)}`, 2, 'is too long, or has a quote that is not closed'],
    [`from,to\n${'/a,https://acme.example\n'.repeat(10_001)}`, 10_002, 'must have at most 10000'],
  ])('that does not have a redirect in each row is refused', async (csv, line, says) => {
    const [problem = '', ...others] = await problemsOf(FILE, csv);
    expect(problem).toContain(`moved/old.csv:${line} `);
    expect(problem).toContain(says);
    expect(problem).not.toContain('secret');
    expect(others).toEqual([]);
  });
});

describe('on the platform', () => {
  let world: World;

  beforeAll(async () => {
    world = await openWorld();
  });
  afterAll(() => world.close());
  beforeEach(() => world.begin());

  const policy = { policy: UNLIMITED };
  const be = (version: PlatformVersion) => world.emulator.setFeatures(getFeatures(version));
  const stored = () => world.emulator.state().redirects ?? [];
  const changesOf = async (manifests: string) => (await world.plan(manifests, policy)).plan.changes;

  test('every field is created, changed, compared and replaced', async () => {
    be('0.201');
    const before = site(
      '[{ from: "/a/*", to: https://acme.example, permanent: true, captureWildcard: true }, { from: /b, to: { siteSpace: guides/en }, draft: true }]',
    );
    await world.settle(before, policy);
    expect(stored()).toMatchObject([
      { source: '/a/*', permanent: true, captureWildcard: true, draft: false, destination: { kind: 'external' } },
      { source: '/b', permanent: false, captureWildcard: false, draft: true, destination: { kind: 'site-space' } },
    ]);
    expect(await changesOf(before)).toEqual([]);
    const after = site(
      '[{ from: "/a/*", to: { section: api }, permanent: false, captureWildcard: false }, { from: /b, to: { siteSpace: guides/en }, draft: false }]',
    );
    expect((await changesOf(after)).map(({ action, address }) => `${action} ${address}`).toSorted()).toEqual([
      'create redirect/docs/b',
      'delete redirect/docs/b',
      'update redirect/docs/a/*',
    ]);
    await world.settle(after, policy);
    expect(await changesOf(after)).toEqual([]);
    expect(stored()).toMatchObject([
      { source: '/a/*', permanent: false, captureWildcard: false, destination: { kind: 'site-section' } },
      { source: '/b', draft: false },
    ]);
  });

  test('redirects of others stay, and one with a declared source is adopted', async () => {
    be('0.201');
    await world.settle(site('[]'), policy);
    const { id } = world.emulator.state().sites?.[0] ?? { id: '' };
    const destination = { kind: 'external', url: 'https://old.example' };
    for (const source of ['/theirs', '/ours']) {
      await world.call('POST', `/sites/${id}/redirects`, { source, destination });
    }
    const manifests = site('[{ from: /ours, to: https://new.example }]');
    const { plan } = await world.plan(manifests, policy);
    expect(plan.adopted).toMatchObject([{ address: 'redirect/docs/ours' }]);
    await world.settle(manifests, policy);
    await world.settle(site('[]'), policy);
    expect(stored()).toMatchObject([{ source: '/theirs' }]);
  });

  test('a site that declares no redirects costs no request for them', async () => {
    be('0.201');
    await world.settle(site('[]'), policy);
    world.emulator.requests.reset();
    await world.plan(site('[]'), policy);
    expect(world.emulator.requests.count('listSiteRedirects')).toBe(0);
    await world.settle(site('[{ from: /a, to: { section: api } }]'), policy);
    world.emulator.requests.reset();
    await world.plan(site('[{ from: /a, to: { section: api } }]'), policy);
    expect(world.emulator.requests.count('listSiteRedirects')).toBe(1);
  });

  test('a platform before 0.167 has sections and site spaces as targets, and what it lacks is a note', async () => {
    be('0.146');
    const manifests = site(
      '[{ from: /a, to: { section: api }, draft: false }, { from: /b, to: { siteSpace: api/v2 } }]',
    );
    await world.settle(manifests, policy);
    const { plan } = await world.plan(manifests, policy);
    expect(plan.changes).toEqual([]);
    expect(plan.notes).toMatchObject([
      { address: 'redirect/docs/a', text: expect.stringContaining('draft was not compared') },
    ]);
  });

  test('what a platform cannot do is pending, or one note, and is not tried in each pass', async () => {
    be('0.146');
    await world.settle(site('[]'), policy);
    const lacking = [
      '{ from: "/a/*", to: { section: api } }',
      '{ from: /b, to: https://b.example }',
      '{ from: /c, to: { section: api }, draft: true }',
    ];
    const able = '{ from: /d, to: { section: api }, permanent: true, captureWildcard: true }';
    const manifests = site(`[${[...lacking, able].join(', ')}]`);
    const { planned, results } = await world.apply(manifests, policy);
    expect(planned.plan.pending.map(({ address }) => address)).toEqual([
      'redirect/docs/a/*',
      'redirect/docs/b',
      'redirect/docs/c',
    ]);
    expect(results.map(({ status }) => status)).toEqual(['applied']);
    expect(await changesOf(manifests)).toEqual([]);
    be('0.181');
    const many = (count: number) =>
      site(`[${Array.from({ length: count }, (_, at) => `{ from: /p${at}, to: { section: api }, permanent: true }`)}]`);
    await world.settle(site('[{ from: /p0, to: { section: api } }]'), policy);
    await world.settle(many(8), policy);
    const { plan } = await world.plan(many(8), policy);
    expect(plan.changes).toEqual([]);
    expect(plan.notes).toMatchObject([
      { text: expect.stringMatching(/^permanent was not compared.* \(and 7 more like it\)$/) },
    ]);
  });

  describe('many redirects', () => {
    const COUNT = 1_201;
    const list = (to: string, count = COUNT) =>
      site(`[${Array.from({ length: count }, (_, at) => `{ from: /r${at}, to: ${to} }`).join(', ')}]`);
    const writes = () => world.emulator.requests.entries.filter(({ method }) => method !== 'GET');
    const operationsSent = () =>
      Object.fromEntries(
        [...Map.groupBy(writes(), ({ operation }) => operation)].map(([name, of]) => [name, of.length]),
      );

    test('are created, changed and deleted 500 at a time, as the plan says', async () => {
      be('0.202');
      await world.settle(site('[]'), policy);
      for (const manifests of [list('{ section: api }'), list('{ siteSpace: api/v2 }'), list('https://a.example', 1)]) {
        world.emulator.requests.reset();
        const { planned, results } = await world.apply(manifests, policy);
        expect(results.filter(({ status }) => status !== 'applied')).toEqual([]);
        const { bulkUpsertSiteRedirects, ...others } = operationsSent();
        expect(bulkUpsertSiteRedirects).toBe(3);
        expect(planned.plan.cost.requests.writes).toBe(writes().length);
        expect(Object.values(others).every((count) => count === 1)).toBe(true);
        expect(await changesOf(manifests)).toEqual([]);
      }
      expect(stored()).toMatchObject([{ source: '/r0', destination: { url: 'https://a.example' } }]);
    });

    test('of 10,000 rows take 20 writes, and 10 reads to compare', { timeout: 120_000 }, async () => {
      be('0.202');
      const rows = Array.from({ length: 10_000 }, (_, at) => `/old/${at},section:api`);
      const manifests = { 'octavo.yaml': site(FILE), 'moved/old.csv': `from,to\n${rows.join('\n')}\n` };
      await world.settle(site('[]'), policy);
      world.emulator.requests.reset();
      const { results } = await world.apply(manifests, policy);
      expect(results.filter(({ status }) => status === 'applied')).toHaveLength(10_000);
      expect(operationsSent()).toEqual({ bulkUpsertSiteRedirects: 20 });
      world.emulator.requests.reset();
      const { plan } = await world.plan(manifests, policy);
      expect(plan.changes).toEqual([]);
      expect(world.emulator.requests.count('listSiteRedirects')).toBe(10);
    });

    test('are written one by one by a platform that cannot take them together, which costs at most one refusal', async () => {
      be('0.146');
      world.emulator.setFeatures({ ...getFeatures('0.146'), agentsContext: false });
      await world.settle(site('[]'), policy);
      world.emulator.requests.reset();
      await world.settle(list('{ section: api }', 30), policy);
      expect(operationsSent()).toEqual({ createSiteRedirect: 30, bulkUpsertSiteRedirects: 1 });
      be('0.146');
      world.emulator.requests.reset();
      const { planned } = await world.apply(list('{ siteSpace: api/v2 }', 30), policy);
      expect(operationsSent()).toEqual({ updateSiteRedirectById: 30 });
      expect(planned.plan.cost.requests.writes).toBe(30);
    });

    test('that wait for approval, are paused or protected stay out of a request, and the rest is written', async () => {
      be('0.202');
      const row = (from: string, more = '') => `{ from: ${from}, to: { section: api }${more} }`;
      const rows = [row('/a'), row('/b'), row('/c'), row('/d', ', protect: true')];
      await world.settle(site(`[${rows.join(', ')}]`), policy);
      world.emulator.requests.reset();
      const paused = row('/e', ', paused: { reason: until the launch }');
      const { results } = await world.apply(
        site(`[${[row('/c', ', permanent: true'), paused, row('/f')].join(', ')}]`),
        {
          policy: { ...UNLIMITED, requireApproval: ['redirect'] },
        },
      );
      expect(results.map(({ action, address, status }) => `${action} ${address} ${status}`).toSorted()).toEqual([
        'create redirect/docs/e skipped',
        'create redirect/docs/f applied',
        'delete redirect/docs/a held',
        'delete redirect/docs/b held',
        'delete redirect/docs/d held',
        'update redirect/docs/c applied',
      ]);
      expect(operationsSent()).toEqual({ bulkUpsertSiteRedirects: 1 });
      expect(stored().map(({ source }) => source)).toEqual(['/a', '/b', '/c', '/d', '/f']);
    });

    test('that the platform refuses do not keep the others from being written', async () => {
      be('0.202');
      await world.settle(site('[]'), policy);
      const pages = '{ siteSpace: guides/en, page: gone }';
      const manifests = site(
        `[{ from: /a, to: { section: api } }, { from: /b, to: ${pages} }, { from: /c, to: https://c.example }]`,
      );
      const { results } = await world.apply(manifests, policy);
      expect(results.map(({ address, status }) => `${address} ${status}`)).toEqual([
        'redirect/docs/a applied',
        'redirect/docs/b failed',
        'redirect/docs/c applied',
      ]);
      expect(results[1]?.error).toContain('page "gone" does not exist');
      expect((await changesOf(manifests)).map(({ address }) => address)).toEqual(['redirect/docs/b']);
    });

    test('are written once, although answers are lost, and a deletion by someone else counts', async () => {
      be('0.202');
      const fault = (times: number) =>
        world.emulator.setFaults([
          { match: { operation: 'bulkUpsertSiteRedirects' }, times, fault: { kind: 'reset-after' } },
        ]);
      await world.settle(site('[]'), policy);
      fault(2);
      await world.settle(list('{ section: api }', 20), policy);
      expect(stored()).toHaveLength(20);
      expect(await changesOf(list('{ section: api }', 20))).toEqual([]);
      fault(100);
      const { results } = await world.apply(list('{ section: guides }', 20), policy);
      expect(new Set(results.map(({ status }) => status))).toEqual(new Set(['failed']));
      world.emulator.setFaults([]);
      expect(await changesOf(list('{ section: guides }', 20))).toEqual([]);
      const plan = world.plan(site('[]'), policy);
      const { id } = world.emulator.state().sites?.[0] ?? { id: '' };
      await plan;
      fault(1);
      await world.settle(site('[]'), policy);
      expect(id).not.toBe('');
      expect(stored()).toEqual([]);
    });
  });

  describe('a plan', () => {
    const page = (guides: string, rest = '', redirects = '[]') =>
      `${SPACES}sites:\n  docs: { title: Docs, published: true, structure: [{ section: guides, title: Guides, path: ${guides}, spaces: [{ key: en, space: one, path: en }]${rest} }, { section: api, title: API, path: api, spaces: [{ key: v2, space: two, path: v2 }] }], redirects: ${redirects} }\n`;
    const notesOf = async (manifests: string) =>
      (await world.plan(manifests, policy)).plan.notes.map(({ address, text }) => `${address}: ${text}`);

    beforeEach(async () => {
      be('0.202');
      await world.settle(page('guides'), policy);
    });

    test('says which links a new path breaks, and formerPaths keep them in the same plan, after the change', async () => {
      expect(await notesOf(page('handbook'))).toEqual([
        'section/docs/guides: links to /guides, and to pages below it, break; to keep them, add to it: formerPaths: [guides]',
      ]);
      const kept = page('handbook', ', formerPaths: [guides]');
      const { plan, ordering } = await world.plan(kept, policy);
      expect(plan.notes).toEqual([]);
      expect(plan.changes.map(({ action, address }) => `${action} ${address}`)).toEqual([
        'update section/docs/guides',
        'create redirect/docs/guides',
        'create redirect/docs/guides/*',
      ]);
      expect(ordering.soft.get('create redirect/docs/guides')).toContain('update section/docs/guides');
      await world.settle(kept, policy);
      expect(await changesOf(kept)).toEqual([]);
      expect(stored()).toMatchObject([
        { source: '/guides', captureWildcard: false, destination: { kind: 'site-section' } },
        { source: '/guides/*', captureWildcard: true, destination: { kind: 'site-section' } },
      ]);
      await world.settle(page('handbook'), policy);
      expect(stored()).toEqual([]);
    });

    test('says which links a deletion breaks, unless redirects keep them or the path is taken', async () => {
      const [, second = ''] = page('guides').split(', { section: api');
      const without = page('guides').replace(`, { section: api${second}`, '] }\n');
      expect(await notesOf(without)).toEqual([
        'section/docs/api: links to /api, and to pages below it, break; to lead them elsewhere, add to redirects: { from: /api, to: { section: guides } }, { from: /api/*, to: { section: guides } }',
      ]);
      const redirects =
        'redirects: [{ from: /api, to: { section: guides } }, { from: /api/*, to: { section: guides } }]';
      expect(await notesOf(without.replace('] }\n', `], ${redirects} }\n`))).toEqual([]);
      expect(await notesOf(page('guides').replace('path: v2', 'path: v3'))).toEqual([
        'site-space/docs/api/v2: links to /api/v2, and to pages below it, break; to keep them, add to it: formerPaths: [v2]',
      ]);
    });

    test('says that a redirect has the path of a part of the site', async () => {
      expect(
        await notesOf(
          page('guides', '', '[{ from: /guides/en, to: { section: api } }, { from: "/ap*", to: { section: guides } }]'),
        ),
      ).toEqual([
        'redirect/docs/ap*: has the path of section/docs/api (/api), which visitors then may not see; use another source',
        'redirect/docs/guides/en: has the path of site-space/docs/guides/en (/guides/en), which visitors then may not see; use another source',
      ]);
    });

    test('says that a redirect hides a page, or leads to one that does not exist, for one read of each site space', async () => {
      const space = world.emulator.state().spaces?.find(({ title }) => title === 'One')?.id ?? '';
      const pages = ['intro', 'old', 'old/a'].map((path) => ({ title: path, path, body: '' }));
      const [intro] = world.emulator.writeContent(space, { pages }).pages;
      const to = (page: string) => `{ siteSpace: guides/en, page: ${page} }`;
      const list = `[{ from: /guides/en/intro, to: { section: api } }, { from: "/guides/en/old/*", to: { section: api } }, { from: /guides/en/new, to: ${to(String(intro))} }, { from: /x, to: ${to('gone')} }]`;
      world.emulator.requests.reset();
      expect(await notesOf(page('guides', '', list))).toEqual([
        'redirect/docs/guides/en/intro: has the path of a page of site-space/docs/guides/en (intro), which visitors then may not see; use another source',
        'redirect/docs/guides/en/old/*: has the path of a page of site-space/docs/guides/en (old/a), which visitors then may not see; use another source',
        'redirect/docs/x: leads to a page that site-space/docs/guides/en does not have; set page to the id of another',
      ]);
      expect(world.emulator.requests.count('getSpacePages')).toBe(1);
      await world.settle(page('guides', '', '[{ from: /guides/en/intro, to: { section: api } }]'), policy);
      world.emulator.requests.reset();
      expect(await notesOf(page('guides', '', '[{ from: /guides/en/intro, to: { section: api } }]'))).toEqual([]);
      expect(world.emulator.requests.count('getSpacePages')).toBe(0);
    });

    test('says that a redirect leads back to itself, through one of others too', async () => {
      const { id = '', basename } = world.emulator.state().sites?.[0] ?? {};
      const base = `${world.emulator.url}/docs/${basename ?? id}`;
      await world.call('POST', `/sites/${id}/redirects`, {
        source: '/theirs',
        destination: { kind: 'external', url: `${base.replace('http:', 'https:')}/no` },
      });
      await world.call('POST', `/sites/${id}/redirects`, {
        source: '/live',
        destination: { kind: 'external', url: `${base}/ours?from=live` },
      });
      expect(
        await notesOf(
          page('guides', '', `[{ from: /ours, to: "${base}/live" }, { from: /other, to: "${base}/theirs" }]`),
        ),
      ).toEqual(['redirect/docs/ours: leads back to itself: /ours → /live → /ours; change one of these redirects']);
    });
  });
});

describe('redirects that lead back to themselves', () => {
  test.each([
    ['[{ from: /guides, to: { section: guides } }]', '/guides → /guides'],
    ['[{ from: "/guides/*", to: { section: guides }, captureWildcard: true }]', '/guides/* → /guides/page'],
    ['[{ from: /api/v2, to: { siteSpace: api/v2 } }]', '/api/v2 → /api/v2'],
  ])('%s', async (redirects, says) => {
    expect(await problemsOf(redirects)).toEqual([
      `octavo.yaml:3 leads back to itself: ${says}; change one of these redirects`,
    ]);
  });

  test('through the address of the site', async () => {
    const list =
      '[{ from: /a, to: "https://acme.example/docs/b/c#d" }, { from: "/b/*", to: https://acme.example/docs/a }]';
    const problems = await problemsIn({ 'octavo.yaml': site(list, ', proxy: acme.example/docs') });
    expect(problems.map(({ message }) => message)).toEqual([
      'leads back to itself: /a → /b/c → /a; change one of these redirects',
      'leads back to itself: /b/* → /a → /b/c; change one of these redirects',
    ]);
    expect(await problemsOf(list)).toEqual([]);
  });
});

describe('former paths', () => {
  const part = (rest: string) =>
    `${SPACES}sites: { docs: { title: Docs, structure: [{ section: guides, title: Guides, ${rest} }] } }`;

  test.each([
    [
      'path: guides, formerPaths: [guides], spaces: [{ key: en, space: one }]',
      'is the path of section/docs/guides now',
    ],
    [
      'path: a, formerPaths: [b], spaces: [{ key: en, space: one }] }, { section: b, title: Other, path: b, spaces: [{ key: en, space: two }]',
      '"b" is the path of section/docs/b now; remove it',
    ],
    ['path: guides, formerPaths: [..], spaces: [{ key: en, space: one }]', '".." is not a path'],
    ['spaces: [{ key: en, space: one, path: en, formerPaths: [fr] }]', 'needs the path of its section'],
    ['path: guides, formerPaths: [a, a], spaces: [{ key: en, space: one }]', 'is declared twice'],
  ])('%s: %s', async (rest, says) => {
    const problems = await problemsIn(part(rest));
    expect(problems[0]?.message).toContain(says);
    expect(problems[0]?.line).toBe(2);
  });

  test('of a site space are below the path of its section', async () => {
    const declared = await declare(
      part('path: guides, spaces: [{ key: en, space: one, path: en, formerPaths: [english] }]'),
    );
    expect([...declared.values()].flatMap(({ kind, fields }) => (kind === 'redirect' ? [fields] : []))).toEqual([
      { from: '/guides/english', to: 'site-space/docs/guides/en' },
      { from: '/guides/english/*', to: 'site-space/docs/guides/en', captureWildcard: true },
    ]);
  });
});
