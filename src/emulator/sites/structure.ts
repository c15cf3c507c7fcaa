// Operations on the structure of a site, and the published site.

import { z } from 'zod';
import { ApiError, invalid, ok, referenced } from '../model/answers.ts';
import { type ApiOperation, type Context, type OperationCall, operation, SITE } from '../model/operation.ts';
import { indexFor, type Pointer, reorder, type Slot, slot } from '../model/order.ts';
import { id, shareQuery } from '../model/schema.ts';
import type { EmulatorStore } from '../model/store.ts';
import { viewCustomization } from './customization.ts';
import type { SiteRecord } from './records.ts';
import { siteSpacesIn, slotsIn, structureType } from './tree.ts';
import {
  findExternalLink,
  findSection,
  findSectionGroup,
  findSiteSpace,
  requireSite,
  viewChildren,
  viewExternalLink,
  viewSection,
  viewSectionGroup,
  viewSite,
  viewSiteSpace,
} from './views.ts';

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
function familyOf(store: EmulatorStore, site: SiteRecord, item: Pointer): Slot[] {
  if (item.type === 'site-space') {
    const siteSpace = referenced(findSiteSpace(store, site, item.id), 'body.item', 'site space', item.id);
    const place = siteSpace.section ?? site.id;
    return siteSpacesIn(store, place).map((sibling) => slot(store.siteSpaces, 'site-space', sibling));
  }
  if (item.type === 'site-section') {
    const section = referenced(findSection(store, site, item.id), 'body.item', 'site section', item.id);
    return slotsIn(store, section.group ?? site.id);
  }
  if (item.type === 'site-external-link') {
    const link = referenced(findExternalLink(store, site, item.id), 'body.item', 'site external link', item.id);
    return slotsIn(store, link.group ?? site.id);
  }
  const group = referenced(findSectionGroup(store, site, item.id), 'body.item', 'site section group', item.id);
  return slotsIn(store, group.parent ?? site.id);
}

/** Position before, after, or between siblings. */
interface Position {
  readonly before?: Pointer | undefined;
  readonly after?: Pointer | undefined;
}

/** Moves an item among its siblings. Throws a 400 for a position next to an item that is not a sibling. */
export function sortItem(store: EmulatorStore, site: SiteRecord, item: Pointer, position: Position): void {
  const family = familyOf(store, site, item);
  const current = family.find((entry) => entry.id === item.id);
  if (current === undefined) {
    throw invalid('body.item', `${item.type} "${item.id}" has no place`);
  }
  const siblings = family.filter((entry) => entry !== current);
  reorder(siblings, current, indexFor(siblings, position));
}

function viewItem(context: Context, site: SiteRecord, item: Pointer): unknown {
  const siteSpace = findSiteSpace(context.store, site, item.id);
  const section = findSection(context.store, site, item.id);
  const group = findSectionGroup(context.store, site, item.id);
  const link = findExternalLink(context.store, site, item.id);
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

/** Renders the settings of the site and of each site space, which always has those of the site. */
function viewCustomizations(store: EmulatorStore, site: SiteRecord): unknown {
  const settings = viewCustomization(site);
  const siteSpaces = store.siteSpaces.by('site', site.id).map((siteSpace) => [siteSpace.id, settings]);
  return { site: settings, siteSpaces: Object.fromEntries(siteSpaces) };
}

/** Operations on the structure of a site, and the published site. Source: docs/platform-notes.md#site-structure */
export const siteStructureOperations: readonly ApiOperation[] = [
  operation('getSiteStructure', 'GET', `${SITE}/structure`, { feature: 'structure', query: shareQuery }, (call) =>
    ok(viewStructure(call, requireSite(call))),
  ),
  operation(
    'sortSiteStructure',
    'PATCH',
    `${SITE}/structure/sort`,
    { feature: 'structure', body: sortBody, minimal: true },
    (call) => {
      const site = requireSite(call);
      refuseLinks(call);
      sortItem(call.store, site, call.body.item, call.body.position);
      return ok(viewItem(call, site, call.body.item));
    },
  ),
  operation('getPublishedSite', 'GET', `${SITE}/published`, { query: shareQuery }, (call) => {
    const site = requireSite(call);
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
  }),
];
