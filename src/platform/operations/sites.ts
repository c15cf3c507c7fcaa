import * as z from 'zod';
import { list, read, remove, write } from './operation.ts';
import { optionalFlag, optionalNumber, optionalText, text, urls } from './shapes.ts';

export const site = z.looseObject({
  id: z.string(),
  type: optionalText,
  title: optionalText,
  hostname: optionalText,
  basename: optionalText,
  /** Read as an object, written as host plus path. */
  proxy: z.looseObject({ origin: optionalText, target: optionalText }).nullish(),
  visibility: optionalText,
  published: optionalFlag,
  siteSpaces: optionalNumber,
  adaptiveContent: z.looseObject({ enabled: optionalFlag }).nullish(),
  agentsContext: optionalText,
  urls,
});
/** Docs site, as read. */
export type Site = z.output<typeof site>;

const publishResult = z.looseObject({
  /** `checkout` when an upgrade is needed; then nothing was published (supplement, section 7). */
  type: optionalText,
  id: optionalText,
  published: optionalFlag,
});
/** What publishing answers: the site, or a checkout. */
export type PublishResult = z.output<typeof publishResult>;

const adaptiveSchema = z.looseObject({
  jsonSchema: z.record(z.string(), z.unknown()).nullish(),
  updatedAt: optionalText,
});
const title = text(2, 128).optional();
const visibility = z.enum(['public', 'unlisted', 'share-link', 'visitor-auth']).optional();
const types = ['basic', 'premium', 'ultimate', 'sponsored', 'legacy-basic', 'legacy-premium'] as const;
/** Host plus path, without a scheme (supplement, section 5). */
const proxy = text(0, 512).refine((value) => /^([\w-]+\.)*[\w-]+\.[a-zA-Z]{2,}(\/[\w-]+)+$/.test(value), {
  error: 'must be a host plus a path, such as example.com/docs',
});

/** Docs sites and their adaptive-content schemas. */
export const siteOperations = {
  listSites: list('listSites', '/v1/orgs/{organizationId}/sites', site, {
    space: z.string().optional(),
    title: z.string().optional(),
    published: z.boolean().optional(),
    type: z.array(z.enum(types)).optional(),
  }),
  createSite: write('createSite', 'POST', '/v1/orgs/{organizationId}/sites', {
    body: z.strictObject({
      type: z.enum(types).optional(),
      title,
      visibility,
      spaces: z.array(z.string()).optional(),
    }),
    answer: site,
    repeat: 'never',
    success: [200, 201],
  }),
  getSite: read('getSite', '/v1/orgs/{organizationId}/sites/{siteId}', site),
  updateSite: write('updateSite', 'PATCH', '/v1/orgs/{organizationId}/sites/{siteId}', {
    body: z.strictObject({
      title,
      visibility,
      basename: text(1, 100).optional(),
      adaptiveContent: z.strictObject({ enabled: z.boolean() }).optional(),
      agentsContext: z.enum(['excluded', 'included']).optional(),
      defaultSiteSpace: z.string().optional(),
      defaultSiteSection: z.string().optional(),
      proxy: proxy.nullable().optional(),
    }),
    answer: site,
    repeat: 'idempotent',
  }),
  deleteSite: remove('deleteSite', '/v1/orgs/{organizationId}/sites/{siteId}'),
  publishSite: write('publishSite', 'POST', '/v1/orgs/{organizationId}/sites/{siteId}/publish', {
    answer: publishResult,
    repeat: 'idempotent',
  }),
  unpublishSite: write('unpublishSite', 'POST', '/v1/orgs/{organizationId}/sites/{siteId}/unpublish', {
    answer: site,
    repeat: 'idempotent',
  }),
  getAdaptiveSchema: read(
    'getAdaptiveSchema',
    '/v1/orgs/{organizationId}/sites/{siteId}/adaptive-schema',
    adaptiveSchema,
  ),
  updateAdaptiveSchema: write(
    'updateAdaptiveSchema',
    'PUT',
    '/v1/orgs/{organizationId}/sites/{siteId}/adaptive-schema',
    {
      body: z.strictObject({ jsonSchema: z.record(z.string(), z.unknown()) }),
      answer: adaptiveSchema,
      repeat: 'idempotent',
    },
  ),
};
