import { z } from 'zod';
import { created, deleted, ok } from '../answers.ts';
import { withDefaults } from '../creation-defaults.ts';
import { referenced, sectionOf, siteAt, siteSpaceAt, siteSpaceOf, spaceReferenced } from '../lookup.ts';
import { type Context, type Operation, operation } from '../operation.ts';
import { listByRank } from '../paging.ts';
import { patched, present } from '../patch.ts';
import type { SiteRecord, SiteSpaceRecord } from '../records.ts';
import { condition, flag, id, listQuery, shareQuery, text } from '../schema.ts';
import { addSiteSpace, refuseShownSpace, refuseTakenSiteSpacePath, removeSiteSpace } from '../site-tree.ts';
import type { Store } from '../store.ts';
import { refuseUnknown } from '../versions.ts';
import { viewSiteSpace } from '../views/site.ts';
import { sortItem } from './site-structure.ts';

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

function isDefault(store: Store, site: SiteRecord, siteSpace: SiteSpaceRecord): boolean {
  const section = siteSpace.section === undefined ? site : store.sections.get(siteSpace.section);
  return section?.defaultSiteSpace === siteSpace.id;
}

/** The section that a new site space goes to: the one asked for, else the default one, else none. */
function sectionFor(store: Store, site: SiteRecord, asked: string | undefined) {
  if (asked !== undefined) {
    return referenced(sectionOf(store, site, asked), 'body.sectionId', 'site section', asked);
  }
  return site.defaultSection === undefined ? undefined : store.sections.get(site.defaultSection);
}

const collection: readonly Operation[] = [
  operation({
    name: 'listSiteSpaces',
    method: 'GET',
    path: '/orgs/{organizationId}/sites/{siteId}/site-spaces',
    query: listQuery.extend({ ...shareQuery.shape, default: flag.optional() }),
    handle: (call) => {
      const { store, query } = call;
      const site = siteAt(store, call.params.organizationId, call.params.siteId);
      const items = store.siteSpaces
        .by('site', site.id)
        .filter((siteSpace) => query.default === undefined || isDefault(store, site, siteSpace) === query.default);
      return listByRank(call, items, (siteSpace) => viewSiteSpace(call, siteSpace));
    },
  }),
  operation({
    name: 'createSiteSpace',
    method: 'POST',
    path: '/orgs/{organizationId}/sites/{siteId}/site-spaces',
    body: z.strictObject({ spaceId: id, sectionId: id.optional() }),
    minimal: true,
    handle: (call) => {
      const { store, body } = call;
      const site = siteAt(store, call.params.organizationId, call.params.siteId);
      const space = spaceReferenced(store, site.organization, body.spaceId, 'body.spaceId');
      const made = addSiteSpace(store, site, sectionFor(store, site, body.sectionId), space);
      const siteSpace = store.siteSpaces.put(withDefaults(made, body, call.defaults.siteSpace));
      return created(viewSiteSpace(call, siteSpace), location(call, site, siteSpace));
    },
  }),
];

/** Operations on site spaces. Source: docs/platform-notes.md#site-spaces */
export const siteSpaceOperations: readonly Operation[] = [
  ...collection,
  operation({
    name: 'updateSiteSpace',
    method: 'PATCH',
    path: '/orgs/{organizationId}/sites/{siteId}/site-spaces/{siteSpaceId}',
    body: siteSpaceUpdate,
    minimal: true,
    handle: (call) => {
      const { store, body } = call;
      const site = siteAt(store, call.params.organizationId, call.params.siteId);
      const siteSpace = siteSpaceAt(store, site, call.params.siteSpaceId);
      refuseUnknown(call, 'hiddenSiteSpaces', body, 'hidden');
      refuseTakenSiteSpacePath(store, siteSpace, body.path);
      if (body.spaceId !== undefined) {
        spaceReferenced(store, site.organization, body.spaceId, 'body.spaceId');
        refuseShownSpace(store, siteSpace.section ?? site.id, body.spaceId, siteSpace.id);
      }
      const updated = store.siteSpaces.put({
        ...siteSpace,
        ...present({ path: body.path, hidden: body.hidden, space: body.spaceId }),
        condition: patched(siteSpace.condition, body.condition),
      });
      return ok(viewSiteSpace(call, updated));
    },
  }),
  operation({
    name: 'deleteSiteSpace',
    method: 'DELETE',
    path: '/orgs/{organizationId}/sites/{siteId}/site-spaces/{siteSpaceId}',
    handle: (call) => {
      const site = siteAt(call.store, call.params.organizationId, call.params.siteId);
      const siteSpace = siteSpaceOf(call.store, site, call.params.siteSpaceId);
      if (siteSpace === undefined) {
        return deleted(false);
      }
      removeSiteSpace(call.store, siteSpace);
      return deleted(true);
    },
  }),
  operation({
    name: 'moveSiteSpace',
    method: 'POST',
    path: '/orgs/{organizationId}/sites/{siteId}/site-spaces/{siteSpaceId}/move',
    body: moveBody,
    handle: (call) => {
      const site = siteAt(call.store, call.params.organizationId, call.params.siteId);
      const siteSpace = siteSpaceAt(call.store, site, call.params.siteSpaceId);
      sortItem(call.store, site, { type: 'site-space', id: siteSpace.id }, call.body.position);
      return ok(viewSiteSpace(call, siteSpaceAt(call.store, site, siteSpace.id)));
    },
  }),
];
