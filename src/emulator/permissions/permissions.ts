/** Operations on the roles that teams and people have in spaces, collections and sites. Source: docs/platform-notes.md#permissions */

import { z } from 'zod';
import { type ApiAnswer, deleted, found, noContent } from '../model/answers.ts';
import { type ApiOperation, type Context, type OperationCall, operation, SITE, SPACE } from '../model/operation.ts';
import { listBySeq } from '../model/paging.ts';
import { id, type ListQuery, listQuery, nullableRole, ROLES, type Role } from '../model/schema.ts';
import { type MemberRecord, type PermissionRecord, viewTeam, viewUserOf } from '../organizations/people.ts';
import { levelOf, requireSite } from '../sites/views.ts';
import { type DefaultLevel, requireCollection, requireSpace } from '../spaces/views.ts';

/** A space, collection or site, as far as permissions need it. */
interface Place {
  readonly id: string;
  readonly organization: string;
  readonly defaultLevel?: DefaultLevel | undefined;
  /** Its collection. */
  readonly parent?: string | undefined;
}

type AnyCall<Query = unknown, Body = unknown> = OperationCall<string, Query, Body>;
type Holder = PermissionRecord['type'];

/** Operations of one kind of place. `word` ends the names of its operations. */
interface PlaceKind {
  readonly word: string;
  readonly path: string;
  require(call: AnyCall): Place;
  readonly isSite?: true;
}

function siteOf(call: AnyCall): Place {
  const site = requireSite(call as never);
  return { id: site.id, organization: site.organization, defaultLevel: levelOf(site) };
}

const PLACES: readonly PlaceKind[] = [
  { word: 'Space', path: SPACE, require: (call) => requireSpace(call as never) },
  {
    word: 'Collection',
    path: '/collections/{collectionId}',
    require: (call) => requireCollection(call as never),
  },
  { word: 'Site', path: SITE, require: siteOf, isSite: true },
];

const param = (call: AnyCall, name: string): string => (call.params as Readonly<Record<string, string>>)[name] ?? '';

/** Returns the id under which a holder is recorded, or throws a 404 unless it belongs to the organization of the place. */
function requireHolder({ store }: Context, { organization }: Place, type: Holder, holder: string): string {
  const record = type === 'team' ? store.teams.get(holder) : store.members.get(`${organization}/${holder}`);
  return found(record?.organization === organization ? holder : undefined, type === 'team' ? 'Team' : 'User', holder);
}

const recordId = (place: Place, type: Holder, holder: string) => `${place.id}/${type}/${holder}`;

/** Gives a role. Without a role there is nothing to record, except at a site, where it takes the access away. */
function setRole({ store }: Context, kind: PlaceKind, place: Place, type: Holder, holder: string, role: Role | null) {
  const key = recordId(place, type, holder);
  if (role === null && kind.isSite !== true) {
    store.permissions.remove(key);
    return;
  }
  const seq = store.permissions.get(key)?.seq ?? store.next();
  store.permissions.put({ id: key, seq, organization: place.organization, place: place.id, type, holder, role });
}

function ofType({ store }: Context, place: Place, type: Holder): readonly PermissionRecord[] {
  return store.permissions.by('place', place.id).filter((record) => record.type === type);
}

/** Returns the role with the most permissions. */
function highest(roles: readonly (Role | null)[]): Role | null {
  return ROLES.find((role) => roles.includes(role)) ?? null;
}

/** The role of a member in effect, and why. */
interface Effect {
  readonly role: Role | null;
  readonly reason: 'member' | 'team' | 'default' | 'organization';
  readonly team?: string | undefined;
}

/**
 * Decisions of this emulator: an admin of the organization is an admin everywhere. Otherwise the role of the person wins
 * over those of teams, and those over the default level; `inherit` is the role in the collection, or in the organization.
 */
function effectOf(context: Context, place: Place, member: MemberRecord): Effect {
  const { store } = context;
  if (member.role === 'admin') {
    return { role: 'admin', reason: 'organization' };
  }
  const own = ofType(context, place, 'user').find(({ holder }) => holder === member.user);
  if (own !== undefined) {
    return { role: own.role, reason: 'member' };
  }
  const teams = ofType(context, place, 'team').filter(({ holder }) =>
    store.teamMembers.get(`${holder}/${member.user}`),
  );
  if (teams.length > 0) {
    const role = highest(teams.map((team) => team.role));
    return { role, reason: 'team', team: teams.find((team) => team.role === role)?.holder };
  }
  if (place.defaultLevel !== 'inherit') {
    // A guest has only the roles that name the guest. Source: docs/platform-notes.md#members
    return { role: member.role === null ? null : (place.defaultLevel ?? null), reason: 'default' };
  }
  const parent = place.parent === undefined ? undefined : store.collections.get(place.parent);
  return parent === undefined ? { role: member.role, reason: 'organization' } : effectOf(context, parent, member);
}

