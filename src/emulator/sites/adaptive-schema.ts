// Operations on the adaptive schema of a site.

import { z } from 'zod';
import type { JsonObject } from '../../core/json.ts';
import { isObject } from '../../core/json.ts';
import { ApiError, ok } from '../model/answers.ts';
import { type ApiOperation, operation, SITE } from '../model/operation.ts';
import type { SiteRecord } from './records.ts';
import { requireSite } from './views.ts';

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

/** Operations on a site's adaptive schema. Source: docs/platform-notes.md#adaptive-schema */
export const adaptiveSchemaOperations: readonly ApiOperation[] = [
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
