/** Cases that the crash matrix and the soak test have found, each in isolation. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { EmulatorState, FaultRule } from '../../src/emulator/emulator.ts';
import { openWorld, UNLIMITED, type World } from '../support/world.ts';

let world: World;
let start: EmulatorState;
const policy = { policy: UNLIMITED };

beforeAll(async () => {
  world = await openWorld();
  start = world.emulator.state();
});
afterAll(() => world.close());
beforeEach(async () => {
  world.emulator.restore(start);
  world.emulator.setFaults([]);
  await world.record.remove((await world.record.read()).entries.map((entry) => entry.address));
});

/** A request that is refused, and one that is processed once without an answer. */
const refused = (operation: string): FaultRule => ({ match: { operation }, fault: { kind: 'status', status: 400 } });
const lost = (operation: string): FaultRule => ({ match: { operation }, times: 1, fault: { kind: 'reset-after' } });

/** Applies manifests while the platform has these faults. */
async function applyWith(
  faults: readonly FaultRule[],
  manifests: string,
  options: Parameters<World['apply']>[1] = policy,
) {
  world.emulator.setFaults(faults);
  const applied = await world.apply(manifests, options);
  world.emulator.setFaults([]);
  return applied;
}

const site = (title: string, structure: string) =>
  `spaces: { s: { title: S } }\nsites: { w: { title: ${title}, structure: [${structure}] } }`;
const SECTION = '{ section: x, title: Section, spaces: [{ key: e, space: s }] }';
const group = (title: string, items: string) => `{ group: ${title.toLowerCase()}, title: ${title}, items: [${items}] }`;
const groups = () =>
  (world.emulator.state().sectionGroups ?? []).map(({ title, parent }) => [title, parent === undefined]).sort();

test('a lost response is looked up in a site that still has its old title', async () => {
  await world.settle(site('Old', SECTION), policy);
  const manifests = site('New', `${SECTION}, ${group('Group', '')}`);
  await applyWith([lost('createSectionGroup'), refused('updateSite')], manifests);
  await world.settle(manifests, policy);
  expect(groups()).toEqual([['Group', true]]);
});

const BEFORE = site('Site', `${SECTION}, ${group('Outer', group('Inner', ''))}`);
const AFTER = site('Site', `${SECTION}, ${group('Inner', '')}, ${group('Outer', '')}`);

test('a replacement whose predecessor was not deleted is completed without a third resource', async () => {
  await world.settle(BEFORE, policy);
  await applyWith([refused('deleteSectionGroup')], AFTER);
  expect(groups()).toHaveLength(3);
  const { planned } = await world.apply(AFTER, policy);
  expect(planned.plan.changes.map(({ action, address }) => `${action} ${address}`)).toEqual([
    'delete section-group/w/inner',
  ]);
  expect(groups()).toEqual([
    ['Inner', true],
    ['Outer', true],
  ]);
  expect((await world.plan(AFTER, policy)).plan.changes).toEqual([]);
  const { entries } = await world.record.read();
  expect(entries.find(({ address }) => address === 'section-group/w/inner')?.metadata).not.toHaveProperty('old');
});

test('a replacement that was not started stays owned, and so does its predecessor', async () => {
  await world.settle(BEFORE, policy);
  await applyWith([refused('createSectionGroup')], AFTER);
  await world.settle(site('Site', SECTION), policy);
  expect(groups()).toEqual([]);
});

test('both resources of a replacement are deleted with its declaration', async () => {
  await world.settle(BEFORE, policy);
  await applyWith([refused('deleteSectionGroup')], AFTER);
  const nothing = site('Site', SECTION);
  await applyWith([{ ...refused('deleteSectionGroup'), times: 1 }], nothing);
  await world.settle(nothing, policy);
  expect(groups()).toEqual([]);
  const { entries } = await world.record.read();
  expect(entries.map(({ address }) => address)).not.toContain('section-group/w/inner');
});

test('a replacement that is reverted halfway is undone', async () => {
  await world.settle(BEFORE, policy);
  await applyWith([refused('deleteSectionGroup')], AFTER);
  await world.settle(BEFORE, policy);
  expect(groups()).toEqual([
    ['Inner', false],
    ['Outer', true],
  ]);
  expect((await world.plan(BEFORE, policy)).plan.changes).toEqual([]);
});

