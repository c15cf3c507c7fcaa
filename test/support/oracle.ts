import { canonicalJson, type Json, sameJson } from '../../src/core/json.ts';
import type { EmulatorState } from '../../src/emulator/model/store.ts';
import type { SiteRecord } from '../../src/emulator/sites/records.ts';
import { normalizeMarkdown, toMarkdown } from '../../src/platform/rich-text/to-markdown.ts';
import { derivedPart, derivedSections, derivedTables, plainFields, titleField } from './derived-kinds.ts';
import {
  type ItemModel,
  type Model,
  NAMED_FILES,
  type PermissionsModel,
  type RedirectModel,
  type SiteModel,
} from './model.ts';
import { declaredNames, itemOf, type Named, rows, sectionOf, type Table, titleOf } from './oracle-lookups.ts';

/**
 * Differences between the platform and a model, in words; empty if there are none. Reads only the platform's own
 * records and the model, and uses no code of the product: titles are unique in a model, so they identify resources.
 * @param before the platform's records before anything was applied: resources in there belong to others
 */
export function differences(model: Model, before: EmulatorState, after: EmulatorState): string[] {
  return new Oracle(model, before, after).differences();
}

class Oracle {
  readonly #model: Model;
  readonly #before: EmulatorState;
  readonly #after: EmulatorState;
  readonly #wrong: string[] = [];

  constructor(model: Model, before: EmulatorState, after: EmulatorState) {
    this.#model = model;
    this.#before = before;
    this.#after = after;
  }

  differences(): string[] {
    this.#organization();
    this.#teams();
    this.#saml();
    this.#content();
    this.#specs();
    this.#translations();
    this.#sites();
    this.#derived();
    return this.#wrong;
  }

  /** Records that did not exist at first. */
  #own<Name extends Table>(name: Name): NonNullable<EmulatorState[Name]> {
    const foreign = new Set(rows(this.#before, name).map((record: Named) => record.id));
    return rows(this.#after, name).filter((record: Named) => !foreign.has(record.id)) as NonNullable<
      EmulatorState[Name]
    >;
  }

  /** Compares what is declared; an absent field is ignored, and null means that there is no value. */
  #same(where: string, declared: object, actual: Readonly<Record<string, unknown>>): void {
    for (const [name, wanted] of Object.entries(declared)) {
      if (wanted !== undefined) {
        this.#equal(`${where}.${name}`, wanted, actual[name] ?? null);
      }
    }
  }

  #equal(where: string, wanted: unknown, actual: unknown): void {
    if (JSON.stringify(wanted) !== JSON.stringify(actual)) {
      this.#wrong.push(`${where}: ${JSON.stringify(actual)} instead of ${JSON.stringify(wanted)}`);
    }
  }

