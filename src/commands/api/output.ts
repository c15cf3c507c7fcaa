/** Prints responses of the platform. */
import { isUtf8 } from 'node:buffer';
import { STATUS_CODES } from 'node:http';
import { CancelledError } from '../../core/errors.ts';
import { shownJson } from '../../core/json.ts';
import type { Paint } from '../../plan/render/text-layout.ts';
import { printable, printableLines } from '../../plan/render/words.ts';
import type { HttpAnswer } from '../../platform/http/whole-response.ts';
import { createRedactor, SECRET } from '../../redact.ts';
import { type CommandContext, untilAborted } from '../cli/context.ts';
import { paintFor } from '../cli/terminal.ts';

/** Prints responses without secrets and without terminal control sequences. */
export class ResponseWriter {
  readonly #context: CommandContext;
  readonly #paint: Paint;
  readonly #secrets: readonly string[];

  /** `secrets`: the token, and the values of secret headers. */
  constructor(context: CommandContext, secrets: readonly string[]) {
    const { terminal } = context;
    this.#context = context;
    this.#paint = paintFor(terminal.isOutTerminal, terminal.env);
    this.#secrets = secrets.filter((secret) => secret !== '').toSorted((a, b) => b.length - a.length);
  }

  /** Prints a value as indented JSON, with colors on a terminal. */
  json(value: unknown): Promise<void> {
    return this.#write(`${colorJson(shownJson(value), this.#paint)}\n`);
  }

  /** Prints one line per value (NDJSON). */
  lines(values: readonly unknown[]): Promise<void> {
    return this.#write(values.map((value) => `${colorJson(shownJson(value, 0), this.#paint)}\n`).join(''));
  }

  /**
   * Prints the values that jq returned. Strings are printed raw, and escaped on a terminal; other values are one JSON
   * line each, indented on a terminal if `isIndented`.
   */
  filtered(values: readonly unknown[], isIndented: boolean): Promise<void> {
    const { isOutTerminal } = this.#context.terminal;
    const indent = isIndented && isOutTerminal ? 2 : 0;
    const texts = values.map((value) => {
      if (typeof value !== 'string') {
        return colorJson(shownJson(value, indent), this.#paint);
      }
      return isOutTerminal ? value.split('\n').map(printable).join('\n') : value;
    });
    return this.#write(texts.map((text) => `${text}\n`).join(''));
  }

  /** Prints the status and the headers, for `-i`. */
  head({ status, headers }: Pick<HttpAnswer, 'status' | 'headers'>): Promise<void> {
    const clean = createRedactor(this.#secrets);
    const { strong, faint } = this.#paint;
    const lines = Object.entries(headers).flatMap(([name, value]) =>
      [value ?? []].flat().map((one) => `${faint(`${printable(name)}:`)} ${printable(clean(one))}`),
    );
    return this.#write(`${[strong(`HTTP ${status} ${STATUS_CODES[status] ?? ''}`.trim()), ...lines].join('\n')}\n\n`);
  }

  /**
   * Prints a body that is not JSON: raw when redirected, escaped on a terminal. Returns false without printing when a
   * terminal would show binary data.
   */
  async bytes(bytes: Buffer, contentType: string): Promise<boolean> {
    const { isOutTerminal, outBytes } = this.#context.terminal;
    if (!isOutTerminal && outBytes !== undefined) {
      outBytes(Buffer.from(this.#clean(bytes.toString('latin1')), 'latin1'));
      await this.#drained();
      return true;
    }
    if (!/^text\/|xml|yaml|javascript/i.test(contentType) || !isUtf8(bytes)) {
      return false;
    }
    await this.#write(`${printableLines(bytes.toString('utf8')).trimEnd()}\n`);
    return true;
  }

  #write(text: string): Promise<void> {
    this.#context.terminal.out(this.#clean(text));
    return this.#drained();
  }

  #clean(text: string): string {
    return this.#secrets.reduce((clean, secret) => clean.replaceAll(secret, SECRET), text);
  }

  /** Waits until standard output has drained. Throws CancelledError when the signal aborts first. */
  async #drained(): Promise<void> {
    const { terminal, signal } = this.#context;
    if (terminal.drained !== undefined) {
      const isDrained = await Promise.race([
        terminal.drained().then(() => true),
        untilAborted(signal).then(() => false),
      ]);
      if (!isDrained) {
        throw new CancelledError('standard output was closed before the whole response was written');
      }
    }
  }
}

const TOKENS = /("(?:[^"\\]|\\.)*")(:)?|\b(?:true|false|null)\b|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

/** Colors the names, strings and other values of JSON text. */
export function colorJson(json: string, { strong, create, change }: Paint): string {
  return json.replaceAll(TOKENS, (token, text?: string, colon?: string) => {
    if (text === undefined) {
      return change(token);
    }
    return colon === undefined ? create(text) : `${strong(text)}:`;
  });
}
