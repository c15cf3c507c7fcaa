import { Command, Option } from 'commander';
import { apiCommands } from './api-program.ts';
import { CONFIG, count, type Done, durationOrZero, ORGANIZATION, SCOPE, upTo } from './cli/arguments.ts';
import { FEATURE_NAMES, PLATFORM_NAMES } from './cli/feature-names.ts';
import type { Surroundings } from './cli/setup.ts';
import { clusterCommands } from './clusters/program.ts';
import { conversationCommands } from './conversations/program.ts';

/** Forges that there is a workflow for, and none. */
const FORGE_CHOICES = ['github', 'gitlab', 'gitea', 'bitbucket', 'none'] as const;

/** All commands, for parsing and for the reference page. `done` is told what the process exits with. */
export function createProgram(around: Surroundings, done: Done): Command {
  const program = new Command('octavo')
    .description('GitOps for a documentation platform: a git repository of YAML declares an organization.')
    .version(around.version, '--version')
    .exitOverride()
    .configureOutput({ writeOut: around.terminal.out, writeErr: around.terminal.err })
    .showHelpAfterError('Run with --help to see what there is.')
    .showSuggestionAfterError(true)
    .addHelpText('after', AFTER_HELP)
    .hook('preAction', (_program, command) => nameConfig(command, around));
  startingCommands(program, around, done);
  checkingCommands(program, around, done);
  planningCommands(program, around, done);
  adoptingCommands(program, around, done);
  daemonCommands(program, around, done);
  conversationCommands(program, around, done);
  clusterCommands(program, around, done);
  apiCommands(program, around, done);
  tryingCommands(program, around, done);
  return program;
}

/** `OCTAVO_CONFIG` names the configuration where no `--config` does. */
function nameConfig(command: Command, { terminal }: Surroundings): void {
  const named = terminal.env.OCTAVO_CONFIG ?? '';
  if (named !== '' && command.opts().config === undefined && command.options.some(({ long }) => long === '--config')) {
    command.setOptionValue('config', named);
  }
}

const AFTER_HELP = `
The platform and the organization come from the file that --config or OCTAVO_CONFIG names, else from OCTAVO_BASE_URL,
OCTAVO_TOKEN and OCTAVO_ORGANIZATION, else, where none of these is set, from config.yaml in the working directory.

Exit codes: 0 done; 1 failed; 2 the plan has changes (plan --detailed-exitcode); 3 invalid input; 4 something is held
or was refused; 5 something is still pending after the wait (apply).

To see all of it without an account: octavo demo`;

function checkingCommands(program: Command, around: Surroundings, done: Done): void {
  program
    .command('validate')
    .description('check manifests, offline')
    .argument('[dir]', 'the folder of manifests', '.')
    .option(...CONFIG)
    .addOption(
      new Option('--format <format>', 'how to answer; github: annotations, sarif: code scanning, junit: test reports')
        .choices(['text', 'json', 'github', 'sarif', 'junit'])
        .default('text'),
    )
    .action(async (dir, options) => {
      const { validate } = await import('./plan/validate.ts');
      done(await validate(dir, options, around));
    });
  program
    .command('schema')
    .description('print the JSON Schema of manifests, for editors')
    .option('--repo <dir>', 'a folder of manifests: their keys complete references')
    .action(async (options) => {
      const { schemaCommand } = await import('./plan/schema.ts');
      done(await schemaCommand(options, around));
    });
}

function planningCommands(program: Command, around: Surroundings, done: Done): void {
  program
    .command('plan')
    .description('show what would change; writes nothing')
    .argument('[dir]', 'the folder of manifests', '.')
    .option('--base <ref>', 'the commit last applied: what it declares is owned, and may be deleted; or "applied"')
    .addOption(new Option('--format <format>', 'how to answer').choices(['text', 'markdown', 'json']).default('text'))
    .option('--snapshot <file>', 'the actual state as octavo snapshot saved it: no token and no network are needed')
    .option('--out <file>', 'save the plan, to apply exactly that')
    .option('--comment', 'show it on the pull request that the CI job is for, over the commit that this starts from')
    .option('--detailed-exitcode', 'exit with 2 when there are changes')
    .option(...CONFIG)
    .option(...ORGANIZATION)
    .option(...SCOPE)
    .action(async (dir, options) => {
      const { planCommand } = await import('./plan/plan.ts');
      done(await planCommand(dir, options, around));
    });
  program
    .command('snapshot')
    .description('save the actual state, without secrets, for plans where there is no token')
    .option('--out <file>', 'where to; otherwise it is printed')
    .option(...CONFIG)
    .option(...ORGANIZATION)
    .action(async (options) => {
      const { snapshotCommand } = await import('./plan/snapshot.ts');
      done(await snapshotCommand(options, around));
    });
  program
    .command('apply')
    .description('make it so; asks first')
    .argument('[dir-or-plan]', 'the folder of manifests, or a file that plan --out saved', '.')
    .option('--base <ref>', 'the commit last applied: what it declares is owned, and may be deleted; or "applied"')
    .option('--yes', 'do not ask')
    .option('--approve <checksum>', 'Approve exactly this plan, or with the checksum of what is held only that')
    .option('--allow-deletes <n>', 'let up to so many deletions pass the limits', count)
    .addOption(
      new Option(
        '--wait <duration>',
        'How long to wait for translations and specifications after the last write; 0 turns it off',
      )
        .argParser(durationOrZero)
        .default(300_000, '5m'),
    )
    .option('--record', 'Record this commit and the ids of its resources as applied, in git, once all of it is applied')
    .addOption(new Option('--format <format>', 'how to answer').choices(['text', 'json']).default('text'))
    .option(...CONFIG)
    .option(...ORGANIZATION)
    .option(...SCOPE)
    .action(async (target, options) => {
      const { applyCommand } = await import('./plan/apply.ts');
      done(await applyCommand(target, options, around));
    });
}

