import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { ConversationRequest } from '../../conversations/ingestion/control-api.ts';
import { type ConvertedTicket, convertTicket } from '../../conversations/intake/convert-ticket.ts';
import { createIdPseudonymizer } from '../../conversations/intake/id-pseudonymizer.ts';
import type { Redactor } from '../../conversations/model/conversation.ts';
import type { ConversationEvents, SenderState } from '../../conversations/model/events.ts';
import type { SourceRecord } from '../../conversations/model/ticket.ts';
import { writableKey } from '../../conversations/model/writable-key.ts';
import { redactionOptions } from '../../conversations/redact/options.ts';
import { createConversationRedactor } from '../../conversations/redact/redactor.ts';
import { readTickets } from '../../conversations/sources/files/read-tickets.ts';
import type { Clock } from '../../core/clock.ts';
import { CancelledError, ConfigError, EXIT, type ExitCode, TransientError } from '../../core/errors.ts';
import { type JsonObject, shownJson } from '../../core/json.ts';
import { append } from '../../core/lists.ts';
import { printable } from '../../plan/render/words.ts';
import { openWriter } from '../../platform/client.ts';
import { senderWords } from '../../server/conversation-log.ts';
import { openMemoryStore } from '../../store/memory.ts';
import type { NewContent } from '../../store/outbox.ts';
import { chooseOrganization, readConfig } from '../cli/config.ts';
import type { CommandContext } from '../cli/context.ts';
import { callDaemon, chooseState, type StateFlags } from '../cli/control-call.ts';
import { withPlatform } from '../cli/session.ts';
import { keepHeapSmall } from '../cli/small-heap.ts';
import { withIngestion } from './control.ts';

export interface PushFlags extends StateFlags {
  readonly dryRun?: boolean;
  readonly account: string;
  /** Email domains of the team. */
  readonly teamDomains?: readonly string[];
}

/** `octavo conversations push FILE…`: imports files and sends their conversations once. */
export async function pushCommand(
  files: readonly string[],
  flags: PushFlags,
  context: CommandContext,
): Promise<ExitCode> {
  keepHeapSmall();
  const { cwd } = context.terminal;
  const paths = files.map((file) => resolve(cwd, file));
  const missing = paths.findIndex((path) => !existsSync(path));
  if (missing >= 0) {
    throw new ConfigError(`${files[missing]}: file not found`);
  }
  if (flags.dryRun === true) {
    return showOnly(paths, flags, context);
  }
  const target = await chooseState(flags, context);
  const request: ConversationRequest = {
    subcommand: 'push',
    files: paths,
    account: flags.account,
    teamDomains: [...(flags.teamDomains ?? [])],
  };
  const answer = await callDaemon(target, { command: 'conversations', request });
  if (answer !== null) {
    return tellPushed(answer, daemonWords(answer.sender as unknown as PushedSender), flags, context);
  }
  return withPlatform(target.config, target.organization, context, async ({ connection, signal }) => {
    const writer = openWriter(connection, { organization: target.organization.id, priority: 'person', signal });
    let sent = 0;
    const events: ConversationEvents = {
      onSent: ({ items }) => {
        sent += items;
      },
      onThreadsUnavailable: ({ reason }) =>
        context.terminal.err(`Redacting on one thread, because no other one can start: ${printable(reason)}\n`),
      onRefused: ({ key, reason }) =>
        context.terminal.err(
          `${printable(key)}: refused by the platform and kept as a dead letter: ${printable(reason)}\n`,
        ),
    };
    return withIngestion(target, writer, events, context, async ({ ingestion, answer }) => {
      const pushed = await ingestion.sendWhile((own) => answer(request, own));
      const state = await ingestion.sender?.sendDue();
      const exit = tellPushed(pushed, `${sent} sent`, flags, context);
      if (context.signal.aborted) {
        throw new CancelledError(`interrupted; unsent conversations wait in ${target.store}`);
      }
      if (state !== undefined && 'reason' in state) {
        throw new TransientError(`${senderWords(state)}; unsent conversations wait in ${target.store}`, false);
      }
      return exit;
    });
  });
}

type PushedSender = SenderState | { readonly kind: 'none' } | undefined;

/** Describes what the daemon does with the imported conversations. */
function daemonWords(sender: PushedSender): string {
  if (sender?.kind === 'none') {
    return 'not sent yet: the daemon runs with --dry-run; the next daemon without --dry-run sends them';
  }
  if (sender?.kind === 'stopped') {
    return 'not sent yet: the daemon is shutting down; the next daemon sends them';
  }
  return sender !== undefined && 'reason' in sender
    ? `not sent yet; the daemon retries: ${senderWords(sender)}`
    : 'the daemon sends them';
}

