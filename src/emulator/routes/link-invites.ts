import { z } from 'zod';
import { ApiError, created, deleted, noContent, ok } from '../answers.ts';
import { callingUser, found, organizationAt } from '../lookup.ts';
import { type Context, type Operation, operation } from '../operation.ts';
import { listBySeq } from '../paging.ts';
import type { LinkInviteRecord, OrganizationRecord, UserRecord } from '../records.ts';
import { listQuery, nullableRole } from '../schema.ts';
import type { Store } from '../store.ts';
import { ROLES, type Role } from '../vocabulary.ts';

const INVITES = '/orgs/{organizationId}/link-invites';
const INVITE = `${INVITES}/{inviteId}` as const;

/** The role that the link gives. Source: docs/platform-notes.md#invite-links */
const inviteBody = z.strictObject({ role: nullableRole });

/** How much a role may, the most first; a guest's is the least. */
function rankOf(role: Role | null): number {
  return role === null ? ROLES.length : ROLES.indexOf(role);
}

/** `redundant`: the caller already has the role that the link gives. Source: docs/platform-notes.md#invite-links */
function viewInvite(context: Context, invite: LinkInviteRecord): unknown {
  const user = callingUser(context.store, context.caller)?.id;
  const member = context.store.members.get(`${invite.organization}/${user}`);
  const redundant = member !== undefined && rankOf(member.role) <= rankOf(invite.role);
  return { object: 'invite', id: invite.id, role: invite.role, redundant };
}

function inviteAt(store: Store, organization: string, id: string): LinkInviteRecord {
  organizationAt(store, organization);
  const invite = store.linkInvites.get(id);
  return found(invite?.organization === organization ? invite : undefined, 'Invite', id);
}

/**
 * Rejects a new link (400) while the organization has `inviteLinks` off: a decision of this emulator. Existing links
 * stay. Source: docs/platform-notes.md#invite-links
 */
function refuseOff(organization: OrganizationRecord): void {
  if (!organization.inviteLinks) {
    throw new ApiError(400, `Organization "${organization.id}" has no invite links enabled`);
  }
}

/** The caller as somebody whom the platform knows. */
function knownUser({ store, caller }: Context): UserRecord {
  const displayName = caller.user.split('@', 1)[0] ?? caller.user;
  const user = callingUser(store, caller);
  return user ?? store.users.put({ ...store.identify('usr'), email: caller.user, displayName });
}

/**
 * Throws a 400 unless the domain of the caller's email address is one of the organization's.
 * Source: docs/platform-notes.md#organizations
 */
function refuseDomain(organization: OrganizationRecord, email: string): void {
  const domain = email.toLowerCase().slice(email.lastIndexOf('@') + 1);
  if (!organization.emailDomains.some((allowed) => allowed.toLowerCase() === domain)) {
    throw new ApiError(400, `Email domain "${domain}" is not one of organization "${organization.id}"`);
  }
}

/**
 * With the organization's default role. Decisions of this emulator: who is a member already stays as they are, whatever
 * their domain; and since joining is no right that somebody gives, a token that may only read joins too.
 */
const join = operation({
  name: 'joinOrganization',
  method: 'POST',
  path: '/orgs/{organizationId}/join',
  readersMay: true,
  handle: (call) => {
    const { store } = call;
    const organization = organizationAt(store, call.params.organizationId);
    const known = callingUser(store, call.caller);
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
  },
});

/** Operations for becoming a member: invite links and joining. Source: docs/platform-notes.md#invite-links */
export const linkInviteOperations: readonly Operation[] = [
  join,
  operation({
    name: 'listLinkInvites',
    method: 'GET',
    path: INVITES,
    query: listQuery,
    handle: (call) => {
      const organization = organizationAt(call.store, call.params.organizationId);
      const invites = call.store.linkInvites.by('organization', organization.id);
      return listBySeq(call, invites, (invite) => viewInvite(call, invite));
    },
  }),
  operation({
    name: 'createLinkInvite',
    method: 'POST',
    path: INVITES,
    body: inviteBody,
    handle: (call) => {
      const organization = organizationAt(call.store, call.params.organizationId);
      refuseOff(organization);
      const invite = { ...call.store.identify('inv'), organization: organization.id, role: call.body.role };
      return created(viewInvite(call, call.store.linkInvites.put(invite)));
    },
  }),
  operation({
    name: 'getLinkInvite',
    method: 'GET',
    path: INVITE,
    handle: (call) => ok(viewInvite(call, inviteAt(call.store, call.params.organizationId, call.params.inviteId))),
  }),
  operation({
    name: 'updateLinkInvite',
    method: 'PATCH',
    path: INVITE,
    body: inviteBody,
    handle: (call) => {
      const invite = inviteAt(call.store, call.params.organizationId, call.params.inviteId);
      return ok(viewInvite(call, call.store.linkInvites.put({ ...invite, role: call.body.role })));
    },
  }),
  operation({
    name: 'deleteLinkInvite',
    method: 'DELETE',
    path: INVITE,
    handle: (call) => {
      const organization = organizationAt(call.store, call.params.organizationId);
      const invite = call.store.linkInvites.get(call.params.inviteId);
      return deleted(invite?.organization === organization.id && call.store.linkInvites.remove(invite.id));
    },
  }),
];
