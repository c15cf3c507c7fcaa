import * as z from 'zod';
import { list, read, remove, write } from '../model/operation.ts';
import {
  givenFlag,
  givenText,
  level,
  move,
  optionalText,
  permissions,
  string,
  text,
  transfer,
} from '../model/shapes.ts';
import { space } from './spaces.ts';

const collection = z.looseObject({
  id: string,
  title: optionalText,
  description: optionalText,
  parent: optionalText,
  defaultLevel: optionalText,
  permissions,
});
const title = text(0, 50).optional();

/** Operations on collections. Source: docs/platform-notes.md#collections */
export const collectionOperations = {
  listCollections: list(
    'listCollections',
    'Lists the collections of the organization, by default including nested ones.',
    '/v1/orgs/{organizationId}/collections',
    collection,
    {
      nested: givenFlag,
    },
  ),
  createCollection: write(
    'createCollection',
    'Creates a collection.',
    'POST',
    '/v1/orgs/{organizationId}/collections',
    {
      body: z.strictObject({ title, parent: givenText }),
      answer: collection,
      repeat: 'never',
      success: [200, 201],
    },
  ),
  getCollection: read('getCollection', 'Returns a collection.', '/v1/collections/{collectionId}', collection),
  updateCollection: write(
    'updateCollection',
    "Updates a collection's title, description or default level.",
    'PATCH',
    '/v1/collections/{collectionId}',
    {
      body: z.strictObject({ title, description: text(0, 100).optional(), defaultLevel: level.optional() }),
      answer: collection,
      repeat: 'idempotent',
    },
  ),
  deleteCollection: remove('deleteCollection', 'Deletes a collection.', '/v1/collections/{collectionId}'),
  // A move that changes nothing is refused (409), so a repeated move would look like a failure.
  moveCollection: write(
    'moveCollection',
    'Moves a collection into another collection, or among its siblings.',
    'POST',
    '/v1/collections/{collectionId}/move',
    {
      body: move,
      answer: collection,
      repeat: 'never',
    },
  ),
  listCollectionSpaces: list(
    'listCollectionSpaces',
    'Lists the spaces directly in a collection.',
    '/v1/collections/{collectionId}/spaces',
    space,
  ),
  transferCollection: write(
    'transferCollection',
    'Transfers a collection and its contents to another organization.',
    'POST',
    '/v1/collections/{collectionId}/transfer',
    { body: transfer, answer: collection, repeat: 'never' },
  ),
};
