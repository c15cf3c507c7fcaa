// Operations on invite links.

import * as z from 'zod';
import { space } from '../content/spaces.ts';
import { list, read, remove, write } from '../model/operation.ts';
import { nullableRole, optionalFlag, optionalText, string } from '../model/shapes.ts';

/** Invite link: everybody who follows it becomes a member, possibly with access to only a part of the organization. */
const inviteLink = z.looseObject({
  id: string,
  role: optionalText,
  level: optionalText,
  redundant: optionalFlag,
  space: z.union([space, string]).nullish(),
});
/** Null creates guests. Source: docs/platform-notes.md#roles */
const invitation = z.strictObject({ role: nullableRole });

/** Operations on invite links, and joining the organization. Source: docs/platform-notes.md#invite-links */
export const invitationOperations = {
  listInviteLinks: list(
    'listInviteLinks',
    'Lists the invite links of the organization.',
    '/v1/orgs/{organizationId}/link-invites',
    inviteLink,
  ),
  createInviteLink: write(
    'createInviteLink',
    'Creates an invite link.',
    'POST',
    '/v1/orgs/{organizationId}/link-invites',
    { body: invitation, answer: inviteLink, repeat: 'never', success: [200, 201] },
  ),
  getInviteLink: read(
    'getInviteLink',
    'Returns an invite link.',
    '/v1/orgs/{organizationId}/link-invites/{inviteId}',
    inviteLink,
  ),
  updateInviteLink: write(
    'updateInviteLink',
    'Updates the role that an invite link grants.',
    'PATCH',
    '/v1/orgs/{organizationId}/link-invites/{inviteId}',
    { body: invitation, answer: inviteLink, repeat: 'idempotent' },
  ),
  deleteInviteLink: remove(
    'deleteInviteLink',
    'Deletes an invite link.',
    '/v1/orgs/{organizationId}/link-invites/{inviteId}',
  ),
  // It is not documented whether a member can join again.
  joinOrganization: write(
    'joinOrganization',
    "Joins an organization that allows the domain of the caller's email.",
    'POST',
    '/v1/orgs/{organizationId}/join',
    { repeat: 'never', success: [200, 204] },
  ),
};
