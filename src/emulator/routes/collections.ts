import { z } from 'zod';
import { created, deleted, ok } from '../answers.ts';
import { withDefaults } from '../creation-defaults.ts';
import { deleteCollection, move, moveBody, parentReferenced, transferBody, transferCollection } from '../hierarchy.ts';
import { collectionAt, organizationAt } from '../lookup.ts';
import { type Operation, operation } from '../operation.ts';
import { listByRank } from '../paging.ts';
import { present } from '../patch.ts';
import type { CollectionRecord } from '../records.ts';
import { defaultLevel, flag, id, listQuery, text } from '../schema.ts';
import { viewCollection, viewSpace } from '../views/content.ts';

/** Source: docs/platform-notes.md#limits */
const title = text(0, 50);

const organizationLevel: readonly Operation[] = [
  operation({
    name: 'listCollections',
    method: 'GET',
    path: '/orgs/{organizationId}/collections',
    query: listQuery.extend({ nested: flag.optional() }),
    handle: (call) => {
      const { store, query } = call;
      const organization = organizationAt(store, call.params.organizationId);
      const items =
        query.nested === false
          ? store.collections.by('parent', organization.id)
          : store.collections.by('organization', organization.id);
      return listByRank(call, items, (collection) => viewCollection(call, collection));
    },
  }),
  operation({
    name: 'createCollection',
    method: 'POST',
    path: '/orgs/{organizationId}/collections',
    body: z.strictObject({ title: title.optional(), parent: id.optional() }).optional(),
    handle: (call) => {
      const { store } = call;
      const organization = organizationAt(store, call.params.organizationId);
      const { parent } = call.body ?? {};
      if (parent !== undefined) {
        parentReferenced(store, organization.id, parent);
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
    },
  }),
];

/** Operations on collections. Source: docs/platform-notes.md#collections */
export const collectionOperations: readonly Operation[] = [
  ...organizationLevel,
  operation({
    name: 'getCollection',
    method: 'GET',
    path: '/collections/{collectionId}',
    handle: (call) => ok(viewCollection(call, collectionAt(call.store, call.params.collectionId))),
  }),
  operation({
    name: 'updateCollection',
    method: 'PATCH',
    path: '/collections/{collectionId}',
    body: z.strictObject({
      title: title.optional(),
      description: text(0, 100).optional(),
      defaultLevel: defaultLevel.optional(),
    }),
    handle: (call) => {
      const collection = collectionAt(call.store, call.params.collectionId);
      return ok(viewCollection(call, call.store.collections.put({ ...collection, ...present(call.body) })));
    },
  }),
  operation({
    name: 'deleteCollection',
    method: 'DELETE',
    path: '/collections/{collectionId}',
    handle: (call) => {
      const existed = call.store.collections.get(call.params.collectionId) !== undefined;
      if (existed) {
        deleteCollection(call.store, call.params.collectionId, call.at);
      }
      return deleted(existed);
    },
  }),
  operation({
    name: 'listCollectionSpaces',
    method: 'GET',
    path: '/collections/{collectionId}/spaces',
    query: listQuery,
    handle: (call) => {
      const collection = collectionAt(call.store, call.params.collectionId);
      return listByRank(call, call.store.spaces.by('parent', collection.id), (space) => viewSpace(call, space));
    },
  }),
  operation({
    name: 'moveCollection',
    method: 'POST',
    path: '/collections/{collectionId}/move',
    body: moveBody,
    handle: (call) => {
      const record = collectionAt(call.store, call.params.collectionId);
      move(call.store, { type: 'collection', record }, call.body);
      return ok(viewCollection(call, collectionAt(call.store, record.id)));
    },
  }),
  operation({
    name: 'transferCollection',
    method: 'POST',
    path: '/collections/{collectionId}/transfer',
    body: transferBody,
    handle: (call) => {
      const collection = collectionAt(call.store, call.params.collectionId);
      transferCollection(call.store, collection, call.body.organization);
      return ok(viewCollection(call, collectionAt(call.store, collection.id)));
    },
  }),
];
