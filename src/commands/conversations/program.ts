import { type Command, InvalidArgumentError, Option } from 'commander';
import { LISTED } from '../../conversations/polling/listing.ts';
import { CONFIG, type Done, duration, ORGANIZATION, upTo } from '../cli/arguments.ts';
import type { Surroundings } from '../cli/setup.ts';

/** The commands of conversations. */
export function conversationCommands(program: Command, around: Surroundings, done: Done): void {
  const format = () => new Option('--format <format>', 'how to answer').choices(['text', 'json']).default('text');
  const conversations = program.command('conversations').description('support conversations: send, look, mend');
  conversations
    .command('push')
    .description('take files in and send them, once: JSON, NDJSON, CSV, eml, mbox')
    .argument('<file...>', 'files of tickets')
    .option('--dry-run', 'print what would be sent, redacted; send nothing')
    .option('--account <name>', 'whose tickets these are: ids are unique in one account', 'push')
    .option('--team-domains <domains...>', "Domains whose mail is the team's, such as acme.example")
    .addOption(format())
    .option(...CONFIG)
    .option(...ORGANIZATION)
    .action(async (files, options) => {
      const { pushCommand } = await import('./push.ts');
      done(await pushCommand(files, options, around));
    });
  conversations
    .command('status')
    .description('per source: cursor, lag, what waits, was skipped, is dead')
    .addOption(format())
    .option(...CONFIG)
    .option(...ORGANIZATION)
    .action(async (options) => {
      const { statusCommand } = await import('./command.ts');
      done(await statusCommand(options, around));
    });
  conversations
    .command('resync')
    .description('let the next poll of a source go back again')
    .argument('<source>', 'its name in the configuration')
    .requiredOption('--since <duration>', 'how far, such as 30d', duration)
    .addOption(format())
    .option(...CONFIG)
    .option(...ORGANIZATION)
    .action(async (source, options) => {
      const { resyncCommand } = await import('./command.ts');
      done(await resyncCommand(source, options, around));
    });
  program
    .command('redact')
    .description('print a text as it would be sent, with everything private taken out')
    .argument('<file>', 'a text')
    .option('--explain', 'show what would be taken out, on a terminal only')
    .option(...CONFIG)
    .option(...ORGANIZATION)
    .action(async (file, options) => {
      const { redactCommand } = await import('./redact.ts');
      done(await redactCommand(file, options, around));
    });
  deadCommands(conversations.command('dead').description('conversations that the platform refused'), around, done);
}

/** How many to list: one at least. */
function listed(text: string): number {
  const value = upTo(LISTED.most)(text);
  if (value === 0) {
    throw new InvalidArgumentError('It must be 1 at least.');
  }
  return value;
}

function deadCommands(dead: Command, around: Surroundings, done: Done): void {
  const run = async (
    does: 'list' | 'show' | 'retry' | 'drop',
    key: string | undefined,
    options: { readonly format: 'text' | 'json' },
  ) => {
    const { deadCommand } = await import('./command.ts');
    done(await deadCommand(does, key, options, around));
  };
  const add = (name: string, description: string) =>
    dead
      .command(name)
      .description(description)
      .addOption(new Option('--format <format>', 'how to answer').choices(['text', 'json']).default('text'))
      .option(...CONFIG)
      .option(...ORGANIZATION);
  const bySource = ['--source <name>', 'only those of this source'] as const;
  add('list', 'which, and why')
    .option(...bySource)
    .option('--limit <count>', 'how many at most, the oldest first', listed, LISTED.usual)
    .action((options) => run('list', undefined, options));
  add('show', 'one of them, redacted as it was sent')
    .argument('<conversation>', 'its id')
    .action((key, options) => run('show', key, options));
  add('retry', 'send them again: one, those of a source, or all')
    .argument('[conversation]', 'its id')
    .option(...bySource)
    .action((key, options) => run('retry', key, options));
  add('drop', 'forget them: one, those of a source, or all')
    .argument('[conversation]', 'its id')
    .option(...bySource)
    .action((key, options) => run('drop', key, options));
}
