/** Operations on members and teams, and for becoming a member. */

import { z } from 'zod';
import { type ApiAnswer, ApiError, created, deleted, invalid, noContent, ok, referenced } from '../model/answers.ts';
import { refuseLaterValues } from '../model/features.ts';
import { type ApiOperation, type Context, type OperationCall, ORGANIZATION, operation } from '../model/operation.ts';
import { list, listBySeq } from '../model/paging.ts';
import { containsText } from '../model/patch.ts';
import { id, listQuery, nullableRole, ROLES, type Role, type TeamRole, teamRole, text } from '../model/schema.ts';
import type { EmulatorStore } from '../model/store.ts';
import {
  deleteOwned,
  type EmulatedOrganization,
  findCallingUser,
  getUser,
  type LinkInviteRecord,
  listOwned,
  type MemberRecord,
  ownedLookup,
  removePermissions,
  requireMember,
  requireOrganization,
  requireTeam,
  type TeamRecord,
  type UserRecord,
  viewMember,
  viewTeam,
  viewTeamMember,
} from './people.ts';

const MEMBER = `${ORGANIZATION}/members/{userId}` as const;

const order = z.enum(['asc', 'desc']).optional();

/** Source: docs/platform-notes.md#filters */
const memberQuery = listQuery.extend({
  role: z.enum([...ROLES, 'guest']).optional(),
  search: z.string().optional(),
  sort: z.enum(['joinedAt', 'lastSeenAt', 'name']).optional(),
  order,
});

/** Throws a 400 for a change that would leave the organization without an admin. */
function refuseLastAdmin(store: EmulatorStore, member: MemberRecord, field: string): void {
  if (member.role !== 'admin') {
    return;
  }
  const admins = store.members.by('organization', member.organization).filter((other) => other.role === 'admin');
  if (admins.length === 1) {
    throw invalid(field, 'the last admin of the organization must stay an admin');
  }
}

/** Returns an unsigned JWT, since nothing verifies it. Source: docs/platform-notes.md#authentication */
function visitorClaims(member: MemberRecord): string {
  const parts = [
    { alg: 'none', typ: 'JWT' },
    { sub: member.user, organization: member.organization },
  ];
  return `${parts.map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.')}.`;
}

function listMembers(call: OperationCall<'/orgs/{organizationId}/members', z.output<typeof memberQuery>>): ApiAnswer {
  const { store, query } = call;
  const organization = requireOrganization(call);
  const sort = query.sort ?? 'joinedAt';
  refuseLaterValues(call, 'memberNames', [sort], 'query.sort');
  const items = store.members.by('organization', organization.id).filter((member) => {
    const user = getUser(store, member);
    const role = query.role === 'guest' ? null : query.role;
    return (
      (role === undefined || member.role === role) &&
      (query.search === undefined ||
        containsText(user.displayName, query.search) ||
        containsText(user.email, query.search)) &&
      (sort !== 'lastSeenAt' || member.lastSeenAt !== undefined)
    );
  });
  return list(call, {
    items,
    key: (member) => [
      sort === 'name' ? getUser(store, member).displayName.toLowerCase() : (member[sort] ?? ''),
      member.seq,
    ],
    descending: query.order !== 'asc',
    view: viewMember,
  });
}

function removeMember(call: OperationCall<'/orgs/{organizationId}/members/{userId}'>): ApiAnswer {
  const { store, params } = call;
  requireOrganization(call);
  const member = store.members.get(`${params.organizationId}/${params.userId}`);
  if (member === undefined) {
    return deleted(false);
  }
  refuseLastAdmin(store, member, 'path.userId');
  for (const membership of store.teamMembers.by('member', member.id)) {
    store.teamMembers.remove(membership.id);
  }
  removePermissions(store, member.organization, member.user);
  return deleted(store.members.remove(member.id));
}

const listMemberTeamsQuery = listQuery.extend({ title: z.string().optional() });

const TEAM = `${ORGANIZATION}/teams/{teamId}` as const;

const title = text(1, 64);

