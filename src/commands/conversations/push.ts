/** Imports files of tickets and sends their conversations once, for `octavo conversations push`. */
import { storeName } from '../../config/store.ts';
import type { ConversationRequest, PushedFile } from '../../conversations/control-api.ts';
import type { ConversationEvents, SenderState } from '../../conversations/model/source.ts';
import { CancelledError, EXIT, type ExitCode, TransientError } from '../../core/errors.ts';
import { shownJson } from '../../core/json.ts';
import { printable } from '../../plan/render/words.ts';
import { openWriter } from '../../platform/client.ts';
import { senderWords } from '../../server/event-logs.ts';
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
    const pushed = answer as object as PushAnswer;
    return tellPushed(pushed, daemonWords(pushed.sender), flags, context);
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
      const exit = tellPushed(pushed as object as PushAnswer, `${sent} sent`, flags, context);
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

/** Answer to a push. */
interface PushAnswer {
  readonly files: readonly PushedFile[];
  readonly sender: SenderState | { readonly kind: 'none' };
}

/** Describes what the daemon does with the imported conversations. */
function daemonWords(sender: PushAnswer['sender']): string {
  if (sender.kind === 'none') {
    return 'not sent yet: the daemon runs with --dry-run; the next daemon without --dry-run sends them';
  }
  if (sender.kind === 'stopped') {
    return 'not sent yet: the daemon is shutting down; the next daemon sends them';
  }
  return 'reason' in sender ? `not sent yet; the daemon retries: ${senderWords(sender)}` : 'the daemon sends them';
}

function tellPushed(answer: PushAnswer, sent: string, flags: PushFlags, { terminal }: CommandContext): ExitCode {
  const { files } = answer;
  if (flags.format === 'json') {
    terminal.out(`${shownJson({ format: 'octavo.push/1', ...answer })}\n`);
  } else {
    for (const { file, tickets, skipped, rejected, rejectFile } of files) {
      const where = rejectFile === null ? '' : `; see ${rejectFile}`;
      terminal.out(`${file}: ${tickets} tickets, ${skipped} skipped, ${rejected} rejected${where}\n`);
    }
    terminal.out(`${sent}\n`);
  }
  if (files.some(({ threads }) => threads > 0)) {
    noteTeam(flags, terminal);
  }
  return files.some(({ rejected }) => rejected > 0) ? EXIT.invalid : EXIT.done;
}
