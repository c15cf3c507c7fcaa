/** Operations on sites and their adaptive schema. */

import { z } from 'zod';
import { isObject, type JsonObject } from '../../core/json.ts';
import { ApiError, created, deleted, ok, referenced } from '../model/answers.ts';
import { refuseUnknown } from '../model/features.ts';
import { type ApiOperation, ORGANIZATION, operation, SITE } from '../model/operation.ts';
import { listBySeq } from '../model/paging.ts';
import { containsText, omitUndefined, patched, withDefaults } from '../model/patch.ts';
import {
  AGENTS_CONTEXTS,
  defaultLevel,
  flag,
  id,
  listQuery,
  SITE_TYPES,
  siteVisibility,
  text,
} from '../model/schema.ts';
import type { EmulatorStore } from '../model/store.ts';
import { requireOrganization } from '../organizations/people.ts';
import { referencedSpace } from '../spaces/views.ts';
import type { SiteRecord } from './records.ts';
import { addSiteSpace, removeSite } from './tree.ts';
import { findPart, requireSite, siteLocation, viewSite } from './views.ts';

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
  defaultLevel: defaultLevel.optional(),
  defaultSiteSpace: id.optional(),
  defaultSiteSection: id.optional(),
  proxy: proxy.nullable().optional(),
});

/** Returns the site with its new defaults. The section of a default site space becomes the default section. */
function chooseDefaults(store: EmulatorStore, site: SiteRecord, body: z.output<typeof siteUpdate>): SiteRecord {
  const { defaultSiteSection, defaultSiteSpace } = body;
  let defaultSection = site.defaultSection;
  if (defaultSiteSection !== undefined) {
    const section = findPart(store.sections, site, defaultSiteSection);
    defaultSection = referenced(section, 'body.defaultSiteSection', 'site section', defaultSiteSection).id;
  }
  if (defaultSiteSpace === undefined) {
    return { ...site, defaultSection };
  }
  const given = findPart(store.siteSpaces, site, defaultSiteSpace);
  const siteSpace = referenced(given, 'body.defaultSiteSpace', 'site space', defaultSiteSpace);
  const section = siteSpace.section === undefined ? undefined : store.sections.get(siteSpace.section);
  if (section === undefined) {
    return { ...site, defaultSection, defaultSiteSpace };
  }
  store.sections.put({ ...section, defaultSiteSpace });
  return { ...site, defaultSection: section.id };
}

const UNSIGNED = 'Unsigned claims of the site visitor.';
const no = z.literal(false);
const description = z.string();

const simple = [
  z.strictObject({ type: z.literal('boolean'), description }),
  z.strictObject({ type: z.literal('string'), description, enum: z.array(z.string()).optional() }),
  z.strictObject({ type: z.literal('number'), description }),
] as const;

/** One claim (the vendor's SiteAdaptiveJSONSchemaClaimsProperties). Other keywords of JSON Schema are refused. */
const claim: z.ZodType<object> = z.lazy(() =>
  z.discriminatedUnion(
    'type',
    [
      ...simple,
      z.strictObject({ type: z.literal('array'), description, items: z.discriminatedUnion('type', simple) }),
      z.strictObject({
        type: z.literal('object'),
        description,
        properties: z.record(z.string(), claim),
        additionalProperties: no,
      }),
    ],
    { error: 'must be one of boolean, string, number, array, object' },
  ),
);

/** The vendor's SiteAdaptiveJSONSchema. Fields that its document requires are required. */
const claimsSchema = z.strictObject({
  $schema: z.literal('http://json-schema.org/draft-07/schema#').optional(),
  type: z.literal('object'),
  // A record, which keeps the order in which the claims were sent.
  properties: z.record(z.string(), claim).superRefine((properties, context) => {
    const { unsigned } = properties as { unsigned?: { type?: unknown; description?: unknown } };
    if (unsigned !== undefined && (unsigned.type !== 'object' || unsigned.description !== UNSIGNED)) {
      context.addIssue({ code: 'custom', path: ['unsigned'], message: `must be an object described as "${UNSIGNED}"` });
    }
  }),
  additionalProperties: no,
});

function schemaOf(site: SiteRecord): NonNullable<SiteRecord['adaptiveSchema']> {
  if (site.adaptiveSchema === undefined) {
    throw new ApiError(404, `Visitor attributes schema of site "${site.id}" not found`);
  }
  return site.adaptiveSchema;
}

function viewSchema(site: SiteRecord): unknown {
  return { object: 'site-adaptive-schema', ...schemaOf(site) };
}

/** Returns one condition for each boolean claim, and for each value of a claim with an `enum`. */
function conditionsOf(schema: unknown, claims: string): { description: string; condition: string }[] {
  const properties = isObject(schema) && isObject(schema.properties) ? schema.properties : {};
  return Object.entries(properties).flatMap(([name, property]) => {
    if (!isObject(property)) {
      return [];
    }
    const claim = `${claims}.${name}`;
    if (property.type === 'object') {
      return conditionsOf(property, claim);
    }
    const description = typeof property.description === 'string' ? property.description : name;
    const values = property.type === 'boolean' ? [true] : Array.isArray(property.enum) ? property.enum : [];
    return values.map((value) => ({ description, condition: `${claim} == ${JSON.stringify(value)}` }));
  });
}

const updateAdaptiveSchemaBody = z.strictObject({ jsonSchema: claimsSchema });

/** Operations on sites and their adaptive schema. */
export const siteOperations: readonly ApiOperation[] = [
  // Sites. Source: docs/platform-notes.md#sites
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
    return created(viewSite(call, store.sites.get(site.id) ?? site), siteLocation(call, site));
  }),
  operation('getSite', 'GET', SITE, {}, (call) => ok(viewSite(call, requireSite(call)))),
  operation('updateSite', 'PATCH', SITE, { body: siteUpdate }, (call) => {
    const site = requireSite(call);
    refuseUnknown(call, 'agentsContext', call.body, 'agentsContext');
    refuseUnknown(call, 'siteDefaultLevel', call.body, 'defaultLevel');
    const { title, visibility, basename, agentsContext, defaultLevel: level } = call.body;
    const updated = call.store.sites.put({
      ...chooseDefaults(call.store, site, call.body),
      ...omitUndefined({ title, visibility, basename, agentsContext }),
      defaultLevel: level === undefined ? site.defaultLevel : level,
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
  // A site's adaptive schema. Source: docs/platform-notes.md#adaptive-schema
  operation('getAdaptiveSchema', 'GET', `${SITE}/adaptive-schema`, {}, (call) => ok(viewSchema(requireSite(call)))),
  operation('updateAdaptiveSchema', 'PUT', `${SITE}/adaptive-schema`, { body: updateAdaptiveSchemaBody }, (call) => {
    const site = requireSite(call);
    const adaptiveSchema = { jsonSchema: call.body.jsonSchema as JsonObject, updatedAt: call.at };
    return ok(viewSchema(call.store.sites.put({ ...site, adaptiveSchema })));
  }),
  operation('getTemplateConditions', 'GET', `${SITE}/adaptive-schema/template-conditions`, {}, (call) => {
    const site = requireSite(call);
    return ok({ items: conditionsOf(schemaOf(site).jsonSchema, 'visitor.claims') });
  }),
];
