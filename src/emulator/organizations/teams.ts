// Operations on teams and their members.

import { z } from 'zod';
import { created, deleted, noContent, ok, referenced } from '../model/answers.ts';
import { type ApiOperation, ORGANIZATION, operation } from '../model/operation.ts';
import { listBySeq } from '../model/paging.ts';
import { containsText } from '../model/patch.ts';
import { id, listQuery, teamRole, text } from '../model/schema.ts';
import type { EmulatorStore } from '../model/store.ts';
import type { TeamRole } from '../model/vocabulary.ts';
import { requireMember, requireOrganization, requireTeam, viewTeam, viewTeamMember } from './people.ts';
import type { TeamRecord } from './records.ts';

const TEAM = `${ORGANIZATION}/teams/{teamId}` as const;

const title = text(1, 64);

/** Deletes the team and its memberships, and clears it as default team of SAML providers. */
function deleteTeam(store: EmulatorStore, organization: string, team: string): boolean {
  for (const membership of store.teamMembers.by('team', team)) {
    store.teamMembers.remove(membership.id);
  }
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

/** Operations on teams. Source: docs/platform-notes.md#teams */
export const teamOperations: readonly ApiOperation[] = [
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
      const membership = { id: `${team.id}/${user}`, organization: organization.id, team: team.id, user };
      store.teamMembers.put({ ...membership, seq: store.next(), role: 'member' });
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
];

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

/** Operations on team members. Writes answer 204. Source: docs/platform-notes.md#teams */
export const teamMemberOperations: readonly ApiOperation[] = [
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
];
