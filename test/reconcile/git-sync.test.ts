import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { getFeatures } from '../../src/emulator/model/features.ts';
import { renderPlanText } from '../../src/plan/render/text.ts';
import { PLAIN } from '../../src/plan/render/text-layout.ts';
import { filesAfter, importFrom } from '../import/importing.ts';
import { HOSTILE_TEXTS } from '../support/hostile-texts.ts';
import { openWorld, UNLIMITED, type World } from '../support/world.ts';

/** Text that affects a terminal, changes the reading direction, or is a command to the runner of a CI job. */
const ACTIVE = /[\p{Cs}\u202a-\u202e\u2066-\u2069\u2028\u2029]|[^\P{Cc}\n]|##\w*\[|^\s*::/mu;

/*
 * Sites and spaces with Git Sync, whose structure a `docs.yaml` in another repository decides.
 * Source: docs/git-sync.md
 */

const policy = { policy: UNLIMITED };
let world: World;

beforeAll(async () => {
  world = await openWorld({ platform: '0.202' });
});
afterAll(() => world.close());
beforeEach(async () => {
  await world.begin();
  world.emulator.setFeatures(getFeatures('0.202'));
});

const spaces = { guides: { title: 'Guides' }, api: { title: 'API' } };
const structure = [
  { section: 'guides', title: 'Guides', path: 'guides', spaces: [{ key: 'en', space: 'guides', path: 'en' }] },
  { section: 'api', title: 'Reference', path: 'api', spaces: [{ key: 'api', space: 'api', path: 'api' }] },
];

function manifests(site: object): string {
  return JSON.stringify({ spaces, sites: { help: { title: 'Help', ...site } } });
}

const space = (key: string, title: string) => ({
  type: 'space',
  key: `space-${key}`,
  title,
  path: key,
  default: true,
  content: { directory: `./${key}` },
});

/** The same structure as the manifest, except for the title of the first section. */
function docs(title: string) {
  const section = (key: string, name: string, child: object, rest: object = {}) => ({
    type: 'section',
    key: `section-${key}`,
    title: name,
    path: key,
    children: [child],
    ...rest,
  });
  return {
    site: {
      title: 'Help',
      structure: [
        section('guides', title, space('en', 'Guides'), { default: true }),
        section('api', 'Reference', space('api', 'API')),
      ],
    },
  };
}

const siteId = () => world.emulator.state().sites?.[0]?.id ?? '';
const titles = () => (world.emulator.state().sections ?? []).map(({ title }) => title);

function install(branch = 'main', repository = 'acme/docs'): void {
  world.emulator.installGitSync({ site: siteId(), repository, branch, priority: 'git' });
}

async function notesOf(text: string): Promise<readonly string[]> {
  const { plan } = await world.plan(text, policy);
  return plan.notes.map((note) => `${note.address}: ${note.text}`);
}

