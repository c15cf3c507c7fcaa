/** Responses about an organization: its settings, people, teams, sign-on and OpenAPI specifications. */
import * as z from 'zod';
import {
  member,
  optionalFlag,
  optionalText,
  optionalTexts,
  permissions,
  readMergeRules,
  reference,
  string,
  team,
  urls,
  user,
} from './model/shapes.ts';
import { list, read, write } from './table.ts';

const version = z.looseObject({ version: optionalText, build: optionalText });

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

const agentInstructions = z.looseObject({ instructions: z.unknown().optional() });

const teamMember = z.looseObject({
  organization: member,
  team: z.looseObject({ role: string }),
});

const samlProvider = z.looseObject({
  id: string,
  label: string,
  ssoURL: optionalText,
  entityID: optionalText,
  certificate: optionalText,
  /** Read as a team, written as its id. */
  defaultTeam: reference.nullish(),
  defaultRole: optionalText,
  status: optionalText,
});

const openApiSpec = z.looseObject({
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

/** Operations on the version, the caller, and an organization with its people. */
export const organizationOperations = {
  getVersion: read('getVersion', version),
  getAuthenticatedUser: read('getAuthenticatedUser', user),
  getOrganization: read('getOrganization', organization),
  updateOrganization: write('updateOrganization', organization),
  getAgentInstructions: read('getAgentInstructions', agentInstructions),
  updateAgentInstructions: write('updateAgentInstructions', agentInstructions),
  listMembers: list('listMembers', member),
  updateMember: write('updateMember', member),
  deleteMember: write('deleteMember'),
  markMemberSso: write('markMemberSso', member),
  inviteUsersToOrganization: write('inviteUsersToOrganization', z.looseObject({ users: optionalTexts })),
  listTeams: list('listTeams', team),
  createTeam: write('createTeam', team),
  updateTeam: write('updateTeam', team),
  deleteTeam: write('deleteTeam'),
  listTeamMembers: list('listTeamMembers', teamMember),
  updateTeamMembers: write('updateTeamMembers'),
  listSamlProviders: list('listSamlProviders', samlProvider),
  createSamlProvider: write('createSamlProvider', samlProvider),
  updateSamlProvider: write('updateSamlProvider', samlProvider),
  deleteSamlProvider: write('deleteSamlProvider'),
  listOpenApiSpecs: list('listOpenApiSpecs', openApiSpec),
  getOpenApiSpec: read('getOpenApiSpec', openApiSpec),
  putOpenApiSpec: write('putOpenApiSpec', openApiSpec),
  updateOpenApiSpec: write('updateOpenApiSpec', openApiSpec),
  deleteOpenApiSpec: write('deleteOpenApiSpec'),
};
