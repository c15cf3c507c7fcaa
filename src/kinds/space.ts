import { z } from 'zod';
import type { Json } from '../core/json.ts';
import { idRef } from '../core/resource.ts';
import { isEmoji } from '../core/text/emoji.ts';
import { reference } from '../plan/model/diff.ts';
import { counted } from '../plan/render/words.ts';
import type { Space } from '../platform/operations/content/spaces.ts';
import { operations } from '../platform/operations/index.ts';
import { collect, type Kind } from './model/kind.ts';
import { commonFields, manifestRules, namesWithin, Reference } from './model/manifest.ts';
import {
  actualMergeRules,
  declaredMergeRules,
  describedMergeRules,
  keptMergeRules,
  mergeRules,
  peopleOfRules,
  writtenMergeRules,
} from './model/merge-rules.ts';
import { type PlannedRequest, present, ref, request } from './model/request.ts';
import { entry, key, LANGUAGES, type Language, type Level, level, plainKey, text } from './model/schema.ts';
import { says, written } from './model/written.ts';

const schema = entry({
  title: text({ min: 1, max: 50, example: 'Guides' }).optional().describe('The title of the space.'),
  emoji: text({ min: 1, max: 50, example: '1f4d8' })
    .refine(isEmoji, { error: 'must be an emoji, such as 📘, or its code points, such as 1f4d8' })
    .nullable()
    .optional()
    .describe('The emoji before the title; `null` removes it.'),
  collection: key('A key of `collections`; `null` means the top level.', 'collection').nullable().optional(),
  language: z.enum(LANGUAGES).optional().describe('The language of the content.'),
  editMode: z.enum(['live', 'locked']).optional().describe('`locked` prevents direct edits.'),
  defaultLevel: level.optional().describe('Default access for everyone in the organization; `null` means no access.'),
  mergeRules: mergeRules(['inherit', 'none', 'rules']).optional().describe('Conditions for merging a change request.'),
  duplicateOf: key('A key of `spaces`. A new space is created as a copy of that space.', 'space').optional(),
});

interface SpaceFields {
  title: string;
  emoji: string | null;
  collection: string | null;
  language: Language;
  editMode: 'live' | 'locked';
  defaultLevel: Level;
  mergeRules: Json;
  duplicateOf: string;
}

