import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { EmulatorState, PlatformVersion } from '../../src/emulator/emulator.ts';
import { getFeatures } from '../../src/emulator/model/features.ts';
import { filesAfter, importFrom } from '../import/importing.ts';
import { twoModels } from '../support/arbitrary-manifests.ts';
import { countCases } from '../support/campaign.ts';
import { addForeign } from '../support/foreign.ts';
import { type Model, manifestsOf } from '../support/model.ts';
import { differences } from '../support/oracle.ts';
import { foreignRecords } from '../support/oracle-lookups.ts';
import { preferringProxy } from '../support/preferring-proxy.ts';
import { openWorld, UNLIMITED, type World } from '../support/world.ts';

/*
 * Later versions of the platform: the same manifests lead to the same state.
 * Source: docs/platform-notes.md#changes-by-version
 */

const SEED = Number(process.env.OCTAVO_SEED ?? 20260901);
const RUNS = Number(process.env.OCTAVO_RUNS ?? countCases({ sample: 2, ci: 6, full: 300 }));
const policy = { policy: UNLIMITED };

const platforms: readonly {
  readonly named: string;
  readonly version: PlatformVersion;
  readonly between?: typeof preferringProxy;
}[] = [
  { named: '0.167', version: '0.167' },
  { named: '0.181', version: '0.181' },
  { named: '0.201', version: '0.201' },
  { named: '0.201 behind something that prefers answers without a body', version: '0.201', between: preferringProxy },
];

interface Item {
  readonly id: string;
  readonly object: string;
  readonly children?: readonly Item[];
}

/** Lists of a site's structure that may contain an external link, with their parents. */
function* listsOf(
  items: readonly Item[],
  holder: string | null,
): Generator<{ holder: string | null; items: readonly Item[] }> {
  yield { holder, items };
  for (const item of items) {
    if (item.object === 'site-section-group') {
      yield* listsOf(item.children ?? [], item.id);
    }
  }
}

/** Puts external links between the items of every site with sections. */
async function scatterLinks(world: World, places: readonly number[], isMeant: (title: string) => boolean) {
  const next = places[Symbol.iterator]();
  const { items: sites } = await world.call('GET', '/sites?limit=100');
  for (const site of (sites as { id: string; title: string }[]).filter(({ title }) => isMeant(title))) {
    const { type, structure } = await world.call('GET', `/sites/${site.id}/structure`);
    for (const { holder, items } of type === 'sections' ? [...listsOf(structure, null)] : []) {
      const link = await world.call('POST', `/sites/${site.id}/external-links`, {
        title: 'Elsewhere',
        url: 'https://elsewhere.example',
        ...(holder === null ? {} : { parent: holder }),
      });
      const beside = items[Number(next.next().value ?? 0) % (items.length + 1)];
      if (beside !== undefined) {
        await world.call('PATCH', `/sites/${site.id}/structure/sort`, {
          item: { type: 'site-external-link', id: link.id },
          position: { before: { type: beside.object, id: beside.id } },
        });
      }
    }
  }
}

const isForeign = (title: string) => title.startsWith('Foreign');

/** The state without the links that no manifest declares. */
function withoutScattered(state: EmulatorState): EmulatorState {
  return { ...state, externalLinks: state.externalLinks?.filter(({ title }) => title !== 'Elsewhere') ?? [] };
}

function linksOf(state: EmulatorState): readonly string[] {
  return (state.externalLinks ?? []).map(({ id }) => id).sort();
}

