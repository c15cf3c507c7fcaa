// Operations on organizations, the caller and the version of the platform.

import * as z from 'zod';
import { list, read, write } from '../model/operation.ts';
import {
  givenFlag,
  mergeRules,
  nullableRole,
  optionalFlag,
  optionalText,
  optionalTexts,
  permissions,
  readMergeRules,
  richDocument,
  string,
  text,
  texts,
  url,
  urls,
  user,
} from '../model/shapes.ts';

const organization = z.looseObject({
  id: string,
  title: string,
  emailDomains: optionalTexts,
  hostname: optionalText,
  defaultRole: optionalText,
  defaultContent: z.looseObject({ type: string, site: optionalText }).nullish(),
  sso: optionalFlag,
  ai: optionalFlag,
  inviteLinks: optionalFlag,
  mergeRules: readMergeRules,
  urls,
  permissions,
});
const organizationUpdate = z.strictObject({
  title: text(2, 255)
    .refine((title) => /\S.*\S/.test(title), { error: 'must have two visible characters on one line' })
    .optional(),
  emailDomains: texts.optional(),
  hostname: text(3, 32).optional(),
  defaultRole: nullableRole.optional(),
  defaultContent: z
    .strictObject({ type: z.literal('site'), site: string })
    .nullable()
    .optional(),
  logo: url.nullable().optional(),
  sso: givenFlag,
  ai: givenFlag,
  inviteLinks: givenFlag,
  mergeRules: mergeRules.optional(),
});

/** Instructions for agents about the organization. */
const agentInstructions = z.looseObject({
  /** A rich document. */
  instructions: z.unknown().optional(),
  updatedAt: optionalText,
  updatedBy: optionalText,
  urls,
});

const version = z.looseObject({ version: optionalText, build: optionalText });

/** Operations on the version, the caller, and organizations. */
export const organizationOperations = {
  getVersion: read('getVersion', "Returns the platform's version.", '/v1/', version),
  getAuthenticatedUser: read('getAuthenticatedUser', 'Returns the user that the token belongs to.', '/v1/user', user),
  listOrganizations: list(
    'listOrganizations',
    'Lists the organizations that the token has access to.',
    '/v1/orgs',
    organization,
  ),
  getOrganization: read('getOrganization', 'Returns an organization.', '/v1/orgs/{organizationId}', organization),
  updateOrganization: write(
    'updateOrganization',
    "Updates an organization's settings.",
    'PATCH',
    '/v1/orgs/{organizationId}',
    {
      body: organizationUpdate,
      answer: organization,
      repeat: 'idempotent',
    },
  ),
  getAgentInstructions: read(
    'getAgentInstructions',
    "Returns the organization's instructions for agents.",
    '/v1/orgs/{organizationId}/agent-instructions',
    agentInstructions,
  ),
  updateAgentInstructions: write(
    'updateAgentInstructions',
    "Replaces the organization's instructions for agents.",
    'PUT',
    '/v1/orgs/{organizationId}/agent-instructions',
    { body: z.strictObject({ instructions: richDocument }), answer: agentInstructions, repeat: 'idempotent' },
  ),
};
