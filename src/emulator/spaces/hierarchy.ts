// Moves, transfers and deletions of spaces and collections.

import { z } from 'zod';
import { ApiError, found, invalid, noUpdate, referenced } from '../model/answers.ts';
import { indexFor, type Pointer, reorder, type Slot, slot } from '../model/order.ts';
import { id } from '../model/schema.ts';
import type { EmulatorStore } from '../model/store.ts';
import type { CollectionRecord, SpaceRecord } from './records.ts';

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
export const transferBody = z.strictObject({ organization: id });

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
export function move(store: EmulatorStore, node: Node, body: MoveBody): void {
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
export function deleteSpace(store: EmulatorStore, space: SpaceRecord, at: string): void {
  store.spaceDeleted(space.id);
  store.spaces.put({ ...space, deletedAt: at });
}

/** Deletes the collection with everything in it; its spaces can be restored. */
export function deleteCollection(store: EmulatorStore, collection: string, at: string): void {
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
export function transferSpace(store: EmulatorStore, space: SpaceRecord, organization: string): void {
  checkTransfer(store, space.organization, organization, [space]);
  store.spaces.put({ ...space, organization, parent: undefined, rank: store.next() });
}

/** Transfers a collection with its contents to the root of another organization. */
export function transferCollection(store: EmulatorStore, collection: CollectionRecord, organization: string): void {
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
