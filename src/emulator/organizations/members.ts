// Operations on members.

import { z } from 'zod';
import { type ApiAnswer, deleted, invalid, ok } from '../model/answers.ts';
import { refuseLaterValues } from '../model/features.ts';
import { type ApiOperation, type OperationCall, ORGANIZATION, operation } from '../model/operation.ts';
import { list, listBySeq } from '../model/paging.ts';
import { containsText } from '../model/patch.ts';
import { listQuery, nullableRole } from '../model/schema.ts';
import type { EmulatorStore } from '../model/store.ts';
import { ROLES } from '../model/vocabulary.ts';
import { getUser, requireMember, requireOrganization, viewMember, viewTeam } from './people.ts';
import type { MemberRecord } from './records.ts';

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
  return deleted(store.members.remove(member.id));
}

const listMemberTeamsQuery = listQuery.extend({ title: z.string().optional() });

const readOperations: readonly ApiOperation[] = [
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
];

const writeOperations: readonly ApiOperation[] = [
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
  operation('pingOrganization', 'POST', `${ORGANIZATION}/ping`, { allowsReaders: true }, (call) => {
    const { store } = call;
    const organization = requireOrganization(call);
    const user = store.users.one('email', call.caller.user.toLowerCase());
    const member = user === undefined ? undefined : store.members.get(`${organization.id}/${user.id}`);
    if (member === undefined) {
      return ok({});
    }
    store.members.put({ ...member, lastSeenAt: call.at });
    return ok({ serviceVisitorClaims: visitorClaims(member) });
  }),
];

/** Operations on members of an organization. Source: docs/platform-notes.md#members */
export const memberOperations: readonly ApiOperation[] = [...readOperations, ...writeOperations];
