/** Prints what a push would send, for `--dry-run`. A file of its own, because it needs no client of the platform. */
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { type ConvertedTicket, convertTicket } from '../../conversations/intake.ts';
import type { Redactor, SourceRecord } from '../../conversations/model/ticket.ts';
import { createIdPseudonymizer, writableKey } from '../../conversations/private-ids.ts';
import { redactionOptions } from '../../conversations/redact/options.ts';
import { createConversationRedactor } from '../../conversations/redact/redactor.ts';
import { readTickets } from '../../conversations/sources/files/read-tickets.ts';
import type { Clock } from '../../core/clock.ts';
import { CancelledError, ConfigError, EXIT, type ExitCode } from '../../core/errors.ts';
import { printable } from '../../plan/render/words.ts';
import { openMemoryStore } from '../../store/memory.ts';
import type { Outbox } from '../../store/outbox/outbox.ts';
import { chooseOrganization, readConfig } from '../cli/config.ts';
import type { CommandContext, Terminal } from '../cli/context.ts';
import type { StateFlags } from '../cli/control-call.ts';
import { keepHeapSmall } from '../cli/small-heap.ts';

/** Prints what would be sent, redacted. Makes no request and writes nothing. */
export async function pushCommand(
  files: readonly string[],
  flags: PushFlags,
  context: CommandContext,
): Promise<ExitCode> {
  keepHeapSmall();
  const paths = existingFiles(files, context);
  const config = await readConfig(flags.config, context);
  const { redact } = chooseOrganization(config, flags.organization).conversations;
  // A daemon may own the state file, which holds the key for hidden ids. A temporary key is enough here.
  const redactor = createConversationRedactor(redactionOptions(redact), createIdPseudonymizer(randomBytes(32)));
  const most = Number.MAX_SAFE_INTEGER;
  const threads = openMemoryStore().outbox('dry-run', { items: most, bytes: most });
  let hasMail = false;
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
        hasMail = true;
        await threads.put({ source: 'push', at: context.clock.now(), entries: [result.content], counts: {} });
        continue;
      }
      tickets += result.kind === 'content' ? 1 : 0;
      rejected += result.kind === 'rejected' ? 1 : 0;
      context.terminal[result.kind === 'content' ? 'out' : 'err'](`${printable(lineOf(result))}\n`);
    }
  }
  for await (const payload of payloadsIn(threads, context.clock)) {
    tickets += 1;
    context.terminal.out(`${printable(payload)}\n`);
  }
  if (hasMail) {
    noteTeam(flags, context.terminal);
  }
  context.terminal.err(`${tickets} would be sent, ${rejected} rejected\n`);
  return rejected > 0 ? EXIT.invalid : EXIT.done;
}

type DryRunResult = ConvertedTicket | (Exclude<SourceRecord, { kind: 'ticket' }> & { readonly key: string });

/** Returns a line for a ticket: the conversation exactly as it would be sent, or the reason why it is not sent. */
function lineOf(result: DryRunResult): string {
  switch (result.kind) {
    case 'content':
      return result.content.payload;
    case 'rejected':
      return `${result.key}: ${result.reason}`;
    default:
      return `${result.key}: skipped (${result.kind === 'gone' ? 'deleted' : result.reason})`;
  }
}

/** Yields the assembled mail threads of an outbox. A thread is complete only after every file has been read. */
async function* payloadsIn(outbox: Outbox, clock: Clock): AsyncGenerator<string> {
  for (;;) {
    const batch = await outbox.next({ items: 100, bytes: Number.MAX_SAFE_INTEGER, open: 1 }, clock.now());
    if (batch === null) {
      return;
    }
    yield* batch.items.map(({ payload }) => payload);
    await outbox.sent(batch.id, clock.now());
  }
}

/** Returns the redacted key of a record, or the position of one that could not be read. */
function keyOf(record: Exclude<SourceRecord, { kind: 'ticket' }>, redactor: Redactor): string {
  if (record.kind === 'rejected') {
    return record.place;
  }
  return writableKey(record.key, redactor, record.kind === 'skipped' ? record.people : []);
}

export interface PushFlags extends StateFlags {
  readonly account: string;
  /** Email domains of the team. */
  readonly teamDomains?: readonly string[];
}

/** Returns the absolute paths of files. Throws ConfigError if one does not exist. */
export function existingFiles(files: readonly string[], { terminal }: CommandContext): string[] {
  const paths = files.map((file) => resolve(terminal.cwd, file));
  const missing = paths.findIndex((path) => !existsSync(path));
  if (missing >= 0) {
    throw new ConfigError(`${files[missing]}: file not found`);
  }
  return paths;
}

/** Warns that every mail counts as the customer's when no team domain is set. */
export function noteTeam({ teamDomains = [] }: PushFlags, terminal: Terminal): void {
  if (teamDomains.length === 0) {
    terminal.err("No team domains are set, so every mail counts as the customer's. Set them with --team-domains\n");
  }
}
