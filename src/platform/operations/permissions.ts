/** Responses about who has which role in a space, a collection or a site. Source: docs/platform-notes.md#permissions */
import * as z from 'zod';
import type { PaginatedOperation, WriteOperation } from './model/operation.ts';
import { optionalFlag, optionalText, string, user } from './model/shapes.ts';
import { list, write } from './table.ts';

/** Role of a team. A site may answer null for a team that has no access. */
const ofTeam = z.looseObject({ permission: optionalText, team: z.looseObject({ id: string, title: optionalText }) });

/** Role of a person. A site may answer null for a person who has no access. */
const ofUser = z.looseObject({ permission: optionalText, user });

/** Role that a person has in effect, with the resource that gives it where the platform says so. */
const inEffect = ofUser.extend({
  disabled: optionalFlag,
  origin: z.looseObject({ type: optionalText, reason: optionalText, team: optionalText }).nullish(),
});

/** Operations on the permissions of spaces, collections and sites. */
export const permissionOperations = {
  inviteToCollection: write('inviteToCollection'),
  inviteToSite: write('inviteToSite'),
  inviteToSpace: write('inviteToSpace'),
  listPermissionsAggregateInCollection: list('listPermissionsAggregateInCollection', inEffect),
  listPermissionsAggregateInSite: list('listPermissionsAggregateInSite', inEffect),
  listPermissionsAggregateInSpace: list('listPermissionsAggregateInSpace', inEffect),
  listTeamPermissionsInCollection: list('listTeamPermissionsInCollection', ofTeam),
  listTeamPermissionsInSite: list('listTeamPermissionsInSite', ofTeam),
  listTeamPermissionsInSpace: list('listTeamPermissionsInSpace', ofTeam),
  listUserPermissionsInCollection: list('listUserPermissionsInCollection', ofUser),
  listUserPermissionsInSite: list('listUserPermissionsInSite', ofUser),
  listUserPermissionsInSpace: list('listUserPermissionsInSpace', ofUser),
  removeTeamFromCollection: write('removeTeamFromCollection'),
  removeTeamFromSite: write('removeTeamFromSite'),
  removeTeamFromSpace: write('removeTeamFromSpace'),
  removeUserFromCollection: write('removeUserFromCollection'),
  removeUserFromSite: write('removeUserFromSite'),
  removeUserFromSpace: write('removeUserFromSpace'),
  updateTeamPermissionInCollection: write('updateTeamPermissionInCollection'),
  updateTeamPermissionInSite: write('updateTeamPermissionInSite'),
  updateTeamPermissionInSpace: write('updateTeamPermissionInSpace'),
  updateUserPermissionInCollection: write('updateUserPermissionInCollection'),
  updateUserPermissionInSite: write('updateUserPermissionInSite'),
  updateUserPermissionInSpace: write('updateUserPermissionInSpace'),
};

/** Role of a team in a resource, as read. */
export type TeamPermission = z.output<typeof ofTeam>;
/** Role of a person in a resource, as read. */
export type UserPermission = z.output<typeof inEffect>;

/** Operations on the permissions of one kind of resource. */
export interface ResourcePermissions {
  /** Parameter of every path: the id of the resource. */
  readonly parameter: string;
  /** Lists the roles in effect: direct, of teams and inherited. */
  readonly inEffect: PaginatedOperation;
  readonly teams: PaginatedOperation;
  readonly users: PaginatedOperation;
  readonly invite: WriteOperation;
  readonly updateTeam: WriteOperation;
  readonly updateUser: WriteOperation;
  readonly removeTeam: WriteOperation;
  readonly removeUser: WriteOperation;
}

const all = permissionOperations;

/** Operations on permissions by kind of resource. */
export const permissionsOf: Readonly<Record<'space' | 'collection' | 'site', ResourcePermissions>> = {
  space: {
    parameter: 'spaceId',
    inEffect: all.listPermissionsAggregateInSpace,
    teams: all.listTeamPermissionsInSpace,
    users: all.listUserPermissionsInSpace,
    invite: all.inviteToSpace,
    updateTeam: all.updateTeamPermissionInSpace,
    updateUser: all.updateUserPermissionInSpace,
    removeTeam: all.removeTeamFromSpace,
    removeUser: all.removeUserFromSpace,
  },
  collection: {
    parameter: 'collectionId',
    inEffect: all.listPermissionsAggregateInCollection,
    teams: all.listTeamPermissionsInCollection,
    users: all.listUserPermissionsInCollection,
    invite: all.inviteToCollection,
    updateTeam: all.updateTeamPermissionInCollection,
    updateUser: all.updateUserPermissionInCollection,
    removeTeam: all.removeTeamFromCollection,
    removeUser: all.removeUserFromCollection,
  },
  site: {
    parameter: 'siteId',
    inEffect: all.listPermissionsAggregateInSite,
    teams: all.listTeamPermissionsInSite,
    users: all.listUserPermissionsInSite,
    invite: all.inviteToSite,
    updateTeam: all.updateTeamPermissionInSite,
    updateUser: all.updateUserPermissionInSite,
    removeTeam: all.removeTeamFromSite,
    removeUser: all.removeUserFromSite,
  },
};