function adoptingCommands(program: Command, around: Surroundings, done: Done): void {
  program
    .command('import')
    .description('write what no manifest declares as manifests whose plan is empty; overwrites nothing')
    .option('--out <dir>', 'the folder to write to, with manifests in it or not', '.')
    .option('--kind <kinds...>', 'only these kinds, and what they refer to')
    .option('--site <sites...>', 'only these sites, by title or id, and what they refer to')
    .option('--unmanaged [dir]', 'only what no manifest of this folder declares, of which --out is a part (default: .)')
    .option('--drift', 'write what was changed behind the back of the manifests into them, each at its line')
    .option('--base <ref>', 'with --drift: the commit last applied, or "applied"; what differs from it is not drift')
    .option(
      '--pull-request',
      'with --drift, in a CI job: commit it on a branch of its own, and keep a pull request open',
    )
    .option('--onto <branch>', "with --pull-request: the branch it goes to (default: the remote's default branch)")
    .option('--author <author>', 'with --pull-request: who commits, as "Name <email>" (default: as git is configured)')
    .option('--dry-run', 'print what would be written')
    .option(...CONFIG)
    .option(...ORGANIZATION)
    .option(...SCOPE)
    .action(async (options) => {
      const { importCommand } = await import('./import/import.ts');
      done(await importCommand(options, around));
    });
}

function startingCommands(program: Command, around: Surroundings, done: Done): void {
  program
    .command('init')
    .description('a repository to start from: manifests, what editors need, the workflow for pull requests')
    .argument('[dir]', 'the folder; what is in it stays as it is', '.')
    .addOption(
      new Option('--forge <forge>', 'where the repository is; found out where nothing is said').choices(FORGE_CHOICES),
    )
    .option('--drift', 'also the workflow that brings back what was changed by hand as pull requests, on a schedule')
    .option('--install <url#commit>', 'Repository of Octavo and full id of the commit that the workflow runs')
    .option('--no-import', 'begin with an empty manifest, though a token is there')
    .option(...CONFIG)
    .option(...ORGANIZATION)
    .action(async (dir, options) => {
      const { initCommand } = await import('./import/init.ts');
      done(await initCommand(dir, options, around));
    });
}

function daemonCommands(program: Command, around: Surroundings, done: Done): void {
  program
    .command('run')
    .description('the daemon: follow the repository, undo drift')
    .option('--dry-run', 'plan and report, write nothing')
    .option('--once', 'one pass, then end')
    .option(...CONFIG)
    .action(async (options) => {
      const { runCommand } = await import('./daemon/run.ts');
      done(await runCommand(options, around));
    });
  program
    .command('health')
    .description('Exit 0 if the daemon of this configuration is healthy')
    .option('--ready', 'Require a first synchronization of every organization')
    .option(...CONFIG)
    .action(async (options) => {
      const { healthCommand } = await import('./daemon/health.ts');
      done(await healthCommand(options, around));
    });
  program
    .command('approve')
    .description('Approve the plan that the daemon holds, or only what is held of it')
    .argument('<checksum>', 'Checksum of the plan, or of what is held, as the plan and the log name it')
    .option(...CONFIG)
    .action(async (checksum, options) => {
      const { approveCommand } = await import('./plan/approve.ts');
      done(await approveCommand(checksum, options, around));
    });
  program
    .command('doctor')
    .description('can the platform be reached, what may the token do, what does the platform have')
    .option(...CONFIG)
    .action(async (options) => {
      const { doctorCommand } = await import('./doctor/doctor.ts');
      done(await doctorCommand(options, around));
    });
}

function tryingCommands(program: Command, around: Surroundings, done: Done): void {
  program
    .command('emulate')
    .description('the embedded platform, to try things on')
    .option('--host <address>', 'where to listen', '127.0.0.1')
    .option('--port <n>', 'which port; 0 is any free one', upTo(65_535), 0)
    .option('--token <token>', 'the token it accepts', 'emulator-token')
    .option('--seed <file>', 'the state to start with')
    .option('--state <file>', 'keep the state in this file, and go on from it')
    .option('--latency <ms>', 'wait so long before each answer', count)
    .option('--limit <n/seconds>', 'a rate limit, such as 60/2s')
    .option('--faults <percent>', 'fail so many requests with 503', upTo(100))
    .addOption(new Option('--platform <version>', 'be this version of the platform').choices(PLATFORM_NAMES))
    .addOption(
      new Option('--with <features...>', 'have these, as some versions do').choices(Object.values(FEATURE_NAMES)),
    )
    .addOption(
      new Option('--without <features...>', 'lack these, as some versions do').choices(Object.values(FEATURE_NAMES)),
    )
    .action(async (options) => {
      const { emulateCommand } = await import('./daemon/emulate.ts');
      done(await emulateCommand(options, around));
    });
  program
    .command('demo')
    .description('all of it, on the embedded platform')
    .option('--once', 'play the story and end')
    .action(async (options) => {
      const { demoCommand } = await import('./daemon/demo.ts');
      done(await demoCommand(options, around));
    });
}
