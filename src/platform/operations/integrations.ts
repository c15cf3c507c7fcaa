import * as z from 'zod';
import {
  category,
  installation,
  integration,
  integrationEvent,
  publication,
  scope,
  siteInstallation,
  spaceInstallation,
  target,
  tracedEvent,
} from './integration-shapes.ts';
import { list, read, remove, write } from './operation.ts';
import { givenFlag, givenText, string, text, texts } from './shapes.ts';

const all = '/v1/integrations';
const one = `${all}/{integrationName}` as const;
const events = `${one}/events` as const;

/** Operations on integrations and their events. Source: docs/platform-notes.md#integrations */
export const integrationOperations = {
  listIntegrations: list('listIntegrations', 'Integrations that anybody may install.', all, integration, {
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
  getIntegration: read('getIntegration', 'An integration, by its name.', one, integration),
  // Each publication is a version of its own.
  publishIntegration: write('publishIntegration', 'Publishes a version of an integration.', 'POST', one, {
    body: publication,
    answer: integration,
    repeat: 'never',
  }),
  unpublishIntegration: remove('unpublishIntegration', 'Takes an integration away.', one),
  listIntegrationEvents: list('listIntegrationEvents', 'Events of an integration.', events, integrationEvent),
  getIntegrationEvent: read(
    'getIntegrationEvent',
    'An event of an integration, with what was logged for it.',
    `${events}/{eventId}`,
    tracedEvent,
  ),
};

const installations = `${one}/installations` as const;
const installed = `${installations}/{installationId}` as const;

/** Operations on installations of integrations. Source: docs/platform-notes.md#integrations */
export const installationOperations = {
  listInstallations: list('listInstallations', 'Installations of an integration.', installations, installation, {
    externalId: givenText,
  }),
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
  getInstallation: read('getInstallation', 'An installation of an integration.', installed, installation),
  updateInstallation: write('updateInstallation', 'Changes an installation of an integration.', 'PATCH', installed, {
    body: z.strictObject({
      externalIds: texts.max(5).optional(),
      configuration: z.record(string, z.unknown()).optional(),
      space_selection: z.enum(['all', 'selected']).optional(),
      site_selection: z.enum(['all', 'selected']).optional(),
    }),
    answer: installation,
    repeat: 'idempotent',
  }),
  deleteInstallation: remove('deleteInstallation', 'Takes an integration out of an organization.', installed),
  listInstallationSpaces: list(
    'listInstallationSpaces',
    'Spaces that an installation is on.',
    `${installed}/spaces`,
    spaceInstallation,
  ),
  listInstallationSites: list(
    'listInstallationSites',
    'Docs sites that an installation is on.',
    `${installed}/sites`,
    siteInstallation,
  ),
  // A token that nobody knows of stays good for as long as it lives.
  createInstallationToken: write(
    'createInstallationToken',
    "Makes a token that speaks for an installation; called with the integration's own.",
    'POST',
    `${installed}/tokens`,
    { answer: z.looseObject({ token: string }), repeat: 'never', success: [200, 201] },
  ),
};