/** Deletes the team with its memberships and permissions, and clears it as default team of SAML providers. */
function deleteTeam(store: EmulatorStore, organization: string, team: string): boolean {
  for (const membership of store.teamMembers.by('team', team)) {
    store.teamMembers.remove(membership.id);
  }
  removePermissions(store, organization, team);
  for (const provider of store.samlProviders.by('organization', organization)) {
    if (provider.defaultTeam === team) {
      store.samlProviders.put({ ...provider, defaultTeam: undefined });
    }
  }
  return store.teams.remove(team);
}

const listTeamsQuery = listQuery.extend({ owner: z.string().optional(), title: z.string().optional() });
const createTeamBody = z.strictObject({ title, members: z.array(id).optional() });
const setTeamMemberBody = z.strictObject({ role: teamRole.optional() }).optional();

const bulkUpdate = z.strictObject({
  add: z.array(id).optional(),
  remove: z.array(id).optional(),
  memberships: z.record(z.string(), z.strictObject({ role: teamRole })).optional(),
});

type BulkUpdate = z.output<typeof bulkUpdate>;

/** Returns the user with that id or email address, or throws a 400 unless it is a member of the organization. */
function personNamed(store: EmulatorStore, organization: string, name: string, field: string): string {
  const user = store.users.get(name) ?? store.users.one('email', name.toLowerCase());
  const member = user === undefined ? undefined : store.members.get(`${organization}/${user.id}`);
  return referenced(member, field, 'member', name).user;
}

function setRole(store: EmulatorStore, team: TeamRecord, user: string, role: TeamRole): void {
  const id = `${team.id}/${user}`;
  const current = store.teamMembers.get(id);
  if (current === undefined) {
    store.teamMembers.put({ id, seq: store.next(), organization: team.organization, team: team.id, user, role });
  } else if (current.role !== role) {
    store.teamMembers.put({ ...current, role });
  }
}

/** Returns the role of the user in the team; `member` for a new member. */
function roleIn(store: EmulatorStore, team: TeamRecord, user: string): TeamRole {
  return store.teamMembers.get(`${team.id}/${user}`)?.role ?? 'member';
}

/**
 * Updates memberships completely or not at all: every person is looked up before anything changes. `memberships` sets
 * roles and adds missing members; `add` adds members and keeps the roles of existing ones; `remove` wins over both.
 */
function updateMemberships(store: EmulatorStore, team: TeamRecord, body: BulkUpdate): void {
  const person = (name: string, field: string) => personNamed(store, team.organization, name, field);
  const added = (body.add ?? []).map((name, at) => person(name, `body.add.${at}`));
  const removed = new Set((body.remove ?? []).map((name, at) => person(name, `body.remove.${at}`)));
  const roles = new Map(
    Object.entries(body.memberships ?? {}).map(([name, entry]) => {
      return [person(name, `body.memberships.${name}`), entry.role] as const;
    }),
  );
  for (const user of added) {
    if (!roles.has(user)) {
      roles.set(user, roleIn(store, team, user));
    }
  }
  for (const [user, role] of roles) {
    if (!removed.has(user)) {
      setRole(store, team, user, role);
    }
  }
  for (const user of removed) {
    store.teamMembers.remove(`${team.id}/${user}`);
  }
}

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

const requireInvite = ownedLookup('Invite', 'inviteId', ({ linkInvites }) => linkInvites);

/**
 * Rejects a new link (400) while the organization has `inviteLinks` off: a decision of this emulator. Existing links
 * stay. Source: docs/platform-notes.md#invite-links
 */
function refuseOff(organization: EmulatedOrganization): void {
  if (!organization.inviteLinks) {
    throw new ApiError(400, `Organization "${organization.id}" has invite links switched off`);
  }
}

/** Returns the user with an email address, who is added if unknown to the platform. */
function knownUser(store: EmulatorStore, email: string): UserRecord {
  const displayName = email.split('@', 1)[0] ?? email;
  const user = store.users.one('email', email.toLowerCase());
  return user ?? store.users.put({ ...store.identify('usr'), email, displayName });
}

