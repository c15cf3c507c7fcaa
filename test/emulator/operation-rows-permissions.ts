import { type Row, type Rows, SITE } from './operation-world.ts';

/** Rows of one place, in which the team has the role `edit` and Bo the role `read`. */
function rowsOf(place: string): readonly Row[] {
  const all = `${place}/permissions`;
  return [
    [`GET ${all}/teams`, 200, { count: 1, items: [{ permission: 'edit', team: { object: 'team', id: '{team}' } }] }],
    [`GET ${all}/users`, 200, { count: 1, items: [{ permission: 'read', user: { email: 'bo@acme.example' } }] }],
    [`GET ${all}/aggregate`, 200, { count: 2, items: [{ permission: 'admin' }, { permission: 'read' }] }],
    [`POST ${all}`, { teams: ['{team}'], role: 'admin' }, 204],
    [`POST ${all}`, { users: ['{ana}', '{bo}'], role: 'comment' }, 204],
    [`POST ${all}`, { users: ['{bo}'], role: null }, 204],
    [`POST ${all}`, { teams: [], role: 'read' }, 400],
    [`POST ${all}`, { teams: ['{team}'] }, 400],
    [`POST ${all}`, { teams: ['none'], role: 'read' }, 404, 'Team "none" not found'],
    [`POST ${all}`, { users: ['{bo}', 'none'], role: 'read' }, 404, 'User "none" not found'],
    [`PATCH ${all}/teams/{team}`, { role: 'review' }, 204],
    [`PATCH ${all}/teams/{team}`, {}, 204],
    [`PATCH ${all}/teams/{team}`, { role: 'owner' }, 400, 'body.role'],
    [`PATCH ${all}/teams/none`, { role: 'read' }, 404, 'Team "none" not found'],
    [`PATCH ${all}/users/{bo}`, { role: 'create' }, 204],
    [`PATCH ${all}/users/{ana}`, { role: 'read' }, 404, 'Permission of "{ana}" not found'],
    [`DELETE ${all}/teams/{team}`, 205],
    [`DELETE ${all}/teams/none`, 204],
    [`DELETE ${all}/users/{bo}`, 205],
    [`DELETE ${all}/users/{ana}`, 204],
  ];
}

/** The roles of teams and people in spaces, collections and sites. */
export const permissionRows: Rows = {
  'space permissions': [
    ...rowsOf('/spaces/{one}'),
    ['GET /spaces/{one}/permissions/aggregate?role=read', 200, { count: 1 }],
    ['GET /spaces/none/permissions/teams', 404, 'Space "none" not found'],
    ['PATCH /spaces/{one}/permissions/users/{bo}', { role: null }, 204],
  ],
  'collection permissions': [
    ...rowsOf('/collections/{col}'),
    ['GET /collections/{col}/permissions/aggregate?role=admin', 200, { count: 1 }],
    ['GET /collections/none/permissions/users', 404, 'Collection "none" not found'],
  ],
  'site permissions': [
    ...rowsOf(SITE),
    [`GET ${SITE}/permissions/aggregate`, 200, { items: [{}, { origin: { type: 'organization' } }] }],
    [`PATCH ${SITE}/permissions/users/{bo}`, { role: null }, 400, 'body.role'],
    [`GET /orgs/org_acme/sites/none/permissions/aggregate`, 404, 'Site "none" not found'],
  ],
};
