import { isUtf8 } from 'node:buffer';
import { STATUS_CODES } from 'node:http';
import { CancelledError } from '../../core/errors.ts';
import { shownJson } from '../../core/json.ts';
import type { Paint } from '../../plan/render/text-layout.ts';
import { printable, printableLines } from '../../plan/render/words.ts';
import type { HttpAnswer } from '../../platform/http/transport.ts';
import { createRedactor, SECRET } from '../../redact.ts';
import { type CommandContext, untilAborted } from '../cli/setup.ts';
import { paintFor } from '../cli/terminal.ts';

/** Writes what the platform answered: the token is in none of it, and nothing in it acts on a terminal. */
export class AnswerWriter {
  readonly #context: CommandContext;
  readonly #paint: Paint;
  readonly #secrets: readonly string[];

  /** `secrets`: the token, and what else was sent to prove who calls. */
  constructor(context: CommandContext, secrets: readonly string[]) {
    const { terminal } = context;
    this.#context = context;
    this.#paint = paintFor(terminal.isOutTerminal, terminal.env);
    this.#secrets = secrets.filter((secret) => secret !== '').toSorted((a, b) => b.length - a.length);
  }

  /** A value on lines of its own: indented, and on a terminal in colours. */
  json(value: unknown): Promise<void> {
    return this.#write(`${colouredJson(shownJson(value), this.#paint)}\n`);
  }

  /** A line for each value (NDJSON). */
  lines(values: readonly unknown[]): Promise<void> {
    return this.#write(values.map((value) => `${colouredJson(shownJson(value, 0), this.#paint)}\n`).join(''));
  }

  /**
   * What was selected: texts as they are, so that they can be used; on a terminal nothing in them is obeyed. Other
   * values are on a line each, indented on a terminal where that is asked for.
   */
  selected(values: readonly unknown[], isIndented: boolean): Promise<void> {
    const { isOutTerminal } = this.#context.terminal;
    const indent = isIndented && isOutTerminal ? 2 : 0;
    const texts = values.map((value) => {
      if (typeof value !== 'string') {
        return colouredJson(shownJson(value, indent), this.#paint);
      }
      return isOutTerminal ? value.split('\n').map(printable).join('\n') : value;
    });
    return this.#write(texts.map((text) => `${text}\n`).join(''));
  }

  /** Status and headers, as `-i` shows them. */
  head({ status, headers }: Pick<HttpAnswer, 'status' | 'headers'>): Promise<void> {
    const clean = createRedactor(this.#secrets);
    const { strong, faint } = this.#paint;
    const lines = Object.entries(headers).flatMap(([name, value]) =>
      [value ?? []].flat().map((one) => `${faint(`${printable(name)}:`)} ${printable(clean(one))}`),
    );
    return this.#write(`${[strong(`HTTP ${status} ${STATUS_CODES[status] ?? ''}`.trim()), ...lines].join('\n')}\n\n`);
  }

  /**
   * What is not JSON, as it is; on a terminal nothing in it acts on that. Returns false, and writes nothing, where it is
   * not text and a terminal would show it.
   */
  async bytes(bytes: Buffer, contentType: string): Promise<boolean> {
    const { isOutTerminal, outBytes } = this.#context.terminal;
    if (!isOutTerminal && outBytes !== undefined) {
      outBytes(Buffer.from(this.#clean(bytes.toString('latin1')), 'latin1'));
      await this.#taken();
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
    return this.#taken();
  }

  #clean(text: string): string {
    return this.#secrets.reduce((clean, secret) => clean.replaceAll(secret, SECRET), text);
  }

  /** Resolves once what was written is taken. Throws CancelledError when the signal aborts before. */
  async #taken(): Promise<void> {
    const { terminal, signal } = this.#context;
    if (terminal.drained !== undefined) {
      const isTaken = await Promise.race([terminal.drained().then(() => true), untilAborted(signal).then(() => false)]);
      if (!isTaken) {
        throw new CancelledError('standard output was closed before the whole response was written');
      }
    }
  }
}

const TOKENS = /("(?:[^"\\]|\\.)*")(:)?|\b(?:true|false|null)\b|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

/** JSON with its names, texts and other values told apart. */
export function colouredJson(json: string, { strong, create, change }: Paint): string {
  return json.replaceAll(TOKENS, (token, text?: string, colon?: string) => {
    if (text === undefined) {
      return change(token);
    }
    return colon === undefined ? create(text) : `${strong(text)}:`;
  });
}
