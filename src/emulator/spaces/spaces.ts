/** Operations on spaces and collections: creation, changes, moves, transfers and deletions. */

import { z } from 'zod';
import { ApiError, created, deleted, found, invalid, noUpdate, ok, referenced } from '../model/answers.ts';
import { refuseLaterValues } from '../model/features.ts';
import { type ApiOperation, ORGANIZATION, operation, SPACE } from '../model/operation.ts';
import { indexFor, type Pointer, reorder, type Slot, slot } from '../model/order.ts';
import { list, listByRank } from '../model/paging.ts';
import { omitUndefined, patched, withDefaults } from '../model/patch.ts';
import {
  defaultLevel,
  editMode,
  emoji,
  flag,
  getRuleNames,
  id,
  language,
  listQuery,
  mergeRules,
  shareQuery,
  text,
  url,
} from '../model/schema.ts';
import type { EmulatorStore } from '../model/store.ts';
import { requireMember, requireOrganization } from '../organizations/people.ts';
import {
  type CollectionRecord,
  requireCollection,
  requireSpace,
  restorableSpaceById,
  type SpaceRecord,
  spaceById,
  viewCollection,
  viewSpace,
} from './views.ts';

/** Sibling next to which a space or collection is moved. Source: docs/platform-notes.md#moves-and-transfers */
const pointer = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('space'), space: id }),
  z.strictObject({ type: z.literal('collection'), collection: id }),
]);

/** Body of a move: at least one property. Source: docs/platform-notes.md#moves-and-transfers */
export const moveBody = z
  .strictObject({
    parent: id.nullable().optional(),
    position: z.strictObject({ before: pointer.optional(), after: pointer.optional() }).optional(),
  })
  .refine((body) => body.parent !== undefined || body.position !== undefined, {
    error: 'must have a parent or a position',
  });

export type MoveBody = z.output<typeof moveBody>;

/** Body of a transfer. */
const transferBody = z.strictObject({ organization: id });

type Node =
  | { readonly type: 'space'; readonly record: SpaceRecord }
  | {
      readonly type: 'collection';
      readonly record: CollectionRecord;
    };

/** Returns the parent collection that a body names, or throws a 400 unless it is in that organization. */
export function referencedParent(store: EmulatorStore, organization: string, parent: string): CollectionRecord {
  const collection = store.collections.get(parent);
  return referenced(
    collection?.organization === organization ? collection : undefined,
    'body.parent',
    'collection',
    parent,
  );
}

function children(store: EmulatorStore, place: string): Slot[] {
  return [
    ...store.spaces.by('parent', place).map((space) => slot(store.spaces, 'space', space)),
    ...store.collections.by('parent', place).map((collection) => slot(store.collections, 'collection', collection)),
  ];
}

function toPointer(given: z.output<typeof pointer> | undefined): Pointer | undefined {
  if (given === undefined) {
    return undefined;
  }
  return { type: given.type, id: given.type === 'space' ? given.space : given.collection };
}

function refuseCycle(store: EmulatorStore, collection: CollectionRecord, parent: CollectionRecord): void {
  for (let at: CollectionRecord | undefined = parent; at !== undefined; ) {
    if (at.id === collection.id) {
      throw invalid('body.parent', 'a collection cannot be inside itself');
    }
    at = at.parent === undefined ? undefined : store.collections.get(at.parent);
  }
}

function setParent(store: EmulatorStore, node: Node, parent: string | undefined, rank: number): void {
  if (node.type === 'space') {
    store.spaces.put({ ...node.record, parent, rank });
  } else {
    store.collections.put({ ...node.record, parent, rank });
  }
}

/**
 * Moves a space or collection to another parent, to a place among its siblings, or both. Throws a 409 if it is already
 * there.
 */
function move(store: EmulatorStore, node: Node, body: MoveBody): void {
  const { organization } = node.record;
  const parent = body.parent === undefined ? node.record.parent : (body.parent ?? undefined);
  if (parent !== undefined) {
    const collection = referencedParent(store, organization, parent);
    if (node.type === 'collection') {
      refuseCycle(store, node.record, collection);
    }
  }
  const place = parent ?? organization;
  const siblings = children(store, place).filter((entry) => entry.id !== node.record.id);
  const before = toPointer(body.position?.before);
  const after = toPointer(body.position?.after);
  const positioned = before !== undefined || after !== undefined;
  const index = indexFor(siblings, { before, after });
  const changesParent = parent !== node.record.parent;
  if (changesParent) {
    setParent(store, node, parent, store.next());
  }
  const current = children(store, place).find((entry) => entry.id === node.record.id);
  const reordered = positioned && current !== undefined && reorder(siblings, current, index);
  if (!changesParent && !reordered) {
    throw noUpdate();
  }
}

