import { addRevision } from './content.ts';
import { workConversation } from './conversation-work.ts';
import type { Run } from './entity.ts';
import { recordRevision } from './integration-work.ts';
import type { SpecRecord, TranslationRecord } from './records.ts';
import { completeFixes } from './site-context.ts';
import type { Store } from './store.ts';

/** What the emulator pretends a translation of any space amounts to. */
const PAGES_PER_RUN = 1;
const WORDS_PER_RUN = 100;

/**
 * Returns the state of a run: it waits for the first third of its time, then works. There is no failed state.
 * Source: docs/platform-notes.md#enumerations
 */
export function progressOf(run: Run | null, now: number): 'waiting' | 'working' | 'done' {
  if (run === null || now >= run.due) {
    return 'done';
  }
  return now - run.startedAt < (run.due - run.startedAt) / 3 ? 'waiting' : 'working';
}

/** Completes every run that is due. Nothing ticks: every request asks first. */
export function settle(store: Store, now: number): void {
  if (store.specs.count('running', 'yes') > 0) {
    for (const spec of store.specs.by('running', 'yes')) {
      if (spec.run !== null && now >= spec.run.due) {
        completeSpec(store, spec, spec.run);
      }
    }
  }
  if (store.translations.count('running', 'yes') > 0) {
    for (const translation of store.translations.by('running', 'yes')) {
      if (translation.run !== null && now >= translation.run.due) {
        completeTranslation(store, translation, translation.run);
      }
    }
  }
  if (store.conversations.count('running', 'yes') > 0) {
    workConversations(store, now);
  }
  if (store.conversationIssues.count('running', 'yes') > 0) {
    completeFixes(store, now);
  }
}

/** In the order in which they came. */
function workConversations(store: Store, now: number): void {
  const due = store.conversations
    .by('running', 'yes')
    .flatMap((conversation) => (conversation.run !== null && now >= conversation.run.due ? [conversation] : []))
    .map((conversation) => ({ conversation, run: conversation.run as Run }));
  due.sort((a, b) => a.run.due - b.run.due || a.conversation.seq - b.conversation.seq);
  for (const { conversation, run } of due) {
    workConversation(store, conversation, run);
  }
}

/** A run that found errors leaves the last good version in place. */
function completeSpec(store: Store, spec: SpecRecord, run: Run): void {
  store.specs.put({
    ...spec,
    run: null,
    lastVersion: spec.errors.length === 0 ? store.identify('ver').id : spec.lastVersion,
    lastProcessedAt: new Date(run.due).toISOString(),
    lastProcessedErrors: spec.errors,
  });
}

function completeTranslation(store: Store, translation: TranslationRecord, run: Run): void {
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

/** A new revision of the result space; the first run, and the first after that space was deleted, create one. */
function writeResult(store: Store, translation: TranslationRecord, at: string): { space: string; revision: string } {
  const known = translation.result === undefined ? undefined : store.spaces.get(translation.result.space);
  if (known !== undefined && known.deletedAt === undefined) {
    const revision = addRevision(store, { parents: [known.revision], type: 'edits', createdAt: at });
    store.spaces.put({ ...known, revision, updatedAt: at });
    recordRevision(store, known.id, revision, at);
    return { space: known.id, revision };
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
