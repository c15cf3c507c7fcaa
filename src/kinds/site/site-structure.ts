import type { Address } from '../../core/address.ts';
import type { Change } from '../../core/change.ts';
import type { Json } from '../../core/json.ts';
import { type Actual, idRef } from '../../core/resource.ts';
import {
  isSection,
  isSectionGroup,
  isSiteSpace,
  operations,
  type Section,
  type SectionGroup,
  type SiteSpace,
  type SiteStructure,
  type StructureItem,
} from '../../platform/operations/index.ts';
import { type PlannedRequest, ref, request } from '../model/request.ts';

/** A site's parts as one answer gives them, in display order, and which of them is shown first. */
export interface ObservedStructure {
  readonly parts: readonly Actual[];
  readonly first: Json;
}

/**
 * Reads the parts of a site from its structure. Items that no manifest declares, such as external links, are skipped:
 * they keep their places, and the others keep their order around them. Source: docs/platform-notes.md#external-links
 */
export function observeStructure(site: string, structure: SiteStructure): ObservedStructure {
  const reader = new StructureReader(site);
  reader.read(structure.structure, site, null);
  return { parts: reader.parts, first: reader.first };
}

/** Whether groups may be there that a structure does not show: it lists site spaces as long as there is no section. */
export function mayHideGroups(site: string, parts: readonly Actual[]): boolean {
  return parts.some(({ kind, place }) => kind === 'site-space' && place?.list === site);
}

/** The groups of a site whose structure does not show them. */
export function observeGroups(site: string, groups: readonly SectionGroup[]): readonly Actual[] {
  return groups.map(({ id, title, icon, sectionGroup: parent }, index) => ({
    kind: 'section-group',
    id,
    title,
    fields: { title, icon: icon ?? null, parent: parent ? idRef(parent, 'section-group') : null },
    within: site,
    place: { list: parent ?? site, index },
  }));
}

class StructureReader {
  readonly parts: Actual[] = [];
  first: Json = null;
  readonly #site: string;

  constructor(site: string) {
    this.#site = site;
  }

  read(items: readonly StructureItem[], list: string, group: string | null): void {
    items.forEach((item, index) => {
      const place = { list, index };
      if (isSection(item)) {
        this.#section(item, place, group);
      } else if (isSectionGroup(item)) {
        this.#group(item, place, group);
      } else if (isSiteSpace(item)) {
        this.#siteSpace(item, place, null);
        this.first = item.default === true ? idRef(item.id, 'site-space') : this.first;
      }
    });
  }

  #group(item: SectionGroup, place: { list: string; index: number }, parent: string | null): void {
    const children = item.children ?? [];
    const links = children.filter((each) => each.object === 'site-external-link').length;
    this.parts.push({
      kind: 'section-group',
      id: item.id,
      title: item.title,
      fields: { title: item.title, icon: item.icon ?? null, parent: parent && idRef(parent, 'section-group') },
      within: this.#site,
      place,
      ...(links > 0 ? { facts: { links } } : {}),
    });
    this.read(children, item.id, item.id);
  }

  #section(item: Section, place: { list: string; index: number }, group: string | null): void {
    const spaces = item.siteSpaces ?? [];
    const first = spaces.find((each) => each.default === true);
    this.parts.push({
      kind: 'section',
      id: item.id,
      title: item.title ?? '',
      fields: {
        title: item.title ?? '',
        icon: item.icon ?? null,
        path: item.path ?? null,
        description: item.description || null,
        condition: item.condition ?? null,
        default: first === undefined ? null : idRef(first.id, 'site-space'),
        group: group && idRef(group, 'section-group'),
      },
      within: this.#site,
      place,
      facts: { siteSpaces: spaces.length },
    });
    this.first = item.default === true ? idRef(item.id, 'section') : this.first;
    for (const [index, each] of spaces.entries()) {
      this.#siteSpace(each, { list: item.id, index }, item.id);
    }
  }

  #siteSpace(item: SiteSpace, place: { list: string; index: number }, section: string | null): void {
    this.parts.push({
      kind: 'site-space',
      id: item.id,
      title: item.title ?? item.path ?? item.id,
      fields: {
        space: idRef(item.space.id, 'space', 'translation'),
        path: item.path ?? null,
        condition: item.condition ?? null,
        hidden: item.hidden ?? false,
        section: section && idRef(section, 'section'),
      },
      within: this.#site,
      place,
      // Some versions do not return it, and others may omit false. Source: docs/platform-notes.md#site-spaces
      ...(typeof item.hidden === 'boolean' ? {} : { facts: { hidden: 'untold' } }),
    });
  }
}

const POINTERS = {
  section: 'site-section',
  'section-group': 'site-section-group',
  'site-space': 'site-space',
} as const;

/** Puts an item of a structure next to a sibling; nothing where the change asks for no position. */
export function sortRequests(change: Change): readonly PlannedRequest[] {
  if (change.anchor === null) {
    return [];
  }
  const anchor = pointer(change.anchor.address);
  return [
    request(operations.sortSiteStructure, {
      path: { siteId: ref(change.within) },
      body: {
        item: pointer(change.address),
        position: change.anchor.side === 'before' ? { before: anchor } : { after: anchor },
      },
    }),
  ];
}

/** A path that nothing else has, for the moment in which paths are swapped. */
export function pathAside(change: Change): string {
  return `moving-${change.id ?? ''}`
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 100);
}

function pointer(address: Address) {
  const kind = address.slice(0, address.indexOf('/')) as keyof typeof POINTERS;
  return { type: POINTERS[kind], id: ref(address) };
}
