/** Imports files of tickets and sends their conversations once, for `octavo conversations push`. */
import { storeName } from '../../config/store.ts';
import type { ConversationRequest } from '../../conversations/control-api.ts';
import type { ConversationEvents, SenderState } from '../../conversations/model/source.ts';
import { CancelledError, EXIT, type ExitCode, TransientError } from '../../core/errors.ts';
import { type JsonObject, shownJson } from '../../core/json.ts';
import { printable } from '../../plan/render/words.ts';
import { openWriter } from '../../platform/client.ts';
import { senderWords } from '../../server/conversation-log.ts';
import type { CommandContext } from '../cli/context.ts';
import { askIfRunning, chooseState } from '../cli/control-call.ts';
import { withPlatform } from '../cli/session.ts';
import { keepHeapSmall } from '../cli/small-heap.ts';
import { withIngestion } from './conversations.ts';
import { existingFiles, noteTeam, type PushFlags } from './push-dry-run.ts';

/** `octavo conversations push FILE…`: imports files and sends their conversations once. */
export async function pushCommand(
  files: readonly string[],
  flags: PushFlags,
  context: CommandContext,
): Promise<ExitCode> {
  keepHeapSmall();
  const paths = existingFiles(files, context);
  const target = await chooseState(flags, context);
  const request: ConversationRequest = {
    subcommand: 'push',
    files: paths,
    account: flags.account,
    teamDomains: [...(flags.teamDomains ?? [])],
  };
  const answer = await askIfRunning(target, { command: 'conversations', request }, context);
  if (answer !== null) {
    return tellPushed(answer, daemonWords(answer.sender as unknown as PushedSender), flags, context);
  }
  return withPlatform(target, context, async ({ connection, signal }) => {
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
      const waits = `unsent conversations wait in ${storeName(target.config.store)}`;
      const exit = tellPushed(pushed, `${sent} sent`, flags, context);
      if (context.signal.aborted) {
        throw new CancelledError(`interrupted; ${waits}`);
      }
      if (state !== undefined && 'reason' in state) {
        throw new TransientError(`${senderWords(state)}; ${waits}`, false);
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
