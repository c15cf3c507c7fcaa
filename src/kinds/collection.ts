/** Kind of the collections of spaces. */
import { operations } from '../platform/operations/index.ts';
import { listedKind } from './model/derived-kind.ts';
import { defaultLevel, parentAccess, titleField } from './model/field-table.ts';
import { key, line, text } from './model/schema.ts';

/** Collections of spaces. Source: docs/platform-notes.md#collections */
export const collection = listedKind({
  name: 'collection',
  section: 'collections',
  parent: 'parent',
  summary: 'Collections, which contain spaces and other collections.',
  dependsOn: ['team', 'member'],
  deletionNeedsApproval: true,
  // Deleting a collection deletes its spaces.
  deletionNeeds: ['space'],
  operations: {
    list: operations.listCollections,
    query: { nested: true },
    create: operations.createCollection,
    update: operations.updateCollection,
    move: operations.moveCollection,
    delete: operations.deleteCollection,
  },
  fields: {
    title: titleField(line({ min: 1, max: 50, example: 'Handbook' }).describe('The title of the collection.')),
    description: {
      schema: text({ max: 100, example: 'How we work' }).describe('The description of the collection.'),
      read: ({ description }) => description ?? '',
      toEntry: (value) => value || undefined,
    },
    parent: {
      schema: key('A key of `collections`; `null` means the top level.', 'collection').nullable(),
      move: true,
      parentRef: true,
      access: parentAccess('parent'),
      read: ({ parent }) => parent || null,
    },
    defaultLevel,
  },
  permissions: 'collection',
  impact: () => ({ weight: 10, text: '' }),
  example: 'handbook: { title: Handbook, defaultLevel: read, permissions: { teams: { writers: edit } } }',
});
