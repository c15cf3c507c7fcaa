// Operations on site spaces.

import { z } from 'zod';
import { created, deleted, ok, referenced } from '../model/answers.ts';
import { withDefaults } from '../model/creation-defaults.ts';
import { refuseUnknown } from '../model/features.ts';
import { type ApiOperation, type Context, operation, SITE } from '../model/operation.ts';
import { listByRank } from '../model/paging.ts';
import { omitUndefined, patched } from '../model/patch.ts';
import { condition, flag, id, listQuery, shareQuery, text } from '../model/schema.ts';
import type { EmulatorStore } from '../model/store.ts';
import { referencedSpace } from '../spaces/views.ts';
import type { SiteRecord, SiteSpaceRecord } from './records.ts';
import { sortItem } from './structure.ts';
import { addSiteSpace, refuseShownSpace, refuseTakenSiteSpacePath, removeSiteSpace } from './tree.ts';
import { findSection, findSiteSpace, requireSite, requireSiteSpace, viewSiteSpace } from './views.ts';

const SITE_SPACE = `${SITE}/site-spaces/{siteSpaceId}` as const;

/** Source: docs/platform-notes.md#writable-fields */
const siteSpaceUpdate = z.strictObject({
  path: text(1, 100).optional(),
  condition: condition.nullable().optional(),
  spaceId: id.optional(),
  hidden: z.boolean().optional(),
});

const pointer = z
  .strictObject({ type: z.literal('site-space'), siteSpace: id })
  .transform((given) => ({ type: given.type, id: given.siteSpace }));

const moveBody = z.strictObject({
  position: z
    .strictObject({ before: pointer.optional(), after: pointer.optional() })
    .refine((position) => position.before !== undefined || position.after !== undefined, {
      error: 'must have before or after',
    }),
});

function location(context: Context, site: SiteRecord, siteSpace: SiteSpaceRecord): string {
  return `${context.base}/v1/orgs/${site.organization}/sites/${site.id}/site-spaces/${siteSpace.id}`;
}

function isDefault(store: EmulatorStore, site: SiteRecord, siteSpace: SiteSpaceRecord): boolean {
  const section = siteSpace.section === undefined ? site : store.sections.get(siteSpace.section);
  return section?.defaultSiteSpace === siteSpace.id;
}

/** Returns the section of a new site space: the given one, otherwise the default one, otherwise none. */
function sectionFor(store: EmulatorStore, site: SiteRecord, asked: string | undefined) {
  if (asked !== undefined) {
    return referenced(findSection(store, site, asked), 'body.sectionId', 'site section', asked);
  }
  return site.defaultSection === undefined ? undefined : store.sections.get(site.defaultSection);
}

const listSiteSpacesQuery = listQuery.extend({ ...shareQuery.shape, default: flag.optional() });
const addSiteSpaceBody = z.strictObject({ spaceId: id, sectionId: id.optional() });

const collection: readonly ApiOperation[] = [
  operation('listSiteSpaces', 'GET', `${SITE}/site-spaces`, { query: listSiteSpacesQuery }, (call) => {
    const { store, query } = call;
    const site = requireSite(call);
    const items = store.siteSpaces
      .by('site', site.id)
      .filter((siteSpace) => query.default === undefined || isDefault(store, site, siteSpace) === query.default);
    return listByRank(call, items, viewSiteSpace);
  }),
  operation('addSiteSpace', 'POST', `${SITE}/site-spaces`, { body: addSiteSpaceBody, minimal: true }, (call) => {
    const { store, body } = call;
    const site = requireSite(call);
    const space = referencedSpace(store, site.organization, body.spaceId, 'body.spaceId');
    const made = addSiteSpace(store, site, sectionFor(store, site, body.sectionId), space);
    const siteSpace = store.siteSpaces.put(withDefaults(made, body, call.defaults.siteSpace));
    return created(viewSiteSpace(call, siteSpace), location(call, site, siteSpace));
  }),
];

/** Operations on site spaces. Source: docs/platform-notes.md#site-spaces */
export const siteSpaceOperations: readonly ApiOperation[] = [
  ...collection,
  operation('updateSiteSpace', 'PATCH', SITE_SPACE, { body: siteSpaceUpdate, minimal: true }, (call) => {
    const { store, body } = call;
    const site = requireSite(call);
    const siteSpace = requireSiteSpace(call);
    refuseUnknown(call, 'hiddenSiteSpaces', body, 'hidden');
    refuseTakenSiteSpacePath(store, siteSpace, body.path);
    if (body.spaceId !== undefined) {
      referencedSpace(store, site.organization, body.spaceId, 'body.spaceId');
      refuseShownSpace(store, siteSpace.section ?? site.id, body.spaceId, siteSpace.id);
    }
    const updated = store.siteSpaces.put({
      ...siteSpace,
      ...omitUndefined({ path: body.path, hidden: body.hidden, space: body.spaceId }),
      condition: patched(siteSpace.condition, body.condition),
    });
    return ok(viewSiteSpace(call, updated));
  }),
  operation('deleteSiteSpace', 'DELETE', SITE_SPACE, {}, (call) => {
    const site = requireSite(call);
    const siteSpace = findSiteSpace(call.store, site, call.params.siteSpaceId);
    if (siteSpace === undefined) {
      return deleted(false);
    }
    removeSiteSpace(call.store, siteSpace);
    return deleted(true);
  }),
  operation('moveSiteSpace', 'POST', `${SITE_SPACE}/move`, { body: moveBody }, (call) => {
    const site = requireSite(call);
    const siteSpace = requireSiteSpace(call);
    sortItem(call.store, site, { type: 'site-space', id: siteSpace.id }, call.body.position);
    return ok(viewSiteSpace(call, requireSiteSpace(call)));
  }),
];
