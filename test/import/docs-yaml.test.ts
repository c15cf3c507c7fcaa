import { readFileSync } from 'node:fs';
import { Ajv } from 'ajv';
import addFormats from 'ajv-formats';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { fromDocsYaml, toDocsYaml } from '../../src/import/docs-yaml.ts';
import { countCases } from '../support/campaign.ts';
import { openWorkspace } from '../support/workspace.ts';
import { declare } from '../support/world.ts';

const SEED = Number(process.env.OCTAVO_SEED ?? 20261127);
const RUNS = Number(process.env.OCTAVO_RUNS ?? countCases({ sample: 15, ci: 40, full: 1000 }));

/** The vendor's schema of the file. Source: docs/platform-notes.md#git-sync */
const isVendors = (() => {
  const file = new URL('../../node_modules/gitbook-api-0.202/spec/openapi.json', import.meta.url);
  const { components } = JSON.parse(readFileSync(file, 'utf8')) as { components: object };
  const ajv = new Ajv({ strict: false, allErrors: true });
  addFormats.default(ajv);
  ajv.addSchema({ $id: 'api', components });
  return ajv.compile({ $ref: 'api#/components/schemas/GitSyncSiteConfig' });
})();

const localized = fc.option(fc.constantFrom({ fr: 'Titre' }, { de: 'Titel', 'pt-br': 'Título' }), { nil: undefined });
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });
const common = { icon: maybe(fc.constantFrom('book', 'star')), condition: maybe(fc.constant('visitor.x')) };
const title = fc.constantFrom('Guides', 'A: "b" # c', '-- 2', 'yes');

const spaceItem = (key: string) =>
  fc.record({
    key: fc.constant(key),
    space: fc.constant(key),
    path: fc.constant(`${key}-path`),
    condition: common.condition,
    hidden: maybe(fc.constant(true)),
    draft: maybe(fc.constant(true)),
  });
const section = (key: string) =>
  fc.record({
    section: fc.constant(key),
    title,
    localizedTitle: localized,
    path: fc.constant(`${key}-path`),
    description: maybe(fc.constant('What')),
    localizedDescription: localized,
    ...common,
    default: fc.constantFrom(`${key}-one`, `${key}-two`),
    spaces: fc.tuple(spaceItem(`${key}-one`), spaceItem(`${key}-two`)),
  });
const link = (key: string) =>
  fc.record({
    link: fc.constant(key),
    title,
    localizedTitle: localized,
    url: fc.constant('https://status.acme.example'),
    description: maybe(fc.constant('Up?')),
    localizedDescription: localized,
    ...common,
    draft: maybe(fc.constant(true)),
  });
const group = (key: string, items: fc.Arbitrary<object[]>) =>
  fc.record({
    group: fc.constant(key),
    title,
    localizedTitle: localized,
    icon: common.icon,
    draft: maybe(fc.constant(true)),
    items,
  });
const nested = group('g1', fc.tuple(link('l1'), group('g2', fc.tuple(section('c'), link('l2'))), section('b')));
const structures = fc.oneof(
  fc.tuple(link('l0'), section('a'), nested).map((items) => ({ items, first: ['a', 'b', 'c'] })),
  fc.tuple(spaceItem('one'), spaceItem('two')).map((items) => ({ items: items as object[], first: ['one', 'two'] })),
);

const spaceKeys = ['one', 'two', 'a-one', 'a-two', 'b-one', 'b-two', 'c-one', 'c-two'];
const spaces = Object.fromEntries(spaceKeys.map((key) => [key, { title: `Space ${key}`, language: 'en' }]));
const ofSite = (items: readonly object[], first: string) =>
  JSON.stringify({ spaces, sites: { help: { title: 'Help', default: first, structure: items } } });

/** The declarations of a structure: titles, places and fields of its parts, without their keys. */
async function contentOf(manifest: string) {
  const declared = await declare(manifest);
  const named = new Map([...declared.values()].map((each) => [each.address, each.fields.path ?? each.fields.title]));
  const readable = (value: unknown) => (typeof value === 'string' ? (named.get(value) ?? value) : value);
  return [...declared.values()]
    .filter(({ within, kind }) => within !== null || kind === 'site')
    .map(({ kind, fields, place }) => ({
      kind,
      at: [readable(place?.list), place?.index],
      fields: Object.fromEntries(
        Object.entries(fields)
          .filter(([name, value]) => name !== 'spaces' && value !== undefined)
          .map(([name, value]) => [name, readable(value)]),
      ),
    }));
}

