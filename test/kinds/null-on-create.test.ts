import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { isObject, type Json } from '../../src/core/json.ts';
import { kinds } from '../../src/kinds/registry.ts';
import { manifestJsonSchema } from '../../src/manifests/json-schema.ts';
import { countCases } from '../support/campaign.ts';
import { openWorld, UNLIMITED, type World } from '../support/world.ts';

const SEED = Number(process.env.OCTAVO_SEED ?? 20261122);
const RUNS = Number(process.env.OCTAVO_RUNS ?? countCases({ sample: 5, ci: 12, full: 600 }));

/** A platform whose new resources have non-null defaults wherever possible. */
const WIDE = {
  collection: { defaultLevel: 'edit' },
  samlProvider: { defaultRole: 'admin' },
  section: { icon: 'star', description: 'New', condition: 'visitor.claims.beta' },
  sectionGroup: { icon: 'star' },
  site: { proxy: 'acme.example/new' },
  siteSpace: { condition: 'visitor.claims.beta' },
  space: { defaultLevel: 'edit', emoji: '1f4d8' },
} as const;

/** Fields that accept null, by the address that declares them. Parents have no other default than the top level. */
const NULLS: Readonly<Record<string, readonly string[]>> = {
  'saml/okta': ['defaultRole'],
  'collection/handbook': ['defaultLevel', 'parent'],
  'space/guides': ['defaultLevel', 'emoji', 'icon', 'collection'],
  'site/help': ['proxy'],
  'section-group/help/group': ['icon'],
  'section/help/inner': ['icon', 'description', 'condition'],
  'section/help/outer': ['icon', 'description', 'condition'],
  'site-space/help/inner/seed': ['condition'],
  'site-space/help/inner/second': ['condition'],
};
/** Objects that are written as a whole, with tests of their own: test/reconcile/customization and site-readers. */
const WHOLE = ['customization', 'visitorAuth'];
/** A new part has no localized texts in any version. */
const NEVER_GIVEN = ['sites.localizedTitle', 'sites.localizedDescription'];
/** Kinds that are never created, by section of the manifests. */
const GIVEN = ['members.role', 'organization.defaultContent', 'organization.defaultRole', 'organization.logo'];
/** The oldest platform has no such setting. */
const LATER = ['sites.defaultLevel'];

let world: World;
beforeAll(async () => {
  world = await openWorld({ defaults: WIDE });
});
beforeEach(() => world.begin());
afterAll(() => world.close());

type Wanted = ReadonlySet<string>;

function manifests(wanted: Wanted): string {
  const nulls = (address: string) =>
    Object.fromEntries(
      (NULLS[address] ?? []).filter((name) => wanted.has(`${address} ${name}`)).map((name) => [name, null]),
    );
  const section = (key: string) => ({
    section: key,
    title: `The ${key}`,
    ...nulls(`section/help/${key}`),
    spaces: [
      { key: 'seed', space: 'guides', ...nulls(`site-space/help/${key}/seed`) },
      { key: 'second', space: 'other', ...nulls(`site-space/help/${key}/second`) },
    ],
  });
  return JSON.stringify({
    saml: { okta: { label: 'Okta', ...nulls('saml/okta') } },
    collections: { handbook: { title: 'Handbook', ...nulls('collection/handbook') } },
    spaces: { guides: { title: 'Guides', ...nulls('space/guides') }, other: { title: 'Other' } },
    sites: {
      help: {
        title: 'Help',
        ...nulls('site/help'),
        structure: [
          { group: 'group', title: 'Group', ...nulls('section-group/help/group'), items: [section('inner')] },
          section('outer'),
        ],
      },
    },
  });
}

const all = Object.entries(NULLS).flatMap(([address, names]) => names.map((name) => `${address} ${name}`));

/** Fields of a JSON Schema that accept null, as `section.field`. */
function nullables(): readonly string[] {
  const schema = manifestJsonSchema(kinds) as { properties: Record<string, Json>; definitions?: Json };
  const found = new Set<string>();
  const takesNull = (value: Json) =>
    isObject(value) &&
    Array.isArray(value.anyOf) &&
    (value.anyOf as readonly Json[]).some((each) => isObject(each) && each.type === 'null');
  const walk = (section: string, value: Json | undefined): void => {
    if (Array.isArray(value)) {
      (value as readonly Json[]).forEach((each) => {
        walk(section, each);
      });
    } else if (isObject(value)) {
      for (const [name, member] of Object.entries(isObject(value.properties) ? value.properties : {})) {
        if (member !== undefined && takesNull(member)) {
          found.add(`${section}.${name}`);
        }
      }
      for (const [name, member] of Object.entries(value)) {
        if (!WHOLE.includes(name)) {
          walk(section, member);
        }
      }
    }
  };
  for (const [section, value] of Object.entries(schema.properties)) {
    walk(section, value);
  }
  walk('sites', schema.definitions);
  return [...found].sort();
}

test('covers every field that accepts null', () => {
  const section: Readonly<Record<string, string>> = { saml: 'saml', collection: 'collections', space: 'spaces' };
  const here = all.map((each) => {
    const [address = '', name = ''] = each.split(' ');
    return `${section[address.split('/')[0] ?? ''] ?? 'sites'}.${name}`;
  });
  expect(nullables()).toEqual([...new Set([...here, ...GIVEN, ...LATER, ...NEVER_GIVEN])].sort());
});

test('plans and sends a declared null when a resource is created', async () => {
  await fc.assert(
    fc.asyncProperty(fc.subarray(all), async (names) => {
      await world.begin();
      const wanted = new Set(names);
      const text = manifests(wanted);
      const pass = await world.apply(text, { policy: UNLIMITED });
      expect(pass.results.filter(({ status }) => status !== 'applied')).toEqual([]);
      const planned = pass.planned.plan.changes.flatMap(({ address, fields }) =>
        fields.filter(({ to }) => to === null).map(({ path }) => `${address} ${path}`),
      );
      expect(planned.toSorted()).toEqual([...names].sort());
      expect((await world.plan(text, { policy: UNLIMITED })).plan.changes).toEqual([]);
      // Undeclared fields have the platform's default, so that the test sees one.
      const { plan } = await world.plan(manifests(new Set(all)), { policy: UNLIMITED });
      const open = plan.changes.flatMap(({ address, fields }) => fields.map(({ path }) => `${address} ${path}`));
      // The default emoji leaves no icon.
      const withDefault = all.filter(
        (each) => !wanted.has(each) && !/ (parent|collection)$|^space\/guides icon$/.test(each),
      );
      expect(open.toSorted()).toEqual(withDefault.toSorted());
    }),
    { seed: SEED, numRuns: RUNS, examples: [[all], [[]]] },
  );
});
