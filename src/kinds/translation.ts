/** Kind of the translations of spaces. */
import { z } from 'zod';
import { present } from '../core/json.ts';
import type { Reader } from '../platform/client.ts';
import { operations } from '../platform/operations/index.ts';
import type { Answer } from '../platform/operations/model/operation.ts';
import type { toDocument } from '../platform/rich-text/from-markdown.ts';
import { fieldTable } from './model/field-table.ts';
import { instructionsField } from './model/instructions.ts';
import { creating, type Kind, ref, request, unlessMissing } from './model/kind.ts';
import { manifestRules, resourceOf } from './model/manifest.ts';
import { entry, key, LANGUAGES, type Language, plainKey, text } from './model/schema.ts';

type Document = ReturnType<typeof toDocument>;
type Translation = Answer<typeof operations.listTranslations>['items'][number];

const table = fieldTable<Translation>({
  space: {
    schema: key('A key of `spaces`: the space to translate.', 'space'),
    required: true,
    fixed: 'replace',
    colocatedWith: true,
    read: ({ source }) => source.space,
  },
  from: {
    schema: z.enum(LANGUAGES).describe('The language of the source space.'),
    required: true,
    fixed: 'replace',
    read: ({ source }) => source.language,
  },
  to: {
    schema: z.enum(LANGUAGES).describe('The target language.'),
    required: true,
    fixed: 'replace',
    read: ({ language }) => language,
  },
  instructions: instructionsField('Instructions for the translator', {
    max: 20_000,
    example: 'Use the formal *vous*.',
  }),
  rerun: {
    schema: z
      .enum(['on-change', 'never'])
      .default('never')
      .describe('`on-change` runs the translation again when the content of the space has changed since the last run.'),
    declarationOnly: true,
  },
  run: {
    schema: text({ max: 100, example: '2030-01' }).describe(
      'Any text. The translation runs again each time you change it.',
    ),
    compare: 'base',
  },
});

/** Translations of spaces. The result is a space that a site can show. Source: docs/platform-notes.md#translations */
export const translation: Kind = {
  name: 'translation',
  dependsOn: ['space'],
  creatable: true,
  deletable: true,
  // A space has at most one translation per language.
  deleteBeforeReplace: true,
  fields: table.rules,
  manifest: manifestRules({
    section: 'translations',
    single: false,
    key: plainKey,
    entry: entry(table.shape),
    summary: 'Translations of spaces into other languages.',
    example: 'guides-fr: { space: guides, from: en, to: fr, instructions: "Use the formal *vous*.", rerun: on-change }',
    declare(name, entry, context) {
      if (entry.from === entry.to) {
        context.problem(['to'], `is the source language (${String(entry.from)})`);
      }
      context.add(resourceOf('translation', name, table.declare(entry, [], name), entry));
    },
    describe(actual, context) {
      if (context.keyOfRef(actual.fields.space) === null) {
        return 'the space that it translates does not exist';
      }
      if (typeof actual.facts?.lost === 'string') {
        return 'its result space has been deleted; declaring it would run the translation again';
      }
      return context.resource(actual, table.describe(actual, context));
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
  /** Reruns are not visible in platform fields, so the base records the revision that was last translated. */
  extraChanges(declared, actual, base, actualOf) {
    const lost = actual.facts?.lost;
    if (typeof lost === 'string') {
      return [{ path: 'result', from: lost, to: null }];
    }
    const now = actualOf(String(declared.fields.space))?.facts?.revision;
    const last = base?.metadata.revision;
    const changed = typeof now === 'string' && typeof last === 'string' && now !== last;
    return declared.fields.rerun === 'on-change' && changed ? [{ path: 'rerun', from: last, to: now }] : [];
  },
  recordedMetadata(declared, before, changed, actualOf) {
    const now = actualOf(String(declared.fields.space))?.facts?.revision;
    return typeof now === 'string' && (changed || before.revision === undefined) ? { revision: now } : before;
  },
  async observe({ reader, add }) {
    // The kind `space` reads the same list at the same time, and both share one request.
    const [translations, all] = await Promise.all([
      Array.fromAsync(reader.pages(operations.listTranslations)),
      Array.fromAsync(reader.pages(operations.listSpaces)),
    ]);
    const spaces = new Set(all.filter(({ deletedAt }) => !deletedAt).map(({ id }) => id));
    for (const each of translations) {
      const result = each.result?.space;
      const isLost = result ? !spaces.has(result) && !(await isThere(reader, result)) : false;
      add({
        kind: 'translation',
        id: each.id,
        title: `${each.source.space} → ${each.language}`,
        fields: table.observe(each),
        within: null,
        place: null,
        aliases: result && !isLost ? [result] : [],
        facts: { lost: isLost ? result : null },
      });
    }
  },
  async progress(id, reader) {
    const { status, result } = await reader.get(operations.getTranslation, { path: { translationId: id } });
    const isRunning = status === 'pending' || status === 'running';
    return result?.space && !isRunning ? { state: 'done' } : { state: 'working' };
  },
  writes(change) {
    const path = { translationId: ref(change.address) };
    if (change.action === 'delete') {
      return { first: [request(operations.deleteTranslation, { path })] };
    }
    const { instructions } = table.parameters(change);
    if (change.action === 'create') {
      const { space, from = 'en', to = 'en' } = change.declared as { space: string; from?: Language; to?: Language };
      const source = { space: ref(space), language: from };
      const body = present({ language: to, source, instructions: instructions as Document | undefined });
      return { first: [request(operations.createTranslation, { body }, creating(change))] };
    }
    const runs = change.fields.some((field) => ['rerun', 'run', 'result'].includes(field.path));
    return {
      first: [
        ...(instructions ? [request(operations.updateTranslation, { path, body: { instructions } as never })] : []),
        ...(runs ? [request(operations.runTranslation, { path })] : []),
      ],
    };
  },
};

/** Reports whether a space that is not in the list exists. It may have been created after the list was read. */
async function isThere(reader: Reader, spaceId: string): Promise<boolean> {
  const space = await unlessMissing(reader.get(operations.getSpace, { path: { spaceId } }));
  return space !== null && !space.deletedAt;
}
