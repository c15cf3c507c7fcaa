/** Registers the commands for trying Octavo without an account. */
import { type Command, Help, Option } from 'commander';
import { count, type SetExitCode, upTo } from './cli/arguments.ts';
import type { CommandContext } from './cli/context.ts';
import { FEATURE_NAMES, PLATFORM_NAMES } from './cli/feature-names.ts';

/** Registers `emulate`. */
export function emulateCommands(program: Command, context: CommandContext, setExitCode: SetExitCode): void {
  program
    .command('emulate')
    .description('Run the embedded platform, for testing')
    .option('--host <address>', 'Address to listen on', '127.0.0.1')
    .option('--port <n>', 'Port to listen on; 0 picks a free port', upTo(65_535), 0)
    .option('--token <token>', 'Token to accept', 'emulator-token')
    .option('--seed <file>', 'File with the initial state')
    .option('--state <file>', 'File to keep the state in across restarts')
    .option('--latency <ms>', 'Added latency per response, in milliseconds', count)
    .option(
      '--limit <n/seconds>',
      'Rate limit as requests per window, such as 60/2s; 60/2s:first-call starts the window at the first request',
    )
    .option('--faults <percent>', 'Percentage of requests to fail with 503', upTo(100))
    .addOption(new Option('--platform <version>', 'Platform version to emulate').choices(PLATFORM_NAMES))
    .addOption(new Option('--with <features...>', 'Features to enable').choices(Object.values(FEATURE_NAMES)))
    .addOption(
      new Option('--without <features...>', 'Features to disable, by the same names').choices(
        Object.values(FEATURE_NAMES),
      ),
    )
    .configureHelp({ optionDescription: describeOnce })
    .action(async (options) => {
      const { emulateCommand } = await import('./daemon/emulate.ts');
      setExitCode(await emulateCommand(options, context));
    });
}

/** Registers `demo`. */
export function demoCommands(program: Command, context: CommandContext, setExitCode: SetExitCode): void {
  program
    .command('demo')
    .description('Demonstrate Octavo on the embedded platform')
    .option('--once', 'Exit when the demonstration is complete')
    .action(async (options) => {
      const { demoCommand } = await import('./daemon/demo.ts');
      setExitCode(await demoCommand(options, context));
    });
}

/** Describes an option for the help. The names of features are listed for `--with` only. */
function describeOnce(this: Help, option: Option): string {
  return option.long === '--without' ? option.description : Help.prototype.optionDescription.call(this, option);
}
