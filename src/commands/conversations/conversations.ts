/** Commands about conversations, answered by the daemon, or from the store if none runs. */
import { randomBytes } from 'node:crypto';
import { outboxLimit } from '../../config/conversations.ts';
import { type ConversationRequest, handleConversationRequest } from '../../conversations/control-api.ts';
import type { Ingestion, IngestionStatus } from '../../conversations/ingestion.ts';
import type { ConversationEvents } from '../../conversations/model/source.ts';
import { openIngestion } from '../../conversations/open-sources.ts';
import { loadIdPseudonymizer } from '../../conversations/private-ids.ts';
import { EXIT, type ExitCode } from '../../core/errors.ts';
import { type Json, type JsonObject, shownJson } from '../../core/json.ts';
import { counted, printable } from '../../plan/render/words.ts';
import type { Writer } from '../../platform/client.ts';
import { ConversationsProbe } from '../../platform/conversations-probe.ts';
import { senderWords } from '../../server/event-logs.ts';
import type { DeadLetter } from '../../store/outbox/tables.ts';
import { recordedTitles } from '../../store/record.ts';
import type { OrganizationTarget } from '../cli/config.ts';
import type { CommandContext, Terminal } from '../cli/context.ts';
import { askIfRunning, chooseState, openUnusedStore, type StateFlags } from '../cli/control-call.ts';
import { shortAge, table } from '../cli/table.ts';

/** Answer to `status`, whose counts and times are those of the ingestion. */
type StatusAnswer = IngestionStatus & { readonly outdated: Readonly<Record<string, number>> };

/** `octavo conversations status`. */
export async function statusCommand(flags: StateFlags, context: CommandContext): Promise<ExitCode> {
  const answer = await callConversations<StatusAnswer>({ subcommand: 'status' }, flags, context);
  const isJson = flags.format === 'json';
  context.terminal.out(
    isJson ? `${shownJson({ format: 'octavo.conversations/2', ...answer })}\n` : statusText(answer, context.terminal),
  );
  return EXIT.done;
}

function statusText({ sources, outdated, sender }: StatusAnswer, terminal: Terminal): string {
  const rows = sources.map((source) => {
    const skipped = Object.entries(source.counts)
      .filter(([name]) => name.startsWith('skipped.'))
      .reduce((sum, [, count]) => sum + count, 0);
    return [
      source.source,
      age(source.pollAgeSeconds),
      source.counts.found ?? 0,
      source.waiting,
      age(source.oldestWaitSeconds),
      source.sending,
      skipped,
      source.counts.rejected ?? 0,
      source.deadLetters,
    ];
  });
  const header = ['SOURCE', 'POLLED', 'FOUND', 'WAITING', 'SINCE', 'SENDING', 'SKIPPED', 'REJECTED', 'DEAD'];
  const lines = [
    ...table(header, rows, terminal),
    ...(sources.length === 0 ? ['No source has been read yet.'] : []),
    ...sources.flatMap(({ source, cursor }) =>
      cursor === null ? [] : [`${source} resumes from ${shortJson(cursor)}`],
    ),
    ...sources.flatMap(({ source, error }) =>
      error === null ? [] : [`${source}: the last poll failed: ${printable(error)}`],
    ),
    ...Object.entries(outdated).map(
      ([source, count]) =>
        `${source}: ${count} waiting conversations were redacted with earlier settings; run conversations resync to redact them again`,
    ),
    `Sender: ${senderWords(sender)}`,
  ];
  return `${lines.join('\n')}\n`;
}

const MAX_CURSOR_LENGTH = 80;

function shortJson(value: Json): string {
  const text = printable(JSON.stringify(value));
  return text.length > MAX_CURSOR_LENGTH ? `${text.slice(0, MAX_CURSOR_LENGTH - 1)}…` : text;
}

function age(seconds: number | null): string {
  return shortAge(seconds === null ? null : seconds * 1000);
}

interface DeadFlags extends StateFlags {
  readonly source?: string;
  /** Maximum number of entries to list. */
  readonly limit?: number;
}

