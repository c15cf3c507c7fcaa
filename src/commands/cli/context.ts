/** Everything outside of the program that a command uses: terminal, clock and signals. */
import { once } from 'node:events';
import type { Writable } from 'node:stream';
import { styleText } from 'node:util';
import type { Clock, Random } from '../../core/clock.ts';
import { type Paint, PLAIN, wrap } from '../../plan/render/text-layout.ts';

/** Everything outside of the program that a command uses; tests pass their own. */
export interface CommandContext {
  readonly terminal: Terminal;
  readonly clock: Clock;
  readonly random: Random;
  /** The version of Octavo, without its name. */
  readonly version: string;
  /** The folder of the package, which contains the examples. */
  readonly root: URL;
  /** Aborts when the process receives SIGINT or SIGTERM. */
  readonly signal: AbortSignal;
  /** Returns the signal that stopped the process. */
  readonly stoppedBy?: () => 'SIGINT' | 'SIGTERM';
  /** Values that must never be printed. Reading a configuration adds its secrets. */
  readonly secrets?: Set<string>;
  /** Destination of the daemon's log; defaults to standard error. */
  readonly logDestination?: Writable;
}

/** Prints a result as indented JSON, or as lines of text. */
export function printResult(
  { terminal }: CommandContext,
  format: 'text' | 'json',
  json: object,
  lines: readonly string[],
): void {
  const text = () => (terminal.isOutTerminal ? lines.map((line) => fitted(line, terminal.columns)) : lines).join('\n');
  terminal.out(`${format === 'json' ? JSON.stringify(json, null, 2) : text()}\n`);
}

/** Breaks lines that are wider than the terminal, except commands: these have a line of their own, to be copied. */
export function fitted(lines: string, columns: number): string {
  const each = lines.split('\n').map((line) => {
    const lead = /^ */.exec(line)?.[0] ?? '';
    return line.startsWith(`${lead}octavo `) ? line : wrap(lead, line.slice(lead.length), columns, lead.length + 2);
  });
  return each.join('\n');
}

/** Resolves when the signal aborts. */
export async function untilAborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) {
    await once(signal, 'abort');
  }
}

/** Returns the clock of a command; its sleeps end when the process is stopped. */
export function interruptibleClock({ clock, signal }: Pick<CommandContext, 'clock' | 'signal'>): Clock {
  return {
    now: () => clock.now(),
    monotonic: () => clock.monotonic(),
    sleep: (milliseconds) => clock.sleep(milliseconds, signal),
  };
}

/** Input and output of a command. Passed in, so that commands can be tested without a process. */
export interface Terminal {
  /** Writes to standard output, which has only the result. */
  readonly out: (text: string) => void;
  /** Writes binary data to standard output; absent where that is not possible. */
  readonly outBytes?: (bytes: Uint8Array) => void;
  /** Writes messages to standard error. */
  readonly err: (text: string) => void;
  /** True if standard output is a terminal. */
  readonly isOutTerminal: boolean;
  /** True if standard error is a terminal. */
  readonly isErrTerminal: boolean;
  readonly columns: number;
  /** Asks a question on the terminal; null without one. */
  readonly ask: ((question: string) => Promise<string>) | null;
  /** Resolves when standard output has drained; absent where writes are synchronous. */
  readonly drained?: () => Promise<void>;
  /** Aborts when standard output is closed by its reader, as after `| head`; later writes are discarded. */
  readonly outputClosed?: AbortSignal;
  /** Reads standard input to its end; absent where there is none. Rejects when the signal aborts. */
  readonly input?: (signal: AbortSignal) => Promise<string>;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
}

/** Width where the terminal does not report one. */
const DEFAULT_COLUMNS = 100;

/** Returns a painter that uses color only on a terminal, and not when `NO_COLOR` is set. */
export function paintFor(isTerminal: boolean, env: Readonly<Record<string, string | undefined>>): Paint {
  const wanted = isTerminal && (env.NO_COLOR ?? '') === '' && env.TERM !== 'dumb';
  if (!wanted) {
    return PLAIN;
  }
  const style = (format: Parameters<typeof styleText>[0]) => (text: string) =>
    text === '' ? '' : styleText(format, text, { validateStream: false });
  return {
    strong: style('bold'),
    faint: style('dim'),
    create: style('green'),
    change: style('yellow'),
    remove: style('red'),
    warn: style('magenta'),
  };
}

/** Returns the terminal of this process. `outputClosed` aborts when standard output is closed by its reader. */
export function processTerminal(outputClosed: AbortSignal): Terminal {
  const { stdout, stderr } = process;
  const write = (output: string | Uint8Array) => {
    if (!outputClosed.aborted) {
      stdout.write(output);
    }
  };
  // Last, because Node opens standard input when it is first mentioned.
  const asks = stderr.isTTY === true && process.stdin.isTTY === true;
  return {
    out: write,
    outBytes: write,
    err: (text) => void stderr.write(text),
    isOutTerminal: stdout.isTTY === true,
    isErrTerminal: stderr.isTTY === true,
    columns: stdout.columns ?? stderr.columns ?? DEFAULT_COLUMNS,
    ask: asks ? ask : null,
    drained: async () => {
      if (stdout.writableNeedDrain) {
        // Fails if the output is closed meanwhile; `outputClosed` reports that.
        await once(stdout, 'drain').catch(() => undefined);
      }
    },
    outputClosed,
    input: readInput,
    env: process.env,
    cwd: process.cwd(),
  };
}

async function readInput(signal: AbortSignal): Promise<string> {
  const { addAbortSignal } = await import('node:stream');
  const { text } = await import('node:stream/consumers');
  return text(addAbortSignal(signal, process.stdin));
}

async function ask(question: string): Promise<string> {
  const { createInterface } = await import('node:readline/promises');
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  // While readline is active, Ctrl-C is a key and not a signal; send the signal.
  lines.once('SIGINT', () => process.kill(process.pid, 'SIGINT'));
  // Ctrl-C and Ctrl-D count as an empty answer.
  const closed = new Promise<string>((resolve) => lines.once('close', () => resolve('')));
  try {
    return await Promise.race([lines.question(question).catch(() => ''), closed]);
  } finally {
    lines.close();
  }
}
