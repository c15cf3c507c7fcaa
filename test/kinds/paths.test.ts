import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openWorld, UNLIMITED, type World } from '../support/world.ts';

let world: World;

beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());
beforeEach(() => world.begin());

const policy = { policy: UNLIMITED };
const KEYS = ['x', 'y', 'z'];
const SPACES = 'spaces: { x: { title: X }, y: { title: Y }, z: { title: Z } }\n';

function sections(paths: readonly string[]): string {
  const items = paths.map(
    (path, at) => `{ section: ${KEYS[at]}, title: Section ${KEYS[at]}, path: ${path}, spaces: [{ key: e, space: x }] }`,
  );
  return `${SPACES}sites: { w: { title: Site, structure: [${items.join(', ')}] } }`;
}

function siteSpaces(paths: readonly string[]): string {
  const items = paths.map((path, at) => `{ key: ${KEYS[at]}, space: ${KEYS[at]}, path: ${path} }`);
  return `${SPACES}sites: { w: { title: Site, structure: [${items.join(', ')}] } }`;
}

describe.each([
  ['sections', sections, () => world.emulator.state().sections?.map((each) => [each.id, each.path])],
  ['site spaces', siteSpaces, () => world.emulator.state().siteSpaces?.map((each) => [each.id, each.path])],
] as const)('paths of %s', (_name, manifests, pathsById) => {
  test.each([
    ['are passed on in one apply', ['a', 'b'], ['b', 'c']],
    ['are swapped in one apply', ['a', 'b'], ['b', 'a']],
    ['are swapped in one apply while a third stays', ['a', 'b', 'c'], ['b', 'a', 'c']],
    ['are rotated in one apply', ['a', 'b', 'c'], ['b', 'c', 'a']],
    ['are rotated the other way in one apply', ['a', 'b', 'c'], ['c', 'a', 'b']],
  ])('%s', async (_case, before, after) => {
    await world.settle(manifests(before), policy);
    const ids = pathsById()?.map(([id]) => id);
    const { planned } = await world.settle(manifests(after), policy);
    expect(pathsById()).toEqual(ids?.map((id, at) => [id, after[at]]));
    expect(planned.plan.changes.filter((change) => change.action !== 'update')).toEqual([]);
    expect((await world.plan(manifests(after), policy)).plan.changes).toEqual([]);
  });

  test('are restored by the next apply if an interrupted one left a temporary path', async () => {
    await world.settle(manifests(['a', 'b']), policy);
    world.emulator.setFaults([
      { match: { method: 'PATCH', nth: 3 }, fault: { kind: 'status', status: 400, message: 'no' } },
    ]);
    const { results } = await world.apply(manifests(['b', 'a']), policy);
    expect(results.map((result) => result.status).sort()).toEqual(['applied', 'failed']);
    world.emulator.setFaults([]);
    await world.settle(manifests(['b', 'a']), policy);
    expect(pathsById()?.map(([, path]) => path)).toEqual(['b', 'a']);
  });
});

test('a space that moves within a section is released before another site space shows it', async () => {
  const manifests = (spaces: string) =>
    `${SPACES}sites: { w: { title: Site, structure: [{ section: s, title: Section, spaces: [${spaces}] }] } }`;
  await world.settle(manifests('{ key: one, space: x, path: one }'), policy);
  await world.settle(manifests('{ key: one, space: y, path: one }, { key: two, space: x, path: two }'), policy);
  expect(world.emulator.state().siteSpaces?.map((each) => each.path)).toEqual(['one', 'two']);
});
