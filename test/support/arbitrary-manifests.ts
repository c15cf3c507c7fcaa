/** Random valid manifests for property tests. */
import fc from 'fast-check';
import { getFeatures, type PlatformVersion } from '../../src/emulator/model/features.ts';
import { derived, derivedKinds, withDerived } from './derived-kinds.ts';
import type {
  CollectionModel,
  GroupModel,
  ItemModel,
  Model,
  OrganizationModel,
  PermissionsModel,
  SamlModel,
  SectionModel,
  SiteModel,
  SiteSpaceModel,
  SpaceModel,
  SpecModel,
  TeamModel,
  TranslationModel,
} from './model.ts';
import { valid } from './valid-model.ts';

const PEOPLE = ['ana@acme.example', 'bo@acme.example', 'cy@acme.example'];
const SPACES = ['s0', 's1', 's2', 's3', 's4'];
const COLLECTIONS = ['c0', 'c1', 'c2', 'c3'];

const maybe = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> => fc.option(value, { nil: undefined });
const nullable = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | null | undefined> =>
  fc.oneof({ weight: 2, arbitrary: value }, fc.constant(null), fc.constant(undefined));
const role = fc.constantFrom('admin', 'create', 'edit', 'read');
const language = fc.constantFrom('en', 'de');

/** Each key may be absent; its title has two variants, and the titles of the first two may be swapped. */
function keyed<T>(
  keys: readonly string[],
  word: string,
  entry: (key: string, title: string) => fc.Arbitrary<T>,
): fc.Arbitrary<Record<string, T>> {
  const one = (key: string, title: string) => fc.option(entry(key, title), { nil: undefined, freq: 3 });
  const build = (swapped: boolean, variants: readonly boolean[]) =>
    fc.record(
      Object.fromEntries(
        keys.map((key, index) => {
          const at = swapped && index < 2 ? 1 - index : index;
          return [key, one(key, `${word} ${at}${variants[at] ? ' renamed' : ''}`)];
        }),
      ) as Record<string, fc.Arbitrary<T | undefined>>,
    );
  return fc
    .tuple(fc.boolean(), fc.array(fc.boolean(), { minLength: keys.length, maxLength: keys.length }))
    .chain(([swapped, variants]) => build(swapped, variants))
    .map((record) => withoutAbsent(record) as Record<string, T>);
}

function withoutAbsent<T extends object>(value: T): T {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined)) as T;
}

const members = fc.dictionary(fc.constantFrom(...PEOPLE), fc.constantFrom('owner', 'member'), { maxKeys: 3 });

const teams = keyed(['t0', 't1', 't2'], 'Team', (_key, title) =>
  fc.record({
    title: fc.constant(title),
    membership: maybe(fc.constantFrom('exact' as const, 'additive' as const)),
    members: maybe(members),
  }),
) as fc.Arbitrary<Record<string, TeamModel>>;

const saml = keyed(['p0', 'p1'], 'Login', (_key, label) =>
  fc.record({
    label: fc.constant(label),
    entityID: maybe(fc.constantFrom('https://idp.example/a', 'https://idp.example/b')),
    defaultTeam: maybe(fc.constantFrom('t0', 't1', 't2')),
    defaultRole: nullable(role),
  }),
) as fc.Arbitrary<Record<string, SamlModel>>;

/** Without `admin`: a plan that takes it from the last one waits for a person. */
const roleInside = fc.constantFrom('create', 'review', 'edit', 'read');

const permissions: fc.Arbitrary<PermissionsModel> = fc.record({
  membership: maybe(fc.constantFrom('exact' as const, 'additive' as const)),
  teams: maybe(fc.dictionary(fc.constantFrom('t0', 't1', 't2'), roleInside, { maxKeys: 3 })),
  members: maybe(fc.dictionary(fc.constantFrom(...PEOPLE), roleInside, { maxKeys: 3 })),
});

const collections = keyed(COLLECTIONS, 'Shelf', (_key, title) =>
  fc.record({
    title: fc.constant(title),
    description: maybe(fc.constantFrom('', 'How we work')),
    // An entry that the second model omits stays on the platform, and so does everything that prevents its deletion.
    parent: fc.option(fc.constantFrom(...COLLECTIONS), { nil: null }),
    defaultLevel: nullable(fc.constantFrom('read', 'edit', 'inherit')),
    permissions: maybe(permissions),
  }),
) as fc.Arbitrary<Record<string, CollectionModel>>;

const spaces = keyed(SPACES, 'Space', (_key, title) =>
  fc
    .record({
      title: fc.constant(title),
      emoji: nullable(fc.constantFrom('1f4d8', '1f680')),
      icon: nullable(fc.constantFrom('https://acme.example/a.png', 'https://acme.example/b.png')),
      collection: fc.option(fc.constantFrom(...COLLECTIONS), { nil: null }),
      language: maybe(language),
      editMode: maybe(fc.constantFrom('live', 'locked')),
      defaultLevel: nullable(fc.constantFrom('read', 'comment', 'inherit')),
      permissions: maybe(permissions),
    })
    .map((space) => (space.emoji && space.icon ? { ...space, icon: undefined } : space)),
) as fc.Arbitrary<Record<string, SpaceModel>>;

