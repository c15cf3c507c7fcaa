/** Records of organizations and their members, lookups of them, and views of people. */

import type { Json, JsonObject } from '../../core/json.ts';
import { type ApiAnswer, deleted, found } from '../model/answers.ts';
import type { Context, OperationCall, PathContext } from '../model/operation.ts';
import { listBySeq } from '../model/paging.ts';
import { pick } from '../model/patch.ts';
import type { ListQuery, Role, TeamRole } from '../model/schema.ts';
import { type EmulatorStore, type Entity, IndexedTable, organizationKey } from '../model/store.ts';

/** `inherit`, `none`, or `rules` with the rules. Source: docs/platform-notes.md#merge-rules */
export interface MergeRules {
  readonly type: 'inherit' | 'rules' | 'none';
  readonly rules?: readonly JsonObject[] | undefined;
}

export interface EmulatedOrganization extends Entity {
  readonly title: string;
  readonly createdAt: string;
  readonly emailDomains: readonly string[];
  readonly hostname?: string | undefined;
  readonly defaultRole: Role | null;
  readonly defaultContent?: { readonly type: 'site'; readonly site: string } | undefined;
  readonly logo?: string | undefined;
  readonly sso: boolean;
  readonly ai: boolean;
  readonly inviteLinks: boolean;
  readonly mergeRules: MergeRules;
  /** Instructions of the documentation agent; absent until they are written. `updatedBy` is a user's id. */
  readonly agentInstructions?:
    | { readonly document: Json; readonly updatedAt: string; readonly updatedBy: string }
    | undefined;
}

export interface UserRecord extends Entity {
  readonly email: string;
  readonly displayName: string;
}

/** `id` is `organization/user`. */
export interface MemberRecord extends Entity {
  readonly organization: string;
  readonly user: string;
  readonly role: Role | null;
  readonly disabled: boolean;
  readonly joinedAt: string;
  readonly lastSeenAt?: string | undefined;
  readonly sso: boolean;
}

export interface TeamRecord extends Entity {
  readonly organization: string;
  readonly title: string;
  readonly createdAt: string;
}

/** `id` is `team/user`. */
export interface TeamMemberRecord extends Entity {
  readonly organization: string;
  readonly team: string;
  readonly user: string;
  readonly role: TeamRole;
}

export interface SamlRecord extends Entity {
  readonly organization: string;
  readonly label: string;
  readonly entityID?: string | undefined;
  readonly certificate?: string | undefined;
  readonly ssoURL?: string | undefined;
  readonly defaultTeam?: string | undefined;
  readonly defaultRole?: Role | null | undefined;
  readonly createdAt: string;
}

/** An invite link, which makes its user a member of the organization. Source: docs/platform-notes.md#invite-links */
export interface LinkInviteRecord extends Entity {
  readonly organization: string;
  readonly role: Role | null;
}

/** An invitation that nobody has accepted yet; its id is that of the member to be. Source: docs/platform-notes.md#invitations */
export interface InvitationRecord extends Entity {
  readonly organization: string;
  readonly role: Role | null;
  readonly sso: boolean;
}

/** The role of a team or a person in a space, collection or site. `id` is `place/type/holder`. */
export interface PermissionRecord extends Entity {
  readonly organization: string;
  readonly place: string;
  readonly type: 'team' | 'user';
  readonly holder: string;
  /** Null takes the access to a site away. */
  readonly role: Role | null;
}

/** Tables of organizations, their members and their settings. */
export function organizationTables() {
  return {
    organizations: new IndexedTable<EmulatedOrganization>({}),
    users: new IndexedTable<UserRecord, 'email'>({ email: (user) => user.email.toLowerCase() }),
    members: new IndexedTable<MemberRecord, 'organization'>({ organization: organizationKey }),
    invitations: new IndexedTable<InvitationRecord, 'organization'>({ organization: organizationKey }),
    linkInvites: new IndexedTable<LinkInviteRecord, 'organization'>({ organization: organizationKey }),
    teams: new IndexedTable<TeamRecord, 'organization'>({ organization: organizationKey }),
    teamMembers: new IndexedTable<TeamMemberRecord, 'team' | 'member'>({
      team: (record) => record.team,
      member: (record) => `${record.organization}/${record.user}`,
    }),
    permissions: new IndexedTable<PermissionRecord, 'place' | 'holder'>({
      place: (record) => record.place,
      holder: (record) => `${record.organization}/${record.holder}`,
    }),
    samlProviders: new IndexedTable<SamlRecord, 'organization'>({ organization: organizationKey }),
  };
}

declare module '../model/store.ts' {
  interface Tables extends ReturnType<typeof organizationTables> {}
}

/** Returns the organization with that id, or throws a 404. */
export function organizationById(store: EmulatorStore, id: string): EmulatedOrganization {
  return found(store.organizations.get(id), 'Organization', id);
}

/** Returns the organization that the path names, or throws a 404. */
export function requireOrganization({ store, params }: PathContext<'organizationId'>): EmulatedOrganization {
  return organizationById(store, params.organizationId);
}

