/** Registers the commands about the store. */
import { type Command, Option } from 'commander';
import { CONFIG, type SetExitCode } from '../cli/arguments.ts';
import type { CommandContext } from '../cli/context.ts';

const PLACE = 'path of a state file, URL of a PostgreSQL database, or env:NAME for a variable with one of them';

/** Registers store copy and store check. */
export function storeCommands(program: Command, context: CommandContext, setExitCode: SetExitCode): void {
  const format = () => new Option('--format <format>', 'Output format').choices(['text', 'json']).default('text');
  const store = program.command('store').description('Copy and check the store: a state file or a PostgreSQL database');
  store
    .command('copy')
    .description('Copy a store into an empty one, and compare the checksums of both')
    .argument('<from>', `Store to read: ${PLACE}`)
    .argument('<to>', 'Empty store to write: the same forms')
    .addOption(format())
    .action(async (from, to, options) => {
      const { storeCopyCommand } = await import('./command.ts');
      setExitCode(await storeCopyCommand(from, to, options, context));
    });
  store
    .command('check')
    .description('Check the content of a store, and print checksums')
    .argument('[store]', `Store to check: ${PLACE} (default: that of the configuration)`)
    .option(...CONFIG)
    .addOption(format())
    .action(async (place, options) => {
      const { storeCheckCommand } = await import('./command.ts');
      setExitCode(await storeCheckCommand(place, options, context));
    });
}