const inviteUsersBody = z.strictObject({
  emails: z.array(z.union([z.string(), z.strictObject({ email: z.string(), role: nullableRole })])),
  role: nullableRole.optional(),
  sso: z.boolean().optional(),
});

/**
 * Invites people. Decisions of this emulator: members stay as they are, invited people are listed once they have joined,
 * and a second invitation replaces the first. Source: docs/platform-notes.md#invitations
 */
function inviteUsers(
  call: OperationCall<'/orgs/{organizationId}/invites', undefined, z.output<typeof inviteUsersBody>>,
) {
  const { store, body } = call;
  const organization = requireOrganization(call);
  const invited = body.emails.map((each, at) => {
    const { email, role = body.role } = typeof each === 'string' ? { email: each } : each;
    if (!/^[^@\s]+@[^@\s]+$/.test(email)) {
      throw invalid(`body.emails.${at}`, 'is not an email address');
    }
    return { email, role: role === undefined ? organization.defaultRole : role };
  });
  const users = invited.flatMap(({ email, role }) => {
    const user = knownUser(store, email).id;
    const id = `${organization.id}/${user}`;
    if (store.members.get(id) !== undefined) {
      return [];
    }
    store.invitations.put({ id, seq: store.next(), organization: organization.id, role, sso: body.sso === true });
    return [user];
  });
  return ok({ users, invited: users.length, failedSSOEmails: [] });
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
 * Adds the caller as a member with the role of the invitation, or else the organization's default role. Decisions of this
 * emulator: members stay as they are, whatever their domain; a token with read permission may join too.
 */
const join = operation('joinOrganization', 'POST', `${ORGANIZATION}/join`, { allowsReaders: true }, (call) => {
  const { store } = call;
  const organization = requireOrganization(call);
  const known = findCallingUser(call);
  if (known !== undefined && store.members.get(`${organization.id}/${known.id}`) !== undefined) {
    return noContent();
  }
  const invitation = known === undefined ? undefined : store.invitations.get(`${organization.id}/${known.id}`);
  if (invitation === undefined) {
    refuseDomain(organization, call.caller.user);
  }
  const user = knownUser(store, call.caller.user);
  const id = `${organization.id}/${user.id}`;
  store.invitations.remove(id);
  store.members.put({
    id,
    seq: store.next(),
    organization: organization.id,
    user: user.id,
    role: invitation === undefined ? organization.defaultRole : invitation.role,
    disabled: false,
    joinedAt: call.at,
    sso: invitation?.sso === true,
  });
  return noContent();
});

/** Operations on members, teams and invite links. */
export const memberOperations: readonly ApiOperation[] = [
  // Members. Source: docs/platform-notes.md#members
  operation('listMembers', 'GET', `${ORGANIZATION}/members`, { query: memberQuery }, listMembers),
  operation('getMember', 'GET', MEMBER, {}, (call) => ok(viewMember(call, requireMember(call)))),
  operation('listMemberTeams', 'GET', `${MEMBER}/teams`, { query: listMemberTeamsQuery }, (call) => {
    const { store, query } = call;
    const member = requireMember(call);
    const memberships = store.teamMembers.by('member', member.id).flatMap((membership) => {
      const team = store.teams.get(membership.team);
      const wanted = team !== undefined && containsText(team.title, query.title ?? '');
      return wanted ? [{ seq: membership.seq, role: membership.role, team }] : [];
    });
    return listBySeq(call, memberships, (_, item) => ({
      team: viewTeam(call, item.team),
      member: { role: item.role },
    }));
  }),
  operation('updateMember', 'PATCH', MEMBER, { body: z.strictObject({ role: nullableRole.optional() }) }, (call) => {
    const member = requireMember(call);
    const { role } = call.body;
    if (role === undefined) {
      return ok(viewMember(call, member));
    }
    if (role !== 'admin') {
      refuseLastAdmin(call.store, member, 'body.role');
    }
    return ok(viewMember(call, call.store.members.put({ ...member, role })));
  }),
  operation('deleteMember', 'DELETE', MEMBER, {}, removeMember),
  operation('markMemberSso', 'POST', `${MEMBER}/sso`, {}, (call) => {
    const member = requireMember(call);
    return ok(viewMember(call, call.store.members.put({ ...member, sso: true })));
  }),
  operation('inviteUsersToOrganization', 'POST', `${ORGANIZATION}/invites`, { body: inviteUsersBody }, inviteUsers),
  operation('pingOrganization', 'POST', `${ORGANIZATION}/ping`, { allowsReaders: true }, (call) => {
    const { store } = call;
    const organization = requireOrganization(call);
    const member = store.members.get(`${organization.id}/${findCallingUser(call)?.id}`);
    if (member === undefined) {
      return ok({});
    }
    store.members.put({ ...member, lastSeenAt: call.at });
    return ok({ serviceVisitorClaims: visitorClaims(member) });
  }),
  // Teams. Source: docs/platform-notes.md#teams
  operation('listTeams', 'GET', `${ORGANIZATION}/teams`, { query: listTeamsQuery }, (call) => {
    const { store } = call;
    const { title = '', owner } = call.query;
    const all = store.teams.by('organization', requireOrganization(call).id);
    const titled = title === '' ? all : all.filter((team) => containsText(team.title, title));
    const isOwned = ({ id }: TeamRecord) => store.teamMembers.get(`${id}/${owner}`)?.role === 'owner';
    return listBySeq(call, owner === undefined ? titled : titled.filter(isOwned), viewTeam);
  }),
  operation('createTeam', 'PUT', `${ORGANIZATION}/teams`, { body: createTeamBody }, (call) => {
    const { store } = call;
    const organization = requireOrganization(call);
    const users = [...new Set(call.body.members)];
    for (const [at, user] of users.entries()) {
      referenced(store.members.get(`${organization.id}/${user}`), `body.members.${at}`, 'member', user);
    }
    const team = store.teams.put({
      ...store.identify('team'),
      organization: organization.id,
      title: call.body.title,
      createdAt: call.at,
    });
    for (const user of users) {
      setRole(store, team, user, 'member');
    }
    return created(viewTeam(call, team));
  }),
  operation('getTeam', 'GET', TEAM, {}, (call) => ok(viewTeam(call, requireTeam(call)))),
  operation('updateTeam', 'PATCH', TEAM, { body: z.strictObject({ title }) }, (call) => {
    const team = requireTeam(call);
    return ok(viewTeam(call, call.store.teams.put({ ...team, title: call.body.title })));
  }),
  operation('deleteTeam', 'DELETE', TEAM, {}, (call) => {
    const organization = requireOrganization(call);
    const team = call.store.teams.get(call.params.teamId);
    return deleted(team?.organization === organization.id && deleteTeam(call.store, organization.id, team.id));
  }),
  // Team members. Writes answer 204. Source: docs/platform-notes.md#teams
  operation('listTeamMembers', 'GET', `${TEAM}/members`, { query: listQuery }, (call) => {
    const team = requireTeam(call);
    return listBySeq(call, call.store.teamMembers.by('team', team.id), viewTeamMember);
  }),
  operation('updateTeamMembers', 'PUT', `${TEAM}/members`, { body: bulkUpdate }, (call) => {
    const team = requireTeam(call);
    updateMemberships(call.store, team, call.body);
    return noContent();
  }),
  operation('setTeamMember', 'PUT', `${TEAM}/members/{userId}`, { body: setTeamMemberBody }, (call) => {
    const { store } = call;
    const team = requireTeam(call);
    const { user } = requireMember(call);
    setRole(store, team, user, call.body?.role ?? roleIn(store, team, user));
    return noContent();
  }),
  operation('deleteTeamMember', 'DELETE', `${TEAM}/members/{userId}`, {}, (call) => {
    const team = requireTeam(call);
    return deleted(call.store.teamMembers.remove(`${team.id}/${call.params.userId}`));
  }),
  // Becoming a member: invite links and joining. Source: docs/platform-notes.md#invite-links
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
