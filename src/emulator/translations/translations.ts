/** Translations of spaces: records, operations and processing. */

import { z } from 'zod';
import type { Json } from '../../core/json.ts';
import { revise } from '../content/content.ts';
import { optionalDocument, requireDocument } from '../documents/rich-document.ts';
import { type ApiAnswer, created, invalid, noContent, ok } from '../model/answers.ts';
import { refuseLaterValues } from '../model/features.ts';
import { type ApiOperation, type Context, type OperationCall, ORGANIZATION, operation } from '../model/operation.ts';
import { pick } from '../model/patch.ts';
import { id, language, listQuery, type SpaceLanguage } from '../model/schema.ts';
import {
  type EmulatorStore,
  type Entity,
  findDue,
  getProgress,
  IndexedTable,
  organizationKey,
  type Run,
  runningKey,
  type StoreFamily,
  startRun,
} from '../model/store.ts';
import { deleteOwned, listOwned, ownedLookup, requireOrganization } from '../organizations/people.ts';
import { referencedSpace } from '../spaces/views.ts';

const TRANSLATION = `${ORGANIZATION}/translations/{translationId}` as const;

export interface TranslationRecord extends Entity {
  readonly organization: string;
  readonly source: { readonly space: string; readonly language: SpaceLanguage };
  readonly language: SpaceLanguage;
  readonly instructions?: Json | undefined;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly run: Run | null;
  readonly result?: { readonly space: string; readonly revision: string } | undefined;
  readonly stats: Readonly<typeof NO_RUNS>;
}

/** Source: docs/platform-notes.md#writable-fields */
const translationCreation = z.strictObject({
  source: z.strictObject({ space: id, language }),
  language,
  instructions: z.unknown().optional(),
});

/** Source: docs/platform-notes.md#enumerations */
const STATES = { waiting: 'pending', working: 'running', done: 'completed' } as const;

const NO_RUNS = {
  runs: 0,
  totalWords: 0,
  totalPages: 0,
  totalDuration: 0,
  latestRunDuration: 0,
  latestPages: 0,
  latestWords: 0,
};

function viewTranslation(context: Context, translation: TranslationRecord): unknown {
  return {
    object: 'translation',
    ...pick(translation, 'id', 'source', 'language', 'result', 'createdAt', 'updatedAt', 'stats'),
    status: STATES[getProgress(translation.run, context.now)],
    instructions: translation.instructions ?? { object: 'document', data: {}, nodes: [] },
    permissions: { view: true, edit: context.caller.permission === 'admin' },
    urls: { location: `${context.base}/v1/orgs/${translation.organization}/translations/${translation.id}` },
  };
}

const requireTranslation = ownedLookup('Translation', 'translationId', ({ translations }) => translations);

function createTranslation(
  call: OperationCall<'/orgs/{organizationId}/translations', unknown, z.output<typeof translationCreation>>,
): ApiAnswer {
  const { store, body } = call;
  const organization = requireOrganization(call);
  const instructions = optionalDocument(body.instructions, 'body.instructions');
  refuseLaterValues(call, 'traditionalChinese', [body.source.language], 'body.source.language');
  refuseLaterValues(call, 'traditionalChinese', [body.language], 'body.language');
  const source = referencedSpace(store, organization.id, body.source.space, 'body.source.space');
  if (body.language === body.source.language) {
    throw invalid('body.language', `"${body.language}" is the language of the source`);
  }
  if (store.translations.one('pair', `${source.id}/${body.language}`) !== undefined) {
    throw invalid('body.language', `space "${source.id}" is already translated into "${body.language}"`);
  }
  const translation = store.translations.put({
    ...store.identify('trn'),
    organization: organization.id,
    source: body.source,
    language: body.language,
    instructions,
    createdAt: call.at,
    updatedAt: call.at,
    run: startRun(call, call.processing.translation),
    stats: NO_RUNS,
  });
  store.settle(call.now);
  return created(viewTranslation(call, store.translations.get(translation.id) ?? translation));
}

const updateTranslationBody = z.strictObject({ instructions: z.unknown() });

