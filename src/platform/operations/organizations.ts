import * as z from 'zod';
import { list, read, write } from './operation.ts';
import {
  mergeRules,
  nullableRole,
  optionalFlag,
  optionalText,
  permissions,
  readMergeRules,
  text,
  url,
  urls,
} from './shapes.ts';

const organization = z.looseObject({
  id: z.string(),
  title: z.string(),
  emailDomains: z.array(z.string()).nullish(),
  hostname: optionalText,
  defaultRole: optionalText,
  defaultContent: z.looseObject({ type: z.string(), site: optionalText }).nullish(),
  sso: optionalFlag,
  ai: optionalFlag,
  inviteLinks: optionalFlag,
  mergeRules: readMergeRules,
  urls,
  permissions,
});
const organizationUpdate = z.strictObject({
  title: text(2, 255).optional(),
  emailDomains: z.array(z.string()).optional(),
  hostname: text(3, 32).optional(),
  defaultRole: nullableRole.optional(),
  defaultContent: z
    .strictObject({ type: z.literal('site'), site: z.string() })
    .nullable()
    .optional(),
  logo: url.nullable().optional(),
  sso: z.boolean().optional(),
  ai: z.boolean().optional(),
  inviteLinks: z.boolean().optional(),
  mergeRules: mergeRules.optional(),
});

const version = z.looseObject({ version: optionalText, build: optionalText });

/** The version, and organizations. */
export const organizationOperations = {
  getVersion: read('getVersion', '/v1/', version),
  listOrganizations: list('listOrganizations', '/v1/orgs', organization),
  getOrganization: read('getOrganization', '/v1/orgs/{organizationId}', organization),
  updateOrganization: write('updateOrganization', 'PATCH', '/v1/orgs/{organizationId}', {
    body: organizationUpdate,
    answer: organization,
    repeat: 'idempotent',
  }),
};
