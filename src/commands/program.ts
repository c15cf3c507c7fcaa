import { Command, Option } from 'commander';
import { apiCommands } from './api-program.ts';
import { CONFIG, count, durationOrZero, ORGANIZATION, SCOPE, type SetExitCode } from './cli/arguments.ts';
import type { CommandContext } from './cli/context.ts';
import { clusterCommands } from './clusters/program.ts';
import { conversationCommands } from './conversations/program.ts';
import {
  actionCommands,
  conditionCommands,
  fleetCommands,
  sessionCommands,
  viewCommands,
  webhookCommands,
} from './daemon/program.ts';
import { notifyCommands } from './notify/program.ts';
import { storeCommands } from './store/program.ts';
import { demoCommands, emulateCommands } from './trying-program.ts';

/** Forges that `octavo init` has a workflow for. */
const FORGE_CHOICES = ['github', 'gitlab', 'gitea', 'bitbucket', 'none'] as const;

const HELP = ['help [command]', 'Show help for a command'] as const;

/** Registers all commands, for parsing and for the reference page. */
export function createProgram(context: CommandContext, setExitCode: SetExitCode): Command {
  const program = new Command('octavo')
    .description('Manage a documentation platform with GitOps: declare an organization as YAML in a git repository')
    .version(context.version, '--version', 'Print the version')
    .helpOption('-h, --help', 'Show help')
    .helpCommand(...HELP)
    .exitOverride()
    .configureOutput({ writeOut: context.terminal.out, writeErr: context.terminal.err })
    .showHelpAfterError('Run with --help to list commands and options.')
    .showSuggestionAfterError(true)
    .addHelpText('after', AFTER_HELP)
    .hook('preAction', (_program, command) => nameConfig(command, context));
  program.commandsGroup('Everyday:');
  startingCommands(program, context, setExitCode);
  adoptingCommands(program, context, setExitCode);
  validateCommands(program, context, setExitCode);
  planningCommands(program, context, setExitCode);
  applyingCommands(program, context, setExitCode);
  doctorCommands(program, context, setExitCode);
  demoCommands(program, context, setExitCode);
  program.commandsGroup('Daemon:');
  daemonCommands(program, context, setExitCode);
  viewCommands(program, context, setExitCode);
  actionCommands(program, context, setExitCode);
  conditionCommands(program, context, setExitCode);
  program.commandsGroup('Support:');
  conversationCommands(program, context, setExitCode);
  clusterCommands(program, context, setExitCode);
  program.commandsGroup('Operations:');
  webhookCommands(program, context, setExitCode);
  sessionCommands(program, context, setExitCode);
  notifyCommands(program, context, setExitCode);
  fleetCommands(program, context, setExitCode);
  storeCommands(program, context, setExitCode);
  exportingCommands(program, context, setExitCode);
  apiCommands(program, context, setExitCode);
  emulateCommands(program, context, setExitCode);
  // Last: subcommands have taken over the command without a group.
  program.commandsGroup('Everyday:').helpCommand(...HELP);
  return program;
}

/** Uses `OCTAVO_CONFIG` as the configuration where `--config` is not given. */
function nameConfig(command: Command, { terminal }: CommandContext): void {
  const named = terminal.env.OCTAVO_CONFIG ?? '';
  if (named !== '' && command.opts().config === undefined && command.options.some(({ long }) => long === '--config')) {
    command.setOptionValue('config', named);
  }
}

const AFTER_HELP = `
Octavo reads the platform and the organization from the first of these that is set:
  1. the file given by --config or OCTAVO_CONFIG
  2. OCTAVO_BASE_URL, OCTAVO_TOKEN and OCTAVO_ORGANIZATION
  3. config.yaml in the working directory

Exit codes:
  0  success
  1  failure
  2  the plan has changes (plan --detailed-exitcode)
  3  invalid input
  4  a change was held, or the plan was refused
  5  changes are still pending after the wait (apply)

To try Octavo without an account, run: octavo demo`;

function validateCommands(program: Command, context: CommandContext, setExitCode: SetExitCode): void {
  program
    .command('validate')
    .description('Check manifests offline')
    .argument('[dir]', 'Manifest directory', '.')
    .option(...CONFIG)
    .addOption(
      new Option('--format <format>', 'Output format; github: annotations, sarif: code scanning, junit: test reports')
        .choices(['text', 'json', 'github', 'sarif', 'junit'])
        .default('text'),
    )
    .action(async (dir, options) => {
      const { validate } = await import('./plan/validate.ts');
      setExitCode(await validate(dir, options, context));
    });
}

function planningCommands(program: Command, context: CommandContext, setExitCode: SetExitCode): void {
  program
    .command('plan')
    .description('Show what would change, without changing anything')
    .argument('[dir]', 'Manifest directory', '.')
    .option(
      '--base <ref>',
      'Last applied commit, or "none" (default: "applied", recorded in git by --record); what only it declares is deleted',
    )
    .addOption(new Option('--format <format>', 'Output format').choices(['text', 'markdown', 'json']).default('text'))
    .option('--snapshot <file>', 'Use the actual state saved by octavo snapshot; needs no token and no network')
    .option('--out <file>', 'Save the plan to a file, to apply exactly this plan later')
    .option(
      '--comment',
      'Post the plan as a comment on the pull request of this CI job; --base defaults to the merge base',
    )
    .option('--detailed-exitcode', 'Exit with 2 if there are changes')
    .option(...CONFIG)
    .option(...ORGANIZATION)
    .option(...SCOPE)
    .action(async (dir, options) => {
      const { planCommand } = await import('./plan/plan.ts');
      setExitCode(await planCommand(dir, options, context));
    });
}

