import { randomBytes } from 'node:crypto';
import { outboxLimit } from '../../config/conversations.ts';
import { type ConversationRequest, handleConversationRequest } from '../../conversations/ingestion/control-api.ts';
import { Ingestion } from '../../conversations/ingestion/ingestion.ts';
import { openSources } from '../../conversations/ingestion/open-sources.ts';
import { loadIdPseudonymizer } from '../../conversations/intake/id-pseudonymizer.ts';
import type { ConversationEvents } from '../../conversations/model/events.ts';
import { redactionOptions } from '../../conversations/redact/options.ts';
import { RedactionThreads, THREADS } from '../../conversations/redact/redaction-threads.ts';
import { createConversationRedactor } from '../../conversations/redact/redactor.ts';
import type { JsonObject } from '../../core/json.ts';
import type { Writer } from '../../platform/client.ts';
import { recordedId } from '../../store/recorded-id.ts';
import { CONVERSATIONS } from '../cli/answers.ts';
import type { CommandContext } from '../cli/context.ts';
import { callDaemon, chooseState, type StateFlags, type StateTarget } from '../cli/control-call.ts';
import { openUnusedStore } from '../cli/open-state.ts';

/** Longest ticket that the main thread redacts, in UTF-16 units. Longer ones have a large heap of their own. */
const LONGEST_HERE = 1024 * 1024;

/**
 * Asks the daemon if one runs, otherwise opens the state file. Throws what `handleConversationRequest` throws.
 */
export async function callConversations(
  request: ConversationRequest,
  flags: StateFlags,
  context: CommandContext,
): Promise<JsonObject> {
  const target = await chooseState(flags, context);
  const answer = await callDaemon(
    target,
    { command: 'conversations', request },
    {
      answer: CONVERSATIONS[request.subcommand],
      version: context.version,
    },
  );
  return answer ?? withIngestion(target, null, {}, context, (opened) => opened.answer(request));
}

export interface OpenIngestion {
  readonly ingestion: Ingestion;
  /** Answers a request. `own` cancels it in addition to the signal of the command. */
  answer(request: ConversationRequest, own?: AbortSignal): Promise<JsonObject>;
}

/** Opens the state file for a moment. `writer` null: nothing can be sent. */
export async function withIngestion<T>(
  { config, organization }: StateTarget,
  writer: Writer | null,
  events: ConversationEvents,
  { clock, random, version, signal }: CommandContext,
  work: (desk: OpenIngestion) => Promise<T>,
): Promise<T> {
  const { conversations } = organization;
  const { site } = conversations;
  const store = await openUnusedStore(config.store, { clock, random });
  try {
    const outbox = store.outbox(organization.id, outboxLimit(conversations));
    const pseudonymize = await loadIdPseudonymizer(store, organization.id, randomBytes);
    const note = (topic: string) => store.note(`conversations/${organization.id}/${topic}`);
    const redaction = redactionOptions(conversations.redact);
    const redactor = createConversationRedactor(redaction, pseudonymize);
    const onUnavailable = events.onThreadsUnavailable;
    const ingestion = new Ingestion({
      sources: openSources(conversations, { note, userAgent: `octavo/${version}`, clock, random }),
      outbox,
      redactor,
      // Nothing else waits for this process, so its main thread redacts long tickets too.
      threads: new RedactionThreads({
        redaction,
        redactor,
        threads: THREADS,
        clock,
        onUnavailable,
        longestHere: LONGEST_HERE,
      }),
      writer,
      site: site === null ? null : () => recordedId(store.organization(organization.id), 'site', site),
      settleDelay: conversations.settleDelay,
      batch: conversations.batch,
      clock,
      random,
      events,
    });
    const sources = conversations.sources.map(({ name }) => name);
    try {
      return await work({
        ingestion,
        answer: (request, own = signal) =>
          handleConversationRequest({ ingestion, outbox, sources, signal: AbortSignal.any([signal, own]) }, request),
      });
    } finally {
      await ingestion.stop(CLOSING);
    }
  } finally {
    await store.close();
  }
}

/** Time limit in milliseconds for requests in flight when the ingestion is closed. */
const CLOSING = 5000;
