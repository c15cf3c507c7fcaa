/** Operations on the structure of a site: sections, groups, site spaces and external links. */

import { z } from 'zod';
import { type ApiAnswer, ApiError, created, deleted, invalid, ok, referenced } from '../model/answers.ts';
import { refuseUnknown } from '../model/features.ts';
import {
  type ApiOperation,
  type Context,
  type OperationCall,
  ofFeature,
  operation,
  type PathContext,
  SITE,
} from '../model/operation.ts';
import { indexFor, type Pointer, reorder, type Slot, slot } from '../model/order.ts';
import { listByRank } from '../model/paging.ts';
import { omitUndefined, patched, withDefaults } from '../model/patch.ts';
import { condition, flag, icon, id, language, listQuery, shareQuery, text, url } from '../model/schema.ts';
import type { EmulatorStore, IndexedTable } from '../model/store.ts';
import { referencedSpace } from '../spaces/views.ts';
import { viewCustomization } from './customization.ts';
import type { Localized, SectionGroupRecord, SectionRecord, SiteRecord, SiteSpaceRecord } from './records.ts';
import {
  addSection,
  addSiteSpace,
  moveSectionTo,
  refuseShownSpace,
  refuseTakenSectionPath,
  refuseTakenSiteSpacePath,
  removeGroup,
  removeSection,
  removeSiteSpace,
  siteSpacesIn,
  slotsIn,
  structureType,
} from './tree.ts';
import {
  findPart,
  requirePart,
  requireSection,
  requireSectionGroup,
  requireSite,
  requireSiteSpace,
  siteLocation,
  viewChildren,
  viewExternalLink,
  viewSection,
  viewSectionGroup,
  viewSite,
  viewSiteSpace,
} from './views.ts';

const ITEM_TYPES = ['site-space', 'site-section', 'site-section-group', 'site-external-link'] as const;
const itemPointer = z.strictObject({ type: z.enum(ITEM_TYPES), id });

/** Exactly one of `before` and `after`. Source: docs/platform-notes.md#site-structure */
const sortBody = z.strictObject({
  item: itemPointer,
  position: z
    .strictObject({ before: itemPointer.optional(), after: itemPointer.optional() })
    .refine((position) => (position.before === undefined) !== (position.after === undefined), {
      error: 'must have exactly one of before and after',
    }),
});

/** Returns the body of a move next to the siblings that such pointers name. */
function moveBodyOf<T extends z.ZodType>(pointer: T) {
  return z.strictObject({
    position: z
      .strictObject({ before: pointer.optional(), after: pointer.optional() })
      .refine((position) => position.before !== undefined || position.after !== undefined, {
        error: 'must have before or after',
      }),
  });
}

/** Returns the address of a part of a site. */
function location(context: Context, site: SiteRecord, kind: string, part: { readonly id: string }): string {
  return `${siteLocation(context, site)}/${kind}/${part.id}`;
}

/** Deletes the part with that id, if the site that the path names has it. */
function deletePart<R extends { readonly id: string; readonly site: string }>(
  call: PathContext<'organizationId' | 'siteId'>,
  table: Pick<IndexedTable<R, string>, 'get'>,
  id: string,
  remove: (store: EmulatorStore, part: R) => unknown,
): ApiAnswer {
  const part = findPart(table, requireSite(call), id);
  if (part !== undefined) {
    remove(call.store, part);
  }
  return deleted(part !== undefined);
}

/** Throws a 400 unless the group that a body names, if any, is one of the site. */
function requireGroup(store: EmulatorStore, site: SiteRecord, group: string | null | undefined, field: string): void {
  if (group !== undefined && group !== null) {
    referenced(findPart(store.sectionGroups, site, group), field, 'site section group', group);
  }
}

function viewStructure(context: Context, site: SiteRecord): unknown {
  const type = structureType(context.store, site);
  const structure =
    type === 'sections'
      ? viewChildren(context, site.id)
      : siteSpacesIn(context.store, site.id).map((siteSpace) => viewSiteSpace(context, siteSpace));
  return { type, structure };
}

/** Throws a 400 for a position next to an external link before 0.201. Source: docs/platform-notes.md#site-structure */
function refuseLinks(call: OperationCall<string, unknown, z.output<typeof sortBody>>): void {
  const { item, position } = call.body;
  for (const [field, given] of Object.entries({ item, ...position })) {
    if (given?.type === 'site-external-link' && !call.features.externalLinks) {
      throw invalid(field === 'item' ? 'body.item.type' : `body.position.${field}.type`, 'must be another type');
    }
  }
}

