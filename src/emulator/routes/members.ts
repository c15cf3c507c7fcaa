import { z } from 'zod';
import { type Answer, deleted, invalid, ok } from '../answers.ts';
import { memberAt, organizationAt, userOf } from '../lookup.ts';
import { type Call, type Operation, operation } from '../operation.ts';
import { list, listBySeq } from '../paging.ts';
import { containsText } from '../patch.ts';
import type { MemberRecord } from '../records.ts';
import { listQuery, nullableRole } from '../schema.ts';
import type { Store } from '../store.ts';
import { viewSpace } from '../views/content.ts';
import { viewMember, viewTeam } from '../views/people.ts';
import { ROLES } from '../vocabulary.ts';

const order = z.enum(['asc', 'desc']).optional();

/** Source: docs/platform-notes.md#filters */
const memberQuery = listQuery.extend({
  role: z.enum([...ROLES, 'guest']).optional(),
  search: z.string().optional(),
  sort: z.enum(['joinedAt', 'lastSeenAt']).optional(),
  order,
});

/** An organization always keeps somebody who can administrate it. */
function refuseLastAdmin(store: Store, member: MemberRecord, field: string): void {
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

function listMembers(call: Call<'/orgs/{organizationId}/members', z.output<typeof memberQuery>>): Answer {
  const { store, query } = call;
  const organization = organizationAt(store, call.params.organizationId);
  const sort = query.sort ?? 'joinedAt';
  const items = store.members.by('organization', organization.id).filter((member) => {
    const user = userOf(store, member);
    const role = query.role === 'guest' ? null : query.role;
    return (
      (role === undefined || member.role === role) &&
      (query.search === undefined ||
        containsText(user.displayName, query.search) ||
        containsText(user.email, query.search)) &&
      (sort === 'joinedAt' || member.lastSeenAt !== undefined)
    );
  });
  return list(call, {
    items,
    key: (member) => [member[sort] ?? '', member.seq],
    descending: query.order !== 'asc',
    view: (member) => viewMember(call, member),
  });
}

function removeMember(call: Call<'/orgs/{organizationId}/members/{userId}'>): Answer {
  const { store, params } = call;
  organizationAt(store, params.organizationId);
  const member = store.members.get(`${params.organizationId}/${params.userId}`);
  if (member === undefined) {
    return deleted(false);
  }
  refuseLastAdmin(store, member, 'path.userId');
  for (const membership of store.teamMembers.by('member', member.id)) {
    store.teamMembers.remove(membership.id);
  }
  return deleted(store.members.remove(member.id));
}

const readOperations: readonly Operation[] = [
  operation({
    name: 'listMembers',
    method: 'GET',
    path: '/orgs/{organizationId}/members',
    query: memberQuery,
    handle: listMembers,
  }),
  operation({
    name: 'getMember',
    method: 'GET',
    path: '/orgs/{organizationId}/members/{userId}',
    handle: (call) => ok(viewMember(call, memberAt(call.store, call.params.organizationId, call.params.userId))),
  }),
  operation({
    name: 'listMemberSpaces',
    method: 'GET',
    path: '/orgs/{organizationId}/members/{userId}/spaces',
    query: listQuery.extend({ order }),
    handle: (call) => {
      const member = memberAt(call.store, call.params.organizationId, call.params.userId);
      const spaces = member.role === null ? [] : call.store.spaces.by('organization', member.organization);
      return list(call, {
        items: spaces,
        key: (space) => [space.seq, 0],
        descending: call.query.order !== 'asc',
        view: (space) => ({ permission: member.role, space: viewSpace(call, space) }),
      });
    },
  }),
  operation({
    name: 'listMemberTeams',
    method: 'GET',
    path: '/orgs/{organizationId}/members/{userId}/teams',
    query: listQuery.extend({ title: z.string().optional() }),
    handle: (call) => {
      const { store, query } = call;
      const member = memberAt(store, call.params.organizationId, call.params.userId);
      const memberships = store.teamMembers.by('member', member.id).flatMap((membership) => {
        const team = store.teams.get(membership.team);
        const wanted = team !== undefined && containsText(team.title, query.title ?? '');
        return wanted ? [{ seq: membership.seq, role: membership.role, team }] : [];
      });
      return listBySeq(call, memberships, (item) => ({ team: viewTeam(call, item.team), member: { role: item.role } }));
    },
  }),
];

const writeOperations: readonly Operation[] = [
  operation({
    name: 'updateMember',
    method: 'PATCH',
    path: '/orgs/{organizationId}/members/{userId}',
    body: z.strictObject({ role: nullableRole.optional() }),
    handle: (call) => {
      const member = memberAt(call.store, call.params.organizationId, call.params.userId);
      const { role } = call.body;
      if (role === undefined) {
        return ok(viewMember(call, member));
      }
      if (role !== 'admin') {
        refuseLastAdmin(call.store, member, 'body.role');
      }
      return ok(viewMember(call, call.store.members.put({ ...member, role })));
    },
  }),
  operation({
    name: 'removeMember',
    method: 'DELETE',
    path: '/orgs/{organizationId}/members/{userId}',
    handle: removeMember,
  }),
  operation({
    name: 'setMemberSso',
    method: 'POST',
    path: '/orgs/{organizationId}/members/{userId}/sso',
    handle: (call) => {
      const member = memberAt(call.store, call.params.organizationId, call.params.userId);
      return ok(viewMember(call, call.store.members.put({ ...member, sso: true })));
    },
  }),
  operation({
    name: 'pingOrganization',
    method: 'POST',
    path: '/orgs/{organizationId}/ping',
    readersMay: true,
    handle: (call) => {
      const { store } = call;
      const organization = organizationAt(store, call.params.organizationId);
      const user = store.users.one('email', call.caller.user.toLowerCase());
      const member = user === undefined ? undefined : store.members.get(`${organization.id}/${user.id}`);
      if (member === undefined) {
        return ok({});
      }
      store.members.put({ ...member, lastSeenAt: call.at });
      return ok({ serviceVisitorClaims: visitorClaims(member) });
    },
  }),
];

/** Operations on members of an organization. Source: docs/platform-notes.md#members */
export const memberOperations: readonly Operation[] = [...readOperations, ...writeOperations];
