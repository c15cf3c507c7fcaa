import { once } from 'node:events';
import { createInterface } from 'node:readline/promises';
import { addAbortSignal } from 'node:stream';
import { text } from 'node:stream/consumers';
import { styleText } from 'node:util';
import { type Paint, PLAIN } from '../../plan/render/text-layout.ts';

/** Where a command writes, and what it is told. Passed in, so that commands can be tested without a process. */
export interface Terminal {
  /** The answer. */
  readonly out: (text: string) => void;
  /** The same for an answer that is not text; absent where that cannot be written. */
  readonly outBytes?: (bytes: Uint8Array) => void;
  /** Everything else that is meant for a person. */
  readonly err: (text: string) => void;
  /** Whether a person is looking at the answer, and at the rest. */
  readonly isOutTerminal: boolean;
  readonly isErrTerminal: boolean;
  readonly columns: number;
  /** Asks a person; null where nobody can be asked. */
  readonly ask: ((question: string) => Promise<string>) | null;
  /** Resolves once what was written as the answer is taken; absent where that is at once. */
  readonly drained?: () => Promise<void>;
  /** Aborts when nobody reads the answer any more, as after `| head`: what is written then goes nowhere. */
  readonly readerLeft?: AbortSignal;
  /** All of what is piped in; absent where nothing can be. Rejects when the signal aborts. */
  readonly input?: (signal: AbortSignal) => Promise<string>;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
}

/** Columns where nothing says how many there are. */
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

/** The terminal of this process. `readerLeft` aborts when standard output is closed by its reader. */
export function processTerminal(readerLeft: AbortSignal): Terminal {
  const { stdin, stdout, stderr } = process;
  const write = (output: string | Uint8Array) => {
    if (!readerLeft.aborted) {
      stdout.write(output);
    }
  };
  const asks = stdin.isTTY === true && stderr.isTTY === true;
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
        // It fails where the reader leaves meanwhile, which is reported elsewhere.
        await once(stdout, 'drain').catch(() => undefined);
      }
    },
    readerLeft,
    input: (signal) => text(addAbortSignal(signal, stdin)),
    env: process.env,
    cwd: process.cwd(),
  };
}

async function ask(question: string): Promise<string> {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  // While it reads, Ctrl-C is a key: passed on as the signal that it is elsewhere.
  lines.once('SIGINT', () => process.kill(process.pid, 'SIGINT'));
  // Ctrl-C and Ctrl-D answer too: not with a yes.
  const closed = new Promise<string>((resolve) => lines.once('close', () => resolve('')));
  try {
    return await Promise.race([lines.question(question).catch(() => ''), closed]);
  } finally {
    lines.close();
  }
}
