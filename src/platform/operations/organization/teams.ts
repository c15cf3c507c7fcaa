import * as z from 'zod';
import { list, read, remove, write } from '../model/operation.ts';
import { givenText, member, string, team, text, texts } from '../model/shapes.ts';

const teamMember = z.looseObject({
  organization: member,
  team: z.looseObject({ role: string }),
});
const title = text(1, 64);
const teamRole = z.enum(['owner', 'member']);

/** Operations on teams and their members. */
export const teamOperations = {
  listTeams: list('listTeams', 'Lists the teams of the organization.', '/v1/orgs/{organizationId}/teams', team, {
    owner: givenText,
    title: givenText,
  }),
  // PUT, but each call creates a new team, because the request has no key.
  createTeam: write('createTeam', 'Creates a team.', 'PUT', '/v1/orgs/{organizationId}/teams', {
    body: z.strictObject({ title, members: texts.optional() }),
    answer: team,
    repeat: 'never',
    success: [200, 201],
  }),
  getTeam: read('getTeam', 'Returns a team.', '/v1/orgs/{organizationId}/teams/{teamId}', team),
  updateTeam: write('updateTeam', "Updates a team's title.", 'PATCH', '/v1/orgs/{organizationId}/teams/{teamId}', {
    body: z.strictObject({ title }),
    answer: team,
    repeat: 'idempotent',
  }),
  deleteTeam: remove('deleteTeam', 'Deletes a team.', '/v1/orgs/{organizationId}/teams/{teamId}'),
  listTeamMembers: list(
    'listTeamMembers',
    'Lists the members of a team, with their roles in it.',
    '/v1/orgs/{organizationId}/teams/{teamId}/members',
    teamMember,
  ),
  updateTeamMembers: write(
    'updateTeamMembers',
    'Adds and removes members of a team, and sets their roles, in one request.',
    'PUT',
    '/v1/orgs/{organizationId}/teams/{teamId}/members',
    {
      body: z.strictObject({
        add: texts.optional(),
        remove: texts.optional(),
        memberships: z.record(string, z.strictObject({ role: teamRole })).optional(),
      }),
      repeat: 'idempotent',
      success: [200, 204],
    },
  ),
  setTeamMember: write(
    'setTeamMember',
    "Adds a member to a team, or updates the member's role in it.",
    'PUT',
    '/v1/orgs/{organizationId}/teams/{teamId}/members/{userId}',
    {
      // The role is optional. Source: docs/platform-notes.md#teams
      body: z.strictObject({ role: teamRole.optional() }),
      repeat: 'idempotent',
      success: [200, 204],
    },
  ),
  deleteTeamMember: remove(
    'deleteTeamMember',
    'Removes a member from a team.',
    '/v1/orgs/{organizationId}/teams/{teamId}/members/{userId}',
  ),
};