test('completes a replacement with a git ref as base, which has no ids', async () => {
  await world.settle(BEFORE, { ...policy, base: null });
  const base = { ...policy, base: { manifests: BEFORE } };
  await applyWith([refused('deleteSectionGroup')], AFTER, base);
  const { planned } = await world.apply(AFTER, base);
  expect(planned.plan.changes.map(({ action, address }) => `${action} ${address}`)).toEqual([
    'delete section-group/w/inner',
  ]);
  expect(groups()).toHaveLength(2);
});

test('the space that was created with a section is owned although its own change was not started', async () => {
  const spaces = 'spaces: { s: { title: S }, t: { title: T } }';
  const withSection = (key: string, space: string) =>
    `${spaces}\nsites: { w: { title: Site, structure: [{ section: x, title: Section, spaces: [{ key: ${key}, space: ${space} }] }] } }`;
  const unreadable: FaultRule = { ...refused('getSiteStructure'), fault: { kind: 'status', status: 403 } };
  await applyWith([lost('createSection'), unreadable], withSection('a', 's'));
  expect(world.emulator.state().siteSpaces).toHaveLength(1);
  await world.settle(withSection('b', 't'), policy);
  expect(world.emulator.state().siteSpaces).toHaveLength(1);
});

test.each([
  ['translation', 'createTranslation', 'listTranslations'],
  ['section-group', 'createSectionGroup', 'getSiteStructure'],
])('a %s that was created again with a lost response is owned', async (kind, create, look) => {
  const first = `${BEFORE}\ntranslations: { r: { space: s, from: en, to: fr } }`;
  await world.settle(first, policy);
  const hide = () => world.emulator.setFaults([refused(look)]);
  const { results } = await applyWith(
    [
      { match: { operation: create }, fault: { kind: 'reset-after' } },
      { match: { operation: create }, fault: { kind: 'hook', when: 'after', run: hide } },
    ],
    `${AFTER}\ntranslations: { r: { space: s, from: en, to: it } }`,
  );
  expect(results.find(({ action, address }) => action === 'create' && address.startsWith(kind))?.status).toBe('failed');
  await world.settle(`${site('Site', SECTION)}`, policy);
  expect(world.emulator.state().translations).toEqual([]);
  expect(groups()).toEqual([]);
});

const translated = (spaces: string, more = '') =>
  `spaces: { s: { title: S, ${spaces} } }\ntranslations: { r: { space: s, from: en, to: fr } }${more}`;
const shown =
  '\nsites: { w: { title: Site, structure: [{ section: x, title: Section, spaces: [{ key: e, space: r }] }] } }';
const results = () => (world.emulator.state().spaces ?? []).filter(({ title }) => title === 'S (fr)');

test('a translation whose result was deleted runs again before the site spaces that show it', async () => {
  const manifests = translated('collection: null', shown);
  await world.settle(manifests, policy);
  await world.call('DELETE', `/v1/spaces/${results()[0]?.id}`);
  const { plan } = await world.plan(manifests, policy);
  expect(plan.changes.map(({ action, address }) => `${action} ${address}`)).toContain('update translation/r');
  await world.settle(manifests, policy);
  const [made] = results().filter(({ deletedAt }) => deletedAt === undefined);
  expect(world.emulator.state().siteSpaces).toMatchObject([{ space: made?.id }]);
  expect((await world.plan(manifests, policy)).plan.changes).toEqual([]);
});

test('a translation is created after its source has moved', async () => {
  await world.settle('collections: { c: { title: C } }\nspaces: { s: { title: S, collection: c } }', policy);
  const { results: done } = await world.apply(translated('collection: null'), policy);
  expect(done.map(({ action, address }) => `${action} ${address}`)).toEqual([
    'move space/s',
    'create translation/r',
    'delete collection/c',
  ]);
  expect(results().map(({ deletedAt }) => deletedAt)).toEqual([undefined]);
});

test('a group that the site does not list yet is found and not created again', async () => {
  const spaces = site('Site', '{ key: e, space: s }');
  await world.settle(spaces, policy);
  const manifests = site('Site', group('Outer', ''));
  await applyWith([lost('createSectionGroup'), { ...refused('deleteSiteSpace'), times: 1 }], manifests);
  await world.settle(manifests, policy);
  expect(groups()).toEqual([['Outer', true]]);
  await world.settle(spaces, policy);
  expect(groups()).toEqual([]);
});