/** Prints what would be sent, redacted. Makes no request and writes nothing. */
async function showOnly(paths: readonly string[], flags: PushFlags, context: CommandContext): Promise<ExitCode> {
  const config = await readConfig(flags.config, context);
  const { redact } = chooseOrganization(config, flags.organization).conversations;
  // A daemon may own the state file, which holds the key for hidden ids. A temporary key is enough here.
  const redactor = createConversationRedactor(redactionOptions(redact), createIdPseudonymizer(randomBytes(32)));
  const threads = new ShownThreads(context.clock);
  let tickets = 0;
  let rejected = 0;
  for (const path of paths) {
    for await (const { found } of readTickets(path, { account: flags.account, teamDomains: flags.teamDomains ?? [] })) {
      if (context.signal.aborted) {
        throw new CancelledError('interrupted; nothing was sent');
      }
      const result =
        found.kind === 'ticket'
          ? convertTicket(found.ticket, { redactor, settleDelay: 0, now: context.clock.now() })
          : { ...found, key: keyOf(found, redactor) };
      if (result.kind === 'content' && result.content.thread !== undefined) {
        await threads.add(result.content);
        continue;
      }
      const shown = formatResult(result);
      tickets += shown.kind === 'content' ? 1 : 0;
      rejected += shown.kind === 'rejected' ? 1 : 0;
      context.terminal[shown.kind === 'content' ? 'out' : 'err'](`${printable(shown.line)}\n`);
    }
  }
  for (const payload of await threads.payloads()) {
    tickets += 1;
    context.terminal.out(`${printable(payload)}\n`);
  }
  if (threads.hasMail) {
    noteTeam(flags, context);
  }
  context.terminal.err(`${tickets} would be sent, ${rejected} rejected\n`);
  return rejected > 0 ? EXIT.invalid : EXIT.done;
}

type DryRunResult = ConvertedTicket | (Exclude<SourceRecord, { kind: 'ticket' }> & { readonly key: string });

/** Returns a line for a ticket: the conversation exactly as it would be sent, or the reason why it is not sent. */
function formatResult(result: DryRunResult): {
  readonly kind: 'content' | 'rejected' | 'skipped';
  readonly line: string;
} {
  switch (result.kind) {
    case 'content':
      return { kind: 'content', line: result.content.payload };
    case 'rejected':
      return { kind: 'rejected', line: `${result.key}: ${result.reason}` };
    default:
      return {
        kind: 'skipped',
        line: `${result.key}: skipped (${result.kind === 'gone' ? 'deleted' : result.reason})`,
      };
  }
}

/** Assembles mail threads in memory. A thread is complete only after every file has been read. */
class ShownThreads {
  readonly #outbox = openMemoryStore().outbox('dry-run', {
    items: Number.MAX_SAFE_INTEGER,
    bytes: Number.MAX_SAFE_INTEGER,
  });
  readonly #clock: Clock;
  hasMail = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  async add(content: NewContent): Promise<void> {
    this.hasMail = true;
    await this.#outbox.put({ source: 'push', at: this.#clock.now(), entries: [content], counts: {} });
  }

  async payloads(): Promise<readonly string[]> {
    const found: string[] = [];
    for (;;) {
      const batch = await this.#outbox.next({ items: 100, bytes: Number.MAX_SAFE_INTEGER, open: 1 }, this.#clock.now());
      if (batch === null) {
        return found;
      }
      append(
        found,
        batch.items.map(({ payload }) => payload),
      );
      await this.#outbox.sent(batch.id, this.#clock.now());
    }
  }
}

/** Warns that every mail counts as the customer's when no team domain is set. */
function noteTeam({ teamDomains = [] }: PushFlags, { terminal }: CommandContext): void {
  if (teamDomains.length === 0) {
    terminal.err("No team domains are set, so every mail counts as the customer's. Set them with --team-domains\n");
  }
}

/** Returns the redacted key of a record, or the position of one that could not be read. */
function keyOf(record: Exclude<SourceRecord, { kind: 'ticket' }>, redactor: Redactor): string {
  if (record.kind === 'rejected') {
    return record.place;
  }
  return writableKey(record.key, redactor, record.kind === 'skipped' ? record.people : []);
}

function tellPushed(answer: JsonObject, sent: string, flags: PushFlags, context: CommandContext): ExitCode {
  const { terminal } = context;
  const files = (answer.files ?? []) as readonly JsonObject[];
  const rejected = files.reduce((sum, { rejected: count }) => sum + Number(count), 0);
  if (flags.format === 'json') {
    terminal.out(`${shownJson({ format: 'octavo.push/1', ...answer })}\n`);
  } else {
    for (const { file, tickets, skipped, rejected: refused, rejectFile } of files) {
      const where = rejectFile === null ? '' : `; see ${String(rejectFile)}`;
      terminal.out(`${String(file)}: ${tickets} tickets, ${skipped} skipped, ${refused} rejected${where}\n`);
    }
    terminal.out(`${sent}\n`);
  }
  if (files.some(({ threads }) => Number(threads) > 0)) {
    noteTeam(flags, context);
  }
  return rejected > 0 ? EXIT.invalid : EXIT.done;
}
