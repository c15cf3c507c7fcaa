import { idRef } from '../core/resource.ts';
import { reference } from '../plan/model/diff.ts';
import { operations } from '../platform/operations/index.ts';
import { collect, type Kind } from './model/kind.ts';
import { commonFields, manifestRules, namesWithin, Reference } from './model/manifest.ts';
import { present, ref, request } from './model/request.ts';
import { entry, key, type Level, level, plainKey, text } from './model/schema.ts';
import { says, written } from './model/written.ts';

const schema = entry({
  title: text({ min: 1, max: 50, example: 'Handbook' }).optional().describe('The title of the collection.'),
  description: text({ max: 100, example: 'How we work' }).optional().describe('The description of the collection.'),
  parent: key('A key of `collections`; `null` means the top level.', 'collection').nullable().optional(),
  defaultLevel: level.optional().describe('Default access for everyone in the organization; `null` means no access.'),
});

interface CollectionFields {
  title: string;
  description: string;
  parent: string | null;
  defaultLevel: Level;
}

/** Collections of spaces. Source: docs/platform-notes.md#collections */
export const collection: Kind = {
  name: 'collection',
  dependsOn: [],
  creatable: true,
  deletable: true,
  deletionNeedsApproval: true,
  fields: {
    title: {},
    description: {},
    parent: reference({ move: true, parentRef: true, access: true }),
    defaultLevel: { access: true },
  },
  manifest: manifestRules({
    section: 'collections',
    single: false,
    key: plainKey,
    entry: schema,
    summary: 'Collections, which contain spaces and other collections.',
    example: 'handbook: { title: Handbook, defaultLevel: read }',
    declare(name, fields, context) {
      if (fields.title === undefined && fields.id === undefined) {
        context.problem([], 'needs a title, unless id says which collection it is');
      }
      const { title, description, parent, defaultLevel } = fields;
      context.add({
        kind: 'collection',
        key: name,
        path: [],
        fields: {
          title,
          description,
          parent: typeof parent === 'string' ? new Reference(['collection'], parent, ['parent']) : parent,
          defaultLevel,
        },
        within: null,
        place: null,
        common: commonFields(fields),
      });
    },
    describe(actual, context) {
      const { title, description, parent, defaultLevel } = actual.fields;
      return context.resource(actual, {
        title,
        description: description || undefined,
        parent: context.keyOfRef(parent) ?? undefined,
        defaultLevel: defaultLevel ?? undefined,
      });
    },
  }),
  suggestedKeys: (actual, context) => namesWithin(actual, context.keyOfRef(actual.fields.parent)),
  naturalKeys: (fields) =>
    typeof fields.title === 'string' ? [{ by: 'title', value: fields.title, parent: fields.parent ?? null }] : [],
  actualKeys: (actual, fields) => [{ by: 'title', value: actual.title, parent: fields.parent ?? null }],
  renamedKey: (title, fields) => ({ by: 'title', value: title, parent: fields.parent ?? null }),
  impact: () => ({ weight: 10, text: '' }),
  /** Deleting a collection deletes what is in it, so that must be known. */
  neededKinds({ declared, base }) {
    const goes = [...(base?.values() ?? [])].some(
      (owned) => owned.kind === 'collection' && !declared.has(owned.address),
    );
    return goes ? ['space'] : [];
  },
  async observe({ reader, add }) {
    await collect(reader.pages(operations.listCollections, { query: { nested: true } }), (each) => {
      add({
        kind: 'collection',
        id: each.id,
        title: each.title ?? '',
        fields: {
          title: each.title ?? '',
          description: each.description ?? '',
          parent: each.parent ? idRef(each.parent, 'collection') : null,
          defaultLevel: each.defaultLevel ?? null,
        },
        within: null,
        place: null,
      });
    });
  },
  writes(change) {
    const path = { collectionId: ref(change.address) };
    if (change.action === 'delete') {
      return { first: [request(operations.deleteCollection, { path })] };
    }
    const { parent, title, description, defaultLevel } = written<CollectionFields>(change);
    if (change.action === 'move') {
      const body = { parent: parent ? ref(parent) : null };
      return { first: [request(operations.moveCollection, { path, body }, { sets: ['parent'], tolerates: [409] })] };
    }
    const rest = present({ description, defaultLevel });
    if (change.action === 'update') {
      return { first: [request(operations.updateCollection, { path, body: present({ title, ...rest }) })] };
    }
    const create = request(
      operations.createCollection,
      { body: present({ title, parent: parent ? ref(parent) : undefined }) },
      { creates: true, learns: (answer) => [[change.address, answer.id]] },
    );
    return { first: [create, ...(says(rest) ? [request(operations.updateCollection, { path, body: rest })] : [])] };
  },
};
