// Operations for becoming a member: invite links and joining.

import { z } from 'zod';
import { ApiError, created, noContent, ok } from '../model/answers.ts';
import { type ApiOperation, type Context, ORGANIZATION, operation, type PathContext } from '../model/operation.ts';
import { listQuery, nullableRole } from '../model/schema.ts';
import { ROLES, type Role } from '../model/vocabulary.ts';
import { deleteOwned, findCallingUser, listOwned, requireOrganization, requireOwned } from './people.ts';
import type { EmulatedOrganization, LinkInviteRecord, UserRecord } from './records.ts';

const INVITES = '/orgs/{organizationId}/link-invites';
const INVITE = `${INVITES}/{inviteId}` as const;

/** Role that a link gives. Source: docs/platform-notes.md#invite-links */
const inviteBody = z.strictObject({ role: nullableRole });

/** Returns the rank of a role, from the most permissions to a guest. */
function rankOf(role: Role | null): number {
  return role === null ? ROLES.length : ROLES.indexOf(role);
}

/** `redundant`: the caller already has the role that the link gives. Source: docs/platform-notes.md#invite-links */
function viewInvite(context: Context, invite: LinkInviteRecord): unknown {
  const user = findCallingUser(context)?.id;
  const member = context.store.members.get(`${invite.organization}/${user}`);
  const redundant = member !== undefined && rankOf(member.role) <= rankOf(invite.role);
  return { object: 'invite', id: invite.id, role: invite.role, redundant };
}

function requireInvite(call: PathContext<'organizationId' | 'inviteId'>): LinkInviteRecord {
  const { inviteId } = call.params;
  return requireOwned(call, call.store.linkInvites.get(inviteId), 'Invite', inviteId);
}

/**
 * Rejects a new link (400) while the organization has `inviteLinks` off: a decision of this emulator. Existing links
 * stay. Source: docs/platform-notes.md#invite-links
 */
function refuseOff(organization: EmulatedOrganization): void {
  if (!organization.inviteLinks) {
    throw new ApiError(400, `Organization "${organization.id}" has invite links switched off`);
  }
}

/** Returns the user of the caller, who is added if unknown to the platform. */
function knownUser({ store, caller }: Context): UserRecord {
  const displayName = caller.user.split('@', 1)[0] ?? caller.user;
  const user = findCallingUser({ store, caller });
  return user ?? store.users.put({ ...store.identify('usr'), email: caller.user, displayName });
}

/**
 * Throws a 400 unless the domain of the caller's email address is one of the organization's.
 * Source: docs/platform-notes.md#organizations
 */
function refuseDomain(organization: EmulatedOrganization, email: string): void {
  const domain = email.toLowerCase().slice(email.lastIndexOf('@') + 1);
  if (!organization.emailDomains.some((allowed) => allowed.toLowerCase() === domain)) {
    throw new ApiError(400, `Email domain "${domain}" is not one of organization "${organization.id}"`);
  }
}

/**
 * Adds the caller as a member with the organization's default role. Decisions of this emulator: members stay as they
 * are, whatever their domain; a token with read permission may join too.
 */
const join = operation('joinOrganization', 'POST', `${ORGANIZATION}/join`, { allowsReaders: true }, (call) => {
  const { store } = call;
  const organization = requireOrganization(call);
  const known = findCallingUser(call);
  if (known !== undefined && store.members.get(`${organization.id}/${known.id}`) !== undefined) {
    return noContent();
  }
  refuseDomain(organization, call.caller.user);
  const user = knownUser(call);
  store.members.put({
    id: `${organization.id}/${user.id}`,
    seq: store.next(),
    organization: organization.id,
    user: user.id,
    role: organization.defaultRole,
    disabled: false,
    joinedAt: call.at,
    sso: false,
  });
  return noContent();
});

/** Operations for becoming a member: invite links and joining. Source: docs/platform-notes.md#invite-links */
export const linkInviteOperations: readonly ApiOperation[] = [
  join,
  operation('listInviteLinks', 'GET', INVITES, { query: listQuery }, (call) =>
    listOwned(call, call.store.linkInvites, viewInvite),
  ),
  operation('createInviteLink', 'POST', INVITES, { body: inviteBody }, (call) => {
    const organization = requireOrganization(call);
    refuseOff(organization);
    const invite = { ...call.store.identify('inv'), organization: organization.id, role: call.body.role };
    return created(viewInvite(call, call.store.linkInvites.put(invite)));
  }),
  operation('getInviteLink', 'GET', INVITE, {}, (call) => ok(viewInvite(call, requireInvite(call)))),
  operation('updateInviteLink', 'PATCH', INVITE, { body: inviteBody }, (call) => {
    const invite = requireInvite(call);
    return ok(viewInvite(call, call.store.linkInvites.put({ ...invite, role: call.body.role })));
  }),
  operation('deleteInviteLink', 'DELETE', INVITE, {}, (call) =>
    deleteOwned(call, call.store.linkInvites, call.params.inviteId),
  ),
];
