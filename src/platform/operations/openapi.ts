import * as z from 'zod';
import { list, read, remove, write } from './operation.ts';
import { optionalText, url, urls } from './shapes.ts';

export const openApiSpec = z.looseObject({
  id: z.string(),
  slug: z.string(),
  sourceURL: optionalText,
  processingState: optionalText,
  visibility: optionalText,
  lastVersion: optionalText,
  lastProcessedAt: optionalText,
  lastProcessErrorCode: optionalText,
  urls,
});
/** OpenAPI specification, as read. Its text is not given back. */
export type OpenApiSpec = z.output<typeof openApiSpec>;

const source = z.union([z.strictObject({ url }), z.strictObject({ text: z.string() })]);

/** OpenAPI specifications; named by slug. */
export const openApiOperations = {
  listOpenApiSpecs: list('listOpenApiSpecs', '/v1/orgs/{organizationId}/openapi', openApiSpec),
  getOpenApiSpec: read('getOpenApiSpec', '/v1/orgs/{organizationId}/openapi/{specSlug}', openApiSpec),
  putOpenApiSpec: write('putOpenApiSpec', 'PUT', '/v1/orgs/{organizationId}/openapi/{specSlug}', {
    body: z.strictObject({ source }),
    answer: openApiSpec,
    repeat: 'idempotent',
    success: [200, 201],
  }),
  updateOpenApiSpec: write('updateOpenApiSpec', 'PATCH', '/v1/orgs/{organizationId}/openapi/{specSlug}', {
    body: z.strictObject({ visibility: z.enum(['private', 'public']) }),
    answer: openApiSpec,
    repeat: 'idempotent',
  }),
  deleteOpenApiSpec: remove('deleteOpenApiSpec', '/v1/orgs/{organizationId}/openapi/{specSlug}'),
};
