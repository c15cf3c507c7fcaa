import { createRequire } from 'node:module';
import type { Writable } from 'node:stream';
import { type Logger, destination as openDestination, pino } from 'pino';
import { printableLines } from './plan/render/words.ts';
import { createRedactor, SECRET } from './redact.ts';

export type { Logger } from 'pino';

/** How to log, and what never to. */
export interface LogOptions {
  readonly level: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal';
  /** `auto`: pretty on a terminal, JSON elsewhere. */
  readonly format: 'auto' | 'json' | 'pretty';
  /** Texts that must appear nowhere. Those of fewer than four characters would blank ordinary words, and are let be. */
  readonly secrets: Iterable<string>;
  /** Where lines go; the standard error by default, since the standard output is for answers. */
  readonly destination?: Writable & { readonly isTTY?: boolean };
}

/** A logger whose records carry no known secret, no `authorization` and no password of a URL, wherever they stand. */
export function createLogger({ level, format, secrets, destination }: LogOptions): Logger {
  const terminal = destination === undefined ? process.stderr.isTTY : destination.isTTY;
  const out = destination ?? openDestination({ dest: 2, sync: true });
  const isPretty = format === 'pretty' || (format === 'auto' && terminal === true);
  const withoutSecrets = createRedactor(secrets);
  // What a stranger wrote moves no cursor; JSON writes control characters out by itself.
  const redact = isPretty ? (text: string) => printableLines(withoutSecrets(text)) : withoutSecrets;
  const colorize = terminal === true && (process.env.NO_COLOR ?? '') === '';
  const sink = isPretty ? prettyOf()({ destination: out, colorize, sync: true, ignore: 'pid,hostname' }) : out;
  // Whole records are cleaned, after pino has put them together: nothing that adds to one can be forgotten here.
  const cleaned = {
    write: (line: string) => {
      sink.write(`${JSON.stringify(redactValue(JSON.parse(line), redact))}\n`);
    },
  };
  return pino(
    {
      level,
      base: { pid: process.pid },
      timestamp: pino.stdTimeFunctions.isoTime,
      serializers: { err: pino.stdSerializers.err, error: pino.stdSerializers.err },
    },
    cleaned,
  );
}

/** Loaded for a person's terminal only. */
function prettyOf(): typeof import('pino-pretty') {
  return createRequire(import.meta.url)('pino-pretty');
}

function redactValue(value: unknown, redact: (text: string) => string): unknown {
  if (typeof value === 'string') {
    return redact(value);
  }
  if (typeof value === 'number') {
    const text = redact(String(value));
    return text === String(value) ? value : text;
  }
  if (Array.isArray(value)) {
    return value.map((item) => redactValue(item, redact));
  }
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(
      Object.entries(value).map(([key, member]) => [
        redact(key),
        /^(proxy-)?authorization$/i.test(key) ? SECRET : redactValue(member, redact),
      ]),
    );
  }
  return value;
}
