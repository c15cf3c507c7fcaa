import { z } from 'zod';
import { ApiError, invalid, ok } from '../answers.ts';
import { viewCustomization } from '../customization.ts';
import { externalLinkOf, groupOf, referenced, sectionOf, siteAt, siteSpaceOf } from '../lookup.ts';
import { type Call, type Context, type Operation, operation } from '../operation.ts';
import { indexFor, type Pointer, reorder, type Slot, slot } from '../order.ts';
import type { SiteRecord } from '../records.ts';
import { id, shareQuery } from '../schema.ts';
import { siteSpacesIn, slotsIn, structureType } from '../site-tree.ts';
import type { Store } from '../store.ts';
import {
  viewChildren,
  viewExternalLink,
  viewSection,
  viewSectionGroup,
  viewSite,
  viewSiteSpace,
} from '../views/site.ts';

const ITEM_TYPES = ['site-space', 'site-section', 'site-section-group', 'site-external-link'] as const;
const pointer = z.strictObject({ type: z.enum(ITEM_TYPES), id });

/** Exactly one of `before` and `after`. Source: docs/platform-notes.md#site-structure */
const sortBody = z.strictObject({
  item: pointer,
  position: z
    .strictObject({ before: pointer.optional(), after: pointer.optional() })
    .refine((position) => (position.before === undefined) !== (position.after === undefined), {
      error: 'must have exactly one of before and after',
    }),
});

function viewStructure(context: Context, site: SiteRecord): unknown {
  const type = structureType(context.store, site);
  const structure =
    type === 'sections'
      ? viewChildren(context, site.id)
      : siteSpacesIn(context.store, site.id).map((siteSpace) => viewSiteSpace(context, siteSpace));
  return { type, structure };
}

/** External links can be pointed to only from 0.201. Source: docs/platform-notes.md#site-structure */
function refuseLinks(call: Call<string, unknown, z.output<typeof sortBody>>): void {
  const { item, position } = call.body;
  for (const [field, given] of Object.entries({ item, ...position })) {
    if (given?.type === 'site-external-link' && !call.features.externalLinks) {
      throw invalid(field === 'item' ? 'body.item.type' : `body.position.${field}.type`, 'must be another type');
    }
  }
}

/** The item's siblings, itself among them. */
function familyOf(store: Store, site: SiteRecord, item: Pointer): Slot[] {
  if (item.type === 'site-space') {
    const siteSpace = referenced(siteSpaceOf(store, site, item.id), 'body.item', 'site space', item.id);
    const place = siteSpace.section ?? site.id;
    return siteSpacesIn(store, place).map((sibling) => slot(store.siteSpaces, 'site-space', sibling));
  }
  if (item.type === 'site-section') {
    const section = referenced(sectionOf(store, site, item.id), 'body.item', 'site section', item.id);
    return slotsIn(store, section.group ?? site.id);
  }
  if (item.type === 'site-external-link') {
    const link = referenced(externalLinkOf(store, site, item.id), 'body.item', 'site external link', item.id);
    return slotsIn(store, link.group ?? site.id);
  }
  const group = referenced(groupOf(store, site, item.id), 'body.item', 'site section group', item.id);
  return slotsIn(store, group.parent ?? site.id);
}

/** What a position may say: to stand before, after, or between siblings. */
interface Position {
  readonly before?: Pointer | undefined;
  readonly after?: Pointer | undefined;
}

/** Puts an item of a site at another place among its siblings; anything but a sibling is refused with 400. */
export function sortItem(store: Store, site: SiteRecord, item: Pointer, position: Position): void {
  const family = familyOf(store, site, item);
  const current = family.find((entry) => entry.id === item.id);
  if (current === undefined) {
    throw invalid('body.item', `${item.type} "${item.id}" has no place`);
  }
  const siblings = family.filter((entry) => entry !== current);
  reorder(siblings, current, indexFor(siblings, position));
}

function viewItem(context: Context, site: SiteRecord, item: Pointer): unknown {
  const siteSpace = siteSpaceOf(context.store, site, item.id);
  const section = sectionOf(context.store, site, item.id);
  const group = groupOf(context.store, site, item.id);
  const link = externalLinkOf(context.store, site, item.id);
  if (siteSpace !== undefined) {
    return viewSiteSpace(context, siteSpace);
  }
  if (section !== undefined) {
    return viewSection(context, section);
  }
  if (link !== undefined) {
    return viewExternalLink(link);
  }
  return group === undefined ? undefined : viewSectionGroup(context, group);
}

/** How the site looks, and by site space: no operation gives one of them a look of its own. */
function viewCustomizations(store: Store, site: SiteRecord): unknown {
  const settings = viewCustomization(site);
  const siteSpaces = store.siteSpaces.by('site', site.id).map((siteSpace) => [siteSpace.id, settings]);
  return { site: settings, siteSpaces: Object.fromEntries(siteSpaces) };
}

/** Operations on a site's structure, and on what its visitors see. Source: docs/platform-notes.md#site-structure */
export const siteStructureOperations: readonly Operation[] = [
  operation({
    name: 'getSiteStructure',
    method: 'GET',
    path: '/orgs/{organizationId}/sites/{siteId}/structure',
    feature: 'structure',
    query: shareQuery,
    handle: (call) => ok(viewStructure(call, siteAt(call.store, call.params.organizationId, call.params.siteId))),
  }),
  operation({
    name: 'sortSiteStructure',
    method: 'PATCH',
    path: '/orgs/{organizationId}/sites/{siteId}/structure/sort',
    feature: 'structure',
    body: sortBody,
    minimal: true,
    handle: (call) => {
      const site = siteAt(call.store, call.params.organizationId, call.params.siteId);
      refuseLinks(call);
      sortItem(call.store, site, call.body.item, call.body.position);
      return ok(viewItem(call, site, call.body.item));
    },
  }),
  operation({
    name: 'getPublishedSite',
    method: 'GET',
    path: '/orgs/{organizationId}/sites/{siteId}/published',
    query: shareQuery,
    handle: (call) => {
      const site = siteAt(call.store, call.params.organizationId, call.params.siteId);
      if (!site.published) {
        throw new ApiError(404, `Site "${site.id}" is not published`);
      }
      return ok({
        object: 'published-content-site',
        site: viewSite(call, site),
        structure: viewStructure(call, site),
        customizations: viewCustomizations(call.store, site),
        scripts: [],
      });
    },
  }),
];
