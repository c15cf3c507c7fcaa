/** Logger that removes secrets and control characters. */
import { createRequire } from 'node:module';
import type { Writable } from 'node:stream';
import { type Logger, destination as openDestination, pino } from 'pino';
import { printableLines } from './plan/render/words.ts';
import { createRedactor, SECRET } from './redact.ts';

export type { Logger } from 'pino';

/** Options of the logger. */
export interface LogOptions {
  readonly level: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal';
  /** `auto`: pretty on a terminal, JSON elsewhere. */
  readonly format: 'auto' | 'json' | 'pretty';
  /** Texts to remove. Those of fewer than four characters would remove ordinary words, and are ignored. */
  readonly secrets: Iterable<string>;
  /** Destination; defaults to standard error, because standard output is for results. */
  readonly destination?: Writable & { readonly isTTY?: boolean };
  /** Receives each record as JSON, after secrets were removed, in addition to the destination. */
  readonly onRecord?: ((record: string) => void) | undefined;
}

/** Opens a logger whose records contain no known secrets, no `authorization` and no passwords of URLs, at any depth. */
export function createLogger({ level, format, secrets, destination, onRecord }: LogOptions): Logger {
  const terminal = destination === undefined ? process.stderr.isTTY : destination.isTTY;
  const out = destination ?? openDestination({ dest: 2, sync: true });
  const isPretty = format === 'pretty' || (format === 'auto' && terminal === true);
  const withoutSecrets = createRedactor(secrets);
  // Removes control characters of untrusted text; JSON escapes them by itself.
  const redact = isPretty ? (text: string) => printableLines(withoutSecrets(text)) : withoutSecrets;
  const colorize = terminal === true && (process.env.NO_COLOR ?? '') === '';
  const sink = isPretty ? prettyOf()({ destination: out, colorize, sync: true, ignore: 'pid,hostname' }) : out;
  // Complete records are redacted after pino has serialized them, so that no source of fields is missed.
  const cleaned = {
    write: (line: string) => {
      const record = JSON.stringify(redactValue(JSON.parse(line), redact));
      sink.write(`${record}\n`);
      onRecord?.(record);
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

/** Loaded only for a terminal. */
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
