/**
 * The structure of a site: site spaces at its root, or sections that contain them; sections may be in groups, and
 * groups in groups. Siblings share one order. The first item of a kind becomes the default; when the default is
 * removed, the first remaining item does.
 */
import { invalid } from '../model/answers.ts';
import { byRank, type Slot, slot } from '../model/order.ts';
import { type EmulatorStore, type IndexedTable, placeKey, type Ranked } from '../model/store.ts';
import type { SpaceRecord } from '../spaces/views.ts';
import type { SectionGroupRecord, SectionRecord, SiteRecord, SiteSpaceRecord } from './records.ts';

/** Converts a title to a path: lower-case words, joined by hyphens. */
function slug(title: string): string {
  const plain = title.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
  const words = plain.match(/[\p{L}\p{N}]+/gu) ?? [];
  return words.join('-').slice(0, 90) || 'untitled';
}

/** Returns the path, with `-1`, `-2`, … if a sibling has it. */
function freePath(wanted: string, isTaken: (path: string) => boolean): string {
  let path = wanted;
  for (let suffix = 1; isTaken(path); suffix += 1) {
    path = `${wanted}-${suffix}`;
  }
  return path;
}

function refuseTaken(self: string, siblings: readonly { readonly id: string }[]): void {
  if (siblings.some(({ id }) => id !== self)) {
    throw invalid('body.path', 'path is already in use');
  }
}

/** Returns the site spaces of a section, or of the root, in display order. */
export function siteSpacesIn(store: EmulatorStore, place: string): readonly SiteSpaceRecord[] {
  return store.siteSpaces.by('place', place).toSorted(byRank);
}

/** Throws a 400 if a sibling has the path. */
export function refuseTakenSiteSpacePath(
  store: EmulatorStore,
  siteSpace: SiteSpaceRecord,
  path: string | undefined,
): void {
  if (path !== undefined) {
    refuseTaken(siteSpace.id, store.siteSpaces.by('path', placeKey(siteSpace.section ?? siteSpace.site, path)));
  }
}

/** Throws a 400 if another section of the site has the path. */
export function refuseTakenSectionPath(store: EmulatorStore, section: SectionRecord, path: string | undefined): void {
  if (path !== undefined) {
    refuseTaken(section.id, store.sections.by('path', placeKey(section.site, path)));
  }
}

/** Throws a 400 if the section (or root) already has the space. */
export function refuseShownSpace(store: EmulatorStore, place: string, space: string, self: string | undefined): void {
  if (store.siteSpaces.by('shown', placeKey(place, space)).some(({ id }) => id !== self)) {
    throw invalid('body.spaceId', `space "${space}" is already there`);
  }
}

/** Returns the sections, groups and links directly in a group, or at the root of the site. */
export function slotsIn(store: EmulatorStore, place: string): Slot[] {
  return [
    ...store.sections.by('place', place).map((section) => slot(store.sections, 'site-section', section)),
    ...store.sectionGroups.by('place', place).map((group) => slot(store.sectionGroups, 'site-section-group', group)),
    ...store.externalLinks.by('place', place).map((link) => slot(store.externalLinks, 'site-external-link', link)),
  ];
}

/** Returns the default, or the first item if the default no longer exists. */
function chooseDefault<R extends Ranked, I extends string>(
  current: string | undefined,
  table: IndexedTable<R, I>,
  index: I,
  key: string,
): string | undefined {
  const stays = current !== undefined && table.has(index, key, current);
  return stays ? current : table.by(index, key).toSorted(byRank)[0]?.id;
}

/** Sets the defaults of the site and the section that are missing. */
function settleDefaults(store: EmulatorStore, siteId: string, sectionId: string | undefined): void {
  const site = store.sites.get(siteId);
  const section = sectionId === undefined ? undefined : store.sections.get(sectionId);
  if (section !== undefined) {
    const chosen = chooseDefault(section.defaultSiteSpace, store.siteSpaces, 'place', section.id);
    if (chosen !== section.defaultSiteSpace) {
      store.sections.put({ ...section, defaultSiteSpace: chosen });
    }
  }
  if (site !== undefined) {
    const defaultSiteSpace = chooseDefault(site.defaultSiteSpace, store.siteSpaces, 'place', site.id);
    const defaultSection = chooseDefault(site.defaultSection, store.sections, 'site', site.id);
    if (defaultSiteSpace !== site.defaultSiteSpace || defaultSection !== site.defaultSection) {
      store.sites.put({ ...site, defaultSiteSpace, defaultSection });
    }
  }
}

/** Adds the space at the end of the section, or of the root. */
export function addSiteSpace(
  store: EmulatorStore,
  site: SiteRecord,
  section: SectionRecord | undefined,
  space: SpaceRecord,
): SiteSpaceRecord {
  const place = section?.id ?? site.id;
  refuseShownSpace(store, place, space.id, undefined);
  const isTaken = (path: string) => store.siteSpaces.count('path', placeKey(place, path)) > 0;
  const identity = store.identify('sitesp');
  const siteSpace = store.siteSpaces.put({
    ...identity,
    rank: identity.seq,
    site: site.id,
    section: section?.id,
    space: space.id,
    path: freePath(space.language ?? slug(space.title), isTaken),
    hidden: false,
  });
  settleDefaults(store, site.id, section?.id);
  return siteSpace;
}