/** Returns the item and its siblings. */
function familyOf(store: EmulatorStore, site: SiteRecord, { type, id }: Pointer): Slot[] {
  const named = <R>(part: R | undefined) => referenced(part, 'body.item', type.replaceAll('-', ' '), id);
  switch (type) {
    case 'site-space': {
      const { section = site.id } = named(findPart(store.siteSpaces, site, id));
      return siteSpacesIn(store, section).map((sibling) => slot(store.siteSpaces, type, sibling));
    }
    case 'site-section':
      return slotsIn(store, named(findPart(store.sections, site, id)).group ?? site.id);
    case 'site-external-link':
      return slotsIn(store, named(findPart(store.externalLinks, site, id)).group ?? site.id);
    default:
      return slotsIn(store, named(findPart(store.sectionGroups, site, id)).parent ?? site.id);
  }
}

/** Moves an item among its siblings. Throws a 400 for a position next to an item that is not a sibling. */
function sortItem(
  store: EmulatorStore,
  site: SiteRecord,
  item: Pointer,
  position: Parameters<typeof indexFor>[1],
): void {
  const family = familyOf(store, site, item);
  const current = family.find((entry) => entry.id === item.id);
  if (current === undefined) {
    throw invalid('body.item', `${item.type} "${item.id}" has no place`);
  }
  const siblings = family.filter((entry) => entry !== current);
  reorder(siblings, current, indexFor(siblings, position));
}

function viewItem(context: Context, site: SiteRecord, { id }: Pointer): unknown {
  const { siteSpaces, sections, externalLinks, sectionGroups } = context.store;
  const siteSpace = findPart(siteSpaces, site, id);
  const section = findPart(sections, site, id);
  const link = findPart(externalLinks, site, id);
  const group = findPart(sectionGroups, site, id);
  return (
    (siteSpace && viewSiteSpace(context, siteSpace)) ??
    (section && viewSection(context, section)) ??
    (link && viewExternalLink(link)) ??
    (group && viewSectionGroup(context, group))
  );
}

/** Renders the settings of the site and of each site space, which always has those of the site. */
function viewCustomizations(call: Context, site: SiteRecord): unknown {
  const settings = viewCustomization(call, site);
  const siteSpaces = call.store.siteSpaces.by('site', site.id).map((siteSpace) => [siteSpace.id, settings]);
  return { site: settings, siteSpaces: Object.fromEntries(siteSpaces) };
}

const structure: readonly ApiOperation[] = [
  operation('getSiteStructure', 'GET', `${SITE}/structure`, { query: shareQuery }, (call) =>
    ok(viewStructure(call, requireSite(call))),
  ),
  operation('sortSiteStructure', 'PATCH', `${SITE}/structure/sort`, { body: sortBody, minimal: true }, (call) => {
    const site = requireSite(call);
    refuseLinks(call);
    sortItem(call.store, site, call.body.item, call.body.position);
    return ok(viewItem(call, site, call.body.item));
  }),
];

const getPublishedSite = operation('getPublishedSite', 'GET', `${SITE}/published`, { query: shareQuery }, (call) => {
  const site = requireSite(call);
  if (!site.published) {
    throw new ApiError(404, `Site "${site.id}" is not published`);
  }
  return ok({
    object: 'published-content-site',
    site: viewSite(call, site),
    structure: viewStructure(call, site),
    customizations: viewCustomizations(call, site),
    scripts: [],
  });
});

const SITE_SPACES = `${SITE}/site-spaces` as const;
const SITE_SPACE = `${SITE_SPACES}/{siteSpaceId}` as const;

/** Source: docs/platform-notes.md#writable-fields */
const siteSpaceUpdate = z.strictObject({
  // From 0.181. Source: docs/platform-notes.md#drafts-and-localized-texts
  draft: z.boolean().optional(),
  path: text(1, 100).optional(),
  condition: condition.nullable().optional(),
  spaceId: id.optional(),
  hidden: z.boolean().optional(),
});

const siteSpaceMove = moveBodyOf(
  z
    .strictObject({ type: z.literal('site-space'), siteSpace: id })
    .transform((given) => ({ type: given.type, id: given.siteSpace })),
);

