import { z } from 'zod';
import type { JsonObject } from '../../core/json.ts';
import { isObject } from '../../core/json.ts';
import { ApiError, ok } from '../answers.ts';
import { siteAt } from '../lookup.ts';
import { type Operation, operation } from '../operation.ts';
import type { SiteRecord } from '../records.ts';

/** One claim, or an object of them; the types are those of the vendor's published document. */
const claim: z.ZodType<Record<string, unknown>> = z.lazy(() =>
  z.looseObject({
    type: z.enum(['boolean', 'string', 'number', 'array', 'object']),
    description: z.string().optional(),
    properties: z.record(z.string(), claim).optional(),
    items: claim.optional(),
  }),
);

/** A schema of visitors' claims (JSON Schema draft-07): an object; unsigned ones lie below `properties.unsigned`. */
const claimsSchema = z.looseObject({
  $schema: z.literal('http://json-schema.org/draft-07/schema#').optional(),
  type: z.literal('object'),
  properties: z.record(z.string(), claim),
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

/** One condition for every boolean claim and for every value of a claim with an `enum`. */
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

/** A site's adaptive content schema (platform API, Docs sites). */
export const adaptiveSchemaOperations: readonly Operation[] = [
  operation({
    name: 'getAdaptiveSchema',
    method: 'GET',
    path: '/orgs/{organizationId}/sites/{siteId}/adaptive-schema',
    handle: (call) => ok(viewSchema(siteAt(call.store, call.params.organizationId, call.params.siteId))),
  }),
  operation({
    name: 'setAdaptiveSchema',
    method: 'PUT',
    path: '/orgs/{organizationId}/sites/{siteId}/adaptive-schema',
    body: z.strictObject({ jsonSchema: claimsSchema }),
    handle: (call) => {
      const site = siteAt(call.store, call.params.organizationId, call.params.siteId);
      const adaptiveSchema = { jsonSchema: call.body.jsonSchema as JsonObject, updatedAt: call.at };
      return ok(viewSchema(call.store.sites.put({ ...site, adaptiveSchema })));
    },
  }),
  operation({
    name: 'listTemplateConditions',
    method: 'GET',
    path: '/orgs/{organizationId}/sites/{siteId}/adaptive-schema/template-conditions',
    handle: (call) => {
      const site = siteAt(call.store, call.params.organizationId, call.params.siteId);
      return ok({ items: conditionsOf(schemaOf(site).jsonSchema, 'visitor.claims') });
    },
  }),
];
