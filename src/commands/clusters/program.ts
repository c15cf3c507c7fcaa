import { type Command, Option } from 'commander';
import { CONFIG, type Done, ORGANIZATION } from '../cli/arguments.ts';
import type { Surroundings } from '../cli/setup.ts';

/** The commands of issue clusters. */
export function clusterCommands(program: Command, around: Surroundings, done: Done): void {
  const clusters = program.command('clusters').description('issue clusters: look, open change requests, mute');
  const add = (name: string, description: string) =>
    clusters
      .command(name, { isDefault: name === 'list' })
      .description(description)
      .addOption(new Option('--format <format>', 'how to answer').choices(['text', 'json']).default('text'))
      .option(...CONFIG)
      .option(...ORGANIZATION);
  const dryRun = ['--dry-run', 'say what would be done; write nothing'] as const;
  add('list', 'which there are, why each would be opened or not, and where').action(async (options) => {
    const { listClustersCommand } = await import('./command.ts');
    done(await listClustersCommand(options, around));
  });
  add('open', 'open a change request for one, whatever the rule and the limits say')
    .argument('<cluster>', 'its id')
    .option('--space <name>', 'where, by the key of its manifest or by its id; otherwise where the routes say')
    .option(...dryRun)
    .action(async (cluster, options) => {
      const { openClusterCommand } = await import('./command.ts');
      done(await openClusterCommand(cluster, options, around));
    });
  for (const [name, description] of [
    ['mute', 'let no change request be opened for one'],
    ['unmute', 'let change requests be opened for one again'],
  ] as const) {
    add(name, description)
      .argument('<cluster>', 'its id')
      .option(...dryRun)
      .action(async (cluster, options) => {
        const { muteClusterCommand } = await import('./command.ts');
        done(await muteClusterCommand(cluster, name === 'mute', options, around));
      });
  }
}