function isDefault(store: EmulatorStore, site: SiteRecord, siteSpace: SiteSpaceRecord): boolean {
  const section = siteSpace.section === undefined ? site : store.sections.get(siteSpace.section);
  return section?.defaultSiteSpace === siteSpace.id;
}

/** Returns the section of a new site space: the given one, otherwise the default one, otherwise none. */
function sectionFor(store: EmulatorStore, site: SiteRecord, asked: string | undefined) {
  if (asked !== undefined) {
    return referenced(findPart(store.sections, site, asked), 'body.sectionId', 'site section', asked);
  }
  return site.defaultSection === undefined ? undefined : store.sections.get(site.defaultSection);
}

const listSiteSpacesQuery = listQuery.extend({ ...shareQuery.shape, default: flag.optional() });
const addSiteSpaceBody = z.strictObject({
  spaceId: id,
  sectionId: id.optional(),
  // From 0.181. Source: docs/platform-notes.md#drafts-and-localized-texts
  draft: z.boolean().optional(),
});

/** Source: docs/platform-notes.md#site-spaces */
const siteSpaces: readonly ApiOperation[] = [
  operation('listSiteSpaces', 'GET', SITE_SPACES, { query: listSiteSpacesQuery }, (call) => {
    const { store, query } = call;
    const site = requireSite(call);
    const items = store.siteSpaces
      .by('site', site.id)
      .filter((siteSpace) => query.default === undefined || isDefault(store, site, siteSpace) === query.default);
    return listByRank(call, items, viewSiteSpace);
  }),
  operation('addSiteSpace', 'POST', SITE_SPACES, { body: addSiteSpaceBody, minimal: true }, (call) => {
    const { store, body } = call;
    const site = requireSite(call);
    const space = referencedSpace(store, site.organization, body.spaceId, 'body.spaceId');
    refuseUnknown(call, 'structureDrafts', body, 'draft');
    const made = addSiteSpace(store, site, sectionFor(store, site, body.sectionId), space);
    const siteSpace = store.siteSpaces.put({
      ...withDefaults(made, body, call.defaults.siteSpace),
      draft: body.draft,
    });
    return created(viewSiteSpace(call, siteSpace), location(call, site, 'site-spaces', siteSpace));
  }),
  operation('updateSiteSpace', 'PATCH', SITE_SPACE, { body: siteSpaceUpdate, minimal: true }, (call) => {
    const { store, body } = call;
    const site = requireSite(call);
    const siteSpace = requireSiteSpace(call);
    refuseUnknown(call, 'hiddenSiteSpaces', body, 'hidden');
    refuseUnknown(call, 'structureDrafts', body, 'draft');
    refuseTakenSiteSpacePath(store, siteSpace, body.path);
    if (body.spaceId !== undefined) {
      referencedSpace(store, site.organization, body.spaceId, 'body.spaceId');
      refuseShownSpace(store, siteSpace.section ?? site.id, body.spaceId, siteSpace.id);
    }
    const updated = store.siteSpaces.put({
      ...siteSpace,
      ...omitUndefined({ path: body.path, hidden: body.hidden, space: body.spaceId, draft: body.draft }),
      condition: patched(siteSpace.condition, body.condition),
    });
    return ok(viewSiteSpace(call, updated));
  }),
  operation('deleteSiteSpace', 'DELETE', SITE_SPACE, {}, (call) =>
    deletePart(call, call.store.siteSpaces, call.params.siteSpaceId, removeSiteSpace),
  ),
  operation('moveSiteSpace', 'POST', `${SITE_SPACE}/move`, { body: siteSpaceMove }, (call) => {
    const { id } = requireSiteSpace(call);
    sortItem(call.store, requireSite(call), { type: 'site-space', id }, call.body.position);
    return ok(viewSiteSpace(call, requireSiteSpace(call)));
  }),
];

const SECTIONS = `${SITE}/sections` as const;
const SECTION = `${SECTIONS}/{siteSectionId}` as const;

/** Source: docs/platform-notes.md#limits */
const sectionTitle = text(2, 128);

/** Texts by language, each of at most `max` characters. Source: docs/platform-notes.md#drafts-and-localized-texts */
function localized(max: number) {
  return z.partialRecord(language, text(0, max));
}