describe.each(platforms)('$named', ({ version, between }) => {
  let world: World;
  let start: EmulatorState;

  beforeAll(async () => {
    world = await openWorld({}, between);
    await addForeign(world);
    world.emulator.setFeatures(getFeatures(version));
    if (version === '0.201') {
      await scatterLinks(world, [1], isForeign);
    }
    start = world.emulator.state();
  });
  afterAll(() => world.close());

  async function expectConverges(model: Model): Promise<void> {
    await world.settle(manifestsOf(model), policy);
    const again = await world.plan(manifestsOf(model), policy);
    expect(again.plan.changes.map(({ action, address, fields }) => ({ action, address, fields }))).toEqual([]);
    expect(differences(model, start, withoutScattered(world.emulator.state()))).toEqual([]);
    expect(foreignRecords(start, world.emulator.state())).toBe(foreignRecords(start, start));
  }

  test('converges between any two sets of manifests, without losing links or planning changes for them', async () => {
    await fc.assert(
      fc.asyncProperty(twoModels, fc.array(fc.nat(9), { maxLength: 8 }), async ([a, b], places) => {
        await world.begin(start);
        await expectConverges(a);
        const before = await world.plan(manifestsOf(b), policy);
        if (version === '0.201') {
          await scatterLinks(world, places, (title) => !isForeign(title));
          const { plan } = await world.plan(manifestsOf(b), policy);
          expect(plan.changes.map(withoutImpact)).toEqual(before.plan.changes.map(withoutImpact));
        }
        const kept = linksOf(world.emulator.state()).filter((id) => !isOnDeletedSite(world, before, id));
        world.emulator.requests.reset();
        await expectConverges(b);
        expect(linksOf(world.emulator.state())).toEqual(kept);
        const sent = world.emulator.requests.byOperation;
        expect(sent.addSectionToGroup ?? 0).toBeLessThanOrEqual(version === '0.167' ? 99 : TRIALS);
      }),
      { seed: SEED, numRuns: RUNS, endOnFailure: process.env.OCTAVO_SHRINK === undefined },
    );
  });
});

/** One in each pass; the number of passes until the plan is empty is limited. */
const TRIALS = 4;

/** An external link is deleted only with its site. */
function isOnDeletedSite(world: World, { plan }: Awaited<ReturnType<World['plan']>>, link: string): boolean {
  const gone = plan.changes.filter(({ action, kind }) => action === 'delete' && kind === 'site').map(({ id }) => id);
  const { externalLinks = [] } = world.emulator.state();
  return externalLinks.some(({ id, site }) => id === link && gone.includes(site));
}

function withoutImpact<T extends { impact: string; weight: number }>({ impact: _, weight: __, ...change }: T) {
  return change;
}

/** World of the tests that run now. */
let world: World;

/** Opens a world for a group of tests. Each begins with this version, and may choose another one. */
function useWorld(version: PlatformVersion): void {
  beforeAll(async () => {
    world = await openWorld({ platform: version });
  });
  afterAll(() => world.close());
  beforeEach(async () => {
    await world.begin();
    world.emulator.setFeatures(getFeatures(version));
  });
}

describe('sections and their groups', () => {
  useWorld('0.146');

  const keys = Array.from({ length: 8 }, (_, index) => `s${index}`);
  const section = (key: string) => ({ section: key, title: `Section ${key}`, spaces: [{ key, space: 'one' }] });
  const site = (structure: unknown) =>
    JSON.stringify({ spaces: { one: { title: 'One' } }, sites: { help: { title: 'Help', structure } } });
  /** Every section in one of two groups. */
  const grouped = (swapped: boolean) =>
    site(
      ['a', 'b'].map((group, at) => ({
        group,
        title: `Group ${group}`,
        items: keys.filter((_, index) => (index % 2 === at) !== swapped).map(section),
      })),
    );
  const flat = site([...keys.map(section), { group: 'a', title: 'Group a', items: [] }]);

  async function sentBy(manifests: string): Promise<Readonly<Record<string, number>>> {
    world.emulator.requests.reset();
    await world.settle(manifests, policy);
    const sent = { ...world.emulator.requests.byOperation };
    const { plan } = await world.plan(manifests, policy);
    expect(plan.changes).toEqual([]);
    return sent;
  }

  test('until 0.167 are combined by operations of the group', async () => {
    await sentBy(grouped(false));
    const sent = await sentBy(grouped(true));
    expect(sent.addSectionToGroup).toBe(8);
    expect(sent.updateSection).toBeUndefined();
    expect((await sentBy(flat)).removeSectionFromGroup).toBe(8);
  });

  test.each(['0.181', '0.201'] as const)(
    'in %s are combined by updates of the sections, after one 404 in a pass',
    async (version) => {
      world.emulator.setFeatures(getFeatures(version));
      await sentBy(grouped(false));
      const sent = await sentBy(grouped(true));
      expect({ tried: sent.addSectionToGroup, updated: sent.updateSection }).toEqual({ tried: 1, updated: 8 });
      const back = await sentBy(flat);
      expect((back.addSectionToGroup ?? 0) + (back.removeSectionFromGroup ?? 0)).toBe(1);
    },
  );

  test('does not take a 404 for one section for a missing operation', async () => {
    await sentBy(grouped(false));
    world.emulator.setFaults([
      { match: { operation: 'addSectionToGroup', nth: 1 }, fault: { kind: 'status', status: 404, message: 'gone' } },
    ]);
    world.emulator.requests.reset();
    const { results } = await world.apply(grouped(true), policy);
    const failed = results.filter(({ status }) => status !== 'applied');
    expect(failed).toHaveLength(1);
    expect(failed[0]?.error).toMatch(
      /addSectionToGroup: .*\(404\): gone; only platforms like 0\.146 have this operation; updateSection: .*\(400\): .*siteSectionGroupId/,
    );
    expect(world.emulator.requests.byOperation).toMatchObject({ addSectionToGroup: 8, updateSection: 1 });
  });

  test('fails only the section that no longer exists in 0.181, with the answer of the platform', async () => {
    world.emulator.setFeatures(getFeatures('0.181'));
    await sentBy(grouped(false));
    const { sections = [] } = world.emulator.state();
    const lost = sections.find(({ title }) => title === 'Section s3');
    const remove = () => {
      const state = world.emulator.state();
      world.emulator.restore({ ...state, sections: state.sections?.filter(({ id }) => id !== lost?.id) ?? [] });
    };
    world.emulator.setFaults([
      { match: { operation: 'addSectionToGroup', nth: 1 }, fault: { kind: 'hook', when: 'before', run: remove } },
    ]);
    const { results } = await world.apply(grouped(true), policy);
    const failed = results.filter(({ status }) => status === 'failed');
    expect(failed.map(({ address }) => address)).toEqual(['section/help/s3']);
    expect(failed[0]?.error).toContain('(404)');
    expect(world.emulator.requests.byOperation.addSectionToGroup).toBeLessThanOrEqual(3);
    world.emulator.setFaults([]);
    await sentBy(grouped(true));
  });
});