  /** Exactly one record for each entry, and no others. */
  #pairs<Entry, Item extends Named>(
    where: string,
    entries: Readonly<Record<string, Entry>>,
    records: readonly Item[],
    means: (entry: Entry, record: Item, key: string) => boolean,
  ): (readonly [string, Entry, Item])[] {
    const left = new Set(records);
    const found: (readonly [string, Entry, Item])[] = [];
    for (const [key, entry] of Object.entries(entries)) {
      const meant = records.filter((record) => means(entry, record, key));
      const [record] = meant;
      if (record === undefined || meant.length > 1) {
        this.#wrong.push(`${where}/${key}: there are ${meant.length}`);
      } else {
        left.delete(record);
        found.push([key, entry, record]);
      }
    }
    for (const record of left) {
      this.#wrong.push(`${where}: nothing declares ${JSON.stringify(record)}`);
    }
    return found;
  }

  #organization(): void {
    const [record] = rows(this.#after, 'organizations');
    const { defaultContent, emailDomains, ...plain } = this.#model.organization ?? {};
    this.#same('organization', plain, { ...record });
    if (emailDomains !== undefined) {
      this.#equal('organization.emailDomains', emailDomains.toSorted(), [...(record?.emailDomains ?? [])].sort());
    }
    if (defaultContent !== undefined) {
      const title = defaultContent === null ? null : this.#model.sites[defaultContent.site]?.title;
      const site = rows(this.#after, 'sites').find((each) => each.id === record?.defaultContent?.site);
      this.#equal('organization.defaultContent', title, site?.title ?? null);
    }
    for (const [email, { role }] of Object.entries(this.#model.members)) {
      const member = rows(this.#after, 'members').find((each) => this.#email(each.user) === email);
      this.#equal(`member/${email}.role`, role, member?.role ?? null);
    }
  }

  #email(user: string): string {
    return rows(this.#after, 'users').find((each) => each.id === user)?.email ?? '';
  }

  #teams(): void {
    const pairs = this.#pairs('team', this.#model.teams, this.#own('teams'), (each, team) => each.title === team.title);
    for (const [key, { members, membership }, record] of pairs) {
      const memberships = rows(this.#after, 'teamMembers').filter((each) => each.team === record.id);
      const actual = Object.fromEntries(memberships.map((each) => [this.#email(each.user), each.role]));
      if (members !== undefined && membership === 'additive') {
        this.#same(`team/${key}.members`, members, actual);
      } else if (members !== undefined) {
        this.#equal(`team/${key}.members`, Object.entries(members).sort(), Object.entries(actual).sort());
      }
    }
  }

  #permissions(where: string, declared: PermissionsModel | undefined, place: string): void {
    const records = rows(this.#after, 'permissions').filter((each) => each.place === place);
    const nameOf = ({ type, holder }: (typeof records)[number]) =>
      type === 'user' ? this.#email(holder) : rows(this.#after, 'teams').find(({ id }) => id === holder)?.title;
    const titles = Object.entries(declared?.teams ?? {}).map(([key, role]) => [this.#model.teams[key]?.title, role]);
    for (const [type, wanted] of [
      ['team', declared?.teams && (Object.fromEntries(titles) as Record<string, string>)],
      ['user', declared?.members],
    ] as const) {
      const own = records.filter((each) => each.type === type);
      const actual = Object.fromEntries(own.map((each) => [nameOf(each), each.role]));
      if (wanted !== undefined && declared?.membership === 'additive') {
        this.#same(`${where}.${type}s`, wanted, actual);
      } else if (wanted !== undefined) {
        this.#equal(`${where}.${type}s`, Object.entries(wanted).sort(), Object.entries(actual).sort());
      }
    }
  }

  #saml(): void {
    const pairs = this.#pairs('saml', this.#model.saml, this.#own('samlProviders'), (a, b) => a.label === b.label);
    for (const [key, { defaultTeam, ...plain }, record] of pairs) {
      this.#same(`saml/${key}`, plain, { ...record });
      if (defaultTeam !== undefined) {
        const team = rows(this.#after, 'teams').find((each) => each.id === record.defaultTeam);
        this.#equal(`saml/${key}.defaultTeam`, this.#model.teams[defaultTeam]?.title, team?.title);
      }
    }
  }

  #content(): void {
    const title = (key: string | null) => (key === null ? null : this.#model.collections[key]?.title);
    const parentOf = (record: { readonly parent?: string | undefined }) =>
      rows(this.#after, 'collections').find((each) => each.id === record.parent)?.title ?? null;
    const collections = this.#pairs(
      'collection',
      this.#model.collections,
      this.#own('collections'),
      (each, record) => each.title === record.title,
    );
    for (const [key, { parent, description, permissions, ...plain }, record] of collections) {
      this.#permissions(`collection/${key}`, permissions, record.id);
      this.#same(
        `collection/${key}`,
        { ...plain, parent: parent === undefined ? undefined : title(parent) },
        {
          ...record,
          parent: parentOf(record),
        },
      );
      if (description !== undefined) {
        this.#equal(`collection/${key}.description`, description, record.description ?? '');
      }
    }
    // The space of a translation stays when the translation is deleted, and is not managed.
    const spaces = this.#own('spaces').filter((each) => each.deletedAt === undefined && !/ \(\w+\)$/.test(each.title));
    for (const [key, { collection, permissions, ...plain }, record] of this.#pairs(
      'space',
      this.#model.spaces,
      spaces,
      (a, b) => a.title === b.title,
    )) {
      this.#permissions(`space/${key}`, permissions, record.id);
      const wanted = { ...plain, parent: collection === undefined ? undefined : title(collection) };
      this.#same(`space/${key}`, wanted, { ...record, parent: parentOf(record) });
    }
  }

  #specs(): void {
    const pairs = this.#pairs('openapi', this.#model.openapi, this.#own('specs'), (_, spec, key) => spec.slug === key);
    for (const [key, { source, ...plain }, record] of pairs) {
      this.#same(`openapi/${key}`, plain, { ...record });
      const wanted = 'file' in source ? { text: NAMED_FILES[source.file] } : source;
      this.#equal(`openapi/${key}.source`, wanted, record.source);
    }
  }

  #translations(): void {
    const pairs = this.#pairs(
      'translation',
      this.#model.translations,
      this.#own('translations'),
      (each, record) =>
        this.#spaceTitle(record.source.space) === this.#model.spaces[each.space]?.title && each.to === record.language,
    );
    for (const [key, { from, instructions }, record] of pairs) {
      this.#equal(`translation/${key}.from`, from, record.source.language);
      if (instructions !== undefined) {
        this.#equal(
          `translation/${key}.instructions`,
          normalizeMarkdown(instructions),
          toMarkdown(record.instructions),
        );
      }
    }
  }

  /** Kinds whose models come from their samples: the fields that the platform keeps as they are written. */
  #derived(): void {
    for (const [kind, section, storedIn] of derivedSections()) {
      const declared = (this.#model as unknown as Readonly<Record<string, Readonly<Record<string, object>>>>)[section];
      if (kind.manifest?.single === true) {
        const [record] = rows(this.#after, storedIn as Table);
        this.#same(kind.name, plainFields(kind, declared ?? {}), { ...record });
        continue;
      }
      const title = titleField(kind);
      const means = (entry: object, record: object) => {
        const wanted = Object.entries(plainFields(kind, entry)).filter(
          ([name]) => title === undefined || name === title,
        );
        return wanted.every(([name, value]) => sameJson(value, (record as Record<string, Json>)[name] ?? null));
      };
      const pairs = this.#pairs(kind.name, declared ?? {}, this.#own(storedIn as Table) as readonly Named[], means);
      for (const [key, entry, record] of pairs) {
        this.#same(`${kind.name}/${key}`, plainFields(kind, entry), { ...record });
      }
    }
  }

  #spaceTitle(id: string): string | undefined {
    return rows(this.#after, 'spaces').find((each) => each.id === id)?.title;
  }

  #sites(): void {
    for (const [key, entry, record] of this.#pairs(
      'site',
      this.#model.sites,
      this.#own('sites'),
      (a, b) => a.title === b.title,
    )) {
      const { structure, adaptiveContent, default: first, redirects = [], ...rest } = entry;
      const { mcpServers = {}, shareLinks = {}, ...plain } = rest;
      this.#listed(`site/${key}`, record.id, { mcpServers, shareLinks });
      this.#same(`site/${key}`, { ...plain, adaptiveContent: adaptiveContent?.enabled }, { ...record });
      this.#equal(
        `site/${key}.structure`,
        structure.map((item) => this.#wanted(item)),
        this.#tree(record, structure),
      );
      this.#equal(
        `site/${key}.redirects`,
        redirects.map((each) => this.#redirect(each, structure)).sort(),
        this.#redirectsAt(record.id, redirects),
      );
      if (first !== undefined) {
        const section = rows(this.#after, 'sections').find((each) => each.id === record.defaultSection);
        const shown = rows(this.#after, 'siteSpaces').find((each) => each.id === record.defaultSiteSpace);
        const sectioned = structure.some((item) => !('key' in item));
        const wanted = sectioned ? titleOf(structure, first) : this.#shown(itemOf(structure, first)?.space ?? '');
        this.#equal(`site/${key}.default`, wanted, sectioned ? section?.title : shown?.space);
      }
    }
  }

  /** A declared redirect as text: a section by its title, a site space by its space. */
  #redirect({ from, to, ...switches }: RedirectModel, structure: readonly ItemModel[]): string {
    const keys = typeof to !== 'string' && 'siteSpace' in to ? to.siteSpace.split('/') : [];
    const [holder, own] = keys.length === 2 ? keys : [undefined, keys[0]];
    const spaces = holder === undefined ? structure : (sectionOf(structure, holder)?.spaces ?? []);
    const target =
      typeof to === 'string'
        ? to
        : 'section' in to
          ? titleOf(structure, to.section)
          : this.#shown(itemOf(spaces, own ?? '')?.space ?? '');
    return JSON.stringify([from, target, Object.entries(switches).sort()]);
  }

  /** The redirects that a site has, as such texts, with the declared members only. */
  #redirectsAt(site: string, declared: readonly RedirectModel[]): readonly string[] {
    return rows(this.#after, 'redirects')
      .filter((each) => each.site === site)
      .map((each) => {
        const { url, siteSectionId, siteSpaceId } = each.destination;
        const section = rows(this.#after, 'sections').find(({ id }) => id === siteSectionId);
        const siteSpace = rows(this.#after, 'siteSpaces').find(({ id }) => id === siteSpaceId);
        const { from: _from, to: _to, ...switches } = declared.find(({ from }) => from === each.source) ?? {};
        const actual = Object.keys(switches).map((name) => [name, each[name as 'draft']]);
        return JSON.stringify([each.source, url ?? section?.title ?? siteSpace?.space, actual.sort()]);
      })
      .sort();
  }

  /** Items that a site has in no order, by name: the fields that are written. */
  #listed(site: string, id: string, declared: Pick<SiteModel, 'mcpServers' | 'shareLinks'>): void {
    for (const member of ['mcpServers', 'shareLinks'] as const) {
      const wanted = Object.values(declared[member] ?? {});
      const there = rows(this.#after, member).filter((record) => record.site === id);
      const shown = there.map((record) => {
        const names = Object.keys(wanted.find(({ name }) => name === record.name) ?? { name: '' });
        return Object.fromEntries(names.map((name) => [name, (record as unknown as Record<string, Json>)[name]]));
      });
      const byName = (items: readonly object[]) => items.map((item) => canonicalJson(item)).sort();
      this.#equal(`${site}.${member}`, byName(wanted), byName(shown));
    }
  }

  /** Id of the space that a key shows: its own, or the one that its translation created. */
  #shown(key: string): string {
    const translation = this.#model.translations[key];
    const source = this.#model.spaces[translation?.space ?? key]?.title;
    const space = this.#own('spaces').find((each) => each.deletedAt === undefined && each.title === source);
    const made = this.#own('translations').find(
      (each) => each.source.space === space?.id && each.language === translation?.to,
    );
    return (translation === undefined ? space?.id : made?.result?.space) ?? `no ${key}`;
  }

  #wanted(item: ItemModel): unknown {
    const part = derivedPart(item);
    if (part !== undefined) {
      return { kind: part.kind.name, ...plainFields(part.kind, item) };
    }
    if ('group' in item) {
      const { group: _key, title, items, ...plain } = item;
      return { group: title, ...plain, items: items.map((each) => this.#wanted(each)) };
    }
    if ('section' in item) {
      const { section: _key, spaces, default: first, ...plain } = item;
      const chosen = spaces.find((each) => each.key === first)?.space;
      return {
        ...plain,
        default: chosen === undefined ? undefined : this.#shown(chosen),
        spaces: spaces.map((each) => this.#wanted(each)),
      };
    }
    const { key: _key, space, ...plain } = item;
    return { ...plain, space: this.#shown(space) };
  }

  /** The site's records in the shape of a declaration, with the declared members only. */
  #tree(site: SiteRecord, declared: readonly ItemModel[]): unknown {
    return this.#items(site.id, declared);
  }

  #items(place: string, declared: readonly ItemModel[]): unknown[] {
    const items = [
      ...rows(this.#after, 'sections').filter((each) => (each.group ?? each.site) === place),
      ...rows(this.#after, 'sectionGroups').filter((each) => (each.parent ?? each.site) === place),
      ...rows(this.#after, 'siteSpaces').filter((each) => (each.section ?? each.site) === place),
      ...derivedTables().flatMap((table) =>
        rows(this.#after, table as 'externalLinks').filter((each) => (each.group ?? each.site) === place),
      ),
    ].toSorted((a, b) => a.rank - b.rank);
    return items.map((record, index) => this.#item({ ...record }, declared[index]));
  }

  #item(record: Record<string, unknown> & { id: string }, declared: ItemModel | undefined): unknown {
    if (declared === undefined) {
      return record;
    }
    const part = derivedPart(declared);
    if (part !== undefined) {
      const names = Object.keys(plainFields(part.kind, declared));
      return { kind: part.kind.name, ...Object.fromEntries(names.map((name) => [name, record[name] ?? null])) };
    }
    const nulled = (name: string) => [name, record[name] ?? (name === 'draft' ? false : null)];
    if ('group' in declared) {
      const plain = declaredNames(declared, ['icon', 'draft', 'localizedTitle']).map(nulled);
      return { group: record.title, ...Object.fromEntries(plain), items: this.#items(record.id, declared.items) };
    }
    if ('section' in declared) {
      const known = ['title', 'icon', 'path', 'description', 'condition', 'draft', 'localizedTitle'];
      const names = declaredNames(declared, known);
      const first = rows(this.#after, 'siteSpaces').find((each) => each.id === record.defaultSiteSpace);
      return {
        ...Object.fromEntries(names.map(nulled)),
        default: declared.default === undefined ? undefined : first?.space,
        spaces: this.#items(record.id, declared.spaces),
      };
    }
    return Object.fromEntries(declaredNames(declared, ['path', 'condition', 'hidden', 'draft', 'space']).map(nulled));
  }
}
