// Operations on OpenAPI specifications, and their shape as read.

import * as z from 'zod';
import { list, read, remove, write } from '../model/operation.ts';
import { optionalText, string, text, url, urls } from '../model/shapes.ts';

export const openApiSpec = z.looseObject({
  id: string,
  slug: string,
  sourceURL: optionalText,
  processingState: optionalText,
  visibility: optionalText,
  lastVersion: optionalText,
  lastProcessedAt: optionalText,
  lastProcessErrorCode: optionalText,
  urls,
});
/** OpenAPI specification, as read, without its text. */
export type OpenApiSpec = z.output<typeof openApiSpec>;

/** Source: docs/platform-notes.md#limits */
const slug = text(1, 100).refine((value) => /^[a-zA-Z0-9]+(?:-[a-zA-Z0-9]+)*$/.test(value), {
  error: 'must be letters and digits, with single hyphens between',
});
const source = z.union([z.strictObject({ url }), z.strictObject({ text: text(1, Number.POSITIVE_INFINITY) })]);

/** Operations on OpenAPI specifications, which are identified by slug. */
export const openApiOperations = {
  listOpenApiSpecs: list(
    'listOpenApiSpecs',
    'Lists the OpenAPI specifications of the organization.',
    '/v1/orgs/{organizationId}/openapi',
    openApiSpec,
  ),
  createOpenApiSpec: write(
    'createOpenApiSpec',
    'Creates an OpenAPI specification.',
    'POST',
    '/v1/orgs/{organizationId}/openapi',
    { body: z.strictObject({ slug, source }), answer: openApiSpec, repeat: 'never', success: [200, 201] },
  ),
  getOpenApiSpec: read(
    'getOpenApiSpec',
    'Returns an OpenAPI specification.',
    '/v1/orgs/{organizationId}/openapi/{specSlug}',
    openApiSpec,
  ),
  putOpenApiSpec: write(
    'putOpenApiSpec',
    'Creates an OpenAPI specification, or replaces its source.',
    'PUT',
    '/v1/orgs/{organizationId}/openapi/{specSlug}',
    {
      body: z.strictObject({ source }),
      answer: openApiSpec,
      repeat: 'idempotent',
      success: [200, 201],
    },
  ),
  updateOpenApiSpec: write(
    'updateOpenApiSpec',
    "Updates an OpenAPI specification's visibility.",
    'PATCH',
    '/v1/orgs/{organizationId}/openapi/{specSlug}',
    {
      body: z.strictObject({ visibility: z.enum(['private', 'public']) }),
      answer: openApiSpec,
      repeat: 'idempotent',
    },
  ),
  deleteOpenApiSpec: remove(
    'deleteOpenApiSpec',
    'Deletes an OpenAPI specification.',
    '/v1/orgs/{organizationId}/openapi/{specSlug}',
  ),
};
