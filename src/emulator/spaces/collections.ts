// Operations on collections.

import { z } from 'zod';
import { created, deleted, ok } from '../model/answers.ts';
import { withDefaults } from '../model/creation-defaults.ts';
import { type ApiOperation, ORGANIZATION, operation } from '../model/operation.ts';
import { listByRank } from '../model/paging.ts';
import { omitUndefined } from '../model/patch.ts';
import { defaultLevel, flag, id, listQuery, text } from '../model/schema.ts';
import { requireOrganization } from '../organizations/people.ts';
import { deleteCollection, move, moveBody, referencedParent, transferBody, transferCollection } from './hierarchy.ts';
import type { CollectionRecord } from './records.ts';
import { requireCollection, viewCollection, viewSpace } from './views.ts';

const COLLECTION = '/collections/{collectionId}';

/** Source: docs/platform-notes.md#limits */
const title = text(0, 50);

const listCollectionsQuery = listQuery.extend({ nested: flag.optional() });
const createCollectionBody = z.strictObject({ title: title.optional(), parent: id.optional() }).optional();
const updateCollectionBody = z.strictObject({
  title: title.optional(),
  description: text(0, 100).optional(),
  defaultLevel: defaultLevel.optional(),
});

const organizationLevel: readonly ApiOperation[] = [
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
];

/** Operations on collections. Source: docs/platform-notes.md#collections */
export const collectionOperations: readonly ApiOperation[] = [
  ...organizationLevel,
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
];
