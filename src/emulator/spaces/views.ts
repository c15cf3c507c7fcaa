/** Records, lookups and views of spaces and collections. */

import { found, referenced } from '../model/answers.ts';
import type { Context, PathContext } from '../model/operation.ts';
import { pick } from '../model/patch.ts';
import type { EditMode, Role, SpaceLanguage } from '../model/schema.ts';
import { type EmulatorStore, IndexedTable, organizationKey, type Ranked } from '../model/store.ts';
import type { MergeRules } from '../organizations/people.ts';

export type DefaultLevel = Role | 'inherit' | null;

export interface CollectionRecord extends Ranked {
  readonly organization: string;
  readonly title: string;
  readonly description?: string | undefined;
  readonly parent?: string | undefined;
  readonly defaultLevel: DefaultLevel;
}

export interface SpaceRecord extends Ranked {
  readonly organization: string;
  readonly title: string;
  readonly emoji?: string | undefined;
  readonly icon?: string | undefined;
  readonly parent?: string | undefined;
  readonly language?: SpaceLanguage | undefined;
  readonly editMode: EditMode;
  readonly defaultLevel: DefaultLevel;
  readonly mergeRules: MergeRules;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly deletedAt?: string | undefined;
  readonly revision: string;
  readonly variables?: Variables | undefined;
}

/** Index key of the parent: its collection, otherwise its organization. Deleted spaces have none. */
function parentKey(record: {
  readonly organization: string;
  readonly parent?: string | undefined;
  readonly deletedAt?: string | undefined;
}): string | undefined {
  return record.deletedAt === undefined ? (record.parent ?? record.organization) : undefined;
}

/** Tables of spaces and collections. */
export function spaceTables() {
  return {
    collections: new IndexedTable<CollectionRecord, 'organization' | 'parent'>({
      organization: organizationKey,
      parent: parentKey,
    }),
    spaces: new IndexedTable<SpaceRecord, 'organization' | 'parent'>({
      organization: (space) => (space.deletedAt === undefined ? space.organization : undefined),
      parent: parentKey,
    }),
  };
}

declare module '../model/store.ts' {
  interface Tables extends ReturnType<typeof spaceTables> {}
}

export type Variables = Readonly<Record<string, string>>;

/** Returns the collection that the path names, or throws a 404. */
export function requireCollection({ store, params }: PathContext<'collectionId'>): CollectionRecord {
  return found(store.collections.get(params.collectionId), 'Collection', params.collectionId);
}

/** Time for which a deleted space is kept, in milliseconds. Source: docs/platform-notes.md#deletions */
const RETENTION = 7 * 24 * 60 * 60 * 1000;

/** Returns the space with that id, deleted or not, while it can still be restored; otherwise throws a 404. */
export function restorableSpaceById(store: EmulatorStore, now: number, id: string): SpaceRecord {
  const space = store.spaces.get(id);
  const isGone = space?.deletedAt !== undefined && Date.parse(space.deletedAt) + RETENTION <= now;
  return found(isGone ? undefined : space, 'Space', id);
}

/** Returns the space with that id unless it is deleted, or throws a 404. */
export function spaceById(store: EmulatorStore, id: string): SpaceRecord {
  const space = store.spaces.get(id);
  return found(space?.deletedAt === undefined ? space : undefined, 'Space', id);
}

/** Returns the space that the path names unless it is deleted, or throws a 404. */
export function requireSpace({ store, params }: PathContext<'spaceId'>): SpaceRecord {
  return spaceById(store, params.spaceId);
}

/** Returns the space that a body names, or throws a 400 unless it is in that organization and not deleted. */
export function referencedSpace(store: EmulatorStore, organization: string, id: string, field: string): SpaceRecord {
  const space = store.spaces.get(id);
  const isUsable = space?.organization === organization && space.deletedAt === undefined;
  return referenced(isUsable ? space : undefined, field, 'space', id);
}

/** Counts the unresolved comments on a change request, or on the space itself. */
export function countOpenComments(context: Context, subject: string): number {
  return context.store.comments.by('subject', subject).filter((comment) => comment.resolved === undefined).length;
}

/** Collection. Source: docs/platform-notes.md#collections */
export function viewCollection(context: Context, collection: CollectionRecord): unknown {
  const admin = context.caller.permission === 'admin';
  return {
    object: 'collection',
    ...pick(collection, 'id', 'title', 'description', 'organization', 'parent', 'defaultLevel'),
    urls: {
      location: `${context.base}/v1/collections/${collection.id}`,
      app: `${context.base}/app/c/${collection.id}`,
    },
    permissions: { view: true, admin, viewInviteLinks: admin, create: admin },
  };
}

function spacePermissions(context: Context, space: SpaceRecord) {
  const admin = context.caller.permission === 'admin';
  return {
    view: true,
    access: true,
    admin,
    viewInviteLinks: admin,
    edit: admin && space.editMode === 'live',
    triggerGitSync: admin,
    comment: admin,
    merge: admin,
    review: admin,
    installIntegration: admin,
  };
}

/** The Git Sync of a space or a site; undefined without one. Source: docs/platform-notes.md#git-sync */
export function viewGitSync({ store, features }: Context, target: string): unknown {
  const installation = store.gitInstallations.one('target', target);
  if (installation === undefined) {
    return undefined;
  }
  const { id, repository, branch, status } = installation;
  return {
    ...(features.gitSync ? { installationId: id, installationStatus: status } : {}),
    installationProvider: 'github',
    repoName: repository,
    url: `https://github.com/${repository}/tree/${branch}`,
  };
}

/** Space. `visibility` follows from the parent. Source: docs/platform-notes.md#spaces */
export function viewSpace(context: Context, space: SpaceRecord): unknown {
  const { seq, rank, icon, variables, ...fields } = space;
  const requests = context.store.changeRequests.by('space', space.id);
  return {
    object: 'space',
    ...fields,
    visibility: space.parent === undefined ? 'private' : 'in-collection',
    urls: {
      location: `${context.base}/v1/spaces/${space.id}`,
      app: `${context.base}/app/s/${space.id}`,
      icon,
    },
    comments: countOpenComments(context, space.id),
    changeRequests: requests.length,
    changeRequestsOpen: requests.filter((request) => request.status === 'open').length,
    changeRequestsDraft: requests.filter((request) => request.status === 'draft').length,
    permissions: spacePermissions(context, space),
    gitSync: viewGitSync(context, space.id),
  };
}