describe('settings that versions lack', () => {
  useWorld('0.146');

  const site = (fields: object) =>
    JSON.stringify({ sites: { help: { title: 'Help', visibility: 'public', ...fields } } });
  const hiding = (hidden: boolean) =>
    JSON.stringify({
      spaces: { one: { title: 'One' } },
      sites: { help: { title: 'Help', structure: [{ key: 'one', space: 'one', path: 'en', hidden }] } },
    });
  const notesOf = ({ plan }: Awaited<ReturnType<World['plan']>>) => plan.notes.map(({ text }) => text);

  test('sets agentsContext where it is supported, on new and existing sites', async () => {
    for (const agentsContext of ['excluded', 'included']) {
      await world.settle(site({ agentsContext }), policy);
      const again = await world.plan(site({ agentsContext }), policy);
      expect({ changes: again.plan.changes, notes: notesOf(again) }).toEqual({ changes: [], notes: [] });
      expect(world.emulator.state().sites?.at(-1)?.agentsContext).toBe(agentsContext);
    }
  });

  test.each(['0.167', '0.201'] as const)(
    'reports that %s lacks agentsContext, and reads it at most once',
    async (version) => {
      world.emulator.setFeatures(getFeatures(version));
      const { results } = await world.settle(site({ agentsContext: 'excluded' }), policy);
      expect(results.map(({ status }) => status)).toEqual(['applied']);
      const again = await world.plan(site({ agentsContext: 'included', basename: 'help' }), policy);
      expect(again.plan.changes.map(({ action, fields }) => ({ action, fields }))).toEqual([
        { action: 'update', fields: [{ path: 'basename', from: null, to: 'help' }] },
      ]);
      expect(notesOf(again)).toEqual([expect.stringContaining('agentsContext was not compared')]);
      world.emulator.requests.reset();
      await world.settle(site({ agentsContext: 'included', basename: 'help' }), policy);
      expect(world.emulator.requests.entries.map(({ status }) => status).filter((status) => status !== 200)).toEqual(
        [],
      );
      expect(notesOf(await world.plan(site({}), policy))).toEqual([]);
    },
  );

  test('accepts hidden: false in any version; fails for hidden: true with a note in the plan', async () => {
    world.emulator.setFeatures({ hiddenSiteSpaces: false });
    await world.settle(hiding(false).replace(',"hidden":false', ''), policy);
    expect((await world.plan(hiding(false), policy)).plan.changes).toEqual([]);
    const { planned, results } = await world.apply(hiding(true), policy);
    expect(notesOf(planned)).toEqual([expect.stringContaining('versions before 0.167 cannot hide a site space')]);
    expect(results.map(({ status, error }) => ({ status, error }))).toEqual([
      { status: 'failed', error: expect.stringContaining('body.hidden: unknown field') },
    ]);
    world.emulator.setFeatures({ hiddenSiteSpaces: true });
    await world.settle(hiding(true), policy);
    expect(notesOf(await world.plan(hiding(true), policy))).toEqual([]);
  });
});

