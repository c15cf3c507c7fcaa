/** Random entries for kinds without a generator of their own, from the values in their samples. */
import fc from 'fast-check';
import { parse } from 'yaml';
import type { PlatformVersion } from '../../src/emulator/model/features.ts';
import type { Kind } from '../../src/kinds/model/kind.ts';
import type { ManifestRules } from '../../src/kinds/model/manifest.ts';
import { kinds, parts } from '../../src/kinds/registry.ts';
import type { StructurePart } from '../../src/kinds/site/part.ts';
import { isIn, type Sample, samples } from './kind-samples.ts';
import type { ItemModel, Model, RedirectModel } from './model.ts';

/** Kinds that `arbitrary-manifests.ts` generates, because they depend on each other or have parts. */
const GENERATED = ['organization', 'member', 'team', 'saml', 'collection', 'space', 'openapi', 'translation', 'site'];
const GENERATED_PARTS = ['section', 'section-group', 'site-space'];

type Entry = Record<string, unknown>;
type Sections = Record<string, Record<string, Entry>>;

/** The entries and items of one model, by kind. */
export interface Drawn {
  /** Entries by section, or the fields of a single kind. */
  readonly sections: Readonly<Record<string, object>>;
  /** Items of the structure of every site, with their positions. */
  readonly items: readonly { readonly part: StructurePart; readonly item: Entry; readonly at: number }[];
  /** Redirects of every site, each with the number of its target. */
  readonly redirects: readonly { readonly redirect: Entry; readonly at: number }[];
  /** Items that every site has in no order, by the member of its entry. */
  readonly listed: Readonly<Record<string, Readonly<Record<string, Entry>>>>;
  /** Manifests of the resources that they refer to. */
  readonly bases: readonly Sections[];
}

const STEPS = ['created', 'updated', 'cleared'] as const;

/** The manifests of a sample, as plain data. */
function manifestsIn({ steps }: Sample): readonly Sections[] {
  return STEPS.flatMap((step) => (steps[step] === undefined ? [] : [parse(steps[step]) as Sections]));
}

/** Returns the kinds that a version has and that no other generator covers. */
export function derivedKinds(version: PlatformVersion, generated = [...GENERATED, ...GENERATED_PARTS]) {
  return kinds.filter(
    ({ name }) => !generated.includes(name) && samples.some((each) => each.kind === name && isIn(each, version)),
  );
}

/**
 * Any combination of the values that each field has in these entries, or without the field where an entry may omit it.
 */
function combinations(entries: readonly Entry[], isValid: (entry: Entry) => boolean): fc.Arbitrary<Entry> {
  const names = [...new Set(entries.flatMap((each) => Object.keys(each)))];
  const fields = names.map((name) => {
    const values = entries.filter((each) => Object.hasOwn(each, name)).map((each) => each[name]);
    return [name, fc.constantFrom(...values, undefined)] as const;
  });
  return fc
    .record(Object.fromEntries(fields))
    .map((drawn) => Object.fromEntries(Object.entries(drawn).filter(([, value]) => value !== undefined)))
    .filter(isValid);
}

/** Reports whether the schema and the checks of a kind accept an entry. */
function isValidFor(rules: ManifestRules): (entry: Entry, key?: string) => boolean {
  return (entry, key = rules.single ? '' : 'key') => {
    const parsed = rules.entry.safeParse(entry);
    const problems: string[] = [];
    if (parsed.success) {
      rules.declare(key, parsed.data, {
        add: () => undefined,
        included: () => null,
        problem: (_path, text) => problems.push(text),
      });
    }
    return parsed.success && problems.length === 0;
  };
}

/** Field that identifies an entry of a kind with a section; undefined if there is none, or if it is not free text. */
export function titleField(kind: Kind): string | undefined {
  const by = kind.renamedKey?.('', {}).by;
  if (by === undefined || !Object.hasOwn(kind.fields, by)) {
    return undefined;
  }
  const issues = kind.manifest?.entry.safeParse({ [by]: `${kind.name} 0` }).error?.issues ?? [];
  return issues.some(({ path }) => path[0] === by) ? undefined : by;
}

/** Entries of a kind with a section: up to three, whose titles may be swapped. */
function entriesOf(kind: Kind, rules: ManifestRules, sample: Sample): fc.Arbitrary<object | undefined> {
  const isValid = isValidFor(rules);
  const seen = manifestsIn(sample).flatMap((manifest) => {
    const section = manifest[rules.section] ?? {};
    return rules.single ? [section] : [section[sample.address.slice(kind.name.length + 1)] ?? {}];
  });
  // Files are made up by the manifests of a model in the same way as by those of a sample.
  const entry = combinations(seen, isValid);
  if (rules.single) {
    return fc.option(entry, { nil: undefined });
  }
  const title = titleField(kind);
  return fc
    .tuple(fc.uniqueArray(fc.nat(2), { maxLength: 3 }), fc.tuple(entry, entry, entry), fc.boolean(), fc.boolean())
    .map(([indexes, entries, swapped, renamed]) => {
      const named = indexes.map((index) => {
        const at = swapped && index < 2 ? 1 - index : index;
        const name = `${kind.name} ${at}${renamed ? ' renamed' : ''}`;
        return [`d${index}`, { ...entries[index], ...(title === undefined ? {} : { [title]: name }) }] as const;
      });
      return Object.fromEntries(distinct(kind, named));
    });
}

