import { type Command, Option } from 'commander';
import { CONFIG, ORGANIZATION, type SetExitCode } from '../cli/arguments.ts';
import type { CommandContext } from '../cli/context.ts';

/** Registers the `clusters` commands. */
export function clusterCommands(program: Command, context: CommandContext, setExitCode: SetExitCode): void {
  const clusters = program
    .command('clusters')
    .description('List issue clusters, open change requests for them, and mute them');
  const add = (name: string, description: string) =>
    clusters
      .command(name, { isDefault: name === 'list' })
      .description(description)
      .addOption(new Option('--format <format>', 'Output format').choices(['text', 'json']).default('text'))
      .option(...CONFIG)
      .option(...ORGANIZATION);
  const dryRun = ['--dry-run', 'Show what would be done without writing anything'] as const;
  add('list', 'List clusters with their status and target space').action(async (options) => {
    const { listClustersCommand } = await import('./command.ts');
    setExitCode(await listClustersCommand(options, context));
  });
  add('open', 'Open a change request for a cluster, regardless of selection and limits')
    .argument('<cluster>', 'Cluster id')
    .option('--space <name>', 'Target space, by manifest key or id (default: as routed)')
    .option(...dryRun)
    .action(async (cluster, options) => {
      const { openClusterCommand } = await import('./command.ts');
      setExitCode(await openClusterCommand(cluster, options, context));
    });
  for (const [name, description] of [
    ['mute', 'Prevent change requests for a cluster'],
    ['unmute', 'Allow change requests for a cluster again'],
  ] as const) {
    add(name, description)
      .argument('<cluster>', 'Cluster id')
      .option(...dryRun)
      .action(async (cluster, options) => {
        const { muteClusterCommand } = await import('./command.ts');
        setExitCode(await muteClusterCommand(cluster, name === 'mute', options, context));
      });
  }
}