/** Returns every space in the collection, at any depth. */
function spacesBelow(store: EmulatorStore, collection: string): SpaceRecord[] {
  return [
    ...store.spaces.by('parent', collection),
    ...store.collections.by('parent', collection).flatMap((nested) => spacesBelow(store, nested.id)),
  ];
}

/** Marks a space as deleted and removes it from every site. Source: docs/platform-notes.md#deletions */
function deleteSpace(store: EmulatorStore, space: SpaceRecord, at: string): void {
  store.spaceDeleted(space.id);
  store.spaces.put({ ...space, deletedAt: at });
}

/** Deletes the collection with everything in it; its spaces can be restored. */
function deleteCollection(store: EmulatorStore, collection: string, at: string): void {
  for (const space of store.spaces.by('parent', collection)) {
    deleteSpace(store, space, at);
  }
  for (const nested of store.collections.by('parent', collection)) {
    deleteCollection(store, nested.id, at);
  }
  store.collections.remove(collection);
}

/** Throws a 404 for an unknown organization, a 409 for the same one, and a 412 if a site shows one of the spaces. */
function checkTransfer(store: EmulatorStore, from: string, to: string, spaces: readonly SpaceRecord[]): void {
  found(store.organizations.get(to), 'Organization', to);
  if (from === to) {
    throw noUpdate();
  }
  const shown = spaces.find((space) => store.siteSpaces.count('space', space.id) > 0);
  if (shown !== undefined) {
    throw new ApiError(412, `Cannot be moved: space "${shown.id}" is part of a site`);
  }
}

/** Transfers a space to the root of another organization. */
function transferSpace(store: EmulatorStore, space: SpaceRecord, organization: string): void {
  checkTransfer(store, space.organization, organization, [space]);
  store.spaces.put({ ...space, organization, parent: undefined, rank: store.next() });
}

/** Transfers a collection with its contents to the root of another organization. */
function transferCollection(store: EmulatorStore, collection: CollectionRecord, organization: string): void {
  checkTransfer(store, collection.organization, organization, spacesBelow(store, collection.id));
  store.collections.put({ ...collection, parent: undefined, rank: store.next() });
  reassign(store, collection.id, organization);
}

function reassign(store: EmulatorStore, id: string, organization: string): void {
  const collection = store.collections.get(id);
  if (collection !== undefined) {
    store.collections.put({ ...collection, organization });
  }
  for (const space of store.spaces.by('parent', id)) {
    store.spaces.put({ ...space, organization });
  }
  for (const nested of store.collections.by('parent', id)) {
    reassign(store, nested.id, organization);
  }
}

const COLLECTION = '/collections/{collectionId}';

/** Source: docs/platform-notes.md#limits */
const collectionTitle = text(0, 50);

const listCollectionsQuery = listQuery.extend({ nested: flag.optional() });
const createCollectionBody = z.strictObject({ title: collectionTitle.optional(), parent: id.optional() }).optional();
const updateCollectionBody = z.strictObject({
  title: collectionTitle.optional(),
  description: text(0, 100).optional(),
  defaultLevel: defaultLevel.optional(),
});

/** Source: docs/platform-notes.md#limits */
const title = text(0, 50);

/** An emoji or an icon, not both. Null clears; both may be null. Source: docs/platform-notes.md#writable-fields */
const spaceUpdate = z
  .strictObject({
    title: title.optional(),
    editMode: editMode.optional(),
    defaultLevel: defaultLevel.optional(),
    language: language.optional(),
    mergeRules: mergeRules.optional(),
    emoji: emoji.nullable().optional(),
    icon: url().nullable().optional(),
  })
  .refine((body) => !body.emoji || !body.icon, {
    error: 'must have an emoji or an icon, not both',
  });

const listMemberSpacesQuery = listQuery.extend({ order: z.enum(['asc', 'desc']).optional() });