function applyingCommands(program: Command, context: CommandContext, setExitCode: SetExitCode): void {
  program
    .command('apply')
    .description('Apply the plan, after confirmation')
    .argument('[dir-or-plan]', 'Manifest directory, or a plan file saved by plan --out', '.')
    .option(
      '--base <ref>',
      'Last applied commit, or "none" (default: "applied", recorded in git by --record); what only it declares is deleted',
    )
    .option('--yes', 'Apply without asking for confirmation')
    .option('--approve <checksum>', 'Approve the plan, or only its held changes, by checksum')
    .option('--allow-deletes <n>', 'Raise the deletion limit to <n> for this run', count)
    .addOption(
      new Option(
        '--wait <duration>',
        'Maximum wait for translations and specifications after the last write, such as 5m; 0 disables',
      )
        .argParser(durationOrZero)
        .default(300_000, '5m'),
    )
    .option('--record', 'Record this commit and its resource ids in git as applied, once everything is applied')
    .addOption(new Option('--format <format>', 'Output format').choices(['text', 'json']).default('text'))
    .option(...CONFIG)
    .option(...ORGANIZATION)
    .option(...SCOPE)
    .action(async (target, options) => {
      const { applyCommand } = await import('./plan/apply.ts');
      setExitCode(await applyCommand(target, options, context));
    });
}

function adoptingCommands(program: Command, context: CommandContext, setExitCode: SetExitCode): void {
  program
    .command('import')
    .description('Write manifests for resources that no manifest declares yet, without overwriting files')
    .option('--out <dir>', 'Directory to write to; resources that its manifests declare are skipped', '.')
    .option('--kind <kinds...>', 'Import only these kinds and the resources they refer to')
    .option('--site <sites...>', 'Import only these sites, by title or id, and the resources they refer to')
    .option(
      '--unmanaged [dir]',
      'Also skip resources declared elsewhere in this manifest directory, which contains --out (default: .)',
    )
    .option('--drift', 'Write drift into the existing manifests, each change at its line')
    .option(
      '--base <ref>',
      'With --drift: last applied commit, or "applied" to read it from git; later commits are not drift',
    )
    .option(
      '--pull-request',
      'With --drift, in a CI job: commit the drift to its own branch and keep a pull request open',
    )
    .option('--onto <branch>', "With --pull-request: target branch (default: the remote's default branch)")
    .option(
      '--author <author>',
      'With --pull-request: commit author, as "Name <email>" (default: from the git configuration)',
    )
    .option('--dry-run', 'Print what would be written, without writing it')
    .option(...CONFIG)
    .option(...ORGANIZATION)
    .option(...SCOPE)
    .action(async (options) => {
      const { importCommand } = await import('./import/import.ts');
      setExitCode(await importCommand(options, context));
    });
}

function startingCommands(program: Command, context: CommandContext, setExitCode: SetExitCode): void {
  program
    .command('init')
    .description('Create a starter repository: manifests, editor settings and a pull request workflow')
    .argument('[dir]', 'Directory to create files in; existing files are kept', '.')
    .addOption(
      new Option('--forge <forge>', 'Forge that hosts the repository (default: detected)').choices(FORGE_CHOICES),
    )
    .option('--drift', 'Also create the scheduled workflow that opens pull requests for drift')
    .option('--install <url#commit>', 'Octavo repository and full commit id that the workflow runs')
    .option('--no-import', 'Start with an empty manifest even if a token is set')
    .option(...CONFIG)
    .option(...ORGANIZATION)
    .action(async (dir, options) => {
      const { initCommand } = await import('./import/init.ts');
      setExitCode(await initCommand(dir, options, context));
    });
}

function doctorCommands(program: Command, context: CommandContext, setExitCode: SetExitCode): void {
  program
    .command('doctor')
    .description('Check the connection, the token permissions and the features of the platform')
    .option(...CONFIG)
    .action(async (options) => {
      const { doctorCommand } = await import('./doctor/doctor.ts');
      setExitCode(await doctorCommand(options, context));
    });
}

function daemonCommands(program: Command, context: CommandContext, setExitCode: SetExitCode): void {
  program
    .command('run')
    .description('Run the daemon: apply new commits, revert drift and send conversations')
    .option('--dry-run', 'Plan and report only, without writing to the platform')
    .option('--once', 'Run one pass, then exit')
    .option(...CONFIG)
    .action(async (options) => {
      const { runCommand } = await import('./daemon/run.ts');
      setExitCode(await runCommand(options, context));
    });
  program
    .command('health')
    .description('Exit 0 if the daemon of this configuration is healthy')
    .option('--ready', 'Also require that the first pass of every organization has ended')
    .option(...CONFIG)
    .action(async (options) => {
      const { healthCommand } = await import('./daemon/health.ts');
      setExitCode(await healthCommand(options, context));
    });
}

/** Registers what prints data for other tools: schema and snapshot. */
function exportingCommands(program: Command, context: CommandContext, setExitCode: SetExitCode): void {
  program
    .command('schema')
    .description('Print the JSON Schema of manifests, for editors')
    .option('--repo <dir>', 'Manifest directory whose keys complete references')
    .action(async (options) => {
      const { schemaCommand } = await import('./plan/schema.ts');
      setExitCode(await schemaCommand(options, context));
    });
  program
    .command('snapshot')
    .description('Save the actual state without secrets, for plans without a token')
    .option('--out <file>', 'File to write (default: standard output)')
    .option(...CONFIG)
    .option(...ORGANIZATION)
    .action(async (options) => {
      const { snapshotCommand } = await import('./plan/snapshot.ts');
      setExitCode(await snapshotCommand(options, context));
    });
}
