import { describe, expect, test } from 'vitest';
import { formatProblem } from '../../src/core/errors.ts';
import { problemsIn } from './problems.ts';

async function problemsOf(manifest: string): Promise<readonly string[]> {
  return (await problemsIn({ 'm.yaml': manifest })).map(formatProblem);
}

const site = (structure: string) =>
  `spaces: { x: { title: X } }\nsites: { w: { title: Site, structure: [${structure}] } }`;

/** Manifests with a name in each place. */
const places: Readonly<Record<string, (name: string) => string>> = {
  'the title of a team': (name) => `teams: { a: { title: ${name} } }`,
  'the title of a collection': (name) => `collections: { a: { title: ${name} } }`,
  'the title of a space': (name) => `spaces: { a: { title: ${name} } }`,
  'the title of the organization': (name) => `organization: { title: ${name} }`,
  'the label of a SAML provider': (name) => `saml: { a: { label: ${name} } }`,
  'the title of a site': (name) => `sites: { a: { title: ${name} } }`,
  'the basename of a site': (name) => `sites: { a: { title: Site, basename: ${name} } }`,
  'the title of a section': (name) => site(`{ section: s, title: ${name}, spaces: [{ key: e, space: x }] }`),
  'the path of a section': (name) => site(`{ section: s, title: One, path: ${name}, spaces: [{ key: e, space: x }] }`),
  'the icon of a section': (name) => site(`{ section: s, title: One, icon: ${name}, spaces: [{ key: e, space: x }] }`),
  'the path of a site space': (name) => site(`{ key: e, space: x, path: ${name} }`),
  'the title of a group': (name) =>
    site(`{ group: g, title: ${name}, items: [{ section: s, title: One, spaces: [{ key: e, space: x }] }] }`),
};

describe.each(Object.entries(places))('%s', (_place, manifest) => {
  test('is valid on one line', async () => {
    expect(await problemsOf(manifest('"ab cd"'))).toEqual([]);
  });

  test.each([
    ['"ab "', 'begins or ends with white space', 'ab'],
    ['" ab"', 'begins or ends with white space', 'ab'],
    ['"\\tab"', 'begins or ends with white space', 'ab'],
    ['"ab\\u00a0"', 'begins or ends with white space', 'ab'],
    ['"ab\\ufeff"', 'begins or ends with white space', 'ab'],
    ['"ab\\n"', 'has a line break', 'ab'],
    ['"ab\\r\\n"', 'has a line break', 'ab'],
    ['"ab\\u2028"', 'has a line break', 'ab'],
    ['"\\nab"', 'has a line break', 'ab'],
    ['"ab \\n cd"', 'has a line break', 'ab cd'],
  ])('cannot be %s, which %s', async (name, reason, write) => {
    expect(await problemsOf(manifest(name))).toEqual([
      expect.stringMatching(
        new RegExp(`^m\\.yaml:\\d+:\\d+: .*${reason}, which a platform may remove; write "${write}"$`),
      ),
    ]);
  });
});

test('a block scalar says what to write', async () => {
  expect(await problemsOf('teams:\n  w1:\n    title: |\n      Writers One\n')).toEqual([
    'm.yaml:3:12: team/w1: title has a line break, which a platform may remove; write "Writers One"',
  ]);
});

test('a description may end in a line break', async () => {
  expect(await problemsOf('collections: { c: { title: C, description: "one\\ntwo\\n" } }')).toEqual([]);
});