describe('drafts and localized texts', () => {
  useWorld('0.181');

  const texts = { localizedTitle: { fr: 'Guides en français' }, localizedDescription: { fr: 'Tout' } };
  const site = (draft: boolean, localized: object, group: object) =>
    JSON.stringify({
      spaces: { one: { title: 'One' }, two: { title: 'Two' } },
      sites: {
        help: {
          title: 'Help',
          published: true,
          structure: [
            { group: 'g', title: 'Group', draft, ...group, items: [] },
            {
              section: 'a',
              title: 'Section',
              draft,
              ...localized,
              spaces: [
                { key: 'one', space: 'one', path: 'one' },
                { key: 'two', space: 'two', path: 'two', draft },
              ],
            },
          ],
        },
      },
    });
  const written = site(true, texts, { localizedTitle: { de: 'Gruppe' } });

  async function actual() {
    const { sections = [], sectionGroups = [], siteSpaces = [] } = world.emulator.state();
    const pick = ({ draft, localizedTitle, localizedDescription }: Record<string, unknown>) => ({
      draft,
      localizedTitle,
      localizedDescription,
    });
    return [...sectionGroups, ...sections, ...siteSpaces].map((part) => pick({ ...part }));
  }

  test('are set on creation, shown with the readers that a launch adds, cleared, and imported', async () => {
    await world.apply(written, policy);
    expect(await actual()).toEqual([
      { draft: true, localizedTitle: { de: 'Gruppe' } },
      { draft: true, ...texts },
      { draft: undefined },
      { draft: true },
    ]);
    expect((await world.plan(written, policy)).plan.changes).toEqual([]);
    const files = filesAfter(await importFrom(world));
    expect((await world.plan(files, { ...policy, base: null })).plan.changes).toEqual([]);
    expect(JSON.stringify(files)).toContain('Guides en français');

    const cleared = { localizedTitle: null, localizedDescription: null };
    const launch = site(false, cleared, { localizedTitle: {} });
    const { planned } = await world.apply(launch, policy);
    expect(planned.plan.access.map(({ person, role, to }) => `${person}: ${role} ${to}`).sort()).toEqual([
      'everyone on the internet: read section-group/help/g',
      'everyone on the internet: read section/help/a',
      'everyone on the internet: read site-space/help/a/two',
    ]);
    expect((await actual()).map((part) => ({ ...part }))).toEqual([
      { draft: false },
      { draft: false },
      { draft: undefined },
      { draft: false },
    ]);
    expect((await world.plan(launch, policy)).plan.changes).toEqual([]);
  });

  test('are noted and not sent again on a version without them; a draft is not created as something to read', async () => {
    world.emulator.setFeatures(getFeatures('0.146'));
    const plain = site(false, texts, { localizedTitle: { de: 'Gruppe' } });
    const { results } = await world.apply(plain, policy);
    expect(results.filter(({ status }) => status !== 'applied')).toEqual([]);
    world.emulator.requests.reset();
    const { planned } = await world.apply(plain, policy);
    expect(planned.plan.changes).toEqual([]);
    expect(planned.plan.notes.map(({ address, text }) => `${address} ${text.split(':')[0]}`)).toEqual([
      'section-group/help/g localizedTitle was not compared',
      'section-group/help/g draft was not compared',
      'section/help/a localizedTitle was not compared',
      'section/help/a localizedDescription was not compared',
      'section/help/a draft was not compared',
      'site-space/help/a/two draft was not compared',
    ]);
    expect(world.emulator.requests.byOperation.updateSection).toBeUndefined();
    await world.begin();
    world.emulator.setFeatures(getFeatures('0.146'));
    const failed = (await world.apply(written, policy)).results.filter(({ status }) => status === 'failed');
    expect(failed.map(({ address }) => address)).toEqual(['site/help', 'section-group/help/g', 'section/help/a']);
    expect(world.emulator.state().sections).toEqual([]);
  });
});

