import * as z from 'zod';
import { space } from '../content/spaces.ts';
import { list, read, remove, write } from '../model/operation.ts';
import { givenText, member, nullableRole, optionalText, role, team } from '../model/shapes.ts';

const order = z.enum(['asc', 'desc']).optional();

/** Operations on members of the organization. */
export const memberOperations = {
  listMembers: list(
    'listMembers',
    'Lists the members of the organization, including guests.',
    '/v1/orgs/{organizationId}/members',
    member,
    {
      role: z.union([role, z.literal('guest')]).optional(),
      search: givenText,
      sort: z.enum(['joinedAt', 'lastSeenAt', 'name']).optional(),
      order,
    },
  ),
  getMember: read('getMember', 'Returns a member.', '/v1/orgs/{organizationId}/members/{userId}', member),
  updateMember: write(
    'updateMember',
    "Changes a member's role; null makes a guest.",
    'PATCH',
    '/v1/orgs/{organizationId}/members/{userId}',
    {
      body: z.strictObject({ role: nullableRole }),
      answer: member,
      repeat: 'idempotent',
    },
  ),
  deleteMember: remove(
    'deleteMember',
    'Removes a member from the organization.',
    '/v1/orgs/{organizationId}/members/{userId}',
  ),
  markMemberSso: write(
    'markMemberSso',
    'Marks a member as signing in through single sign-on.',
    'POST',
    '/v1/orgs/{organizationId}/members/{userId}/sso',
    {
      answer: member,
      repeat: 'idempotent',
    },
  ),
  listMemberSpaces: list(
    'listMemberSpaces',
    'Lists the spaces that a member has access to, with the role in each.',
    '/v1/orgs/{organizationId}/members/{userId}/spaces',
    z.looseObject({ permission: optionalText, space }),
    { order },
  ),
  listMemberTeams: list(
    'listMemberTeams',
    'Lists the teams of a member, with the role in each.',
    '/v1/orgs/{organizationId}/members/{userId}/teams',
    z.looseObject({ team, member: z.looseObject({ role: optionalText }).nullish() }),
    { title: givenText },
  ),
  // A repeated request only sets a later time.
  pingOrganization: write(
    'pingOrganization',
    "Records that the token's user is active; may return claims for sites that need them.",
    'POST',
    '/v1/orgs/{organizationId}/ping',
    {
      // Versions name the claims differently. Source: docs/platform-notes.md#authentication
      answer: z.looseObject({ serviceVisitorClaims: optionalText, gitbookVisitorClaims: optionalText }),
      repeat: 'idempotent',
    },
  ),
};
