import { z } from 'zod';
import { created, deleted, ok } from '../answers.ts';
import { organizationAt, referenced, teamAt } from '../lookup.ts';
import { type Operation, operation } from '../operation.ts';
import { listBySeq } from '../paging.ts';
import { containsText } from '../patch.ts';
import { id, listQuery, text } from '../schema.ts';
import type { Store } from '../store.ts';
import { viewTeam } from '../views/people.ts';

const title = text(1, 64);

/** Deletes the team, its memberships, and what SAML providers say of it. */
function deleteTeam(store: Store, organization: string, team: string): boolean {
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

/** Operations on teams. Source: docs/platform-notes.md#teams */
export const teamOperations: readonly Operation[] = [
  operation({
    name: 'listTeams',
    method: 'GET',
    path: '/orgs/{organizationId}/teams',
    query: listQuery.extend({ owner: z.string().optional(), title: z.string().optional() }),
    handle: (call) => {
      const { store, query } = call;
      const organization = organizationAt(store, call.params.organizationId);
      const items = store.teams
        .by('organization', organization.id)
        .filter((team) => query.title === undefined || containsText(team.title, query.title))
        .filter((team) => {
          return query.owner === undefined || store.teamMembers.get(`${team.id}/${query.owner}`)?.role === 'owner';
        });
      return listBySeq(call, items, (team) => viewTeam(call, team));
    },
  }),
  operation({
    name: 'createTeam',
    method: 'PUT',
    path: '/orgs/{organizationId}/teams',
    body: z.strictObject({ title, members: z.array(id).optional() }),
    handle: (call) => {
      const { store } = call;
      const organization = organizationAt(store, call.params.organizationId);
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
    },
  }),
  operation({
    name: 'getTeam',
    method: 'GET',
    path: '/orgs/{organizationId}/teams/{teamId}',
    handle: (call) => ok(viewTeam(call, teamAt(call.store, call.params.organizationId, call.params.teamId))),
  }),
  operation({
    name: 'updateTeam',
    method: 'PATCH',
    path: '/orgs/{organizationId}/teams/{teamId}',
    body: z.strictObject({ title }),
    handle: (call) => {
      const team = teamAt(call.store, call.params.organizationId, call.params.teamId);
      return ok(viewTeam(call, call.store.teams.put({ ...team, title: call.body.title })));
    },
  }),
  operation({
    name: 'deleteTeam',
    method: 'DELETE',
    path: '/orgs/{organizationId}/teams/{teamId}',
    handle: (call) => {
      const organization = organizationAt(call.store, call.params.organizationId);
      const team = call.store.teams.get(call.params.teamId);
      return deleted(team?.organization === organization.id && deleteTeam(call.store, organization.id, team.id));
    },
  }),
];
