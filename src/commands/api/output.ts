import { STATUS_CODES } from 'node:http';
import { shownJson } from '../../core/json.ts';
import type { Paint } from '../../plan/text-layout.ts';
import { printable } from '../../plan/words.ts';
import type { HttpAnswer } from '../../platform/transport.ts';
import { createRedactor, SECRET } from '../../redact.ts';
import { asked, type Surroundings } from '../setup.ts';
import { paintFor } from '../terminal.ts';

/** Writes what the platform answered: the token is in none of it, and nothing in it acts on a terminal. */
export class AnswerWriter {
  readonly #around: Surroundings;
  readonly #paint: Paint;
  readonly #token: string;

  constructor(around: Surroundings, token: string) {
    const { terminal } = around;
    this.#around = around;
    this.#paint = paintFor(terminal.isOutTerminal, terminal.env);
    this.#token = token;
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
    const { isOutTerminal } = this.#around.terminal;
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
    const clean = createRedactor([this.#token]);
    const { strong, faint } = this.#paint;
    const lines = Object.entries(headers).flatMap(([name, value]) =>
      [value ?? []].flat().map((one) => `${faint(`${printable(name)}:`)} ${printable(clean(one))}`),
    );
    return this.#write(`${[strong(`HTTP ${status} ${STATUS_CODES[status] ?? ''}`.trim()), ...lines].join('\n')}\n\n`);
  }

  /** Resolves once whoever reads has taken it, or no longer matters. */
  async #write(text: string): Promise<void> {
    const { terminal, signal } = this.#around;
    terminal.out(this.#token === '' ? text : text.replaceAll(this.#token, SECRET));
    if (terminal.drained !== undefined && !signal.aborted) {
      await Promise.race([terminal.drained(), asked(signal)]);
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