/**
 * Adds a section with the space at the end of the root. The first section of a site also receives the site spaces of
 * the root, after its own.
 */
export function addSection(
  store: EmulatorStore,
  site: SiteRecord,
  space: SpaceRecord,
  given: { readonly title?: string | undefined; readonly icon?: string | undefined },
): SectionRecord {
  const first = store.sections.count('site', site.id) === 0;
  const roots = first ? siteSpacesIn(store, site.id) : [];
  if (first) {
    refuseShownSpace(store, site.id, space.id, undefined);
  }
  const title = given.title ?? space.title;
  const isTaken = (path: string) => store.sections.count('path', placeKey(site.id, path)) > 0;
  const identity = store.identify('sitesc');
  const section = store.sections.put({
    ...identity,
    rank: identity.seq,
    site: site.id,
    title,
    icon: given.icon,
    path: freePath(slug(title), isTaken),
  });
  addSiteSpace(store, site, section, space);
  for (const root of roots) {
    const path = freePath(root.path, (each) => store.siteSpaces.count('path', placeKey(section.id, each)) > 0);
    store.siteSpaces.put({ ...root, section: section.id, path, rank: store.next() });
  }
  settleDefaults(store, site.id, section.id);
  return store.sections.get(section.id) ?? section;
}

/** Removes the section with its site spaces. */
export function removeSection(store: EmulatorStore, section: SectionRecord): void {
  for (const siteSpace of store.siteSpaces.by('place', section.id)) {
    store.siteSpaces.remove(siteSpace.id);
  }
  store.sections.remove(section.id);
  settleDefaults(store, section.site, undefined);
}

/** Removes the site space. Throws a 400 for the last one of a section. */
export function removeSiteSpace(store: EmulatorStore, siteSpace: SiteSpaceRecord): void {
  if (siteSpace.section !== undefined && store.siteSpaces.count('place', siteSpace.section) === 1) {
    throw invalid('path.siteSpaceId', 'a section needs at least one site space; delete the section instead');
  }
  store.siteSpaces.remove(siteSpace.id);
  settleDefaults(store, siteSpace.site, siteSpace.section);
}

/** Removes a deleted space from every site; a section without other site spaces is removed too. */
export function removeFromSites(store: EmulatorStore, space: string): void {
  for (const siteSpace of store.siteSpaces.by('space', space)) {
    const section = siteSpace.section === undefined ? undefined : store.sections.get(siteSpace.section);
    if (section !== undefined && store.siteSpaces.count('place', section.id) === 1) {
      removeSection(store, section);
    } else {
      removeSiteSpace(store, siteSpace);
    }
  }
}

/** Removes the group; its sections, groups and links move to the end of its parent, in their order. */
export function removeGroup(store: EmulatorStore, group: SectionGroupRecord): void {
  for (const child of slotsIn(store, group.id).sort(byRank)) {
    const section = store.sections.get(child.id);
    const nested = store.sectionGroups.get(child.id);
    const link = store.externalLinks.get(child.id);
    if (section !== undefined) {
      store.sections.put({ ...section, group: group.parent, rank: store.next() });
    } else if (nested !== undefined) {
      store.sectionGroups.put({ ...nested, parent: group.parent, rank: store.next() });
    } else if (link !== undefined) {
      store.externalLinks.put({ ...link, group: group.parent, rank: store.next() });
    }
  }
  store.sectionGroups.remove(group.id);
}

/** Moves the section to the end of the group, or of the root. */
export function moveSectionTo(store: EmulatorStore, section: SectionRecord, group: string | undefined): void {
  if (section.group !== group) {
    store.sections.put({ ...section, group, rank: store.next() });
  }
}

/** Removes the site and its structure. */
export function removeSite(store: EmulatorStore, site: SiteRecord): void {
  const { siteSpaces, sections, sectionGroups, externalLinks, redirects, mcpServers, shareLinks } = store;
  for (const table of [siteSpaces, sections, sectionGroups, externalLinks, redirects, mcpServers, shareLinks]) {
    for (const record of table.by('site', site.id)) {
      table.remove(record.id);
    }
  }
  const organization = store.organizations.get(site.organization);
  if (organization?.defaultContent?.site === site.id) {
    store.organizations.put({ ...organization, defaultContent: undefined });
  }
  store.sites.remove(site.id);
}

/**
 * Returns `sections` if there is a section, or if there are only groups and links; otherwise `siteSpaces`.
 * Source: docs/platform-notes.md#site-structure
 */
export function structureType(store: EmulatorStore, site: SiteRecord): 'sections' | 'siteSpaces' {
  const sections = store.sections.count('site', site.id) > 0;
  const groups = store.sectionGroups.count('site', site.id) + store.externalLinks.count('site', site.id) > 0;
  const roots = store.siteSpaces.count('place', site.id) > 0;
  return sections || (groups && !roots) ? 'sections' : 'siteSpaces';
}
