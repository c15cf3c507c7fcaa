// Operations on integrations, their installations and their events.

import * as z from 'zod';
import { list, read, remove, write } from '../model/operation.ts';
import {
  givenFlag,
  givenText,
  optionalFlag,
  optionalNumber,
  optionalText,
  optionalTexts,
  permissions,
  reference,
  string,
  text,
  texts,
  url,
  urls,
} from '../model/shapes.ts';

/** Source: docs/platform-notes.md#enumerations */
const target = z.enum(['all', 'site', 'space', 'organization']);
const CATEGORIES = ['analytics', 'collaboration', 'content', 'gitsync', 'marketing', 'visitor-auth', 'other'] as const;
const category = z.enum(CATEGORIES);
const SCOPES = [
  'space:content:read',
  'space:content:write',
  'space:metadata:read',
  'space:metadata:write',
  'space:git:sync',
  'page:feedback:read',
  'site:metadata:read',
  'site:views:read',
  'site:script:inject',
  'site:script:cookies',
  'site:visitor:auth',
  'site:adaptive:read',
  'site:adaptive:write',
  'openapi:read',
  'openapi:write',
  'conversations:ingest',
  'site:visitor:claims',
] as const;
const scope = z.enum(SCOPES);

/** Integration, as read. */
const integration = z.looseObject({
  name: string,
  version: optionalNumber,
  title: optionalText,
  description: optionalText,
  summary: optionalText,
  previewImages: optionalTexts,
  target: optionalText,
  verified: optionalFlag,
  visibility: optionalText,
  scopes: optionalTexts,
  categories: optionalTexts,
  blocks: z.array(z.looseObject({ id: optionalText, title: optionalText })).nullish(),
  contentSources: z.array(z.looseObject({ id: optionalText, title: optionalText })).nullish(),
  configurations: z.record(string, z.unknown()).nullish(),
  externalLinks: z.array(z.looseObject({ url: optionalText, label: optionalText })).nullish(),
  owner: reference.nullish(),
  urls,
  permissions,
  /** Text, or directives by name. */
  contentSecurityPolicy: z.unknown().optional(),
});

/** Installation, as read. */
const installation = z.looseObject({
  id: string,
  status: optionalText,
  space_selection: optionalText,
  site_selection: optionalText,
  spaces: optionalNumber,
  configuration: z.record(string, z.unknown()).nullish(),
  createdAt: optionalText,
  updatedAt: optionalText,
  urls,
  externalIds: optionalTexts,
  target: z.looseObject({ organization: optionalText }).nullish(),
});

/** Installation on one space or site, as read: an id, or the whole object. */
const place = {
  integration: optionalText,
  installation: optionalText,
  status: optionalText,
  configuration: z.record(string, z.unknown()).nullish(),
  externalIds: optionalTexts,
  urls,
};
const shown = z.union([string, reference]).nullish();
const spaceInstallation = z.looseObject({ ...place, space: shown });
const siteInstallation = z.looseObject({ ...place, site: shown });

/** IntegrationEvent, as read. Unknown types are kept with all their members. */
const integrationEvent = z.looseObject({
  id: string,
  integrationId: optionalText,
  installationId: optionalText,
  createdAt: optionalText,
  payload: z.looseObject({ eventId: optionalText, type: optionalText, installationId: optionalText }).nullish(),
  status: optionalText,
});

/** Event with the log of its processing. */
const tracedEvent = z.looseObject({
  event: integrationEvent,
  trace: z
    .looseObject({
      logs: z
        .array(z.looseObject({ message: optionalText, timestamp: z.unknown().optional(), level: optionalText }))
        .nullish(),
    })
    .nullish(),
});

const named = {
  id: string,
  title: text(2, 40),
  description: text(0, 150).optional(),
  icon: givenText,
};
/** Fields of a form, or a component that shows one. */
const configuration = z.union([
  z.strictObject({ properties: z.record(string, z.looseObject({})), required: texts.optional() }),
  z.strictObject({ componentId: string }),
]);

