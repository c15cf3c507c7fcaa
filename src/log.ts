import type { Writable } from 'node:stream';
import { type Logger, destination as openDestination, pino } from 'pino';
import pretty from 'pino-pretty';

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

const SECRET = '[secret]';
const SHORTEST = 4;

/** A logger whose records carry no known secret, no `authorization` and no password of a URL, wherever they stand. */
export function createLogger({ level, format, secrets, destination }: LogOptions): Logger {
  const redact = createRedactor(secrets);
  const terminal = destination === undefined ? process.stderr.isTTY : destination.isTTY;
  const out = destination ?? openDestination({ dest: 2, sync: true });
  const isPretty = format === 'pretty' || (format === 'auto' && terminal === true);
  const colorize = terminal === true && (process.env.NO_COLOR ?? '') === '';
  const sink = isPretty ? pretty({ destination: out, colorize, sync: true, ignore: 'pid,hostname' }) : out;
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

/**
 * Replaces every known secret in a text by `[secret]`, also where secrets overlap, and what is secret by its shape:
 * `Bearer …`, `Basic …` and the user info of URLs. Each long line of a secret of several lines is secret by itself.
 */
export function createRedactor(secrets: Iterable<string>): (text: string) => string {
  const known = [...secrets].flatMap((secret) => [secret, ...longLines(secret)]);
  const needles = [...new Set(known)].filter((secret) => secret.length >= SHORTEST);
  return (text) =>
    blank(text, spansOf(text, needles))
      .replace(/\b(Bearer|Basic)\s+[A-Za-z0-9._~+/=-]+/gi, `$1 ${SECRET}`)
      .replace(/([a-z][a-z0-9+.-]*:\/\/)[^\s/@"']+@/gi, `$1${SECRET}@`);
}

function longLines(secret: string): readonly string[] {
  return secret.includes('\n') ? secret.split(/\r?\n/).filter((line) => line.length >= 16) : [];
}

type Span = readonly [start: number, end: number];

/** Where secrets stand, in order, overlapping ones made one. */
function spansOf(text: string, needles: readonly string[]): readonly Span[] {
  const found: Span[] = [];
  for (const needle of needles) {
    for (let start = text.indexOf(needle); start >= 0; start = text.indexOf(needle, start + 1)) {
      found.push([start, start + needle.length]);
    }
  }
  const merged: Span[] = [];
  for (const span of found.sort(([a], [b]) => a - b)) {
    const last = merged.at(-1);
    if (last !== undefined && span[0] < last[1]) {
      merged[merged.length - 1] = [last[0], Math.max(last[1], span[1])];
    } else {
      merged.push(span);
    }
  }
  return merged;
}

function blank(text: string, spans: readonly Span[]): string {
  let from = 0;
  let out = '';
  for (const [start, end] of spans) {
    out += text.slice(from, start) + SECRET;
    from = end;
  }
  return out + text.slice(from);
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