/** Removes entries with the same natural keys, because nothing could distinguish them. */
function distinct<T extends readonly [string, Entry]>(kind: Kind, entries: readonly T[]): readonly T[] {
  const taken = new Set<string>();
  return entries.filter(([key, entry]) => {
    const own = JSON.stringify(kind.naturalKeys(entry as never, `${kind.name}/${key}`));
    const isNew = !taken.has(own);
    taken.add(own);
    return isNew;
  });
}

/** Items of the structure of a site, at any depth. */
function itemsIn(value: unknown): readonly Entry[] {
  const inside = typeof value === 'object' && value !== null ? Object.values(value).flatMap(itemsIn) : [];
  return Array.isArray(value) || typeof value !== 'object' || value === null ? inside : [value as Entry, ...inside];
}

function itemsOf(part: StructurePart, sample: Sample): fc.Arbitrary<Drawn['items']> {
  const { key, holds, kind } = part;
  if (holds !== undefined) {
    throw new Error(`${kind.name} holds other parts: generate it in test/support/arbitrary-manifests.ts`);
  }
  const seen = manifestsIn(sample).flatMap((manifest) =>
    itemsIn(manifest.sites).filter((item) => Object.hasOwn(item, key.member)),
  );
  const names = Object.keys(part.table.shape).filter(
    (name) => part.table.shape[name]?.safeParse(undefined).success !== true,
  );
  const item = combinations(seen, (each) => names.every((name) => Object.hasOwn(each, name)));
  return fc.array(fc.record({ item, at: fc.nat(9) }), { maxLength: 2 }).map((drawn) =>
    drawn.map(({ item: each, at }, index) => {
      const title = Object.hasOwn(part.table.shape, 'title') ? { title: `${kind.name} ${index}` } : {};
      return { part, item: { ...each, ...title, [key.member]: `d${index}` }, at };
    }),
  );
}

function redirectsOf(sample: Sample): fc.Arbitrary<Drawn['redirects']> {
  const seen = manifestsIn(sample).flatMap(({ sites = {} }) =>
    Object.values(sites).flatMap(({ redirects = [] }) => redirects as Entry[]),
  );
  const redirect = combinations(seen, (each) => Object.hasOwn(each, 'from') && Object.hasOwn(each, 'to'));
  const selector = (each: { readonly redirect: Entry }) => each.redirect.from;
  return fc.uniqueArray(fc.record({ redirect, at: fc.nat(9) }), { selector, maxLength: 3 });
}

/** Returns what the redirects of a site can lead to. */
function targetsOf(items: readonly ItemModel[]): readonly RedirectModel['to'][] {
  const inside = items.flatMap((item): readonly RedirectModel['to'][] => {
    if ('group' in item) {
      return targetsOf(item.items).slice(1);
    }
    return 'section' in item
      ? [{ section: item.section }, ...item.spaces.map(({ key }) => ({ siteSpace: `${item.section}/${key}` }))]
      : 'key' in item
        ? [{ siteSpace: item.key }]
        : [];
  });
  return ['https://a.example/new', ...inside];
}

/** Items that a site has in no order, like those of a sample: up to two, whose names may be swapped. */
function listedOf(kind: Kind, { steps, address, ...rest }: Sample): fc.Arbitrary<Drawn['listed']> {
  const [site = '', key = ''] = address.slice(kind.name.length + 1).split('/');
  const sites = manifestsIn({ ...rest, steps, address }).flatMap((manifest) => manifest.sites?.[site] ?? []);
  const members = sites.flatMap((each) => Object.entries(each as Record<string, Record<string, Entry>>));
  const [member = ''] = members.find(([, value]) => typeof value === 'object' && Object.hasOwn(value, key)) ?? [];
  const seen = members.flatMap(([name, value]) => (name === member && value[key] !== undefined ? [value[key]] : []));
  return fc
    .tuple(
      fc.uniqueArray(fc.nat(1), { maxLength: 2 }),
      fc.array(fc.constantFrom(...seen), { minLength: 2 }),
      fc.boolean(),
    )
    .map(([indexes, entries, swapped]) => {
      const items = indexes.map((index, at) => {
        const name = `${kind.name} ${swapped ? 1 - index : index}`;
        return [`i${index}`, { ...entries[at], name }];
      });
      return { [member]: Object.fromEntries(items) };
    });
}

