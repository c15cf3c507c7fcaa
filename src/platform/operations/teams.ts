import * as z from 'zod';
import { member } from './members.ts';
import { list, read, remove, write } from './operation.ts';
import { optionalNumber, optionalText, permissions, text } from './shapes.ts';

const team = z.looseObject({
  id: z.string(),
  title: z.string(),
  members: optionalNumber,
  spaces: optionalNumber,
  createdAt: optionalText,
  permissions,
});
const teamMember = z.looseObject({
  organization: member,
  team: z.looseObject({ role: z.string() }),
});
const title = text(1, 64);
const teamRole = z.enum(['owner', 'member']);

/** Teams and who is in them. */
export const teamOperations = {
  listTeams: list('listTeams', '/v1/orgs/{organizationId}/teams', team, {
    owner: z.string().optional(),
    title: z.string().optional(),
  }),
  // PUT, and yet each call makes a new team: there is no key in it.
  createTeam: write('createTeam', 'PUT', '/v1/orgs/{organizationId}/teams', {
    body: z.strictObject({ title, members: z.array(z.string()).optional() }),
    answer: team,
    repeat: 'never',
    success: [200, 201],
  }),
  getTeam: read('getTeam', '/v1/orgs/{organizationId}/teams/{teamId}', team),
  updateTeam: write('updateTeam', 'PATCH', '/v1/orgs/{organizationId}/teams/{teamId}', {
    body: z.strictObject({ title }),
    answer: team,
    repeat: 'idempotent',
  }),
  deleteTeam: remove('deleteTeam', '/v1/orgs/{organizationId}/teams/{teamId}'),
  listTeamMembers: list('listTeamMembers', '/v1/orgs/{organizationId}/teams/{teamId}/members', teamMember),
  updateTeamMembers: write('updateTeamMembers', 'PUT', '/v1/orgs/{organizationId}/teams/{teamId}/members', {
    body: z.strictObject({
      add: z.array(z.string()).optional(),
      remove: z.array(z.string()).optional(),
      memberships: z.record(z.string(), z.strictObject({ role: teamRole })).optional(),
    }),
    repeat: 'idempotent',
    success: [200, 204],
  }),
  setTeamMember: write('setTeamMember', 'PUT', '/v1/orgs/{organizationId}/teams/{teamId}/members/{userId}', {
    body: z.strictObject({ role: teamRole }),
    repeat: 'idempotent',
    success: [200, 204],
  }),
  deleteTeamMember: remove('deleteTeamMember', '/v1/orgs/{organizationId}/teams/{teamId}/members/{userId}'),
};