const openapi = keyed(['o0', 'o1'], '', () =>
  fc.record({
    source: fc.constantFrom(
      { url: 'https://acme.example/a.json' },
      { url: 'https://acme.example/b.json' },
      { file: 'specs/one.json' },
      { file: 'specs/two.json' },
    ),
    visibility: maybe(fc.constantFrom('private', 'public')),
  }),
) as fc.Arbitrary<Record<string, SpecModel>>;

const translations = keyed(['r0', 'r1'], '', () =>
  fc.record({
    space: fc.constantFrom('s0', 's1'),
    from: fc.constant('en'),
    to: fc.constantFrom('fr', 'it'),
    instructions: maybe(fc.constantFrom('Be *formal*.', 'Use **short** words.\n\n- one\n- two')),
  }),
) as fc.Arbitrary<Record<string, TranslationModel>>;

/** Spaces that a key of a site space may show; no two keys share one, so that no list shows a space twice. */
const SHOWN: Readonly<Record<string, readonly string[]>> = {
  e0: ['s0', 's1'],
  e1: ['s2', 's3'],
  e2: ['s4', 'r0'],
  e3: ['r1'],
};

const siteSpace = (key: string): fc.Arbitrary<SiteSpaceModel> =>
  fc.record({
    key: fc.constant(key),
    space: fc.constantFrom(...(SHOWN[key] ?? [])),
    // A site space that shows a translation has a path: without a path or an id, nothing identifies it when the
    // translation is created again.
    path: fc.constantFrom(key < 'e2' ? undefined : `${key}-path`, `${key}-path`, `${key}-path`, `${key}-other`),
    condition: nullable(fc.constantFrom('visitor.claims.a', 'visitor.claims.b')),
    hidden: maybe(fc.boolean()),
  });

const siteSpaces: fc.Arbitrary<SiteSpaceModel[]> = fc
  .shuffledSubarray(Object.keys(SHOWN), { minLength: 1 })
  .chain((keys) => fc.tuple(...keys.map(siteSpace)));

const section = (key: string): fc.Arbitrary<SectionModel> =>
  fc.record({
    section: fc.constant(key),
    title: fc.constantFrom(`Section ${key}`, `Section ${key} renamed`),
    icon: nullable(fc.constantFrom('book', 'star')),
    path: fc.constantFrom(undefined, `${key}-path`, `${key}-path`, `${key}-other`),
    description: nullable(fc.constantFrom('What it is about', 'More')),
    condition: nullable(fc.constantFrom('visitor.claims.a', 'visitor.claims.b')),
    default: maybe(fc.constantFrom(...Object.keys(SHOWN))),
    spaces: siteSpaces,
  });

const GROUPS = ['g0', 'g1', 'g2'];
/** Position of an item: at the root, or in a group. */
const holder = fc.constantFrom('root', 'root', ...GROUPS);

const groupFrame = (key: string): fc.Arbitrary<GroupModel> =>
  fc.record({
    group: fc.constant(key),
    title: fc.constantFrom(`Group ${key}`, `Group ${key} renamed`),
    icon: nullable(fc.constantFrom('code', 'gear')),
    items: fc.constant([]),
  });

/** Sections and groups in any order; each below the root or a group, without cycles. */
const sectioned: fc.Arbitrary<(SectionModel | GroupModel)[]> = fc
  .tuple(
    fc.shuffledSubarray(['x0', 'x1', 'x2', 'x3'], { minLength: 1 }),
    fc.shuffledSubarray(GROUPS),
    fc.array(holder, { minLength: 7, maxLength: 7 }),
  )
  .chain(([sections, groups, holders]) =>
    fc
      .tuple(fc.tuple(...sections.map(section)), fc.tuple(...groups.map(groupFrame)), fc.infiniteStream(fc.nat(100)))
      .map(([made, frames, mixed]) => nest(made, frames, holders, mixed)),
  );

function nest(
  sections: readonly SectionModel[],
  frames: readonly GroupModel[],
  holders: readonly string[],
  mixed: Iterable<number>,
): (SectionModel | GroupModel)[] {
  const order = mixed[Symbol.iterator]();
  const root: (SectionModel | GroupModel)[] = [];
  const groups = frames.map((frame) => ({ ...frame, items: [] as (SectionModel | GroupModel)[] }));
  const put = (list: (SectionModel | GroupModel)[], item: SectionModel | GroupModel) => {
    list.splice(Number(order.next().value ?? 0) % (list.length + 1), 0, item);
  };
  // A group may only be inside an earlier one, so that there are no cycles.
  for (const [index, group] of groups.entries()) {
    const outer = groups.slice(0, index).find((each) => each.group === holders[index]);
    put(outer?.items ?? root, group);
  }
  for (const [index, each] of sections.entries()) {
    put(groups.find((group) => group.group === holders[index + 3])?.items ?? root, each);
  }
  return root;
}

