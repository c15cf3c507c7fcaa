/** Schema of visitor claims that the platform accepts: a small subset of JSON Schema draft-07. */
import { z } from 'zod';

/** Required description of the unsigned claims. */
const UNSIGNED = 'Unsigned claims of the site visitor.';

const description = z.string({ error: 'needs a description' });
const closed = z.literal(false, { error: 'is required and must be false' });
const kindOfClaim = 'must be boolean, string, number, array or object';

const primitives = [
  z.strictObject({ type: z.literal('boolean'), description }),
  z.strictObject({ type: z.literal('string'), description, enum: z.array(z.string()).optional() }),
  z.strictObject({ type: z.literal('number'), description }),
] as const;
const primitive = z.discriminatedUnion('type', primitives, { error: 'must be boolean, string or number' });

const claim: z.ZodType<object> = z.lazy(() =>
  z.discriminatedUnion(
    'type',
    [
      ...primitives,
      z.strictObject({ type: z.literal('array'), description, items: primitive }),
      z.strictObject({
        type: z.literal('object'),
        description,
        properties: z.record(z.string(), claim),
        additionalProperties: closed,
      }),
    ],
    { error: kindOfClaim },
  ),
);

const unsigned = z.strictObject({
  type: z.literal('object'),
  description: z.literal(UNSIGNED, { error: `must be ${JSON.stringify(UNSIGNED)}` }),
  properties: z.record(z.string(), claim),
  additionalProperties: closed,
});

/**
 * The rules of `SiteAdaptiveJSONSchema` in the vendor's OpenAPI documents.
 * Source: docs/platform-notes.md#adaptive-schema
 */
export const adaptiveSchema = z.strictObject({
  $schema: z.literal('http://json-schema.org/draft-07/schema#').optional(),
  type: z.literal('object', { error: 'must be object' }),
  properties: z.object({ unsigned: unsigned.optional() }).catchall(claim),
  additionalProperties: closed,
});