/** Operations on spaces and collections. */
export const spaceOperations: readonly ApiOperation[] = [
  // Collections. Source: docs/platform-notes.md#collections
  operation('listCollections', 'GET', `${ORGANIZATION}/collections`, { query: listCollectionsQuery }, (call) => {
    const { store, query } = call;
    const organization = requireOrganization(call);
    const items =
      query.nested === false
        ? store.collections.by('parent', organization.id)
        : store.collections.by('organization', organization.id);
    return listByRank(call, items, viewCollection);
  }),
  operation('createCollection', 'POST', `${ORGANIZATION}/collections`, { body: createCollectionBody }, (call) => {
    const { store } = call;
    const organization = requireOrganization(call);
    const { parent } = call.body ?? {};
    if (parent !== undefined) {
      referencedParent(store, organization.id, parent);
    }
    const identity = store.identify('col');
    const made: CollectionRecord = {
      ...identity,
      rank: identity.seq,
      organization: organization.id,
      title: call.body?.title ?? 'Untitled',
      parent,
      defaultLevel: null,
    };
    const collection = store.collections.put(withDefaults(made, call.body, call.defaults.collection));
    return created(viewCollection(call, collection), `${call.base}/v1/collections/${collection.id}`);
  }),
  operation('getCollection', 'GET', COLLECTION, {}, (call) => ok(viewCollection(call, requireCollection(call)))),
  operation('updateCollection', 'PATCH', COLLECTION, { body: updateCollectionBody }, (call) => {
    const collection = requireCollection(call);
    return ok(viewCollection(call, call.store.collections.put({ ...collection, ...omitUndefined(call.body) })));
  }),
  operation('deleteCollection', 'DELETE', COLLECTION, {}, (call) => {
    const existed = call.store.collections.get(call.params.collectionId) !== undefined;
    if (existed) {
      deleteCollection(call.store, call.params.collectionId, call.at);
    }
    return deleted(existed);
  }),
  operation('listCollectionSpaces', 'GET', `${COLLECTION}/spaces`, { query: listQuery }, (call) => {
    const collection = requireCollection(call);
    return listByRank(call, call.store.spaces.by('parent', collection.id), viewSpace);
  }),
  operation('moveCollection', 'POST', `${COLLECTION}/move`, { body: moveBody }, (call) => {
    const record = requireCollection(call);
    move(call.store, { type: 'collection', record }, call.body);
    return ok(viewCollection(call, requireCollection(call)));
  }),
  operation('transferCollection', 'POST', `${COLLECTION}/transfer`, { body: transferBody }, (call) => {
    const collection = requireCollection(call);
    transferCollection(call.store, collection, call.body.organization);
    return ok(viewCollection(call, requireCollection(call)));
  }),
  // Spaces. Source: docs/platform-notes.md#spaces
  operation('listSpaces', 'GET', `${ORGANIZATION}/spaces`, { query: listQuery }, (call) => {
    const organization = requireOrganization(call);
    const spaces = call.store.spaces.by('organization', organization.id);
    return listByRank(call, spaces, viewSpace);
  }),
  operation(
    'listMemberSpaces',
    'GET',
    `${ORGANIZATION}/members/{userId}/spaces`,
    { query: listMemberSpacesQuery },
    (call) => {
      const member = requireMember(call);
      const spaces = member.role === null ? [] : call.store.spaces.by('organization', member.organization);
      return list(call, {
        items: spaces,
        key: (space) => [space.seq, 0],
        descending: call.query.order !== 'asc',
        view: (_, space) => ({ permission: member.role, space: viewSpace(call, space) }),
      });
    },
  ),
  operation('getSpace', 'GET', SPACE, { query: shareQuery }, (call) =>
    ok(viewSpace(call, restorableSpaceById(call.store, call.now, call.params.spaceId))),
  ),
  operation('updateSpace', 'PATCH', SPACE, { body: spaceUpdate }, (call) => {
    const space = requireSpace(call);
    const { emoji, icon: iconUrl, ...rest } = call.body;
    refuseLaterValues(call, 'traditionalChinese', [rest.language], 'body.language');
    refuseLaterValues(call, 'authorMergeRules', getRuleNames(rest.mergeRules), 'body.mergeRules.rules');
    const updated = call.store.spaces.put({
      ...space,
      ...omitUndefined(rest),
      emoji: patched(space.emoji, iconUrl ? null : emoji),
      icon: patched(space.icon, emoji ? null : iconUrl),
      updatedAt: call.at,
    });
    return ok(viewSpace(call, updated));
  }),
  operation('deleteSpace', 'DELETE', SPACE, {}, (call) => {
    const space = call.store.spaces.get(call.params.spaceId);
    if (space === undefined || space.deletedAt !== undefined) {
      return deleted(false);
    }
    deleteSpace(call.store, space, call.at);
    return deleted(true);
  }),
  operation('restoreSpace', 'POST', `${SPACE}/restore`, {}, (call) => {
    const { store } = call;
    const space = restorableSpaceById(store, call.now, call.params.spaceId);
    if (space.deletedAt === undefined) {
      throw new ApiError(400, `Space "${space.id}" is not deleted`);
    }
    const parent = space.parent === undefined ? undefined : store.collections.get(space.parent)?.id;
    return ok(viewSpace(call, store.spaces.put({ ...space, parent, deletedAt: undefined })));
  }),
  operation('moveSpace', 'POST', `${SPACE}/move`, { body: moveBody }, (call) => {
    const record = requireSpace(call);
    move(call.store, { type: 'space', record }, call.body);
    return ok(viewSpace(call, spaceById(call.store, record.id)));
  }),
  operation('transferSpace', 'POST', `${SPACE}/transfer`, { feature: 'spaceTransfer', body: transferBody }, (call) => {
    const space = requireSpace(call);
    transferSpace(call.store, space, call.body.organization);
    return ok(viewSpace(call, spaceById(call.store, space.id)));
  }),
];
