import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { kinds } from '../../src/kinds/registry.ts';
import { baseOfManifests } from '../../src/reconcile/record.ts';
import { NAMES } from '../support/certificates.ts';
import { declare, openWorld, UNLIMITED } from '../support/world.ts';
import { driftOf } from './importing.ts';

const world = await openWorld();
afterAll(() => world.close());
beforeEach(() => world.begin());

/**
 * Drift of manifests whose organization was edited out of band to match other manifests; `applied`: the manifests
 * before a commit.
 */
async function drifted(before: string, byHand: string, applied = before) {
  await world.settle(applied, { policy: UNLIMITED });
  // An out-of-band edit: without regard to what was applied.
  await world.settle(byHand, { policy: UNLIMITED });
  const options = { policy: UNLIMITED, base: { manifests: applied } };
  const base = baseOfManifests(kinds, await declare(applied));
  const drift = await driftOf(world, { 'octavo.yaml': before }, options, base);
  const after = drift.texts.get('octavo.yaml') ?? before;
  const words = ({ action, address }: { action: string; address: string }) => `${action} ${address}`;
  const open = (await world.plan(after, options)).plan.changes.map(words);
  const places = drift.places.map(words);
  return { after, open, places, left: drift.omitted.map(({ address, reason }) => `${address} ${reason}`) };
}

const SPACES = 'spaces: { one: { title: One }, two: { title: Two }, three: { title: Three } }\n';
const HEAD = `${SPACES}sites:\n  help:\n    title: Help\n    structure:\n`;

describe('another order', () => {
  const a = `      # what comes first
      - section: a # the first
        title: The a

        # its spaces
        spaces: [{ key: x, space: one, path: x }]
`;
  const b =
    '      - section: b\n        title: The b\n        spaces:\n          - { key: y, space: two, path: y } # y\n';
  const c = '      - { section: c, title: The c, spaces: [{ key: z, space: three, path: z }] }\n';

  test('of sections moves their comments, and keeps what is between them', async () => {
    const byHand = `${HEAD}${c}${a}${b}`;
    const before = `${HEAD}${a}\n      # not about any\n\n${b}${c}# the end\n`;
    expect(await drifted(before, byHand)).toEqual({
      after: `${HEAD}${c}\n      # not about any\n\n${a}${b}# the end\n`,
      open: [],
      places: ['move section/help/c'],
      left: [],
    });
  });

  test('of sections in a group, of groups, and of spaces in a section, all at once, to the last line without an end', async () => {
    const group = (key: string, items: string) =>
      `      - group: ${key}\n        title: The ${key}\n        items:\n${items}`;
    const item = (key: string, spaces: string) =>
      `          - section: ${key}\n            title: The ${key}\n            spaces:\n${spaces}`;
    const space = (key: string, of: string) =>
      `              - key: ${key} # ${key}\n                space: ${of}\n                path: ${key}\n`;
    const first = item('s', space('x', 'one') + space('y', 'two'));
    const second = item('t', space('z', 'three'));
    const before = (HEAD + group('g', first + second) + group('h', item('u', space('w', 'one')))).replace(/\n$/, '');
    const turned = item('s', space('y', 'two') + space('x', 'one'));
    const byHand = HEAD + group('h', item('u', space('w', 'one'))) + group('g', second + turned);
    expect(await drifted(before, byHand)).toMatchObject({ after: byHand.replace(/\n$/, ''), open: [], left: [] });
  });

  test('of a list in brackets', async () => {
    const site = (order: string) => `${SPACES}sites: { help: { title: Help, structure: [ ${order} ] } } # all\n`;
    const [x, y, z] = ['x, space: one, path: x', 'y, space: two, path: y', 'z, space: three, path: z'].map(
      (each) => `{ key: ${each} }`,
    );
    const ended = await drifted(site(`${x},${y}  , ${z}`), site(`${z}, ${x}, ${y}`));
    expect(ended).toMatchObject({ after: site(`${z},${x}  , ${y}`), open: [], left: [] });
  });

  test('that a commit made is not drift, and another one is reported if its text cannot be moved', async () => {
    const committed = `${HEAD}${b}${a}${c}`;
    expect(await drifted(committed, `${HEAD}${a}${b}${c}`, `${HEAD}${a}${b}${c}`)).toMatchObject({
      after: committed,
      places: [],
      left: [],
    });
    await world.begin();
    const site = (order: string) => `${SPACES}sites: { help: { title: Help, structure: [ ${order} ] } }\n`;
    const [x, y] = ['{ key: x, space: one, path: x }', '{ key: y, space: two, path: y }'];
    const before = site(`${x}, # why\n ${y}`);
    expect(await drifted(before, site(`${y}, ${x}`))).toMatchObject({
      after: before,
      places: [],
      left: [expect.stringMatching(/^site-space\/help\/\w .*cannot be moved in the text/)],
    });
  });
});