/** Localized texts after an update: an empty mapping has none. */
function patchedTexts(now: Localized | undefined, given: Localized | null | undefined): Localized | undefined {
  return patched(now, given !== undefined && given !== null && Object.keys(given).length === 0 ? null : given);
}

/** Fields of sections and groups from 0.181. Source: docs/platform-notes.md#drafts-and-localized-texts */
const draftFields = { draft: z.boolean().optional() };

/** Throws a 400 for drafts and localized texts before 0.181. */
function refuseDrafts(call: OperationCall<string, unknown, object>): void {
  for (const field of ['draft', 'localizedTitle', 'localizedDescription']) {
    refuseUnknown(call, 'structureDrafts', call.body as Readonly<Record<string, unknown>>, field);
  }
}

const sectionCreation = z.strictObject({
  ...draftFields,
  spaceId: id,
  title: sectionTitle.nullable().optional(),
  icon: icon.nullable().optional(),
});

/** Source: docs/platform-notes.md#writable-fields */
const sectionUpdate = z.strictObject({
  ...draftFields,
  localizedTitle: localized(128).optional(),
  localizedDescription: localized(256).optional(),
  title: sectionTitle.optional(),
  path: text(1, 100).optional(),
  defaultSiteSpace: id.optional(),
  condition: condition.nullable().optional(),
  icon: icon.nullable().optional(),
  description: text(0, 256).nullable().optional(),
  // From 0.181. Null is the root. Source: docs/platform-notes.md#sections
  siteSectionGroupId: id.nullable().optional(),
});

const sectionMove = moveBodyOf(
  z
    .strictObject({ type: z.literal('site-section'), siteSection: id })
    .transform((given) => ({ type: given.type, id: given.siteSection })),
);

/** Moves the section to the end of the group in its update. */
function regroup(
  store: EmulatorStore,
  site: SiteRecord,
  section: SectionRecord,
  group: string | null | undefined,
): SectionRecord {
  if (group === undefined) {
    return section;
  }
  requireGroup(store, site, group, 'body.siteSectionGroupId');
  moveSectionTo(store, section, group ?? undefined);
  return store.sections.get(section.id) ?? section;
}

function checkDefault(store: EmulatorStore, section: SectionRecord, siteSpace: string | undefined): void {
  if (siteSpace !== undefined && store.siteSpaces.get(siteSpace)?.section !== section.id) {
    throw invalid('body.defaultSiteSpace', `site space "${siteSpace}" does not belong to the section`);
  }
}

/** Source: docs/platform-notes.md#sections */
const sections: readonly ApiOperation[] = [
  operation('listSections', 'GET', SECTIONS, { query: listQuery.extend(shareQuery.shape) }, (call) => {
    const site = requireSite(call);
    return listByRank(call, call.store.sections.by('site', site.id), viewSection);
  }),
  operation('createSection', 'POST', SECTIONS, { body: sectionCreation }, (call) => {
    const { store, body } = call;
    const site = requireSite(call);
    const space = referencedSpace(store, site.organization, body.spaceId, 'body.spaceId');
    const given = { title: body.title ?? undefined, icon: body.icon ?? undefined };
    refuseDrafts(call);
    const made = addSection(store, site, space, given);
    const section = store.sections.put({
      ...withDefaults(made, body, call.defaults.section),
      draft: body.draft,
    });
    for (const siteSpace of store.siteSpaces.by('place', section.id)) {
      if (siteSpace.seq > section.seq) {
        store.siteSpaces.put(withDefaults(siteSpace, {}, call.defaults.siteSpace));
      }
    }
    return created(viewSection(call, section), location(call, site, 'sections', section));
  }),
  operation('updateSection', 'PATCH', SECTION, { body: sectionUpdate, minimal: true }, (call) => {
    const { store, body } = call;
    const site = requireSite(call);
    const section = requireSection(call);
    refuseUnknown(call, 'sectionParents', body, 'siteSectionGroupId');
    refuseDrafts(call);
    refuseTakenSectionPath(store, section, body.path);
    checkDefault(store, section, body.defaultSiteSpace);
    const updated = store.sections.put({
      ...regroup(store, site, section, body.siteSectionGroupId),
      ...omitUndefined({
        title: body.title,
        path: body.path,
        defaultSiteSpace: body.defaultSiteSpace,
        draft: body.draft,
      }),
      localizedTitle: patchedTexts(section.localizedTitle, body.localizedTitle),
      localizedDescription: patchedTexts(section.localizedDescription, body.localizedDescription),
      condition: patched(section.condition, body.condition),
      icon: patched(section.icon, body.icon),
      description: patched(section.description, body.description),
    });
    return ok(viewSection(call, updated));
  }),
  operation('deleteSection', 'DELETE', SECTION, {}, (call) =>
    deletePart(call, call.store.sections, call.params.siteSectionId, removeSection),
  ),
  operation('moveSection', 'POST', `${SECTION}/move`, { body: sectionMove }, (call) => {
    const { id } = requireSection(call);
    sortItem(call.store, requireSite(call), { type: 'site-section', id }, call.body.position);
    return ok(viewSection(call, requireSection(call)));
  }),
];