/** Input for publishing an integration. Source: docs/platform-notes.md#integrations */
const publication = z.strictObject({
  runtime: z.enum(['v1', 'v2']).optional(),
  icon: z.base64().optional(),
  title: text(2, 30),
  description: text(0, 100),
  summary: text(0, 2048).optional(),
  previewImages: z.array(z.base64()).max(3).optional(),
  visibility: z.enum(['public', 'private', 'unlisted']).optional(),
  target: target.optional(),
  scopes: z.array(scope),
  categories: z.array(category).optional(),
  blocks: z
    .array(
      z.strictObject({
        ...named,
        urlUnfurl: texts.optional(),
        markdown: z.strictObject({ codeblock: string, body: string }).optional(),
      }),
    )
    .optional(),
  contentSources: z
    .array(z.strictObject({ ...named, configuration: z.strictObject({ componentId: string }) }))
    .optional(),
  externalLinks: z
    .array(z.strictObject({ url, label: string }))
    .max(5)
    .optional(),
  configurations: z
    .strictObject({
      account: configuration.optional(),
      space: configuration.optional(),
      site: configuration.optional(),
    })
    .optional(),
  script: string,
  /** Id or subdomain of the organization that owns it. */
  organization: string,
  secrets: z
    .record(string, string)
    .refine((secrets) => Object.keys(secrets).length <= 20, { error: 'must be 20 secrets at most' })
    .optional(),
  contentSecurityPolicy: z.union([string, z.record(string, string)]).optional(),
});

const all = '/v1/integrations';
const one = `${all}/{integrationName}` as const;
const events = `${one}/events` as const;

/** Operations on integrations and their events. Source: docs/platform-notes.md#integrations */
export const integrationOperations = {
  listIntegrations: list('listIntegrations', 'Lists the public integrations.', all, integration, {
    search: givenText,
    category: category.optional(),
    blockDomain: text(1, 100)
      .refine((domain) => /^[a-zA-Z0-9\-_.]+$/.test(domain), { error: 'must be a domain' })
      .optional(),
    blocks: givenFlag,
    contentSources: givenFlag,
    owner: givenText,
    scope: scope.optional(),
    target: target.optional(),
  }),
  getIntegration: read('getIntegration', 'Returns an integration by name.', one, integration),
  // Each publication creates a new version.
  publishIntegration: write('publishIntegration', 'Publishes a version of an integration.', 'POST', one, {
    body: publication,
    answer: integration,
    repeat: 'never',
  }),
  unpublishIntegration: remove('unpublishIntegration', 'Unpublishes an integration.', one),
  listIntegrationEvents: list('listIntegrationEvents', 'Lists the events of an integration.', events, integrationEvent),
  getIntegrationEvent: read(
    'getIntegrationEvent',
    'Returns an event of an integration, with its log.',
    `${events}/{eventId}`,
    tracedEvent,
  ),
};

const installations = `${one}/installations` as const;
const installed = `${installations}/{installationId}` as const;

/** Operations on installations of integrations. Source: docs/platform-notes.md#integrations */
export const installationOperations = {
  listInstallations: list(
    'listInstallations',
    'Lists the installations of an integration.',
    installations,
    installation,
    {
      externalId: givenText,
    },
  ),
  installIntegration: write(
    'installIntegration',
    'Installs an integration in an organization.',
    'POST',
    installations,
    {
      body: z.strictObject({ organization: string }),
      answer: installation,
      repeat: 'never',
      success: [200, 201],
    },
  ),
  getInstallation: read('getInstallation', 'Returns an installation of an integration.', installed, installation),
  updateInstallation: write('updateInstallation', 'Updates an installation of an integration.', 'PATCH', installed, {
    body: z.strictObject({
      externalIds: texts.max(5).optional(),
      configuration: z.record(string, z.unknown()).optional(),
      space_selection: z.enum(['all', 'selected']).optional(),
      site_selection: z.enum(['all', 'selected']).optional(),
    }),
    answer: installation,
    repeat: 'idempotent',
  }),
  deleteInstallation: remove('deleteInstallation', 'Uninstalls an integration from an organization.', installed),
  listInstallationSpaces: list(
    'listInstallationSpaces',
    'Lists the spaces of an installation.',
    `${installed}/spaces`,
    spaceInstallation,
  ),
  listInstallationSites: list(
    'listInstallationSites',
    'Lists the docs sites of an installation.',
    `${installed}/sites`,
    siteInstallation,
  ),
  // An unused token stays valid until it expires.
  createInstallationToken: write(
    'createInstallationToken',
    "Creates a token for an installation; requires the integration's own token.",
    'POST',
    `${installed}/tokens`,
    { answer: z.looseObject({ token: string }), repeat: 'never', success: [200, 201] },
  ),
};
