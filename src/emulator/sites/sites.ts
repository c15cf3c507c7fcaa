// Operations on sites.

import { z } from 'zod';
import { ApiError, created, deleted, ok, referenced } from '../model/answers.ts';
import { withDefaults } from '../model/creation-defaults.ts';
import { refuseUnknown } from '../model/features.ts';
import { type ApiOperation, type Context, ORGANIZATION, operation, SITE } from '../model/operation.ts';
import { listBySeq } from '../model/paging.ts';
import { containsText, omitUndefined, patched } from '../model/patch.ts';
import { flag, id, listQuery, siteVisibility, text } from '../model/schema.ts';
import type { EmulatorStore } from '../model/store.ts';
import { AGENTS_CONTEXTS, SITE_TYPES } from '../model/vocabulary.ts';
import { requireOrganization } from '../organizations/people.ts';
import { referencedSpace } from '../spaces/views.ts';
import type { SiteRecord } from './records.ts';
import { addSiteSpace, removeSite } from './tree.ts';
import { findSection, findSiteSpace, requireSite, viewSite } from './views.ts';

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

/** Returns the site with its new defaults. The section of a default site space becomes the default section. */
function chooseDefaults(store: EmulatorStore, site: SiteRecord, body: z.output<typeof siteUpdate>): SiteRecord {
  const { defaultSiteSection, defaultSiteSpace } = body;
  let defaultSection = site.defaultSection;
  if (defaultSiteSection !== undefined) {
    const section = findSection(store, site, defaultSiteSection);
    defaultSection = referenced(section, 'body.defaultSiteSection', 'site section', defaultSiteSection).id;
  }
  if (defaultSiteSpace === undefined) {
    return { ...site, defaultSection };
  }
  const given = findSiteSpace(store, site, defaultSiteSpace);
  const siteSpace = referenced(given, 'body.defaultSiteSpace', 'site space', defaultSiteSpace);
  const section = siteSpace.section === undefined ? undefined : store.sections.get(siteSpace.section);
  if (section === undefined) {
    return { ...site, defaultSection, defaultSiteSpace };
  }
  store.sections.put({ ...section, defaultSiteSpace });
  return { ...site, defaultSection: section.id };
}

const lifecycle: readonly ApiOperation[] = [
  operation('listSites', 'GET', `${ORGANIZATION}/sites`, { query: siteQuery }, (call) => {
    const { store, query } = call;
    const organization = requireOrganization(call);
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
    return listBySeq(call, items, viewSite);
  }),
  operation('createSite', 'POST', `${ORGANIZATION}/sites`, { body: siteCreation.optional() }, (call) => {
    const { store, body } = call;
    const organization = requireOrganization(call);
    const spaces = (body?.spaces ?? []).map((space, at) => {
      return referencedSpace(store, organization.id, space, `body.spaces.${at}`);
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
  }),
  operation('getSite', 'GET', SITE, {}, (call) => ok(viewSite(call, requireSite(call)))),
];

/** Operations on sites. Source: docs/platform-notes.md#sites */
export const siteOperations: readonly ApiOperation[] = [
  ...lifecycle,
  operation('updateSite', 'PATCH', SITE, { body: siteUpdate }, (call) => {
    const site = requireSite(call);
    refuseUnknown(call, 'agentsContext', call.body, 'agentsContext');
    const { title, visibility, basename, agentsContext } = call.body;
    const updated = call.store.sites.put({
      ...chooseDefaults(call.store, site, call.body),
      ...omitUndefined({ title, visibility, basename, agentsContext }),
      adaptiveContent: call.body.adaptiveContent?.enabled ?? site.adaptiveContent,
      proxy: patched(site.proxy, call.body.proxy),
    });
    return ok(viewSite(call, updated));
  }),
  operation('deleteSite', 'DELETE', SITE, {}, (call) => {
    const organization = requireOrganization(call);
    const site = call.store.sites.get(call.params.siteId);
    if (site?.organization !== organization.id) {
      return deleted(false);
    }
    removeSite(call.store, site);
    return deleted(true);
  }),
  operation('publishSite', 'POST', `${SITE}/publish`, { feature: 'publish' }, (call) => {
    const site = requireSite(call);
    if (call.store.siteSpaces.count('site', site.id) === 0) {
      throw new ApiError(400, `Site "${site.id}" cannot be published: it has no site spaces`);
    }
    return ok(viewSite(call, call.store.sites.put({ ...site, published: true })));
  }),
  operation('unpublishSite', 'POST', `${SITE}/unpublish`, { feature: 'publish' }, (call) => {
    const site = requireSite(call);
    return ok(viewSite(call, call.store.sites.put({ ...site, published: false })));
  }),
];
