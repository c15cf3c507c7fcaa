import { z } from 'zod';
import { deleted, noContent } from '../answers.ts';
import { memberAt, referenced, teamAt } from '../lookup.ts';
import { type Operation, operation } from '../operation.ts';
import { listBySeq } from '../paging.ts';
import type { TeamRecord } from '../records.ts';
import { id, listQuery, teamRole } from '../schema.ts';
import type { Store } from '../store.ts';
import { viewTeamMember } from '../views/people.ts';
import type { TeamRole } from '../vocabulary.ts';

const bulkUpdate = z.strictObject({
  add: z.array(id).optional(),
  remove: z.array(id).optional(),
  memberships: z.record(z.string(), z.strictObject({ role: teamRole })).optional(),
});
type BulkUpdate = z.output<typeof bulkUpdate>;

/** The user that an id or an email means: a member of the organization, else 400. */
function personNamed(store: Store, organization: string, name: string, field: string): string {
  const user = store.users.get(name) ?? store.users.one('email', name.toLowerCase());
  const member = user === undefined ? undefined : store.members.get(`${organization}/${user.id}`);
  return referenced(member, field, 'member', name).user;
}

function setRole(store: Store, team: TeamRecord, user: string, role: TeamRole): void {
  const id = `${team.id}/${user}`;
  const current = store.teamMembers.get(id);
  if (current === undefined) {
    store.teamMembers.put({ id, seq: store.next(), organization: team.organization, team: team.id, user, role });
  } else if (current.role !== role) {
    store.teamMembers.put({ ...current, role });
  }
}

/** The role that the user has in the team, else the one of somebody who is added without one. */
function roleIn(store: Store, team: TeamRecord, user: string): TeamRole {
  return store.teamMembers.get(`${team.id}/${user}`)?.role ?? 'member';
}

/**
 * All or nothing: every person is looked up before anything changes. `memberships` gives roles and adds whom the team
 * lacks; `add` without one makes a member, and leaves those alone who are in the team; who is also in `remove` goes.
 */
function updateMemberships(store: Store, team: TeamRecord, body: BulkUpdate): void {
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

/** Operations on team members. Writes answer 204. Source: docs/platform-notes.md#teams */
export const teamMemberOperations: readonly Operation[] = [
  operation({
    name: 'listTeamMembers',
    method: 'GET',
    path: '/orgs/{organizationId}/teams/{teamId}/members',
    query: listQuery,
    handle: (call) => {
      const team = teamAt(call.store, call.params.organizationId, call.params.teamId);
      return listBySeq(call, call.store.teamMembers.by('team', team.id), (item) => viewTeamMember(call, item));
    },
  }),
  operation({
    name: 'updateTeamMembers',
    method: 'PUT',
    path: '/orgs/{organizationId}/teams/{teamId}/members',
    body: bulkUpdate,
    handle: (call) => {
      const team = teamAt(call.store, call.params.organizationId, call.params.teamId);
      updateMemberships(call.store, team, call.body);
      return noContent();
    },
  }),
  operation({
    name: 'setTeamMember',
    method: 'PUT',
    path: '/orgs/{organizationId}/teams/{teamId}/members/{userId}',
    body: z.strictObject({ role: teamRole.optional() }).optional(),
    handle: (call) => {
      const { store } = call;
      const { organizationId, teamId, userId } = call.params;
      const team = teamAt(store, organizationId, teamId);
      const { user } = memberAt(store, organizationId, userId);
      setRole(store, team, user, call.body?.role ?? roleIn(store, team, user));
      return noContent();
    },
  }),
  operation({
    name: 'removeTeamMember',
    method: 'DELETE',
    path: '/orgs/{organizationId}/teams/{teamId}/members/{userId}',
    handle: (call) => {
      const team = teamAt(call.store, call.params.organizationId, call.params.teamId);
      return deleted(call.store.teamMembers.remove(`${team.id}/${call.params.userId}`));
    },
  }),
];
