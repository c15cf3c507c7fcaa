import { readFileSync } from 'node:fs';
import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import type { Surroundings } from './commands/setup.ts';
import { processTerminal } from './commands/terminal.ts';
import { systemClock } from './core/clock.ts';
import { AppError, DesiredStateError, EXIT, type ExitCode, formatProblem, messageOf } from './core/errors.ts';
import { createRedactor } from './redact.ts';

/** The package's folder: this file is one below it, as source and as what is built. */
const ROOT = new URL('../', import.meta.url);

/**
 * The command line: argv to command, error to exit code. Nothing is printed on standard output but the answer.
 *
 * @returns what the process exits with (design: Commands)
 */
export async function main(argv: readonly string[]): Promise<ExitCode> {
  const stop = new AbortController();
  let asked = Number.POSITIVE_INFINITY;
  const onStop = (signal: 'SIGINT' | 'SIGTERM') => {
    // Whoever asks again does not want to wait; npm passes on the one that the terminal sent already.
    if (systemClock.monotonic() - asked > SAME_REQUEST) {
      process.exit(FORCED[signal]);
    }
    asked = Math.min(asked, systemClock.monotonic());
    stop.abort();
  };
  process.on('SIGINT', onStop);
  process.on('SIGTERM', onStop);
  const terminal = processTerminal();
  const around: Surroundings = {
    terminal,
    clock: systemClock,
    random: Math.random,
    version: version(ROOT),
    root: ROOT,
    signal: stop.signal,
    secrets: new Set([process.env.OCTAVO_TOKEN ?? '']),
  };
  // What nobody waited for: said like everything else, and the end of the process.
  process.once('uncaughtException', (error) => process.exit(report(error, argv, around)));
  leaveWithReader();
  try {
    return await runCommandLine(argv, around);
  } finally {
    process.off('SIGINT', onStop);
    process.off('SIGTERM', onStop);
  }
}

/** What a shell says of a process that such a signal ended. */
const FORCED = { SIGINT: 130, SIGTERM: 143 } as const;
/** Milliseconds within which two signals are one request. */
const SAME_REQUEST = 500;

/** Whoever reads the answer may have seen enough of it, as `head` has: that is no mistake of anybody's. */
function leaveWithReader(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') {
        throw error;
      }
      process.exit(EXIT.done);
    });
  }
}

/** A command line in given surroundings. Never throws: what goes wrong is said, and is in the exit code. */
export async function runCommandLine(argv: readonly string[], around: Surroundings): Promise<ExitCode> {
  let exit: ExitCode = EXIT.done;
  const program = createProgram(around, (code) => {
    exit = code;
  });
  try {
    await program.parseAsync(argv, { from: 'user' });
    return exit;
  } catch (error) {
    return report(error, argv, around);
  }
}

function version(root: URL): string {
  const manifest = JSON.parse(readFileSync(new URL('package.json', root), 'utf8')) as { version: string };
  return manifest.version;
}

/** Says what went wrong, for a person: no stack trace, and no secret. Where JSON was asked for, in JSON besides. */
function report(error: unknown, argv: readonly string[], { terminal, secrets }: Surroundings): ExitCode {
  if (error instanceof CommanderError) {
    // Commander has said it already; help that was asked for is no mistake.
    return error.exitCode === 0 ? EXIT.done : EXIT.invalid;
  }
  const clean = createRedactor(secrets ?? []);
  if (wantsJson(argv)) {
    terminal.out(clean(`${JSON.stringify(failureAsJson(error), null, 2)}\n`));
  }
  if (error instanceof DesiredStateError) {
    const count = error.problems.length;
    const list = error.problems.map(formatProblem).join('\n');
    terminal.err(clean(`${list}\n\n${count === 1 ? '1 problem' : `${count} problems`}\n`));
  } else if (error instanceof AppError) {
    // What names its place in a file needs no other beginning.
    const start = /^\S+:\d+:\d+: /.test(error.message) ? '' : 'octavo: ';
    terminal.err(clean(`${start}${error.message}\n`));
  } else {
    terminal.err(clean(`octavo: unexpected: ${messageOf(error)}\nThis is a mistake of Octavo's; please report it.\n`));
    if (terminal.env.OCTAVO_DEBUG !== undefined && error instanceof Error) {
      terminal.err(clean(`${error.stack ?? ''}\n`));
    }
  }
  return error instanceof AppError ? error.exitCode : EXIT.failed;
}

function wantsJson(argv: readonly string[]): boolean {
  return argv.some((word, index) => word === '--format=json' || (word === 'json' && argv[index - 1] === '--format'));
}

function failureAsJson(error: unknown): object {
  if (error instanceof DesiredStateError) {
    return { format: 'octavo.validation/1', valid: false, problems: error.problems };
  }
  const code = error instanceof AppError ? error.code : 'unexpected';
  return { format: 'octavo.error/1', error: { code, message: messageOf(error) } };
}

type Done = (code: ExitCode) => void;