/** Origin of a role at a site. Before 0.202, it is always the organization. Source: docs/platform-notes.md#permissions */
function viewOrigin({ features }: Context, place: Place, { reason, team }: Effect): unknown {
  return reason === 'organization' || !features.currentFields
    ? { type: 'organization', organization: place.organization }
    : { type: 'site', site: place.id, reason, team };
}

function listInEffect(call: AnyCall<ListQuery & { readonly role?: Role | undefined }>, kind: PlaceKind): ApiAnswer {
  const place = kind.require(call);
  const members = call.store.members.by('organization', place.organization).flatMap((member) => {
    const effect = effectOf(call, place, member);
    const isWanted = effect.role !== null && (call.query.role === undefined || call.query.role === effect.role);
    return isWanted ? [{ ...member, effect }] : [];
  });
  return listBySeq(call, members, (context, { user, disabled, effect }) => ({
    permission: effect.role,
    user: viewUserOf(context, user),
    ...(kind.isSite === true ? { origin: viewOrigin(context, place, effect) } : {}),
    ...(kind.isSite === true && context.features.currentFields ? { disabled } : {}),
  }));
}

function listHolders(call: AnyCall<ListQuery>, kind: PlaceKind, type: Holder): ApiAnswer {
  return listBySeq(call, ofType(call, kind.require(call), type), (context, { holder, role }) => {
    const team = context.store.teams.get(holder);
    return type === 'team'
      ? { permission: role, team: team === undefined ? undefined : viewTeam(context, team) }
      : { permission: role, user: viewUserOf(context, holder) };
  });
}

const ids = z.array(id).min(1);
const invitation = z.union([
  z.strictObject({ teams: ids, role: nullableRole }),
  z.strictObject({ users: ids, role: nullableRole }),
]);

/** Gives a role to all holders or, if one of them is unknown, to none. */
function invite(call: AnyCall<unknown, z.output<typeof invitation>>, kind: PlaceKind): ApiAnswer {
  const place = kind.require(call);
  const { body } = call;
  const type = 'teams' in body ? 'team' : 'user';
  const holders = 'teams' in body ? body.teams : body.users;
  for (const holder of holders) {
    requireHolder(call, place, type, holder);
  }
  for (const holder of holders) {
    setRole(call, kind, place, type, holder, body.role);
  }
  return noContent();
}

/** Changes a role; 404 for a holder without one: a decision of this emulator. */
function update(call: AnyCall<unknown, { readonly role?: Role | null }>, kind: PlaceKind, type: Holder): ApiAnswer {
  const place = kind.require(call);
  const holder = requireHolder(call, place, type, param(call, type === 'team' ? 'teamId' : 'userId'));
  found(call.store.permissions.get(recordId(place, type, holder)), 'Permission of', holder);
  if (call.body.role !== undefined) {
    setRole(call, kind, place, type, holder, call.body.role);
  }
  return noContent();
}

function remove(call: AnyCall, kind: PlaceKind, type: Holder): ApiAnswer {
  const place = kind.require(call);
  return deleted(call.store.permissions.remove(recordId(place, type, param(call, `${type}Id`))));
}

const byRole = listQuery.extend({ role: z.enum(ROLES).optional() });
const anyRole = z.strictObject({ role: nullableRole.optional() });
/** At a site, an update cannot take the access away. */
const someRole = z.strictObject({ role: z.enum(ROLES).optional() });

function operationsOf(kind: PlaceKind): readonly ApiOperation[] {
  const { word, path, isSite } = kind;
  const all = `${path}/permissions`;
  // Before 0.167, the permissions of sites can only be listed in effect.
  const options = isSite === true ? ({ feature: 'sitePermissions' } as const) : {};
  const body = isSite === true ? someRole : anyRole;
  const inEffect = `listPermissionsAggregateIn${word}`;
  const aggregate =
    isSite === true
      ? operation(inEffect, 'GET', `${all}/aggregate`, { query: listQuery }, (call) => listInEffect(call, kind))
      : operation(inEffect, 'GET', `${all}/aggregate`, { query: byRole }, (call) => listInEffect(call, kind));
  const holders = (['team', 'user'] as const).flatMap((type) => {
    const Type = type === 'team' ? 'Team' : 'User';
    const one = `${all}/${type}s/{${type}Id}`;
    return [
      operation(`list${Type}PermissionsIn${word}`, 'GET', `${all}/${type}s`, { ...options, query: listQuery }, (call) =>
        listHolders(call, kind, type),
      ),
      operation(`update${Type}PermissionIn${word}`, 'PATCH', one, { ...options, body }, (call) =>
        update(call as AnyCall<unknown, { readonly role?: Role | null }>, kind, type),
      ),
      operation(`remove${Type}From${word}`, 'DELETE', one, options, (call) => remove(call, kind, type)),
    ];
  });
  return [
    aggregate,
    operation(`inviteTo${word}`, 'POST', all, { ...options, body: invitation }, (call) => invite(call, kind)),
    ...holders,
  ];
}

/** Operations on permissions of every kind of place. */
export const permissionOperations: readonly ApiOperation[] = PLACES.flatMap(operationsOf);