describe('a site with Git Sync', () => {
  beforeEach(async () => {
    await world.settle(manifests({ structure }), policy);
    install();
    world.emulator.syncSite(siteId(), docs('From docs.yaml'));
  });

  test('keeps the structure of docs.yaml; a declared one is shown as paused, and names both files', async () => {
    world.emulator.requests.reset();
    const { planned, results } = await world.apply(manifests({ structure, visibility: 'unlisted' }), policy);
    expect(results.map(({ address, status }) => ({ address, status }))).toEqual([
      { address: 'site/help', status: 'applied' },
      { address: 'section/help/guides', status: 'skipped' },
    ]);
    const [change] = planned.plan.changes.filter(({ kind }) => kind === 'section');
    expect(change?.fields).toEqual([{ path: 'title', from: 'From docs.yaml', to: 'Guides' }]);
    expect(change?.paused?.reason).toBe(
      'octavo.yaml:1 and docs.yaml of acme/docs, branch main both declare the structure; write structure: git-sync in the manifest, or remove Git Sync from the site',
    );
    expect(planned.plan.notes).toEqual([
      { address: 'site/help', text: expect.stringMatching(/^Git Sync with acme\/docs, branch main; git wins /) },
      { address: 'site/help', text: change?.paused?.reason, isProblem: true },
    ]);
    expect(titles()).toContain('From docs.yaml');
    expect(world.emulator.requests.byOperation.updateSection).toBeUndefined();
    expect(world.emulator.state().sites?.[0]?.visibility).toBe('unlisted');
  });

  test('is managed without its structure, which nothing reads, deletes or orders', async () => {
    const text = manifests({ structure: 'git-sync', visibility: 'unlisted' });
    await world.apply(text, policy);
    world.emulator.requests.reset();
    const { planned, results } = await world.apply(text, {
      policy: { ...UNLIMITED, prune: { section: 'all', 'site-space': 'all', 'section-group': 'all' } },
    });
    expect(planned.plan.changes.filter(({ within }) => within !== null)).toEqual([]);
    expect(results).toEqual([]);
    expect(titles()).toEqual(expect.arrayContaining(['From docs.yaml', 'Reference']));
    const { getSiteStructure, getGitSyncInstallationById } = world.emulator.requests.byOperation;
    expect({ getSiteStructure, getGitSyncInstallationById }).toEqual({ getGitSyncInstallationById: 1 });
  });

  test('reports another title, which docs.yaml decides, and does not write it', async () => {
    const text = manifests({ structure: 'git-sync' }).replace('"title":"Help"', `"title":"Mine","id":"${siteId()}"`);
    const { planned, results } = await world.apply(text, policy);
    expect(results).toEqual([]);
    expect(planned.plan.notes.map((note) => note.text)).toContain(
      'title: "Help" on the platform, "Mine" in the manifest; docs.yaml of acme/docs, branch main decides',
    );
  });

  test('is imported with structure: git-sync, and an empty plan', async () => {
    const files = filesAfter(await importFrom(world));
    expect(JSON.stringify(files)).toContain('structure: git-sync');
    expect(JSON.stringify(files)).not.toContain('From docs.yaml');
    expect((await world.plan(files, { ...policy, base: null })).plan.changes).toEqual([]);
  });

  test('gets its declared structure back when Git Sync is removed', async () => {
    await world.apply(manifests({ structure: 'git-sync' }), policy);
    const { gitInstallations: _, ...state } = world.emulator.state();
    world.emulator.restore(state);
    await world.settle(manifests({ structure }), policy);
    expect(titles()).toEqual(['Guides', 'Reference']);
  });

  test.each(HOSTILE_TEXTS)('shows %j as the name of a repository, and does not obey it', async (text) => {
    const { gitInstallations: _, ...state } = world.emulator.state();
    world.emulator.restore(state);
    install(text, `acme/${text}`);
    for (const declared of ['git-sync', structure]) {
      const { plan } = await world.plan(manifests({ structure: declared }), policy);
      const shown = renderPlanText(plan, { columns: 100, paint: PLAIN });
      expect(shown).toContain('Git Sync with acme/');
      expect(shown).not.toMatch(ACTIVE);
    }
  });
});

test.each(['0.146', '0.202'] as const)(
  'a space with Git Sync has a line in the plan of %s, without another request',
  async (version) => {
    world.emulator.setFeatures(getFeatures(version));
    await world.settle(manifests({ structure }), policy);
    const guides = world.emulator.state().spaces?.find(({ title }) => title === 'Guides');
    const before = await requestsOfPlan();
    world.emulator.installGitSync({
      space: guides?.id ?? '',
      repository: 'acme/docs',
      branch: 'main',
      priority: 'git',
    });
    expect(await notesOf(manifests({ structure }))).toEqual([
      'space/guides: Git Sync with acme/docs: its pages come from there',
    ]);
    expect(await requestsOfPlan()).toBe(before);
  },
);

async function requestsOfPlan(): Promise<number> {
  world.emulator.requests.reset();
  await world.plan(manifests({ structure }), policy);
  return world.emulator.requests.total;
}

test('a plan says how to set up Git Sync that is declared and not there, and deletes no part meanwhile', async () => {
  await world.settle(manifests({ structure }), policy);
  const text = manifests({ structure: 'git-sync' });
  expect(await notesOf(text)).toEqual([expect.stringContaining('a person sets it up in the application')]);
  await world.apply(text, policy);
  expect(titles()).toEqual(['Guides', 'Reference']);
});

test.each([
  [{ structure: 'git' }, 'structure must be'],
  [{ structure: 'git-sync', default: 'guides' }, 'default comes from docs.yaml'],
  [{ structure: [{ section: 'a', title: 'A' }] }, 'structure[0].spaces'],
])('refuses %j', async (site, problem) => {
  await expect(world.plan(manifests(site), policy)).rejects.toThrow(problem);
});

test('an hour of changes on both sides leaves docs.yaml in charge, with the same lines in every plan', async () => {
  await world.settle(manifests({ structure }), policy);
  install();
  const reports = new Set<string>();
  for (let minute = 0; minute < 60; minute += 1) {
    const title = minute % 2 === 0 ? 'Handbook' : 'Manual';
    world.emulator.syncSite(siteId(), docs(title));
    const wanted = structure.map((item, index) => (index === 0 ? { ...item, title: `Minute ${minute}` } : item));
    const { planned, results } = await world.apply(manifests({ structure: wanted }), policy);
    expect(results.filter(({ status }) => status !== 'skipped')).toEqual([]);
    expect(titles()).toContain(title);
    for (const { text } of planned.plan.notes) {
      reports.add(text);
    }
  }
  expect([...reports]).toHaveLength(2);
});
