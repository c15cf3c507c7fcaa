import { z } from 'zod';
import { RejectedError } from '../core/errors.ts';
import { idRef } from '../core/resource.ts';
import { reference } from '../plan/model/diff.ts';
import type { Reader } from '../platform/client.ts';
import { operations } from '../platform/operations/index.ts';
import type { Answer } from '../platform/operations/model/operation.ts';
import { normalizeMarkdown, toDocument, toMarkdown } from '../platform/rich-text/document.ts';
import { collect, type Kind } from './model/kind.ts';
import { commonFields, manifestRules, Reference } from './model/manifest.ts';
import { ref, request } from './model/request.ts';
import { entry, key, LANGUAGES, type Language, plainKey, text, textOrFile } from './model/schema.ts';
import { written } from './model/written.ts';

const schema = entry({
  space: key('A key of `spaces`: the space to translate.', 'space'),
  from: z.enum(LANGUAGES).describe('The language of the source space.'),
  to: z.enum(LANGUAGES).describe('The target language.'),
  instructions: textOrFile({ max: 20_000, example: 'Use the formal *vous*.' })
    .optional()
    .describe('Instructions for the translator, in Markdown; inline or as `{ file: path }`.'),
  rerun: z
    .enum(['on-change', 'never'])
    .default('never')
    .describe('`on-change` runs the translation again when the content of the space has changed since the last run.'),
  run: text({ max: 100, example: '2030-01' })
    .optional()
    .describe('Any text. The translation runs again each time you change it.'),
});

type Translation = Answer<typeof operations.listTranslations>['items'][number];

interface TranslationFields {
  space: string;
  from: Language;
  to: Language;
  instructions: string;
}

