// Operations on sites: settings, publishing, adaptive content and customization.

import * as z from 'zod';
import { list, read, remove, write } from '../model/operation.ts';
import {
  givenFlag,
  givenText,
  optionalFlag,
  optionalNumber,
  optionalText,
  string,
  text,
  texts,
  urls,
} from '../model/shapes.ts';
import { siteStructure } from './structure-shapes.ts';

/** Documented values of the styling. Source: docs/platform-notes.md#customization */
const styling = z.looseObject({
  theme: z.enum(['clean', 'muted', 'bold', 'gradient']).optional(),
  corners: z.enum(['straight', 'rounded', 'circular']).optional(),
  depth: z.enum(['subtle', 'flat']).optional(),
  links: z.enum(['default', 'accent']).optional(),
  icons: z.enum(['regular', 'solid', 'duotone', 'light', 'thin']).optional(),
  sidebar: z
    .looseObject({
      background: z.enum(['default', 'filled']).optional(),
      list: z.enum(['default', 'pill', 'line']).optional(),
    })
    .optional(),
  search: z.enum(['prominent', 'subtle']).optional(),
});

/**
 * Customization of a site. It is replaced as a whole: send the object that was read, with the change. The complete set
 * of fields is not documented, so unknown fields are sent too. Source: docs/platform-notes.md#customization
 */
const customization = z.looseObject({
  title: text(2, 128).optional(),
  styling: styling.optional(),
  themes: z.looseObject({ default: z.enum(['light', 'dark', 'system']).optional() }).optional(),
  ai: z.looseObject({ mode: z.enum(['none', 'search', 'assistant']).optional() }).optional(),
  externalLinks: z.looseObject({ target: z.enum(['self', 'blank']).optional() }).optional(),
});

export const site = z.looseObject({
  id: string,
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
  /** `checkout` if an upgrade is required; nothing was published then. Source: docs/platform-notes.md#publishing */
  type: optionalText,
  id: optionalText,
  published: optionalFlag,
});
/** Result of publishing: the site, or a checkout. */
export type PublishResult = z.output<typeof publishResult>;

const adaptiveSchema = z.looseObject({
  jsonSchema: z.record(string, z.unknown()).nullish(),
  updatedAt: optionalText,
});
/** Site as visitors see it. */
const publishedSite = z.looseObject({
  site: site.nullish(),
  structure: siteStructure.nullish(),
  customizations: z.looseObject({}).nullish(),
  /** Not in every version. Source: docs/platform-notes.md#sites */
  scripts: z.array(z.unknown()).nullish(),
});
const title = text(2, 128).optional();
const visibility = z.enum(['public', 'unlisted', 'share-link', 'visitor-auth']).optional();
const types = ['basic', 'premium', 'ultimate', 'sponsored', 'legacy-basic', 'legacy-premium'] as const;
/** Host and path, without a scheme. Source: docs/platform-notes.md#limits */
const proxy = text(0, 512).refine((value) => /^([\w-]+\.)*[\w-]+\.[a-zA-Z]{2,}(\/[\w-]+)+$/.test(value), {
  error: 'must be a host plus a path, such as example.com/docs',
});

/** Operations on docs sites and their adaptive-content schemas. */
export const siteOperations = {
  listSites: list('listSites', 'Lists the docs sites of the organization.', '/v1/orgs/{organizationId}/sites', site, {
    space: givenText,
    title: givenText,
    published: givenFlag,
    type: z.array(z.enum(types)).optional(),
  }),
  createSite: write(
    'createSite',
    'Creates a docs site; it starts unpublished.',
    'POST',
    '/v1/orgs/{organizationId}/sites',
    {
      body: z.strictObject({
        type: z.enum(types).optional(),
        title,
        visibility,
        spaces: texts.optional(),
      }),
      answer: site,
      repeat: 'never',
      success: [200, 201],
    },
  ),
  getSite: read('getSite', 'Returns a docs site.', '/v1/orgs/{organizationId}/sites/{siteId}', site),
  updateSite: write(
    'updateSite',
    "Updates a docs site's settings.",
    'PATCH',
    '/v1/orgs/{organizationId}/sites/{siteId}',
    {
      body: z.strictObject({
        title,
        visibility,
        basename: text(1, 100).optional(),
        adaptiveContent: z.strictObject({ enabled: z.boolean() }).optional(),
        agentsContext: z.enum(['excluded', 'included']).optional(),
        defaultSiteSpace: givenText,
        defaultSiteSection: givenText,
        proxy: proxy.nullable().optional(),
      }),
      answer: site,
      repeat: 'idempotent',
    },
  ),
  deleteSite: remove(
    'deleteSite',
    'Deletes a docs site; its spaces are kept.',
    '/v1/orgs/{organizationId}/sites/{siteId}',
  ),
  publishSite: write(
    'publishSite',
    'Publishes a docs site.',
    'POST',
    '/v1/orgs/{organizationId}/sites/{siteId}/publish',
    {
      answer: publishResult,
      repeat: 'idempotent',
    },
  ),
  unpublishSite: write(
    'unpublishSite',
    'Unpublishes a docs site.',
    'POST',
    '/v1/orgs/{organizationId}/sites/{siteId}/unpublish',
    {
      answer: site,
      repeat: 'idempotent',
    },
  ),
  getAdaptiveSchema: read(
    'getAdaptiveSchema',
    "Returns the schema of a docs site's visitor claims.",
    '/v1/orgs/{organizationId}/sites/{siteId}/adaptive-schema',
    adaptiveSchema,
  ),
  updateAdaptiveSchema: write(
    'updateAdaptiveSchema',
    "Replaces the schema of a docs site's visitor claims.",
    'PUT',
    '/v1/orgs/{organizationId}/sites/{siteId}/adaptive-schema',
    {
      body: z.strictObject({ jsonSchema: z.record(string, z.unknown()) }),
      answer: adaptiveSchema,
      repeat: 'idempotent',
    },
  ),
  getTemplateConditions: read(
    'getTemplateConditions',
    "Returns example conditions for a docs site's visitor claims.",
    '/v1/orgs/{organizationId}/sites/{siteId}/adaptive-schema/template-conditions',
    z.looseObject({ items: z.array(z.looseObject({ description: optionalText, condition: optionalText })) }),
  ),
  getPublishedSite: read(
    'getPublishedSite',
    'Returns a docs site as published: its structure and customization.',
    '/v1/orgs/{organizationId}/sites/{siteId}/published',
    publishedSite,
    { query: z.strictObject({ shareKey: givenText }) },
  ),
  getSiteCustomization: read(
    'getSiteCustomization',
    'Returns the customization of a docs site.',
    '/v1/orgs/{organizationId}/sites/{siteId}/customization',
    z.looseObject({}),
  ),
  updateSiteCustomization: write(
    'updateSiteCustomization',
    'Replaces the whole customization of a docs site.',
    'PUT',
    '/v1/orgs/{organizationId}/sites/{siteId}/customization',
    { body: customization, answer: z.looseObject({}), repeat: 'idempotent' },
  ),
};