describe('links to elsewhere', () => {
  useWorld('0.201');

  const section = (key: string) => ({ section: key, title: `Section ${key}`, spaces: [{ key, space: 'one' }] });
  const site = (...structure: unknown[]) =>
    JSON.stringify({ spaces: { one: { title: 'One' } }, sites: { help: { title: 'Help', structure } } });
  const more = (...items: unknown[]) => ({ group: 'more', title: 'More', items });

  async function shown(): Promise<readonly string[]> {
    const { items } = await world.call('GET', '/sites');
    const { structure } = await world.call('GET', `/sites/${items[0].id}/structure`);
    const titles = (list: readonly { title: string; children?: [] }[]): readonly string[] =>
      list.flatMap(({ title, children = [] }) => [title, ...titles(children)]);
    return titles(structure);
  }

  /** An external link before the group, and another in it. */
  async function withLinks(): Promise<void> {
    await world.settle(site(section('a'), section('b'), section('c'), more(section('d'))), policy);
    await scatterLinks(world, [3, 0], () => true);
    expect(await shown()).toEqual([
      'Section a',
      'Section b',
      'Section c',
      'Elsewhere',
      'More',
      'Elsewhere',
      'Section d',
    ]);
  }

  test('keep their position while the rest is ordered around them, with as few moves as without them', async () => {
    await withLinks();
    world.emulator.requests.reset();
    const manifests = site(more(section('d')), section('c'), section('a'), section('b'));
    await world.settle(manifests, policy);
    expect(await shown()).toEqual([
      'More',
      'Elsewhere',
      'Section d',
      'Section c',
      'Section a',
      'Section b',
      'Elsewhere',
    ]);
    expect(world.emulator.requests.byOperation.sortSiteStructure).toBe(2);
    expect((await world.plan(manifests, policy)).plan.changes).toEqual([]);
  });

  test('are named in the deletion of their group, and survive it', async () => {
    await withLinks();
    const { planned } = await world.apply(site(section('a'), section('b'), section('c'), section('d')), policy);
    const deleted = planned.plan.changes.filter(({ action }) => action === 'delete');
    expect(deleted.map(({ address, impact }) => ({ address, impact }))).toEqual([
      { address: 'section-group/help/more', impact: '1 external link' },
    ]);
    expect((await shown()).filter((title) => title === 'Elsewhere')).toHaveLength(2);
  });

  test('are declared by an import, whose plan is empty', async () => {
    await withLinks();
    const files = filesAfter(await importFrom(world));
    expect(JSON.stringify(files).match(/Elsewhere/g)).toHaveLength(2);
    expect((await world.plan(files, { ...policy, base: null })).plan.changes).toEqual([]);
  });

  const link = (key: string) => ({ link: key, title: `Link ${key}`, url: `https://${key}.example` });

  test('are created in their places in one pass, also before the first section of a new site', async () => {
    const manifests = site(link('a'), more(link('b'), section('c'), link('d')), section('e'), link('f'));
    const { results } = await world.apply(manifests, policy);
    expect(results.filter(({ status }) => status !== 'applied')).toEqual([]);
    expect(await shown()).toEqual(['Link a', 'More', 'Link b', 'Section c', 'Link d', 'Section e', 'Link f']);
    expect((await world.plan(manifests, policy)).plan.changes).toEqual([]);
  });

  test('move into a group and out of it in one pass', async () => {
    await world.settle(site(section('a'), link('b'), more(link('c'), section('d'))), policy);
    const swapped = site(link('c'), section('a'), more(section('d'), link('b')));
    await world.apply(swapped, policy);
    expect(await shown()).toEqual(['Link c', 'Section a', 'More', 'Section d', 'Link b']);
    expect((await world.plan(swapped, policy)).plan.changes).toEqual([]);
  });

  test('are pending, and not tried, on a version without them', async () => {
    world.emulator.setFeatures(getFeatures('0.181'));
    await world.settle(site(section('a')), policy);
    world.emulator.requests.reset();
    const { planned, results } = await world.apply(site(section('a'), link('b')), policy);
    expect(planned.plan.pending).toEqual([
      { address: 'external-link/help/b', reason: expect.stringContaining('no external links (0.201 and later') },
    ]);
    expect(results).toEqual([]);
    expect(world.emulator.requests.byOperation.createExternalLink).toBeUndefined();
  });

  test('need a section in the same site', async () => {
    await expect(world.plan(site(link('a')), policy)).rejects.toThrow(
      'an external link needs a section in the same site',
    );
  });
});