/** A record of an organization, or of one of its sites. */
interface OwnedRecord {
  readonly organization: string;
  readonly site?: string | undefined;
}

/** Returns the record if it belongs to the organization that the path names, and to no site, or throws a 404. */
export function requireOwned<R extends OwnedRecord>(
  call: PathContext<'organizationId'>,
  record: R | undefined,
  what: string,
  id: string,
): R {
  const organization = requireOrganization(call).id;
  return found(record?.organization === organization && record.site === undefined ? record : undefined, what, id);
}

/** Creates the function that returns the record that a parameter of the path names, or throws a 404. */
export function ownedLookup<R extends OwnedRecord, P extends string>(
  what: string,
  param: P,
  table: (store: EmulatorStore) => Pick<IndexedTable<R & Entity, string>, 'get'>,
) {
  return (call: PathContext<'organizationId' | P>): R =>
    requireOwned<R>(call, table(call.store).get(call.params[param]), what, call.params[param]);
}

/** Deletes the record with that id if it belongs to the organization that the path names. */
export function deleteOwned<R extends { readonly id: string; readonly organization: string }>(
  call: PathContext<'organizationId'>,
  table: Pick<IndexedTable<R, string>, 'get' | 'remove'>,
  id: string,
): ApiAnswer {
  const organization = requireOrganization(call).id;
  return deleted(table.get(id)?.organization === organization && table.remove(id));
}

/** Returns the member that the path names, or throws a 404. */
export function requireMember(call: PathContext<'organizationId' | 'userId'>): MemberRecord {
  const { organizationId, userId } = call.params;
  return requireOwned(call, call.store.members.get(`${organizationId}/${userId}`), 'Member', userId);
}

/** Returns the user of a member. */
export function getUser(store: EmulatorStore, member: { readonly user: string }): UserRecord {
  return found(store.users.get(member.user), 'User', member.user);
}

/** Returns the user of the token; undefined where no user has that email. */
export function findCallingUser({ store, caller }: Pick<Context, 'store' | 'caller'>): UserRecord | undefined {
  return store.users.one('email', caller.user.toLowerCase());
}

export const requireTeam = ownedLookup('Team', 'teamId', ({ teams }) => teams);

/** User. Source: docs/platform-notes.md#members */
function viewUser(context: Context, user: UserRecord): unknown {
  return {
    object: 'user',
    id: user.id,
    displayName: user.displayName,
    email: user.email,
    photoURL: `${context.base}/app/photos/${user.id}`,
    urls: { location: `${context.base}/v1/users/${user.id}` },
  };
}

/** Renders the user with that id; undefined if there is none. */
export function viewUserOf(context: Context, id: string | undefined): unknown {
  const user = id === undefined ? undefined : context.store.users.get(id);
  return user === undefined ? undefined : viewUser(context, user);
}

/**
 * Member with its counts. A guest (null role) has access to no space by role. Source: docs/platform-notes.md#members
 */
export function viewMember(context: Context, member: MemberRecord): unknown {
  const { store } = context;
  return {
    object: 'member',
    id: member.user,
    ...pick(member, 'role', 'disabled', 'joinedAt', 'lastSeenAt', 'sso'),
    user: viewUser(context, getUser(store, member)),
    spaces: member.role === null ? 0 : store.spaces.count('organization', member.organization),
    teams: store.teamMembers.count('member', member.id),
  };
}

/** Removes the roles of a team or a person that no longer exists. */
export function removePermissions(store: EmulatorStore, organization: string, holder: string): void {
  for (const { id } of store.permissions.by('holder', `${organization}/${holder}`)) {
    store.permissions.remove(id);
  }
}

/** Team with its counts. Source: docs/platform-notes.md#teams */
export function viewTeam(context: Context, team: TeamRecord): unknown {
  const { permissions, spaces } = context.store;
  const places = permissions.by('holder', `${team.organization}/${team.id}`);
  return {
    object: 'team',
    id: team.id,
    title: team.title,
    members: context.store.teamMembers.count('team', team.id),
    spaces: places.filter(({ place }) => spaces.get(place) !== undefined).length,
    createdAt: team.createdAt,
    permissions: { admin: context.caller.permission === 'admin', view: true },
  };
}

/** One member of a team. Source: docs/platform-notes.md#teams */
export function viewTeamMember(context: Context, membership: TeamMemberRecord): unknown {
  const member = context.store.members.get(`${membership.organization}/${membership.user}`);
  return {
    organization: member === undefined ? undefined : viewMember(context, member),
    team: { role: membership.role },
    permissions: { view: true },
  };
}

/** Lists the records of a table that belong to the organization that the path names, in the order of creation. */
export function listOwned<R extends { readonly seq: number }>(
  call: OperationCall<string, ListQuery> & PathContext<'organizationId'>,
  table: { by(index: 'organization', key: string): readonly R[] },
  view: (context: Context, record: R) => unknown,
): ApiAnswer {
  return listBySeq(call, table.by('organization', requireOrganization(call).id), view);
}