/** Spaces, which contain pages. Source: docs/platform-notes.md#spaces */
export const space: Kind = {
  name: 'space',
  dependsOn: ['collection', 'member'],
  creatable: true,
  deletable: true,
  deletionNeedsApproval: true,
  fields: {
    title: {},
    emoji: {},
    collection: reference({ move: true, parentRef: true, access: true }),
    language: {},
    editMode: { access: true },
    defaultLevel: { access: true },
    mergeRules: { access: true, references: peopleOfRules, normalize: keptMergeRules },
    duplicateOf: reference({ fixed: 'create' }),
  },
  manifest: manifestRules({
    section: 'spaces',
    single: false,
    key: plainKey,
    entry: schema,
    summary: 'Spaces, which contain pages.',
    example: 'guides: { title: Guides, collection: handbook, language: en, editMode: locked }',
    declare(name, fields, context) {
      if (fields.title === undefined && fields.id === undefined) {
        context.problem([], 'needs a title, unless id says which space it is');
      }
      const { title, emoji, collection, language, editMode, defaultLevel, duplicateOf } = fields;
      context.add({
        kind: 'space',
        key: name,
        path: [],
        fields: {
          title,
          emoji,
          collection:
            typeof collection === 'string' ? new Reference(['collection'], collection, ['collection']) : collection,
          language,
          editMode,
          defaultLevel,
          mergeRules: declaredMergeRules(fields.mergeRules),
          duplicateOf: duplicateOf && new Reference(['space'], duplicateOf, ['duplicateOf']),
        },
        within: null,
        place: null,
        common: commonFields(fields),
      });
    },
    describe(actual, context) {
      const { title, emoji, collection, language, editMode, defaultLevel, mergeRules: rules } = actual.fields;
      return context.resource(actual, {
        title,
        emoji: emoji ?? undefined,
        collection: context.keyOfRef(collection) ?? undefined,
        language: language ?? undefined,
        editMode: editMode ?? undefined,
        defaultLevel: defaultLevel ?? undefined,
        mergeRules: describedMergeRules(actual, rules, context),
      });
    },
  }),
  suggestedKeys: (actual, context) => namesWithin(actual, context.keyOfRef(actual.fields.collection)),
  naturalKeys: (fields) =>
    typeof fields.title === 'string' ? [{ by: 'title', value: fields.title, parent: fields.collection ?? null }] : [],
  actualKeys: (actual, fields) => [{ by: 'title', value: actual.title, parent: fields.collection ?? null }],
  renamedKey: (title, fields) => ({ by: 'title', value: title, parent: fields.collection ?? null }),
  impact(actual) {
    const open = Number(actual.facts?.openChangeRequests ?? 0);
    return { weight: 15 + open, text: open === 0 ? '' : counted(open, 'open change request') };
  },
  async observe({ reader, add }) {
    await collect(reader.pages(operations.listSpaces), (each) => {
      if (!each.deletedAt) {
        add(observed(each));
      }
    });
  },
  copySource: ({ declared }) => (typeof declared.duplicateOf === 'string' ? declared.duplicateOf : undefined),
  writes(change) {
    const path = { spaceId: ref(change.address) };
    if (change.action === 'delete') {
      return { first: [request(operations.deleteSpace, { path })] };
    }
    const { collection, duplicateOf, ...fields } = written<SpaceFields>(change);
    if (change.action === 'move') {
      return { first: [move(change.address, collection ?? null)] };
    }
    const { title, emoji, language, editMode, defaultLevel } = fields;
    const settings = { defaultLevel, mergeRules: writtenMergeRules(fields.mergeRules) };
    const learns = (answer: Space) => [[change.address, answer.id] as const];
    const patch = (body: object) =>
      says(body) ? [request(operations.updateSpace, { path, body: present(body) })] : [];
    if (change.action === 'update') {
      return { first: patch({ title, emoji, language, editMode, ...settings }) };
    }
    if (duplicateOf !== undefined) {
      const copy = request(
        operations.duplicateSpace,
        { path: { spaceId: ref(duplicateOf) } },
        { creates: true, learns },
      );
      const moved = collection === undefined ? [] : [move(change.address, collection)];
      return { first: [copy, ...patch({ title, emoji, language, editMode, ...settings }), ...moved] };
    }
    const body = present({
      title,
      emoji: emoji ?? undefined,
      language,
      editMode,
      parent: collection ? ref(collection) : undefined,
      empty: true as const,
    });
    // A creation takes an emoji, but not the wish to have none.
    const cleared = emoji === null ? { emoji } : {};
    return {
      first: [
        request(operations.createSpace, { body }, { creates: true, learns }),
        ...patch({ ...cleared, ...settings }),
      ],
    };
  },
};

/** A move that would change nothing is refused (409), and is then as wanted already. */
function move(address: string, collection: string | null): PlannedRequest {
  const body = { parent: collection === null ? null : ref(collection) };
  return request(
    operations.moveSpace,
    { path: { spaceId: ref(address) }, body },
    { sets: ['collection'], tolerates: [409] },
  );
}

function observed(each: Space) {
  return {
    kind: 'space',
    id: each.id,
    title: each.title ?? '',
    fields: {
      title: each.title ?? '',
      emoji: each.emoji || null,
      collection: each.parent ? idRef(each.parent, 'collection') : null,
      language: each.language ?? null,
      editMode: each.editMode ?? null,
      defaultLevel: each.defaultLevel ?? null,
      mergeRules: actualMergeRules(each.mergeRules),
    },
    within: null,
    place: null,
    facts: { openChangeRequests: each.changeRequestsOpen ?? 0, revision: each.revision ?? null },
  };
}
