/** Entry point of the program: parses the command line, runs the command, and turns errors into messages and exit codes. */
import { readFileSync } from 'node:fs';
import { CommanderError } from 'commander';
import { type CommandContext, fitted, paintFor, processTerminal } from './commands/cli/context.ts';
import { createProgram } from './commands/program.ts';
import { systemClock } from './core/clock.ts';
import {
  AppError,
  DesiredStateError,
  describeFileError,
  EXIT,
  type ExitCode,
  formatProblem,
  messageOf,
} from './core/errors.ts';
import { shownJson } from './core/json.ts';
import { printableLines } from './plan/render/words.ts';
import { createRedactor } from './redact.ts';
import { excerptOf } from './report/excerpt.ts';

/** The directory of the package; this file is one level below it, both in src and in dist. */
const ROOT = new URL('../', import.meta.url);

/**
 * Runs the process: parses argv, handles signals, and turns errors into exit codes. Standard output has only the result.
 *
 * @returns the exit code of the process
 */
export async function main(argv: readonly string[]): Promise<ExitCode> {
  const stop = new AbortController();
  const reader = new AbortController();
  let stoppedAt = Number.POSITIVE_INFINITY;
  let stoppedBy: 'SIGINT' | 'SIGTERM' = 'SIGINT';
  const onStop = (signal: 'SIGINT' | 'SIGTERM') => {
    // A second signal exits at once. npm forwards the signal that the terminal has already sent, hence the delay.
    if (systemClock.monotonic() - stoppedAt > SAME_SIGNAL) {
      process.exit(FORCED[signal]);
    }
    if (!stop.signal.aborted) {
      stoppedAt = systemClock.monotonic();
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
  // An unhandled rejection or exception is reported like any other error, and ends the process.
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

/** Makes forge clients use the proxy of the environment, if there is one. Throws ConfigError. */
async function useProxy({ terminal, secrets }: CommandContext): Promise<void> {
  if (Object.keys(terminal.env).some((name) => /^https?_proxy$/i.test(name))) {
    const { proxyUrls, useProxyForFetch } = await import('./platform/http/dispatcher.ts');
    for (const { password } of proxyUrls(terminal.env)) {
      secrets?.add(decodeURIComponent(password)).add(password);
    }
    useProxyForFetch();
  }
}

/** Exit codes of shells for a process that the signal ended. */
const FORCED = { SIGINT: 130, SIGTERM: 143 } as const;
/** Milliseconds within which a repeated signal counts as the same one. */
const SAME_SIGNAL = 500;

/**
 * Handles a closed standard output, as after `| head`: not a failure, and not the end of the work by itself. The command
 * decides how it ends and with which exit code.
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

/** Runs a command line. Never throws; errors are printed and set the exit code. */
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

/** Prints an error without stack trace and secrets; with `--format json` also as JSON on standard output. */
function report(error: unknown, argv: readonly string[], { terminal, secrets }: CommandContext): ExitCode {
  if (error instanceof CommanderError) {
    // Commander has already printed it; requested help is not an error.
    return error.exitCode === 0 ? EXIT.done : EXIT.invalid;
  }
  const clean = createRedactor(secrets ?? []);
  // Messages quote manifests, file names and responses, which must not control a terminal or a CI runner.
  const print = (text: string) => {
    const shown = printableLines(clean(text));
    terminal.err(terminal.isErrTerminal ? fitted(shown, terminal.columns) : shown);
  };
  if (wantsJson(argv)) {
    terminal.out(clean(`${shownJson(failureAsJson(error))}\n`));
  }
  if (error instanceof DesiredStateError) {
    const count = error.problems.length;
    const { columns, isErrTerminal, env } = terminal;
    const options = { columns, paint: paintFor(isErrTerminal, env), clean };
    for (const problem of error.problems) {
      const line = error.lines.get(problem);
      print(`${formatProblem(problem)}\n`);
      terminal.err(line === undefined ? '' : `${excerptOf(problem, line, options)}\n`);
    }
    print(`\n${count === 1 ? '1 problem' : `${count} problems`}\n`);
  } else if (error instanceof AppError) {
    // A message that starts with a file position needs no prefix.
    const start = /^\S+:\d+:\d+: /.test(error.message) ? '' : 'octavo: ';
    print(`${start}${error.message}\n`);
  } else if (describeFileError(error) !== null) {
    print(`octavo: ${describeFileError(error)}\n`);
  } else {
    print(`octavo: unexpected error: ${messageOf(error)}\nThis is a bug in Octavo; please report it.\n`);
    if (terminal.env.OCTAVO_DEBUG !== undefined && error instanceof Error) {
      print(`${error.stack ?? ''}\n`);
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
  const fileError = error instanceof AppError ? null : describeFileError(error);
  const code = error instanceof AppError ? error.code : fileError === null ? 'unexpected' : 'file';
  return { format: 'octavo.error/1', error: { code, message: fileError ?? messageOf(error) } };
}
