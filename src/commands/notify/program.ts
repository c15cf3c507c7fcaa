/** Registers the commands about notification channels. */
import { Argument, type Command, Option } from 'commander';
import { CONDITION_CODES, EVENT_CODES } from '../../core/condition-codes.ts';
import { CONFIG, type SetExitCode } from '../cli/arguments.ts';
import type { CommandContext } from '../cli/context.ts';

const CODES = [...CONDITION_CODES, ...EVENT_CODES];

/** Registers notify preview, notify retry and notify test. */
export function notifyCommands(program: Command, context: CommandContext, setExitCode: SetExitCode): void {
  const notify = program.command('notify').description('Preview notifications, test channels, and resend events');
  notify
    .command('preview')
    .description('Print the messages of samples, without sending them')
    .addArgument(new Argument('[code]', 'Condition or event (default: all)').choices(CODES))
    .option('--channel <name>', 'Print what this channel would receive')
    .addOption(
      new Option('--format <format>', 'Output format; json prints the body that the channel sends')
        .choices(['text', 'json'])
        .default('text'),
    )
    .option(...CONFIG)
    .action(async (code, options) => {
      const { previewCommand } = await import('./preview.ts');
      setExitCode(await previewCommand(code, options, context));
    });
  notify
    .command('retry')
    .description('Resend events whose delivery was given up')
    .argument('[channel]', 'Name of the channel (default: all)')
    .option(...CONFIG)
    .action(async (channel, options) => {
      const { retryCommand } = await import('./retry.ts');
      setExitCode(await retryCommand(channel, options, context));
    });
  notify
    .command('test')
    .description('Send a sample through a channel, marked as a test')
    .argument('<channel>', 'Name of the channel')
    .addArgument(
      new Argument('[code]', 'Condition or event that the sample is about')
        .choices(CODES)
        .default('waiting-for-approval'),
    )
    .option('--resolve', 'Also send the resolved message; pagers always receive it')
    .option(...CONFIG)
    .action(async (channel, code, options) => {
      const { testCommand } = await import('./send-test.ts');
      setExitCode(await testCommand(channel, code, options, context));
    });
}
