import type { Context } from '../operation.ts';
import type { CollectionRecord, SpaceRecord } from '../records.ts';
import { openComments } from './comment.ts';

/** Collection. Source: docs/platform-notes.md#collections */
export function viewCollection(context: Context, collection: CollectionRecord): unknown {
  const admin = context.caller.permission === 'admin';
  return {
    object: 'collection',
    id: collection.id,
    title: collection.title,
    description: collection.description,
    organization: collection.organization,
    parent: collection.parent,
    defaultLevel: collection.defaultLevel,
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

/** Space. `visibility` follows from the parent. Source: docs/platform-notes.md#spaces */
export function viewSpace(context: Context, space: SpaceRecord): unknown {
  const requests = context.store.changeRequests.by('space', space.id);
  return {
    object: 'space',
    id: space.id,
    title: space.title,
    emoji: space.emoji,
    visibility: space.parent === undefined ? 'private' : 'in-collection',
    createdAt: space.createdAt,
    updatedAt: space.updatedAt,
    deletedAt: space.deletedAt,
    editMode: space.editMode,
    mergeRules: space.mergeRules,
    urls: {
      location: `${context.base}/v1/spaces/${space.id}`,
      app: `${context.base}/app/s/${space.id}`,
      icon: space.icon,
    },
    organization: space.organization,
    parent: space.parent,
    language: space.language,
    revision: space.revision,
    defaultLevel: space.defaultLevel,
    comments: openComments(context, space.id),
    changeRequests: requests.length,
    changeRequestsOpen: requests.filter((request) => request.status === 'open').length,
    changeRequestsDraft: requests.filter((request) => request.status === 'draft').length,
    permissions: spacePermissions(context, space),
  };
}
