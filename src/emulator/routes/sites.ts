import { z } from 'zod';
import { ApiError, created, deleted, ok } from '../answers.ts';
import { withDefaults } from '../creation-defaults.ts';
import { organizationAt, referenced, sectionOf, siteAt, siteSpaceOf, spaceReferenced } from '../lookup.ts';
import { type Context, type Operation, operation } from '../operation.ts';
import { listBySeq } from '../paging.ts';
import { containsText, patched, present } from '../patch.ts';
import type { SiteRecord } from '../records.ts';
import { flag, id, listQuery, siteVisibility, text } from '../schema.ts';
import { addSiteSpace, removeSite } from '../site-tree.ts';
import type { Store } from '../store.ts';
import { refuseUnknown } from '../versions.ts';
import { viewSite } from '../views/site.ts';
import { AGENTS_CONTEXTS, SITE_TYPES } from '../vocabulary.ts';

/** Source: docs/platform-notes.md#limits */
const title = text(2, 128);
const proxy = text(0, 512).refine((value) => /^([\w-]+\.)*[\w-]+\.[a-zA-Z]{2,}(\/[\w-]+)+$/.test(value), {
  error: 'must be a host and a path, without a scheme',
});

const siteQuery = listQuery.extend({
  space: z.string().optional(),
  title: z.string().optional(),
  published: flag.optional(),
  type: z.preprocess((value) => (typeof value === 'string' ? [value] : value), z.array(z.enum(SITE_TYPES)).optional()),
});

const siteCreation = z.strictObject({
  type: z.enum(SITE_TYPES).optional(),
  title: title.optional(),
  visibility: siteVisibility.optional(),
  spaces: z.array(id).optional(),
});

/** Source: docs/platform-notes.md#writable-fields */
const siteUpdate = z.strictObject({
  title: title.optional(),
  visibility: siteVisibility.optional(),
  basename: text(1, 100).optional(),
  adaptiveContent: z.strictObject({ enabled: z.boolean() }).optional(),
  agentsContext: z.enum(AGENTS_CONTEXTS).optional(),
  defaultSiteSpace: id.optional(),
  defaultSiteSection: id.optional(),
  proxy: proxy.nullable().optional(),
});

function location(context: Context, site: SiteRecord): string {
  return `${context.base}/v1/orgs/${site.organization}/sites/${site.id}`;
}

/** A site space that is the site's default makes its section the default too. */
function chooseDefaults(store: Store, site: SiteRecord, body: z.output<typeof siteUpdate>): SiteRecord {
  const { defaultSiteSection, defaultSiteSpace } = body;
  let defaultSection = site.defaultSection;
  if (defaultSiteSection !== undefined) {
    const section = sectionOf(store, site, defaultSiteSection);
    defaultSection = referenced(section, 'body.defaultSiteSection', 'site section', defaultSiteSection).id;
  }
  if (defaultSiteSpace === undefined) {
    return { ...site, defaultSection };
  }
  const given = siteSpaceOf(store, site, defaultSiteSpace);
  const siteSpace = referenced(given, 'body.defaultSiteSpace', 'site space', defaultSiteSpace);
  const section = siteSpace.section === undefined ? undefined : store.sections.get(siteSpace.section);
  if (section === undefined) {
    return { ...site, defaultSection, defaultSiteSpace };
  }
  store.sections.put({ ...section, defaultSiteSpace });
  return { ...site, defaultSection: section.id };
}

