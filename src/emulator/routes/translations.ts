import { z } from 'zod';
import { type Answer, created, deleted, invalid, noContent, notFound, ok } from '../answers.ts';
import type { Run } from '../entity.ts';
import { organizationAt, spaceReferenced } from '../lookup.ts';
import { type Call, type Context, type Operation, operation } from '../operation.ts';
import { listBySeq } from '../paging.ts';
import { progressOf, settle } from '../processing.ts';
import type { TranslationRecord } from '../records.ts';
import { requireDocument } from '../rich-document.ts';
import { id, language, listQuery } from '../schema.ts';
import type { Store } from '../store.ts';
import { refuseLater } from '../versions.ts';

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
    id: translation.id,
    status: STATES[progressOf(translation.run, context.now)],
    source: translation.source,
    language: translation.language,
    instructions: translation.instructions ?? { object: 'document', data: {}, nodes: [] },
    result: translation.result,
    createdAt: translation.createdAt,
    updatedAt: translation.updatedAt,
    stats: translation.stats,
    permissions: { view: true, edit: context.caller.permission === 'admin' },
    urls: { location: `${context.base}/v1/orgs/${translation.organization}/translations/${translation.id}` },
  };
}

function translationAt(store: Store, organization: string, id: string): TranslationRecord {
  organizationAt(store, organization);
  const translation = store.translations.get(id);
  if (translation?.organization !== organization) {
    throw notFound('Translation', id);
  }
  return translation;
}

function startRun(context: Context): Run {
  return { startedAt: context.now, due: context.now + context.processing.translation };
}

function createTranslation(
  call: Call<'/orgs/{organizationId}/translations', unknown, z.output<typeof translationCreation>>,
): Answer {
  const { store, body } = call;
  const organization = organizationAt(store, call.params.organizationId);
  const instructions =
    body.instructions === undefined ? undefined : requireDocument(body.instructions, 'body.instructions');
  refuseLater(call, 'traditionalChinese', [body.source.language], 'body.source.language');
  refuseLater(call, 'traditionalChinese', [body.language], 'body.language');
  const source = spaceReferenced(store, organization.id, body.source.space, 'body.source.space');
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
    run: startRun(call),
    stats: NO_RUNS,
  });
  settle(store, call.now);
  return created(viewTranslation(call, store.translations.get(translation.id) ?? translation));
}

/** Operations on translations. Source: docs/platform-notes.md#translations */
export const translationOperations: readonly Operation[] = [
  operation({
    name: 'listTranslations',
    method: 'GET',
    path: '/orgs/{organizationId}/translations',
    query: listQuery,
    handle: (call) => {
      const organization = organizationAt(call.store, call.params.organizationId);
      const items = call.store.translations.by('organization', organization.id);
      return listBySeq(call, items, (translation) => viewTranslation(call, translation));
    },
  }),
  operation({
    name: 'createTranslation',
    method: 'POST',
    path: '/orgs/{organizationId}/translations',
    body: translationCreation,
    handle: createTranslation,
  }),
  operation({
    name: 'getTranslation',
    method: 'GET',
    path: '/orgs/{organizationId}/translations/{translationId}',
    handle: (call) => {
      return ok(
        viewTranslation(call, translationAt(call.store, call.params.organizationId, call.params.translationId)),
      );
    },
  }),
  operation({
    name: 'updateTranslation',
    method: 'PUT',
    path: '/orgs/{organizationId}/translations/{translationId}',
    body: z.strictObject({ instructions: z.unknown() }),
    handle: (call) => {
      const translation = translationAt(call.store, call.params.organizationId, call.params.translationId);
      const instructions = requireDocument(call.body.instructions, 'body.instructions');
      const updated = call.store.translations.put({ ...translation, instructions, updatedAt: call.at });
      return ok(viewTranslation(call, updated));
    },
  }),
  operation({
    name: 'deleteTranslation',
    method: 'DELETE',
    path: '/orgs/{organizationId}/translations/{translationId}',
    handle: (call) => {
      const organization = organizationAt(call.store, call.params.organizationId);
      const translation = call.store.translations.get(call.params.translationId);
      const existed = translation?.organization === organization.id && call.store.translations.remove(translation.id);
      return deleted(existed);
    },
  }),
  operation({
    name: 'runTranslation',
    method: 'POST',
    path: '/orgs/{organizationId}/translations/{translationId}/run',
    handle: (call) => {
      const translation = translationAt(call.store, call.params.organizationId, call.params.translationId);
      call.store.translations.put({ ...translation, run: startRun(call), updatedAt: call.at });
      return noContent();
    },
  }),
];
