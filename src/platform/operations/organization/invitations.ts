import * as z from 'zod';
import { space } from '../content/spaces.ts';
import { list, read, remove, write } from '../model/operation.ts';
import { nullableRole, optionalFlag, optionalText, string } from '../model/shapes.ts';

/** A link that makes whoever follows it a member. What it lets into may be less than the organization. */
const inviteLink = z.looseObject({
  id: string,
  role: optionalText,
  level: optionalText,
  redundant: optionalFlag,
  space: z.union([space, string]).nullish(),
});
/** Null makes guests. Source: docs/platform-notes.md#roles */
const invitation = z.strictObject({ role: nullableRole });

/** Operations on invite links, and joining the organization. Source: docs/platform-notes.md#invite-links */
export const invitationOperations = {
  listInviteLinks: list(
    'listInviteLinks',
    'Invite links of the organization.',
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
    'An invite link.',
    '/v1/orgs/{organizationId}/link-invites/{inviteId}',
    inviteLink,
  ),
  updateInviteLink: write(
    'updateInviteLink',
    'Changes the role that an invite link gives.',
    'PATCH',
    '/v1/orgs/{organizationId}/link-invites/{inviteId}',
    { body: invitation, answer: inviteLink, repeat: 'idempotent' },
  ),
  deleteInviteLink: remove(
    'deleteInviteLink',
    'Deletes an invite link.',
    '/v1/orgs/{organizationId}/link-invites/{inviteId}',
  ),
  // Whether somebody who is in already may join again is not documented.
  joinOrganization: write(
    'joinOrganization',
    "Joins an organization that admits the domain of the caller's email.",
    'POST',
    '/v1/orgs/{organizationId}/join',
    { repeat: 'never', success: [200, 204] },
  ),
};