/** Translations of spaces. The result is a space that a site can show. Source: docs/platform-notes.md#translations */
export const translation: Kind = {
  name: 'translation',
  dependsOn: ['space'],
  creatable: true,
  deletable: true,
  // One source and language has one translation.
  deleteBeforeReplace: true,
  fields: {
    space: reference({ fixed: 'replace', colocatedWith: true }),
    from: { fixed: 'replace' },
    to: { fixed: 'replace' },
    instructions: { normalize: (value) => (typeof value === 'string' ? normalizeMarkdown(value) : value) },
    rerun: { declarationOnly: true },
    run: { compare: 'base' },
  },
  manifest: manifestRules({
    section: 'translations',
    single: false,
    key: plainKey,
    entry: schema,
    summary: 'Translations of spaces into other languages.',
    example: 'guides-fr: { space: guides, from: en, to: fr, instructions: "Use the formal *vous*.", rerun: on-change }',
    declare(name, fields, context) {
      const { space, from, to, instructions, rerun, run } = fields;
      if (from === to) {
        context.problem(['to'], `is the language it is translated from (${from})`);
      }
      context.add({
        kind: 'translation',
        key: name,
        path: [],
        fields: { space: new Reference(['space'], space, ['space']), from, to, instructions, rerun, run },
        within: null,
        place: null,
        common: commonFields(fields),
      });
    },
    describe(actual, context) {
      const { space, from, to, instructions } = actual.fields;
      const source = context.keyOfRef(space);
      if (source === null) {
        return 'the space that it translates is not there';
      }
      if (typeof actual.facts?.lost === 'string') {
        return 'the space that it made has been deleted: to declare it would be to run it again';
      }
      // As it is compared: what Markdown cannot say would not come back from the platform either.
      const text = typeof instructions === 'string' ? normalizeMarkdown(instructions) : '';
      return context.resource(actual, { space: source, from, to, instructions: text || undefined });
    },
  }),
  sharesKeysWith: ['space'],
  suggestedKeys: (actual, context) => [
    `${context.keyOfRef(actual.fields.space) ?? 'space'} ${String(actual.fields.to)}`,
  ],
  naturalKeys: (fields) => [{ by: 'space and language', value: `${String(fields.space)} ${String(fields.to)}` }],
  actualKeys: (_actual, fields) => [
    { by: 'space and language', value: `${String(fields.space)} ${String(fields.to)}` },
  ],
  impact: (actual) => ({ weight: 3, text: `into ${String(actual.fields.to)}` }),
  unusableReason(actual) {
    return actual?.aliases?.length ? null : 'the translation has no result yet';
  },
  /** What runs again shows in no field of the platform: the revision that was last translated is in the record. */
  extraChanges(declared, actual, base, actualOf) {
    const lost = actual.facts?.lost;
    if (typeof lost === 'string') {
      return [{ path: 'result', from: lost, to: null }];
    }
    const now = actualOf(String(declared.fields.space))?.facts?.revision;
    const last = base?.marks.revision;
    const changed = typeof now === 'string' && typeof last === 'string' && now !== last;
    return declared.fields.rerun === 'on-change' && changed ? [{ path: 'rerun', from: last, to: now }] : [];
  },
  recordedMarks(declared, before, changed, actualOf) {
    const now = actualOf(String(declared.fields.space))?.facts?.revision;
    return typeof now === 'string' && (changed || before.revision === undefined) ? { revision: now } : before;
  },
  async observe({ reader, add }) {
    const translations: Translation[] = [];
    const spaces = new Set<string>();
    // The spaces are read for their own kind at the same time: that is one request.
    await Promise.all([
      collect(reader.pages(operations.listTranslations), (each) => translations.push(each)),
      collect(reader.pages(operations.listSpaces), (each) => (each.deletedAt ? null : spaces.add(each.id))),
    ]);
    for (const each of translations) {
      const result = each.result?.space;
      const isLost = result ? !spaces.has(result) && !(await isThere(reader, result)) : false;
      add({
        kind: 'translation',
        id: each.id,
        title: `${each.source.space} → ${each.language}`,
        fields: {
          space: idRef(each.source.space, 'space'),
          from: each.source.language ?? null,
          to: each.language,
          instructions: each.instructions ? toMarkdown(each.instructions) : null,
        },
        within: null,
        place: null,
        aliases: result && !isLost ? [result] : [],
        facts: { lost: isLost ? result : null },
      });
    }
  },
  async progress(id, reader) {
    const { status, result } = await reader.get(operations.getTranslation, { path: { translationId: id } });
    if (status === 'pending' || status === 'running') {
      return { state: 'working' };
    }
    return result?.space ? { state: 'done' } : { state: 'working' };
  },
  writes(change) {
    const path = { translationId: ref(change.address) };
    if (change.action === 'delete') {
      return { first: [request(operations.deleteTranslation, { path })] };
    }
    const { space, from, to, instructions } = written<TranslationFields>(change);
    const document = instructions === undefined ? undefined : { ...toDocument(instructions) };
    if (change.action === 'create') {
      const source = { space: ref(space), language: from ?? 'en' };
      const body = { language: to ?? 'en', source, ...(document ? { instructions: document } : {}) };
      return {
        first: [
          request(
            operations.createTranslation,
            { body },
            { creates: true, learns: (answer) => [[change.address, answer.id]] },
          ),
        ],
      };
    }
    const runs = change.fields.some((field) => ['rerun', 'run', 'result'].includes(field.path));
    return {
      first: [
        ...(document ? [request(operations.updateTranslation, { path, body: { instructions: document } })] : []),
        ...(runs ? [request(operations.runTranslation, { path })] : []),
      ],
    };
  },
};

/** Whether a space that was in no list is there: it may have come into being since. */
async function isThere(reader: Reader, spaceId: string): Promise<boolean> {
  try {
    return !(await reader.get(operations.getSpace, { path: { spaceId } })).deletedAt;
  } catch (error) {
    if (error instanceof RejectedError && error.status === 404) {
      return false;
    }
    throw error;
  }
}