/** The subcommands of `octavo conversations dead`. */
export const deadCommands = {
  list: ({ source, limit, ...flags }: DeadFlags, context: CommandContext) =>
    dead({ subcommand: 'dead list', source, limit }, lettersText, flags, context),

  show: (key: string, flags: DeadFlags, context: CommandContext) =>
    dead({ subcommand: 'dead show', key }, (answer) => `${shownJson(answer)}\n`, flags, context),

  retry: (key: string | undefined, { source, ...flags }: DeadFlags, context: CommandContext) =>
    dead({ subcommand: 'dead retry', source, key }, changedText('queued to be sent again'), flags, context),

  drop: (key: string | undefined, { source, ...flags }: DeadFlags, context: CommandContext) =>
    dead({ subcommand: 'dead drop', source, key }, changedText('deleted'), flags, context),
};

async function dead<T extends object>(
  request: ConversationRequest,
  text: (answer: T, terminal: Terminal) => string,
  flags: StateFlags,
  context: CommandContext,
): Promise<ExitCode> {
  const answer = await callConversations<T>(request, flags, context);
  context.terminal.out(flags.format === 'json' ? `${shownJson(answer)}\n` : text(answer, context.terminal));
  return EXIT.done;
}

const changedText =
  (done: string) =>
  ({ count }: { readonly count: number }) =>
    `${counted(count, 'dead letter')} ${done}\n`;

interface LettersAnswer {
  readonly deadLetters: readonly (Pick<DeadLetter, 'key' | 'source' | 'reason'> & { readonly refusedAt: string })[];
  /** Number of those that are not listed. */
  readonly more: number;
}

function lettersText({ deadLetters, more }: LettersAnswer, terminal: Terminal): string {
  if (deadLetters.length === 0) {
    return 'No dead letters.\n';
  }
  const rows = deadLetters.map(({ key, source, refusedAt, reason }) => [key, source, refusedAt.slice(0, 16), reason]);
  const rest = more === 0 ? [] : [`${more} more; use --limit ${deadLetters.length + more} to list all`];
  return `${[...table(['CONVERSATION', 'SOURCE', 'SINCE', 'REASON'], rows, terminal), ...rest].join('\n')}\n`;
}

/** `octavo conversations resync SOURCE --since 30d`. */
export async function resyncCommand(
  source: string,
  flags: StateFlags & { readonly since: number },
  context: CommandContext,
): Promise<ExitCode> {
  const since = context.clock.now() - flags.since;
  await callConversations({ subcommand: 'resync', source, since }, flags, context);
  const from = new Date(since).toISOString().slice(0, 16);
  context.terminal.out(
    `The next poll of ${source} starts from ${from}Z. Unchanged conversations are not sent again.\n`,
  );
  return EXIT.done;
}

/**
 * Asks the daemon if one runs, otherwise opens the state file. Throws what `handleConversationRequest` throws.
 */
async function callConversations<T extends object = JsonObject>(
  request: ConversationRequest,
  flags: StateFlags,
  context: CommandContext,
): Promise<T> {
  const target = await chooseState(flags, context);
  const answer =
    (await askIfRunning(target, { command: 'conversations', request }, context)) ??
    (await withIngestion(target, null, {}, context, (opened) => opened.answer(request)));
  return answer as object as T;
}

interface OpenIngestion {
  readonly ingestion: Ingestion;
  /** Answers a request. `own` cancels it in addition to the signal of the command. */
  answer(request: ConversationRequest, own?: AbortSignal): Promise<JsonObject>;
}

/** Opens the state file for a moment. `writer` null: nothing can be sent. */
export async function withIngestion<T>(
  { config, organization }: OrganizationTarget,
  writer: Writer | null,
  events: ConversationEvents,
  { clock, random, version, signal }: CommandContext,
  work: (desk: OpenIngestion) => Promise<T>,
): Promise<T> {
  const { conversations } = organization;
  const store = await openUnusedStore(config.store, { clock, random });
  try {
    const outbox = store.outbox(organization.id, outboxLimit(conversations));
    const pseudonymizeId = await loadIdPseudonymizer(store, organization.id, randomBytes);
    const titles = await recordedTitles(store.organization(organization.id));
    const ingestion = openIngestion(
      organization,
      { store, version, outbox, pseudonymizeId, titles, clock, random, events },
      { writer, probe: new ConversationsProbe() },
    );
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