/** Other resources that a sample declares. */
function baseOf({ manifest }: Kind, { kind, address, steps }: Sample): Sections {
  const { sites = {}, ...rest } = structuredClone(parse(steps.created ?? '')) as Sections;
  if (manifest === null) {
    return rest;
  }
  const base: Sections = { ...rest, sites };
  delete base[manifest.section]?.[address.slice(kind.length + 1)];
  return manifest.single
    ? Object.fromEntries(Object.entries(base).filter(([name]) => name !== manifest.section))
    : base;
}

/** Random entries of the kinds that have no generator of their own. */
export function derived(derivedFrom: readonly Kind[]): fc.Arbitrary<Drawn> {
  const each = derivedFrom.map((kind): fc.Arbitrary<Drawn> => {
    const sample = samples.find((one) => one.kind === kind.name) as Sample;
    const bases = [baseOf(kind, sample)];
    const part = parts.find((one) => one.kind === kind);
    if (part !== undefined) {
      return itemsOf(part, sample).map((items) => {
        return { sections: {}, items, redirects: [], listed: {}, bases: items.length === 0 ? [] : bases };
      });
    }
    if (kind.keyWithin !== undefined) {
      return redirectsOf(sample).map((redirects) => ({ sections: {}, items: [], redirects, listed: {}, bases: [] }));
    }
    const rules = kind.manifest;
    if (rules === null) {
      return listedOf(kind, sample).map((listed) => ({ sections: {}, items: [], redirects: [], listed, bases: [] }));
    }
    return entriesOf(kind, rules, sample).map((entries) =>
      entries === undefined || Object.keys(entries).length === 0
        ? { sections: {}, items: [], redirects: [], listed: {}, bases: [] }
        : { sections: { [rules.section]: entries }, items: [], redirects: [], listed: {}, bases },
    );
  });
  return fc.tuple(...each).map((drawn) => ({
    sections: Object.assign({}, ...drawn.map(({ sections }) => sections)) as Drawn['sections'],
    items: drawn.flatMap(({ items }) => items),
    redirects: drawn.flatMap(({ redirects }) => redirects),
    listed: Object.assign({}, ...drawn.map(({ listed }) => listed)) as Drawn['listed'],
    bases: drawn.flatMap(({ bases }) => bases),
  }));
}

/** Adds the generated entries to a valid model. */
export function withDerived(model: Model, { sections, items, redirects, listed, bases }: Drawn): Model {
  const merged = structuredClone(model) as unknown as Sections;
  for (const added of [...bases, sections as Sections]) {
    for (const [section, entries] of Object.entries(added)) {
      merged[section] = { ...entries, ...merged[section] };
    }
  }
  const result = merged as unknown as Model;
  for (const site of Object.values(result.sites)) {
    const { structure } = site;
    const isSectioned = structure.some((item) => !('key' in item));
    const fitting = items.filter(({ part }) => part.heldBy.includes('site') && (part.isPlain === true) !== isSectioned);
    for (const { item, at } of hasSection(structure) ? fitting : []) {
      structure.splice(at % (structure.length + 1), 0, structuredClone(item) as unknown as ItemModel);
    }
    Object.assign(site, structuredClone(listed));
    const targets = targetsOf(structure);
    site.redirects = redirects.map(
      ({ redirect, at }) => ({ ...redirect, to: targets[at % targets.length] }) as RedirectModel,
    );
  }
  return result;
}

function hasSection(items: readonly ItemModel[]): boolean {
  return items.some((item) => 'key' in item || 'section' in item || ('group' in item && hasSection(item.items)));
}

/** Derived part of an item of a structure; undefined for the items of the hand-written generators. */
export function derivedPart(item: object): StructurePart | undefined {
  return parts.find(({ kind, key }) => !GENERATED_PARTS.includes(kind.name) && Object.hasOwn(item, key.member));
}

/** Kinds with sections that {@link differencesOf} compares. */
export function derivedSections(): readonly (readonly [kind: Kind, section: string, storedIn: string])[] {
  return kinds.flatMap((kind) => {
    const sample = samples.find((each) => each.kind === kind.name);
    return kind.manifest === null || GENERATED.includes(kind.name) || sample === undefined
      ? []
      : [[kind, kind.manifest.section, sample.storedIn] as const];
  });
}

/** Lists of the embedded platform's state that hold derived parts of sites. */
export function derivedTables(): readonly string[] {
  return samples
    .filter(({ kind }) => parts.some((part) => part.kind.name === kind && !GENERATED_PARTS.includes(kind)))
    .map(({ storedIn }) => storedIn);
}

/** Members that turn a field into something else on the platform than in an entry. */
const CONVERTED = [
  'read',
  'normalize',
  'fromEntry',
  'toParameter',
  'parameter',
  'references',
  'declarationOnly',
] as const;

/** Members of an entry that the platform keeps as they are written. */
export function plainFields(kind: Kind, entry: object): Entry {
  const isPlain = (rules: object | undefined) =>
    rules !== undefined && CONVERTED.every((name) => !Object.hasOwn(rules, name)) && !('compare' in rules);
  return Object.fromEntries(Object.entries(entry).filter(([name]) => isPlain(kind.fields[name])));
}
