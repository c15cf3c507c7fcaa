/** Parses an unfinished command line as a shell would, without expanding or running anything in it. */
import type { Shell } from './scripts.ts';

/** A command line up to the cursor. */
export interface TypedLine {
  /** The unquoted words after the command name; the last one is incomplete and may be empty. */
  readonly words: readonly string[];
  /**
   * Quotes a completion of the last word for the shell: the typed part is kept, and the rest is quoted the same way. Null
   * if that is not possible.
   */
  insert(value: string): string | null;
}

type Quote = "'" | '"' | null;

/** A word; `raw` is its typed form. The shell replaces the part after `from`. */
interface Word {
  text: string;
  raw: string;
  from: number;
  isOpen: boolean;
}

/** Parses a line. `breaks`: characters that separate words only in completion (`COMP_WORDBREAKS` of bash). */
export function readLine(line: string, shell: Shell, breaks = ''): TypedLine {
  const words: Word[] = [];
  let word: Word = emptyWord();
  let quote: Quote = null;
  const end = () => {
    if (word.isOpen) {
      words.push(word);
    }
    word = emptyWord();
  };
  for (let at = 0; at < line.length; at += 1) {
    const character = line[at] ?? '';
    if (quote === null && /\s/.test(character)) {
      end();
      continue;
    }
    word.isOpen = true;
    word.raw += character;
    if (quote === null ? character === "'" || character === '"' : character === quote) {
      quote = quote === null ? (character as Quote) : null;
      word.from = word.raw.length;
    } else if (character === '\\' && isEscape(quote, line[at + 1], shell)) {
      at += 1;
      word.raw += line[at] ?? '';
      word.text += line[at] ?? '';
    } else {
      word.text += character;
      word.from = quote === null && breaks.includes(character) ? word.raw.length : word.from;
    }
  }
  const texts = [...words, word].map(({ text }) => text);
  const command = texts.findIndex((text) => !/^\w+=/.test(text));
  return { words: texts.slice(command + 1), insert: (value) => insertion(value, word, quote, shell) };
}

function emptyWord(): Word {
  return { text: '', raw: '', from: 0, isOpen: false };
}

/** Returns true if a backslash escapes the next character. */
function isEscape(quote: Quote, next: string | undefined, shell: Shell): boolean {
  if (next === undefined || quote === null) {
    return next !== undefined;
  }
  return quote === '"' ? '"\\$`'.includes(next) : shell === 'fish' && "'\\".includes(next);
}

function insertion(value: string, { text, raw, from }: Word, quote: Quote, shell: Shell): string | null {
  if (shell === 'fish') {
    // fish compares and inserts unquoted values.
    return value;
  }
  const added = value.slice(text.length);
  if (!value.startsWith(text) || (quote === "'" && added.includes("'"))) {
    return null;
  }
  const special = quote === '"' ? /["\\$`]/g : shell === 'zsh' ? /[^\w\-.,/:=@%+{}]/g : /[\s'"\\$`&|;<>()*?!#~^]/g;
  return raw.slice(from) + (quote === "'" ? added : added.replaceAll(special, '\\$&'));
}