test('the structure of any site becomes a file that the vendor accepts, and comes back as it was', async () => {
  await fc.assert(
    fc.asyncProperty(structures, fc.nat(2), async ({ items, first }, at) => {
      const manifest = ofSite(items, first[at % first.length] ?? '');
      const { text } = toDocsYaml(await declare(manifest), 'site/help');
      expect([isVendors(parse(text)), isVendors.errors]).toEqual([true, null]);
      const back = fromDocsYaml(text, 'docs.yaml');
      expect(await contentOf(back.text)).toEqual(await contentOf(manifest));
    }),
    { seed: SEED, numRuns: RUNS },
  );
});

const ONE = { section: 'a', title: 'A section', spaces: [{ key: 'en', space: 'one' }] };

describe('a site that docs.yaml cannot hold', () => {
  test.each([
    ['no structure', {}, 'declares no structure'],
    ['git-sync', { structure: 'git-sync' }, 'comes from docs.yaml already'],
    [
      'groups three deep',
      {
        structure: [
          {
            group: 'a',
            title: 'A',
            items: [{ group: 'b', title: 'B', items: [{ group: 'c', title: 'C', items: [ONE] }] }],
          },
        ],
      },
      'docs.yaml cannot hold site/help',
    ],
  ])('is refused: %s', async (_name, site, problem) => {
    const declared = await declare(JSON.stringify({ spaces, sites: { help: { title: 'Help', ...site } } }));
    expect(() => toDocsYaml(declared, 'site/help')).toThrow(problem);
  });

  test('names what it leaves out', async () => {
    const draft = JSON.stringify({ spaces, sites: { help: { title: 'Help', structure: [{ ...ONE, draft: true }] } } });
    const { left, text } = toDocsYaml(await declare(draft), 'site/help');
    expect(left).toEqual(['section/help/a: docs.yaml has no draft of a section']);
    expect(text).toMatch(/^# Left out: section\/help\/a/);
  });
});

describe('a docs.yaml with mistakes', () => {
  const space = (key: string, rest = '') =>
    `    - { type: space, key: ${key}, title: T, path: ${key}, content: { directory: ./x }${rest} }\n`;
  const file = (nodes: string) => `site:\n  title: Help\n  structure:\n${nodes}`;

  test.each([
    ['- a', /docs\.yaml:1:1: is not a mapping/],
    ['site: [', /docs\.yaml:1:1: is not valid YAML/],
    [`a: &a [1,1]\nb: &b [*a,*a]\nc: [${'*b,'.repeat(200)}]`, /docs\.yaml:1:1: is not valid YAML/],
    ['site: { title: Help }', /docs\.yaml:1:1: site\.structure is missing/],
    [file(space('a')), /docs\.yaml:4:1: site\.structure needs exactly one space with default: true/],
    [file(space('a', ', default: true') + space('a')), /two nodes with the key "a"/],
    [file(space('a', ', default: true, colour: red')), /docs\.yaml:4:1: unknown field "colour"/],
    [file(space('a', ', default: true').replace('./x', '../x')), /must not leave its directory/],
    [file('    - { type: external-link, key: l, title: Link, url: "javascript:alert(1)" }\n'), /begins with https/],
  ])('is refused with the line: %#', (text, problem) => {
    expect(() => fromDocsYaml(text, 'docs.yaml')).toThrow(problem);
  });
});

test('the command converts the structure on the platform, a declared one, and a file', async () => {
  await using work = await openWorkspace({ platform: '0.202' });
  const space = await work.call('POST', '/spaces', { title: 'Guides', language: 'en' });
  const site = await work.call('POST', '/sites', { title: 'Acme Help' });
  await work.call('POST', `/sites/${site.id}/sections`, { spaceId: space.id, title: 'Guides' });
  const live = await work.inside(['import', '--docs-yaml', 'Acme Help']);
  expect(live).toMatchObject({ code: 0, stderr: expect.not.stringContaining('rror') });
  expect(isVendors(parse(live.stdout))).toBe(true);
  expect(parse(live.stdout)).toMatchObject({
    site: { title: 'Acme Help', structure: [{ title: 'Guides', children: [{ content: { directory: './guides' } }] }] },
  });

  work.repository.write('docs.yaml', live.stdout);
  const manifest = await work.inside(['import', '--from-docs-yaml', 'docs.yaml']);
  expect(manifest).toMatchObject({ code: 0, stderr: expect.stringContaining('its pages are in ./guides') });
  work.repository.write('sub/octavo.yaml', manifest.stdout);
  expect(await work.inside(['plan', 'sub', '--detailed-exitcode'])).toMatchObject({ code: 0 });
  const declared = await work.inside(['import', '--docs-yaml', 'acme-help', '--out', 'sub']);
  expect(declared.stdout).toBe(live.stdout);

  for (const args of [
    ['--docs-yaml', 'nothing'],
    ['--from-docs-yaml', 'none.yaml'],
    ['--docs-yaml', 'a', '--drift'],
  ]) {
    expect((await work.inside(['import', ...args])).code).not.toBe(0);
  }
});
