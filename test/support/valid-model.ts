import type { CollectionModel, GroupModel, Model, SiteModel, SiteSpaceModel } from './model.ts';

/** Removes references without a target, and values that two keys cannot share. */
export function valid(drawn: Model): Model {
  const result = structuredClone(drawn);
  distinct(result.teams, (each) => each.title);
  distinct(result.saml, (each) => each.label);
  distinct(result.collections, (each) => each.title);
  distinct(result.spaces, (each) => each.title);
  distinct(result.sites, (each) => each.title);
  for (const each of Object.values(result.saml)) {
    each.defaultTeam =
      each.defaultTeam !== undefined && each.defaultTeam in result.teams ? each.defaultTeam : undefined;
  }
  for (const each of Object.values(result.collections)) {
    each.parent = known(each.parent, result.collections);
  }
  for (const { permissions } of [...Object.values(result.collections), ...Object.values(result.spaces)]) {
    const teams = Object.entries(permissions?.teams ?? {}).filter(([key]) => key in result.teams);
    if (permissions?.teams !== undefined) {
      permissions.teams = Object.fromEntries(teams);
    }
  }
  breakCycles(result.collections);
  for (const each of Object.values(result.spaces)) {
    each.collection = known(each.collection, result.collections);
  }
  for (const [key, each] of Object.entries(result.translations)) {
    if (!(each.space in result.spaces)) {
      delete result.translations[key];
    }
  }
  // The space of a translation stays next to its source permanently, and would prevent the deletion of a collection.
  for (const each of Object.values(result.translations)) {
    const source = result.spaces[each.space];
    if (source !== undefined) {
      source.collection = null;
    }
  }
  distinct(result.translations, (each) => `${each.space} ${each.to}`);
  for (const [key, each] of Object.entries(result.sites)) {
    each.structure = usable(each.structure, result);
    if (each.structure.length === 0) {
      delete result.sites[key];
      continue;
    }
    settleSite(each);
  }
  const content = result.organization?.defaultContent;
  if (result.organization !== undefined && content && !(content.site in result.sites)) {
    result.organization.defaultContent = undefined;
  }
  return JSON.parse(JSON.stringify(result)) as Model;
}

function known(key: string | null | undefined, entries: object): string | null | undefined {
  return typeof key === 'string' && !(key in entries) ? null : key;
}

function distinct<T>(entries: Record<string, T>, value: (entry: T) => string): void {
  const seen = new Set<string>();
  for (const [key, entry] of Object.entries(entries)) {
    if (seen.has(value(entry))) {
      delete entries[key];
    }
    seen.add(value(entry));
  }
}

function breakCycles(entries: Record<string, CollectionModel>): void {
  for (const [key, each] of Object.entries(entries)) {
    const seen = new Set([key]);
    for (let at = each.parent; typeof at === 'string'; at = entries[at]?.parent) {
      if (seen.has(at)) {
        each.parent = null;
        break;
      }
      seen.add(at);
    }
  }
}

type Items = SiteModel['structure'];

function usable(items: Items, drawn: Model): Items {
  return items.flatMap((item): Items => {
    if ('group' in item) {
      return [{ ...item, items: usable(item.items, drawn) as GroupModel['items'] }];
    }
    if ('section' in item) {
      const shown = usable(item.spaces, drawn) as SiteSpaceModel[];
      const first = shown.some((each) => each.key === item.default) ? item.default : undefined;
      return shown.length === 0 ? [] : [{ ...item, default: first, spaces: shown }];
    }
    return item.space in drawn.spaces || item.space in drawn.translations ? [item] : [];
  });
}

function settleSite(site: SiteModel): void {
  const names = namesIn(site.structure);
  const sectioned = site.structure.some((item) => !('key' in item));
  const shown = sectioned ? names.sections : names.spaces;
  site.default = site.default !== undefined && shown.includes(site.default) ? site.default : undefined;
  // A site can be published only with content that exists at once.
  if (!names.plain) {
    site.published = undefined;
  }
}

function namesIn(items: Items): { sections: string[]; spaces: string[]; plain: boolean } {
  const found = { sections: [] as string[], spaces: [] as string[], plain: false };
  for (const item of items) {
    if ('group' in item) {
      const inner = namesIn(item.items);
      found.sections.push(...inner.sections);
      found.plain ||= inner.plain;
    } else if ('section' in item) {
      found.sections.push(item.section);
      found.plain ||= item.spaces.some((each) => each.space.startsWith('s'));
    } else {
      found.spaces.push(item.key);
      found.plain ||= item.space.startsWith('s');
    }
  }
  return found;
}