describe('a deleted resource', () => {
  const TEAMS =
    'teams:\n  # one\n  a: { title: A } # why\n\n  # two\n  b:\n    title: B\n    # inside\n  c: { title: C }\n';

  test('is removed with its comments, and nothing else', async () => {
    const byHand = 'teams: { a: { title: A }, c: { title: C } }';
    expect(await drifted(TEAMS, byHand)).toEqual({
      after: 'teams:\n  # one\n  a: { title: A } # why\n\n  c: { title: C }\n',
      open: [],
      places: ['delete team/b'],
      left: [],
    });
  });

  test('is removed from braces', async () => {
    const before = 'teams: { a: { title: A }, b: { title: B }, c: { title: C } } # all\n';
    expect(await drifted(before, 'teams: { a: { title: A }, c: { title: C } }')).toMatchObject({
      after: 'teams: { a: { title: A }, c: { title: C } } # all\n',
      open: [],
    });
    await world.begin();
    expect(await drifted(before, 'teams: { b: { title: B }, c: { title: C } }')).toMatchObject({
      after: 'teams: { b: { title: B }, c: { title: C } } # all\n',
      open: [],
    });
  });

  test('is reported if another resource may be it under a new name', async () => {
    const byHand = 'teams: { a: { title: A }, c: { title: C }, d: { title: Renamed } }';
    expect(await drifted(TEAMS, byHand)).toMatchObject({
      after: TEAMS,
      places: [],
      left: ['team/b is gone, or has the name of something that no manifest declares'],
    });
  });

  test('is reported if a commit changes it, or it was never applied', async () => {
    const before = TEAMS.replace('title: B', 'title: More').replace('title: C', 'title: C }\n  d: { title: D');
    expect(await drifted(before, 'teams: { a: { title: A }, c: { title: C } }', TEAMS)).toMatchObject({
      after: before,
      places: [],
      left: ['team/b is gone, and a commit is about to change it', 'team/d is declared, and was never applied'],
    });
  });

  test('is reported if a remaining resource refers to it', async () => {
    const saml = (team: string) =>
      `saml:\n  okta: { label: Okta, entityID: e, ssoURL: "https://a.example", certificate: ${JSON.stringify(NAMES.cert)}${team} }\n`;
    const before = TEAMS + saml(', defaultTeam: b');
    const { after, left } = await drifted(before, `teams: { a: { title: A }, c: { title: C } }\n${saml('')}`);
    expect(after).toBe(before);
    expect(left).toContainEqual(expect.stringMatching(/^team\/b is gone and cannot be removed/));
  });

  test('is removed from a structure with its contents, and the rest is ordered', async () => {
    const section = (key: string, space: string) =>
      `      # about ${key}\n      - section: ${key}\n        title: The ${key}\n        spaces:\n          - { key: s, space: ${space}, path: s${key} }\n`;
    const [a, b, c] = [section('a', 'one'), section('b', 'two'), section('c', 'three')];
    const ended = await drifted(`${HEAD}${a}${b}${c}`, `${HEAD}${c}${a}`);
    expect(ended).toMatchObject({ after: `${HEAD}${c}${a}`, open: [], left: [] });
    expect(ended.places.sort()).toEqual(['delete section/help/b', 'delete site-space/help/b/s', 'move section/help/c']);
  });

  test('is reported if it is the last one of its section', async () => {
    const before = 'teams:\n  a: { title: A }\n';
    const ended = await drifted(before, 'teams: {}');
    expect(ended).toMatchObject({ after: before, places: [], left: [expect.stringMatching(/^team\/a is gone/)] });
  });

  const twoSpaces = (first: string) => `${HEAD}      - section: a
        title: The a
        spaces:
${first}          - { key: y, space: two, path: y }
          - { key: z, space: three, path: z }
`;

  test('is removed as the first site space of a section, and what follows it has not moved', async () => {
    const before = twoSpaces('          - { key: x, space: one, path: x } # first\n');
    const byHand = twoSpaces('');
    expect(await drifted(before, byHand)).toEqual({
      after: byHand,
      open: [],
      places: ['delete site-space/help/a/x'],
      left: [],
    });
  });

  test('is removed with the default that named it', async () => {
    const withDefault = (key: string, text: string) =>
      text.replace('title: The a', `title: The a\n        default: ${key}`);
    const before = withDefault('x', twoSpaces('          - { key: x, space: one, path: x }\n'));
    const { after, open } = await drifted(before, withDefault('y', twoSpaces('')));
    expect(after).toBe(withDefault('"y"', twoSpaces('')));
    expect(open).toEqual([]);
  });

  test('is removed although something else in the same file cannot be', async () => {
    const site = (group: string, last: string) =>
      `sites:
  help:
    title: Help
    structure:
      - section: a
        title: The a
        spaces: [{ key: x, space: one, path: x }]
      - group: g
        title: The g
        items: [${group}]
${last}`;
    const inGroup = '{ section: b, title: The b, spaces: [{ key: y, space: two, path: y }] }';
    const last = '      - section: c\n        title: The c\n        spaces: [{ key: z, space: three, path: z }]\n';
    const ended = await drifted(SPACES + site(inGroup, last), SPACES + site('', ''));
    expect(ended.after).toBe(SPACES + site(inGroup, ''));
    expect(ended.places).toContain('delete section/help/c');
    expect(ended.left).toContainEqual(expect.stringMatching(/^section\/help\/b is gone and cannot be removed/));
  });

  test.each(['sites', 'section'])(
    'does not remove the contents of something that was only renamed: %s',
    async (what) => {
      const part = (key: string, space: string) =>
        `      - section: ${key}\n        title: The ${key}\n        spaces:\n          - { key: x, space: ${space}, path: x }\n`;
      const other = '  other: { title: Other }\n';
      const applied = `${HEAD}${part('a', 'one')}${part('b', 'two')}${other}`;
      const before = `${HEAD}${part('a', 'one')}${part('b', 'two')}${part('new', 'three')}${other}`;
      const byHand =
        what === 'sites'
          ? applied.replace('title: Help', 'title: Renamed')
          : applied.replace('title: The a', 'title: Renamed\n        path: renamed');
      const { after, places } = await drifted(before, byHand, applied);
      expect(after).toBe(before);
      expect(places).toEqual([]);
    },
  );

  test('is found in bounded time with nested groups and another default', async () => {
    const section = (key: string, space: string, indent: string) =>
      `${indent}- section: ${key}\n${indent}  title: The ${key}\n${indent}  spaces: [{ key: s, space: ${space}, path: s${key} }]\n`;
    const groups = (inner: string) =>
      `      - group: g\n        title: The g\n        items:\n${section('b', 'two', '          ')}${inner}`;
    const inner = `          - group: h\n            title: The h\n            items:\n${section('c', 'three', '              ')}`;
    const site = (first: string, rest: string) =>
      `${SPACES}sites:\n  help:\n    title: Help\n    default: ${first}\n    structure:\n${section('a', 'one', '      ')}${rest}`;
    const ended = await drifted(site('c', groups(inner)), site('a', groups('')));
    expect(ended.after).toBe(site('a', groups('')));
    expect(ended.open).toEqual([]);
  });
});
