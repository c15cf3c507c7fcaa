/*
 * Input for publishing an integration. Fields without a documented limit, such as the script, are limited by the size
 * of the request only. The lengths of blocks, content sources and configurations follow the vendor's OpenAPI document.
 * Source: docs/platform-notes.md#integrations
 */
import { z } from 'zod';
import { ApiError } from '../model/answers.ts';
import { id, text, url } from '../model/schema.ts';
import {
  INTEGRATION_CATEGORIES,
  INTEGRATION_SCOPES,
  INTEGRATION_TARGETS,
  INTEGRATION_VISIBILITIES,
} from '../model/vocabulary.ts';

const NAME = /^[a-zA-Z0-9-_.]+$/;
const MAX_NAME = 100;
const base64 = z.base64({ error: 'must be base64' });
const property = { title: text(0, 30).optional(), description: text(0, 100).optional() };

/**
 * A property of a configuration. Types other than `string` are from the vendor's OpenAPI document.
 * Source: docs/platform-notes.md#integrations
 */
const configurationProperty = z.discriminatedUnion('type', [
  z.strictObject({
    ...property,
    type: z.literal('string'),
    default: z.string().optional(),
    completion_url: z.string().optional(),
    enum: z.array(z.string()).optional(),
  }),
  z.strictObject({ ...property, type: z.literal('number'), default: z.number().optional() }),
  z.strictObject({ ...property, type: z.literal('boolean'), default: z.boolean().optional() }),
  z.strictObject({ ...property, type: z.literal('button'), callback_url: z.string(), button_text: z.string() }),
]);

/** Properties or a component; required properties must be defined. */
const configuration = z
  .strictObject({
    properties: z.record(z.string(), configurationProperty).optional(),
    required: z.array(z.string()).optional(),
    componentId: id.optional(),
  })
  .refine((given) => (given.properties === undefined) !== (given.componentId === undefined), {
    error: 'must have either properties or a componentId',
  })
  .refine((given) => (given.required ?? []).every((name) => Object.hasOwn(given.properties ?? {}, name)), {
    error: 'requires a property that it does not define',
  });

const described = { id, title: text(2, 40), description: text(0, 150).optional(), icon: z.string().optional() };

const block = z.strictObject({
  ...described,
  urlUnfurl: z.array(z.string()).optional(),
  markdown: z.strictObject({ codeblock: z.string(), body: z.string() }).optional(),
});

const contentSource = z.strictObject({ ...described, configuration: z.strictObject({ componentId: id }) });

/** Directives as one header, or by their names. */
const contentSecurityPolicy = z.union([z.string(), z.record(z.string().regex(/^[a-z]+(?:-[a-z]+)*$/), z.string())], {
  error: 'must be a policy, or directives by name',
});

function atMost<T>(items: z.ZodType<T>, most: number) {
  return z.array(items).max(most, { error: `must have at most ${most}` });
}

/** Required fields are those of the vendor's OpenAPI document. Source: docs/platform-notes.md#integrations */
export const publication = z.strictObject({
  organization: id,
  title: text(2, 30),
  description: text(0, 100),
  script: z.string(),
  scopes: z.array(z.enum(INTEGRATION_SCOPES)),
  /** The vendor's own command line sends `v2`. Source: docs/platform-notes.md#enumerations */
  runtime: z.enum(['v1', 'v2']).optional(),
  icon: base64.optional(),
  summary: text(0, 2048).optional(),
  previewImages: atMost(base64, 3).optional(),
  visibility: z.enum(INTEGRATION_VISIBILITIES).optional(),
  target: z.enum(INTEGRATION_TARGETS).optional(),
  categories: z.array(z.enum(INTEGRATION_CATEGORIES)).optional(),
  blocks: z.array(block).optional(),
  contentSources: z.array(contentSource).optional(),
  externalLinks: atMost(z.strictObject({ url: url(), label: z.string() }), 5).optional(),
  configurations: z
    .strictObject({
      account: configuration.optional(),
      space: configuration.optional(),
      site: configuration.optional(),
    })
    .optional(),
  secrets: z
    .record(z.string(), z.string())
    .refine((given) => Object.keys(given).length <= 20, { error: 'must have at most 20' })
    .optional(),
  contentSecurityPolicy: contentSecurityPolicy.optional(),
});

export type Publication = z.output<typeof publication>;

/** A block's domain in a query. */
export const blockDomain = text(1, MAX_NAME).refine((value) => NAME.test(value), { error: 'must be a domain' });

/**
 * Returns the name in the path. Throws a 400 for one that does not match the pattern.
 * Source: docs/platform-notes.md#limits
 */
export function requireName(name: string): string {
  if (!NAME.test(name) || name.length > MAX_NAME) {
    throw new ApiError(
      400,
      `path.integrationName: must be 1-${MAX_NAME} letters, digits, dots, hyphens or underscores`,
    );
  }
  return name;
}
