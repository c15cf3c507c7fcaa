import * as z from 'zod';
import { list, read, remove, write } from './operation.ts';
import { nullableRole, optionalFlag, optionalNumber, optionalText, role, user } from './shapes.ts';

export const member = z.looseObject({
  id: z.string(),
  /** Null means guest. */
  role: optionalText,
  user: user.nullish(),
  disabled: optionalFlag,
  joinedAt: optionalText,
  lastSeenAt: optionalText,
  sso: optionalFlag,
  spaces: optionalNumber,
  teams: optionalNumber,
});
/** Members of the organization. */
export const memberOperations = {
  listMembers: list('listMembers', '/v1/orgs/{organizationId}/members', member, {
    role: z.union([role, z.literal('guest')]).optional(),
    search: z.string().optional(),
    sort: z.enum(['joinedAt', 'lastSeenAt']).optional(),
    order: z.enum(['asc', 'desc']).optional(),
  }),
  getMember: read('getMember', '/v1/orgs/{organizationId}/members/{userId}', member),
  updateMember: write('updateMember', 'PATCH', '/v1/orgs/{organizationId}/members/{userId}', {
    body: z.strictObject({ role: nullableRole }),
    answer: member,
    repeat: 'idempotent',
  }),
  deleteMember: remove('deleteMember', '/v1/orgs/{organizationId}/members/{userId}'),
  markMemberSso: write('markMemberSso', 'POST', '/v1/orgs/{organizationId}/members/{userId}/sso', {
    answer: member,
    repeat: 'idempotent',
  }),
};
