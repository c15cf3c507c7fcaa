import { operations } from '../platform/operations/index.ts';
import { listedKind } from './model/listed-kind.ts';
import { key, level, text } from './model/schema.ts';

/** Collections of spaces. Source: docs/platform-notes.md#collections */
export const collection = listedKind({
  name: 'collection',
  section: 'collections',
  parent: 'parent',
  summary: 'Collections, which contain spaces and other collections.',
  deletionNeedsApproval: true,
  operations: {
    list: operations.listCollections,
    query: { nested: true },
    id: 'collectionId',
    create: operations.createCollection,
    update: operations.updateCollection,
    move: operations.moveCollection,
    delete: operations.deleteCollection,
  },
  fields: {
    title: {
      schema: text({ min: 1, max: 50, example: 'Handbook' }).optional().describe('The title of the collection.'),
      read: ({ title }) => title ?? '',
    },
    description: {
      schema: text({ max: 100, example: 'How we work' }).optional().describe('The description of the collection.'),
      read: ({ description }) => description ?? '',
      toEntry: (value) => value || undefined,
    },
    parent: {
      schema: key('A key of `collections`; `null` means the top level.', 'collection').nullable().optional(),
      move: true,
      parentRef: true,
      access: true,
      read: ({ parent }) => parent || null,
    },
    defaultLevel: {
      schema: level.optional().describe('Default access for everyone in the organization; `null` means no access.'),
      access: true,
    },
  },
  impact: () => ({ weight: 10, text: '' }),
  /** Deleting a collection deletes its spaces, so the plan has to read them. */
  neededKinds: ({ declared, base }) =>
    [...(base?.values() ?? [])].some((owned) => owned.kind === 'collection' && !declared.has(owned.address))
      ? ['space']
      : [],
  example: 'handbook: { title: Handbook, defaultLevel: read }',
  sample: {
    created:
      'collections: { top: { title: Top }, a: { title: A, parent: top, description: What, defaultLevel: read } }',
    updated:
      'collections: { top: { title: Top }, a: { title: B, parent: null, description: More, defaultLevel: edit } }',
    cleared: 'collections: { top: { title: Top }, a: { title: B, parent: null, description: "", defaultLevel: null } }',
    gone: 'collections: { top: { title: Top } }',
    address: 'collection/a',
    createdBy: 'createCollection',
    storedIn: 'collections',
    drift: ['POST', '/v1/collections/{id}/move', { parent: null }],
    remove: ['DELETE', '/v1/collections/{id}'],
  },
});
