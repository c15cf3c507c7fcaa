import type { ConversationRequest } from '../../conversations/ingestion/control-api.ts';
import { EXIT, type ExitCode } from '../../core/errors.ts';
import { type Json, type JsonObject, shownJson } from '../../core/json.ts';
import { printable } from '../../plan/render/words.ts';
import { senderWords } from '../../server/conversation-log.ts';
import type { CommandContext } from '../cli/context.ts';
import type { StateFlags } from '../cli/control-call.ts';
import { shortAge, table } from '../cli/table.ts';
import { callConversations } from './control.ts';

/** `octavo conversations status`. */
export async function statusCommand(flags: StateFlags, context: CommandContext): Promise<ExitCode> {
  const answer = await callConversations({ subcommand: 'status' }, flags, context);
  if (flags.format === 'json') {
    context.terminal.out(`${shownJson({ format: 'octavo.conversations/2', ...answer })}\n`);
  } else {
    context.terminal.out(statusText(answer));
  }
  return EXIT.done;
}

function statusText(answer: JsonObject): string {
  const sources = (answer.sources ?? []) as readonly JsonObject[];
  const rows = sources.map((source) => {
    const counts = (source.counts ?? {}) as Readonly<Record<string, Json>>;
    const skipped = Object.entries(counts)
      .filter(([name]) => name.startsWith('skipped.'))
      .reduce((sum, [, count]) => sum + Number(count), 0);
    return [
      String(source.source),
      age(source.pollAgeSeconds),
      String(counts.found ?? 0),
      String(source.waiting),
      age(source.oldestWaitSeconds),
      String(source.sending),
      String(skipped),
      String(counts.rejected ?? 0),
      String(source.deadLetters),
    ];
  });
  const header = ['SOURCE', 'POLLED', 'FOUND', 'WAITING', 'SINCE', 'SENDING', 'SKIPPED', 'REJECTED', 'DEAD'];
  const lines = table(header, rows);
  const cursors = sources
    .filter(({ cursor }) => cursor !== null)
    .map(({ source, cursor }) => `${String(source)} resumes from ${shortJson(cursor ?? null)}`);
  const errors = sources
    .filter(({ error }) => error !== null)
    .map(({ source, error }) => `${String(source)}: the last poll failed: ${printable(String(error))}`);
  const outdated = Object.entries((answer.outdated ?? {}) as Readonly<Record<string, Json>>).map(
    ([source, count]) =>
      `${source}: ${count} waiting conversations were redacted with earlier settings; run conversations resync to redact them again`,
  );
  const sender = `Sender: ${senderWords(answer.sender as unknown as Parameters<typeof senderWords>[0])}`;
  const none = sources.length === 0 ? ['No source has been read yet.'] : [];
  return `${[...lines, ...none, ...cursors, ...errors, ...outdated, sender].join('\n')}\n`;
}

const MAX_CURSOR_LENGTH = 80;

function shortJson(value: Json): string {
  const text = printable(JSON.stringify(value));
  return text.length > MAX_CURSOR_LENGTH ? `${text.slice(0, MAX_CURSOR_LENGTH - 1)}…` : text;
}

function age(seconds: Json | undefined): string {
  return shortAge(typeof seconds === 'number' ? seconds * 1000 : null);
}

export interface DeadFlags extends StateFlags {
  readonly source?: string;
  /** Maximum number of entries to list. */
  readonly limit?: number;
}

/** `octavo conversations dead list|show|retry|drop`. */
export async function deadCommand(
  does: 'list' | 'show' | 'retry' | 'drop',
  key: string | undefined,
  flags: DeadFlags,
  context: CommandContext,
): Promise<ExitCode> {
  const filter = {
    ...(flags.source === undefined ? {} : { source: flags.source }),
    ...(key === undefined ? {} : { key }),
  };
  const request: ConversationRequest =
    does === 'list'
      ? { subcommand: 'dead list', ...filter, limit: flags.limit }
      : does === 'show'
        ? { subcommand: 'dead show', key: key ?? '' }
        : { subcommand: `dead ${does}`, ...filter };
  const answer = await callConversations(request, flags, context);
  context.terminal.out(flags.format === 'json' || does === 'show' ? `${shownJson(answer)}\n` : deadText(does, answer));
  return EXIT.done;
}

function deadText(does: 'list' | 'retry' | 'drop', answer: JsonObject): string {
  if (does !== 'list') {
    const count = Number(answer.count);
    const what = count === 1 ? '1 dead letter' : `${count} dead letters`;
    return does === 'retry' ? `${what} queued to be sent again\n` : `${what} deleted\n`;
  }
  const letters = (answer.deadLetters ?? []) as readonly JsonObject[];
  if (letters.length === 0) {
    return 'No dead letters.\n';
  }
  const rows = letters.map(({ key, source, refusedAt, reason }) => [
    String(key),
    String(source),
    String(refusedAt).slice(0, 16),
    String(reason),
  ]);
  const more = Number(answer.more);
  const rest = more === 0 ? [] : [`${more} more; use --limit ${letters.length + more} to list all`];
  return `${[...table(['CONVERSATION', 'SOURCE', 'SINCE', 'REASON'], rows), ...rest].join('\n')}\n`;
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