/** All commands, for parsing and for the reference page. `done` is told what the process exits with. */
export function createProgram(around: Surroundings, done: Done): Command {
  const program = new Command('octavo')
    .description('GitOps for a documentation platform: a git repository of YAML declares an organization.')
    .version(around.version, '--version')
    .exitOverride()
    .configureOutput({ writeOut: around.terminal.out, writeErr: around.terminal.err })
    .showHelpAfterError('Run with --help to see what there is.')
    .showSuggestionAfterError(true)
    .addHelpText('after', AFTER_HELP);
  manifestCommands(program, around, done);
  daemonCommands(program, around, done);
  conversationCommands(program, around, done);
  tryingCommands(program, around, done);
  return program;
}

const AFTER_HELP = `
The platform and the organization come from --config FILE, else from config.yaml where it is there, else from
OCTAVO_BASE_URL, OCTAVO_TOKEN and OCTAVO_ORGANIZATION.

Exit codes: 0 done; 1 failed; 2 the plan has changes (plan --detailed-exitcode); 3 invalid input; 4 something is held
or was refused.

To see all of it without an account: octavo demo`;

const CONFIG = ['--config <file>', 'the configuration (default: config.yaml where it is there)'] as const;
const ORGANIZATION = ['--organization <id>', 'which organization, where several are configured'] as const;

function manifestCommands(program: Command, around: Surroundings, done: Done): void {
  program
    .command('validate')
    .description('check manifests, offline')
    .argument('[dir]', 'the folder of manifests', '.')
    .option(...CONFIG)
    .addOption(new Option('--format <format>', 'how to answer').choices(['text', 'json']).default('text'))
    .action(async (dir, options) => {
      const { validate } = await import('./commands/validate.ts');
      done(await validate(dir, options, around));
    });
  program
    .command('plan')
    .description('show what would change; writes nothing')
    .argument('[dir]', 'the folder of manifests', '.')
    .option('--base <ref>', 'the commit last applied: what it declares is owned, and may be deleted; or "applied"')
    .addOption(new Option('--format <format>', 'how to answer').choices(['text', 'markdown', 'json']).default('text'))
    .option('--out <file>', 'save the plan, to apply exactly that')
    .option('--detailed-exitcode', 'exit with 2 when there are changes')
    .option(...CONFIG)
    .option(...ORGANIZATION)
    .action(async (dir, options) => {
      const { planCommand } = await import('./commands/plan.ts');
      done(await planCommand(dir, options, around));
    });
  program
    .command('apply')
    .description('make it so; asks first')
    .argument('[dir-or-plan]', 'the folder of manifests, or a file that plan --out saved', '.')
    .option('--base <ref>', 'the commit last applied: what it declares is owned, and may be deleted; or "applied"')
    .option('--yes', 'do not ask')
    .option('--approve <checksum>', 'approve what is held of exactly this plan')
    .option('--allow-deletes <n>', 'let up to so many deletions pass the limits', count)
    .option('--record', 'move refs/octavo/<organization>/applied to this commit once all of it is applied')
    .addOption(new Option('--format <format>', 'how to answer').choices(['text', 'json']).default('text'))
    .option(...CONFIG)
    .option(...ORGANIZATION)
    .action(async (target, options) => {
      const { applyCommand } = await import('./commands/apply.ts');
      done(await applyCommand(target, options, around));
    });
  program
    .command('schema')
    .description('print the JSON Schema of manifests, for editors')
    .action(async () => {
      const { schemaCommand } = await import('./commands/schema.ts');
      done(await schemaCommand(around));
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
      const { runCommand } = await import('./commands/run.ts');
      done(await runCommand(options, around));
    });
  program
    .command('approve')
    .description('approve the plan that the daemon holds')
    .argument('<checksum>', 'as the plan and the log name it')
    .option(...CONFIG)
    .action(async (checksum, options) => {
      const { approveCommand } = await import('./commands/approve.ts');
      done(await approveCommand(checksum, options, around));
    });
  program
    .command('doctor')
    .description('can the platform be reached, what may the token do, what does the platform have')
    .option(...CONFIG)
    .action(async (options) => {
      const { doctorCommand } = await import('./commands/doctor.ts');
      done(await doctorCommand(options, around));
    });
}

function conversationCommands(program: Command, around: Surroundings, done: Done): void {
  program
    .command('redact')
    .description('print a text as it would be sent, with everything private taken out')
    .argument('<file>', 'a text')
    .option('--explain', 'show what would be taken out, on a terminal only')
    .option(...CONFIG)
    .option(...ORGANIZATION)
    .action(async (file, options) => {
      const { redactCommand } = await import('./commands/redact.ts');
      done(await redactCommand(file, options, around));
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
    .action(async (options) => {
      const { emulateCommand } = await import('./commands/emulate.ts');
      done(await emulateCommand(options, around));
    });
  program
    .command('demo')
    .description('all of it, on the embedded platform')
    .option('--once', 'play the story and end')
    .action(async (options) => {
      const { demoCommand } = await import('./commands/demo.ts');
      done(await demoCommand(options, around));
    });
}

function count(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 0) {
    throw new InvalidArgumentError('It must be a whole number.');
  }
  return value;
}

function upTo(most: number): (text: string) => number {
  return (text) => {
    const value = count(text);
    if (value > most) {
      throw new InvalidArgumentError(`It must be ${most} at most.`);
    }
    return value;
  };
}