const lifecycle: readonly Operation[] = [
  operation({
    name: 'listSites',
    method: 'GET',
    path: '/orgs/{organizationId}/sites',
    query: siteQuery,
    handle: (call) => {
      const { store, query } = call;
      const organization = organizationAt(store, call.params.organizationId);
      const showing =
        query.space === undefined
          ? undefined
          : new Set(store.siteSpaces.by('space', query.space).map((siteSpace) => siteSpace.site));
      const items = store.sites
        .by('organization', organization.id)
        .filter((site) => showing === undefined || showing.has(site.id))
        .filter((site) => query.title === undefined || containsText(site.title, query.title))
        .filter((site) => query.published === undefined || site.published === query.published)
        .filter((site) => query.type === undefined || query.type.includes(site.type));
      return listBySeq(call, items, (site) => viewSite(call, site));
    },
  }),
  operation({
    name: 'createSite',
    method: 'POST',
    path: '/orgs/{organizationId}/sites',
    body: siteCreation.optional(),
    handle: (call) => {
      const { store, body } = call;
      const organization = organizationAt(store, call.params.organizationId);
      const spaces = (body?.spaces ?? []).map((space, at) => {
        return spaceReferenced(store, organization.id, space, `body.spaces.${at}`);
      });
      if (new Set(spaces).size < spaces.length) {
        throw new ApiError(400, 'body.spaces: the same space twice');
      }
      const made: SiteRecord = {
        ...store.identify('sit'),
        organization: organization.id,
        type: body?.type ?? 'basic',
        title: body?.title ?? 'Untitled site',
        visibility: body?.visibility ?? 'public',
        published: false,
        createdAt: call.at,
        adaptiveContent: false,
        agentsContext: 'included',
      };
      const site = store.sites.put(withDefaults(made, body, call.defaults.site));
      for (const space of spaces) {
        addSiteSpace(store, site, undefined, space);
      }
      return created(viewSite(call, store.sites.get(site.id) ?? site), location(call, site));
    },
  }),
  operation({
    name: 'getSite',
    method: 'GET',
    path: '/orgs/{organizationId}/sites/{siteId}',
    handle: (call) => ok(viewSite(call, siteAt(call.store, call.params.organizationId, call.params.siteId))),
  }),
];

/** Operations on sites. Source: docs/platform-notes.md#sites */
export const siteOperations: readonly Operation[] = [
  ...lifecycle,
  operation({
    name: 'updateSite',
    method: 'PATCH',
    path: '/orgs/{organizationId}/sites/{siteId}',
    body: siteUpdate,
    handle: (call) => {
      const site = siteAt(call.store, call.params.organizationId, call.params.siteId);
      refuseUnknown(call, 'agentsContext', call.body, 'agentsContext');
      const { title, visibility, basename, agentsContext } = call.body;
      const updated = call.store.sites.put({
        ...chooseDefaults(call.store, site, call.body),
        ...present({ title, visibility, basename, agentsContext }),
        adaptiveContent: call.body.adaptiveContent?.enabled ?? site.adaptiveContent,
        proxy: patched(site.proxy, call.body.proxy),
      });
      return ok(viewSite(call, updated));
    },
  }),
  operation({
    name: 'deleteSite',
    method: 'DELETE',
    path: '/orgs/{organizationId}/sites/{siteId}',
    handle: (call) => {
      const organization = organizationAt(call.store, call.params.organizationId);
      const site = call.store.sites.get(call.params.siteId);
      if (site?.organization !== organization.id) {
        return deleted(false);
      }
      removeSite(call.store, site);
      return deleted(true);
    },
  }),
  operation({
    name: 'publishSite',
    method: 'POST',
    path: '/orgs/{organizationId}/sites/{siteId}/publish',
    feature: 'publish',
    handle: (call) => {
      const site = siteAt(call.store, call.params.organizationId, call.params.siteId);
      if (call.store.siteSpaces.count('site', site.id) === 0) {
        throw new ApiError(400, `Site "${site.id}" cannot be published: it has no site spaces`);
      }
      return ok(viewSite(call, call.store.sites.put({ ...site, published: true })));
    },
  }),
  operation({
    name: 'unpublishSite',
    method: 'POST',
    path: '/orgs/{organizationId}/sites/{siteId}/unpublish',
    feature: 'publish',
    handle: (call) => {
      const site = siteAt(call.store, call.params.organizationId, call.params.siteId);
      return ok(viewSite(call, call.store.sites.put({ ...site, published: false })));
    },
  }),
];