const GROUPS = `${SITE}/section-groups` as const;
const GROUP = `${GROUPS}/{siteSectionGroupId}` as const;

/** Source: docs/platform-notes.md#limits */
const groupTitle = text(1, 100);

/** Source: docs/platform-notes.md#writable-fields */
const groupCreation = z.strictObject({
  ...draftFields,
  title: groupTitle,
  icon: icon.nullable().optional(),
  sections: z.array(id).optional(),
  parent: id.optional(),
});

const groupUpdate = z.strictObject({
  ...draftFields,
  localizedTitle: localized(128).optional(),
  title: groupTitle.optional(),
  icon: icon.nullable().optional(),
});

/** Body of the deprecated move, which names a neighbor by `id`, unlike the moves of sections and site spaces. */
const groupMove = moveBodyOf(z.strictObject({ type: z.enum(['site-section', 'site-section-group']), id }));

/** Source: docs/platform-notes.md#section-groups */
const groups: readonly ApiOperation[] = [
  operation('listSectionGroups', 'GET', GROUPS, { query: listQuery }, (call) => {
    const site = requireSite(call);
    return listByRank(call, call.store.sectionGroups.by('site', site.id), viewSectionGroup);
  }),
  operation('createSectionGroup', 'POST', GROUPS, { body: groupCreation }, (call) => {
    const { store, body } = call;
    const site = requireSite(call);
    refuseDrafts(call);
    const members = (body.sections ?? []).map((section, at) =>
      referenced(findPart(store.sections, site, section), `body.sections.${at}`, 'site section', section),
    );
    if (new Set(members).size < members.length) {
      throw invalid('body.sections', 'contains the same section twice');
    }
    requireGroup(store, site, body.parent, 'body.parent');
    const identity = store.identify('sitesg');
    const made: SectionGroupRecord = {
      ...identity,
      rank: identity.seq,
      site: site.id,
      parent: body.parent,
      title: body.title,
      icon: body.icon ?? undefined,
      draft: body.draft,
    };
    const group = store.sectionGroups.put(withDefaults(made, body, call.defaults.sectionGroup));
    for (const section of members) {
      moveSectionTo(store, section, group.id);
    }
    return created(viewSectionGroup(call, group), location(call, site, 'section-groups', group));
  }),
  operation('updateSectionGroup', 'PATCH', GROUP, { body: groupUpdate, minimal: true }, (call) => {
    refuseDrafts(call);
    const group = requireSectionGroup(call);
    const updated = call.store.sectionGroups.put({
      ...group,
      ...omitUndefined({ title: call.body.title, draft: call.body.draft }),
      icon: patched(group.icon, call.body.icon),
      localizedTitle: patchedTexts(group.localizedTitle, call.body.localizedTitle),
    });
    return ok(viewSectionGroup(call, updated));
  }),
  operation('deleteSectionGroup', 'DELETE', GROUP, {}, (call) =>
    deletePart(call, call.store.sectionGroups, call.params.siteSectionGroupId, removeGroup),
  ),
  operation('moveSectionGroup', 'POST', `${GROUP}/move`, { body: groupMove }, (call) => {
    const { id } = requireSectionGroup(call);
    sortItem(call.store, requireSite(call), { type: 'site-section-group', id }, call.body.position);
    return ok(viewSectionGroup(call, requireSectionGroup(call)));
  }),
];

const addSectionToGroupBody = z.strictObject({ sectionId: id });