/** Operations on translations. Source: docs/platform-notes.md#translations */
export const translationOperations: readonly ApiOperation[] = [
  operation('listTranslations', 'GET', `${ORGANIZATION}/translations`, { query: listQuery }, (call) =>
    listOwned(call, call.store.translations, viewTranslation),
  ),
  operation(
    'createTranslation',
    'POST',
    `${ORGANIZATION}/translations`,
    { body: translationCreation },
    createTranslation,
  ),
  operation('getTranslation', 'GET', TRANSLATION, {}, (call) => {
    return ok(viewTranslation(call, requireTranslation(call)));
  }),
  operation('updateTranslation', 'PUT', TRANSLATION, { body: updateTranslationBody }, (call) => {
    const translation = requireTranslation(call);
    const instructions = requireDocument(call.body.instructions, 'body.instructions');
    const updated = call.store.translations.put({ ...translation, instructions, updatedAt: call.at });
    return ok(viewTranslation(call, updated));
  }),
  operation('deleteTranslation', 'DELETE', TRANSLATION, {}, (call) =>
    deleteOwned(call, call.store.translations, call.params.translationId),
  ),
  operation('runTranslation', 'POST', `${TRANSLATION}/run`, {}, (call) => {
    const translation = requireTranslation(call);
    call.store.translations.put({
      ...translation,
      run: startRun(call, call.processing.translation),
      updatedAt: call.at,
    });
    return noContent();
  }),
];

/** Size of every translation run. */
const PAGES_PER_RUN = 1;
const WORDS_PER_RUN = 100;

function completeTranslation(store: EmulatorStore, translation: TranslationRecord, run: Run): void {
  const at = new Date(run.due).toISOString();
  const { stats } = translation;
  const duration = run.due - run.startedAt;
  store.translations.put({
    ...translation,
    run: null,
    updatedAt: at,
    result: writeResult(store, translation, at),
    stats: {
      runs: stats.runs + 1,
      totalWords: stats.totalWords + WORDS_PER_RUN,
      totalPages: stats.totalPages + PAGES_PER_RUN,
      totalDuration: stats.totalDuration + duration,
      latestRunDuration: duration,
      latestPages: PAGES_PER_RUN,
      latestWords: WORDS_PER_RUN,
    },
  });
}

/** Writes a revision of the result space, which is created by the first run, and again if it was deleted. */
function writeResult(
  store: EmulatorStore,
  translation: TranslationRecord,
  at: string,
): { space: string; revision: string } {
  const known = translation.result === undefined ? undefined : store.spaces.get(translation.result.space);
  if (known !== undefined && known.deletedAt === undefined) {
    return { space: known.id, revision: revise(store, known, at) };
  }
  const revision = store.identify('rev').id;
  const source = store.spaces.get(translation.source.space);
  const parent = source?.parent === undefined ? undefined : store.collections.get(source.parent)?.id;
  const identity = store.identify('spc');
  store.spaces.put({
    ...identity,
    rank: identity.seq,
    organization: translation.organization,
    title: `${source?.title ?? 'Untitled'} (${translation.language})`,
    emoji: source?.emoji,
    parent,
    language: translation.language,
    editMode: 'live',
    defaultLevel: source?.defaultLevel ?? null,
    mergeRules: { type: 'inherit' },
    createdAt: at,
    updatedAt: at,
    revision,
  });
  return { space: identity.id, revision };
}

/** The table of translations, and their completion. */
export const translationStore = {
  tables: translationTables,
  settle(store, now) {
    for (const { record, run } of findDue(store.translations, now)) {
      completeTranslation(store, record, run);
    }
  },
} satisfies StoreFamily;

function translationTables() {
  return {
    translations: new IndexedTable<TranslationRecord, 'organization' | 'pair' | 'running'>({
      organization: organizationKey,
      pair: (record) => `${record.source.space}/${record.language}`,
      running: runningKey,
    }),
  };
}

declare module '../model/store.ts' {
  interface Tables extends ReturnType<typeof translationTables> {}
}
