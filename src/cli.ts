import { readFileSync } from 'node:fs';
import { CommanderError } from 'commander';
import type { CommandContext } from './commands/cli/setup.ts';
import { processTerminal } from './commands/cli/terminal.ts';
import { createProgram } from './commands/program.ts';
import { systemClock } from './core/clock.ts';
import { AppError, DesiredStateError, EXIT, type ExitCode, formatProblem, messageOf } from './core/errors.ts';
import { shownJson } from './core/json.ts';
import { printableLines } from './plan/render/words.ts';
import { createRedactor } from './redact.ts';

/** The package's folder: this file is one below it, as source and as what is built. */
const ROOT = new URL('../', import.meta.url);

/**
 * Runs the command line: argv to command, error to exit code. Only the answer is printed on standard output.
 *
 * @returns the exit code of the process
 */
export async function main(argv: readonly string[]): Promise<ExitCode> {
  const stop = new AbortController();
  const reader = new AbortController();
  let asked = Number.POSITIVE_INFINITY;
  let stoppedBy: 'SIGINT' | 'SIGTERM' = 'SIGINT';
  const onStop = (signal: 'SIGINT' | 'SIGTERM') => {
    // Whoever asks again does not want to wait; npm passes on the one that the terminal sent already.
    if (systemClock.monotonic() - asked > SAME_REQUEST) {
      process.exit(FORCED[signal]);
    }
    if (!stop.signal.aborted) {
      asked = systemClock.monotonic();
      stoppedBy = signal;
      stop.abort();
    }
  };
  process.on('SIGINT', onStop);
  process.on('SIGTERM', onStop);
  const terminal = processTerminal(reader.signal);
  const context: CommandContext = {
    terminal,
    clock: systemClock,
    random: Math.random,
    version: version(ROOT),
    root: ROOT,
    signal: stop.signal,
    stoppedBy: () => stoppedBy,
    secrets: new Set([process.env.OCTAVO_TOKEN ?? '']),
  };
  // What nobody waited for: said like everything else, and the end of the process.
  process.once('uncaughtException', (error) => process.exit(report(error, argv, context)));
  noteClosedOutput(reader);
  try {
    await useProxy(context);
    return await runCommandLine(argv, context);
  } catch (error) {
    return report(error, argv, context);
  } finally {
    process.off('SIGINT', onStop);
    process.off('SIGTERM', onStop);
  }
}

/** Where the environment names a proxy, clients of forges use it too. Throws ConfigError. */
async function useProxy({ terminal, secrets }: CommandContext): Promise<void> {
  if (Object.keys(terminal.env).some((name) => /^https?_proxy$/i.test(name))) {
    const { proxyUrls, useProxyForFetch } = await import('./platform/http/dispatcher.ts');
    for (const { password } of proxyUrls(terminal.env)) {
      secrets?.add(decodeURIComponent(password)).add(password);
    }
    useProxyForFetch();
  }
}

/** What a shell says of a process that such a signal ended. */
const FORCED = { SIGINT: 130, SIGTERM: 143 } as const;
/** Milliseconds within which two signals are one request. */
const SAME_REQUEST = 500;

/**
 * A reader may have seen enough of the answer, as `head` has: that is not a failure, and ends no work by itself. How
 * the command ends, and what it exits with, is up to the command.
 */
function noteClosedOutput(reader: AbortController): void {
  const ignoreClosed = (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') {
      throw error;
    }
  };
  process.stderr.on('error', ignoreClosed);
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    ignoreClosed(error);
    reader.abort();
  });
}

/** A command line in given surroundings. Never throws: what goes wrong is said, and is in the exit code. */
export async function runCommandLine(argv: readonly string[], context: CommandContext): Promise<ExitCode> {
  let exit: ExitCode = EXIT.done;
  const program = createProgram(context, (code) => {
    exit = code;
  });
  try {
    await program.parseAsync(argv, { from: 'user' });
    return exit;
  } catch (error) {
    return report(error, argv, context);
  }
}

function version(root: URL): string {
  const manifest = JSON.parse(readFileSync(new URL('package.json', root), 'utf8')) as { version: string };
  return manifest.version;
}

/** Says what went wrong, for a person: no stack trace, and no secret. Where JSON was asked for, in JSON besides. */
function report(error: unknown, argv: readonly string[], { terminal, secrets }: CommandContext): ExitCode {
  if (error instanceof CommanderError) {
    // Commander has said it already; help that was asked for is no mistake.
    return error.exitCode === 0 ? EXIT.done : EXIT.invalid;
  }
  const clean = createRedactor(secrets ?? []);
  // Messages quote manifests, file names and answers: none of that is obeyed by a terminal, or by a CI job's runner.
  const say = (text: string) => terminal.err(printableLines(clean(text)));
  if (wantsJson(argv)) {
    terminal.out(clean(`${shownJson(failureAsJson(error))}\n`));
  }
  if (error instanceof DesiredStateError) {
    const count = error.problems.length;
    const list = error.problems.map(formatProblem).join('\n');
    say(`${list}\n\n${count === 1 ? '1 problem' : `${count} problems`}\n`);
  } else if (error instanceof AppError) {
    // What names its place in a file needs no other beginning.
    const start = /^\S+:\d+:\d+: /.test(error.message) ? '' : 'octavo: ';
    say(`${start}${error.message}\n`);
  } else {
    say(`octavo: unexpected error: ${messageOf(error)}\nThis is a bug in Octavo; please report it.\n`);
    if (terminal.env.OCTAVO_DEBUG !== undefined && error instanceof Error) {
      say(`${error.stack ?? ''}\n`);
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