const groupMembers: readonly ApiOperation[] = [
  operation('addSectionToGroup', 'POST', `${GROUP}/sections`, { body: addSectionToGroupBody }, (call) => {
    const { store } = call;
    const { sectionId } = call.body;
    const site = requireSite(call);
    const group = requireSectionGroup(call);
    const section = referenced(findPart(store.sections, site, sectionId), 'body.sectionId', 'site section', sectionId);
    moveSectionTo(store, section, group.id);
    return created(viewSectionGroup(call, group), location(call, site, 'section-groups', group));
  }),
  operation('removeSectionFromGroup', 'DELETE', `${GROUP}/sections/{siteSectionId}`, {}, (call) => {
    const site = requireSite(call);
    const group = requireSectionGroup(call);
    const section = findPart(call.store.sections, site, call.params.siteSectionId);
    if (section?.group !== group.id) {
      return deleted(false);
    }
    moveSectionTo(call.store, section, undefined);
    return deleted(true);
  }),
];

const LINKS = `${SITE}/external-links` as const;
const LINK = `${LINKS}/{siteExternalLinkId}` as const;

const linkFields = {
  title: text(2, 128),
  url: url(),
  description: text(0, 256).nullable().optional(),
  icon: icon.nullable().optional(),
  draft: z.boolean().optional(),
  condition: condition.nullable().optional(),
  localizedDescription: localized(256).nullable().optional(),
};

const linkCreation = z.strictObject({
  ...linkFields,
  localizedTitle: localized(128).optional(),
  parent: id.optional(),
});
const linkUpdate = z
  .strictObject({
    ...linkFields,
    localizedTitle: localized(128).nullable().optional(),
    parent: id.nullable().optional(),
  })
  .partial();

/**
 * External links are placed among sections and groups, at the root or in a group, from 0.201.
 * Source: docs/platform-notes.md#external-links
 */
const externalLinks: readonly ApiOperation[] = [
  operation('createExternalLink', 'POST', LINKS, { body: linkCreation }, (call) => {
    const { store, body } = call;
    const site = requireSite(call);
    if (structureType(store, site) !== 'sections') {
      throw invalid('path.siteId', 'the site has no sections; an external link needs at least one');
    }
    requireGroup(store, site, body.parent, 'body.parent');
    const identity = store.identify('sitelk');
    const link = store.externalLinks.put({
      ...identity,
      rank: identity.seq,
      site: site.id,
      group: body.parent,
      title: body.title,
      url: body.url,
      description: body.description ?? undefined,
      icon: body.icon ?? undefined,
      draft: body.draft ?? false,
      condition: body.condition ?? undefined,
      localizedTitle: patchedTexts(undefined, body.localizedTitle),
      localizedDescription: patchedTexts(undefined, body.localizedDescription),
    });
    return created(viewExternalLink(link), location(call, site, 'external-links', link));
  }),
  operation('updateExternalLink', 'PATCH', LINK, { body: linkUpdate, minimal: true }, (call) => {
    const { store, body } = call;
    const site = requireSite(call);
    const link = requirePart(call, store.externalLinks, 'Site external link', call.params.siteExternalLinkId);
    requireGroup(store, site, body.parent, 'body.parent');
    const group = patched(link.group, body.parent);
    const updated = store.externalLinks.put({
      ...link,
      ...(group === link.group ? {} : { group, rank: store.next() }),
      ...omitUndefined({ title: body.title, url: body.url, draft: body.draft }),
      description: patched(link.description, body.description),
      icon: patched(link.icon, body.icon),
      condition: patched(link.condition, body.condition),
      localizedTitle: patchedTexts(link.localizedTitle, body.localizedTitle),
      localizedDescription: patchedTexts(link.localizedDescription, body.localizedDescription),
    });
    return ok(viewExternalLink(updated));
  }),
  operation('deleteExternalLink', 'DELETE', LINK, {}, (call) =>
    deletePart(call, call.store.externalLinks, call.params.siteExternalLinkId, (store, link) =>
      store.externalLinks.remove(link.id),
    ),
  ),
];

/** Operations on the structure of a site, and the published site. Source: docs/platform-notes.md#site-structure */
export const siteStructureOperations: readonly ApiOperation[] = [
  ...ofFeature('structure', structure),
  getPublishedSite,
  ...siteSpaces,
  ...sections,
  ...groups,
  ...ofFeature('sectionGroupMembers', groupMembers),
  ...ofFeature('externalLinks', externalLinks),
];