const sites = keyed(['w0', 'w1'], 'Site', (_key, title) =>
  fc.record({
    title: fc.constant(title),
    visibility: maybe(fc.constantFrom('public', 'unlisted', 'share-link')),
    published: maybe(fc.boolean()),
    proxy: nullable(fc.constantFrom('acme.example/docs', 'acme.example/help')),
    adaptiveContent: maybe(fc.record({ enabled: fc.boolean() })),
    default: maybe(fc.constantFrom('x0', 'x1', 'x2', 'x3', 'e0', 'e1', 'e2')),
    structure: fc.oneof({ weight: 3, arbitrary: sectioned }, siteSpaces),
  }),
) as fc.Arbitrary<Record<string, SiteModel>>;

const organization: fc.Arbitrary<OrganizationModel | undefined> = maybe(
  fc.record({
    title: maybe(fc.constantFrom('Acme', 'Acme Docs')),
    emailDomains: maybe(fc.shuffledSubarray(['acme.example', 'acme.test'])),
    defaultRole: nullable(role),
    defaultContent: nullable(fc.record({ site: fc.constantFrom('w0', 'w1') })),
    ai: maybe(fc.boolean()),
  }),
);

const people = fc.record({
  'ana@acme.example': fc.constant({ role: 'admin' }),
  'bo@acme.example': fc.record({ role: fc.option(role, { nil: null }) }),
});

/** Any valid set of manifests. */
export const model: fc.Arbitrary<Model> = fc
  .record({
    organization,
    members: people,
    teams,
    saml,
    collections,
    spaces,
    openapi,
    translations,
    sites,
  })
  .map((drawn) => valid(drawn as Model));

/** Two valid sets of manifests; the second keeps some entries of the first. */
export const twoModels: fc.Arbitrary<readonly [Model, Model]> = fc
  .tuple(model, model, fc.infiniteStream(fc.boolean()))
  .map(([first, other, keep]) => [first, valid(mixed(first, other, keep[Symbol.iterator]()))] as const);

/** Two valid sets of manifests for a version of the platform, with every kind that the version has. */
export function twoModelsOf(version: PlatformVersion): fc.Arbitrary<readonly [Model, Model]> {
  const others = derived(derivedKinds(version));
  return fc
    .tuple(twoModels, others, others, fc.infiniteStream(fc.nat(5)))
    .map(([[first, second], one, other, choices]) => {
      const next = choices[Symbol.iterator]();
      const added = getFeatures(version).structureDrafts
        ? (model: Model) => withDrafts(model, next)
        : (model: Model) => model;
      return [added(withDerived(first, one)), added(withDerived(second, other))] as const;
    });
}

/** Adds drafts and localized titles to the items of all structures. */
function withDrafts(model: Model, choices: Iterator<number>): Model {
  const choose = <T>(...values: readonly T[]): T | undefined => values[choices.next().value];
  const decorated = (item: ItemModel): ItemModel => {
    if ('key' in item) {
      return { ...item, draft: choose(true, false) };
    }
    const later = {
      draft: choose(true, false),
      localizedTitle: choose<Record<string, string> | null>({ fr: 'Titre' }, { de: 'Titel' }, null),
    };
    if ('section' in item) {
      return { ...item, ...later, spaces: item.spaces.map((each) => ({ ...each, draft: choose(true, false) })) };
    }
    return 'group' in item
      ? { ...item, ...later, items: item.items.map(decorated) as (SectionModel | GroupModel)[] }
      : item;
  };
  const sites = Object.entries(model.sites).map(([key, site]) => {
    return [key, { ...site, structure: site.structure.map(decorated) }];
  });
  return { ...model, sites: Object.fromEntries(sites) };
}

function mixed(first: Model, other: Model, keep: Iterator<boolean>): Model {
  const next = () => keep.next().value === true;
  const pick = <T>(a: Record<string, T>, b: Record<string, T>): Record<string, T> => {
    const keys = [...new Set([...Object.keys(a), ...Object.keys(b)])];
    const taken = keys.map((key) => [key, next() ? a[key] : b[key]] as const);
    return withoutAbsent(Object.fromEntries(taken)) as Record<string, T>;
  };
  return structuredClone({
    organization: next() ? first.organization : other.organization,
    members: other.members,
    teams: pick(first.teams, other.teams),
    saml: pick(first.saml, other.saml),
    collections: pick(first.collections, other.collections),
    spaces: pick(first.spaces, other.spaces),
    openapi: pick(first.openapi, other.openapi),
    translations: pick(first.translations, other.translations),
    sites: pick(first.sites, other.sites),
  });
}
