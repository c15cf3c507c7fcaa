import { type Command, InvalidArgumentError, Option } from 'commander';
import { LISTED } from '../../conversations/polling/listing.ts';
import { CONFIG, duration, ORGANIZATION, type SetExitCode, upTo } from '../cli/arguments.ts';
import type { CommandContext } from '../cli/context.ts';

/** Registers the `conversations` commands and `redact`. */
export function conversationCommands(program: Command, context: CommandContext, setExitCode: SetExitCode): void {
  const format = () => new Option('--format <format>', 'Output format').choices(['text', 'json']).default('text');
  const conversations = program.command('conversations').description('Manage support-conversation ingestion');
  conversations
    .command('push')
    .description('Import files and send their conversations once: JSON, NDJSON, CSV, eml, mbox')
    .argument('<file...>', 'Files with tickets')
    .option('--dry-run', 'Print what would be sent, redacted, without sending it')
    .option('--account <name>', 'Account of the tickets; ticket ids are unique within an account', 'push')
    .option('--team-domains <domains...>', 'Email domains of your team, such as acme.example')
    .addOption(format())
    .option(...CONFIG)
    .option(...ORGANIZATION)
    .action(async (files, options) => {
      const { pushCommand } = await (options.dryRun === true ? import('./push-dry-run.ts') : import('./push.ts'));
      setExitCode(await pushCommand(files, options, context));
    });
  conversations
    .command('status')
    .description('Show each source: last poll, cursor, and conversations that wait, were skipped or were refused')
    .addOption(format())
    .option(...CONFIG)
    .option(...ORGANIZATION)
    .action(async (options) => {
      const { statusCommand } = await import('./command.ts');
      setExitCode(await statusCommand(options, context));
    });
  conversations
    .command('resync')
    .description('Make the next poll of a source read older tickets again')
    .argument('<source>', 'Name of the source in the configuration')
    .requiredOption('--since <duration>', 'How far to go back, such as 30d', duration)
    .addOption(format())
    .option(...CONFIG)
    .option(...ORGANIZATION)
    .action(async (source, options) => {
      const { resyncCommand } = await import('./command.ts');
      setExitCode(await resyncCommand(source, options, context));
    });
  program
    .command('redact')
    .description('Print a text as it would be sent, with private data redacted')
    .argument('<file>', 'Text file')
    .option('--explain', 'Show what would be redacted; on a terminal only')
    .option(...CONFIG)
    .option(...ORGANIZATION)
    .action(async (file, options) => {
      const { redactCommand } = await import('./redact.ts');
      setExitCode(await redactCommand(file, options, context));
    });
  deadCommands(
    conversations.command('dead').description('Manage dead letters: conversations that the platform refused'),
    context,
    setExitCode,
  );
}

/** Parses the number of entries to list, at least 1. */
function listed(text: string): number {
  const value = upTo(LISTED.most)(text);
  if (value === 0) {
    throw new InvalidArgumentError('It must be at least 1.');
  }
  return value;
}

function deadCommands(dead: Command, context: CommandContext, setExitCode: SetExitCode): void {
  const run = async (
    does: 'list' | 'show' | 'retry' | 'drop',
    key: string | undefined,
    options: { readonly format: 'text' | 'json' },
  ) => {
    const { deadCommand } = await import('./command.ts');
    setExitCode(await deadCommand(does, key, options, context));
  };
  const add = (name: string, description: string) =>
    dead
      .command(name)
      .description(description)
      .addOption(new Option('--format <format>', 'Output format').choices(['text', 'json']).default('text'))
      .option(...CONFIG)
      .option(...ORGANIZATION);
  const bySource = ['--source <name>', 'Only conversations of this source'] as const;
  add('list', 'List dead letters and why the platform refused them')
    .option(...bySource)
    .option('--limit <count>', 'Maximum number of dead letters, oldest first', listed, LISTED.usual)
    .action((options) => run('list', undefined, options));
  add('show', 'Show a dead letter, redacted as it was sent')
    .argument('<conversation>', 'Conversation id')
    .action((key, options) => run('show', key, options));
  add('retry', 'Send dead letters again: one, those of a source, or all')
    .argument('[conversation]', 'Conversation id')
    .option(...bySource)
    .action((key, options) => run('retry', key, options));
  add('drop', 'Delete dead letters: one, those of a source, or all')
    .argument('[conversation]', 'Conversation id')
    .option(...bySource)
    .action((key, options) => run('drop', key, options));
}
