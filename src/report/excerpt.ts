/** The line of a manifest with a mark below the place of a problem, as compilers print it. */
import type { Problem } from '../core/errors.ts';
import { maskUrls } from '../core/text/safe-url.ts';
import { type Paint, textWidth } from '../plan/render/text-layout.ts';
import { printable } from '../plan/render/words.ts';

const HIDDEN = '[secret]';
/** `token: …`, `"clientSecret": …`, `password=…`: all that follows may belong to the value. */
const NAMED_SECRET =
  /((?:token|secret|passw|passphrase|credential|api[-_]?key|private[-_]?key|authorization)[\w-]*["']?\s*[:=]\s*).+/i;
/** `${env:NAME}` with whatever it contains. */
const PLACEHOLDER = /\$\{env:[^}]*\}?/gi;
/** A long word of letters and digits, as keys and tokens are. */
const OPAQUE = /(?=[\w+/=]*\d)(?=[\w+/=]*[A-Za-z])[\w+/=]{20,}/g;
const PRIVATE_KEY = /-----BEGIN .*/;

/** Removes what may be secret from a line of a manifest: what a reader has to see is the place, not the value. */
function masked(line: string, clean: (text: string) => string): string {
  return maskUrls(clean(line), () => HIDDEN)
    .replace(PRIVATE_KEY, HIDDEN)
    .replace(NAMED_SECRET, `$1${HIDDEN}`)
    .replace(PLACEHOLDER, HIDDEN)
    .replace(OPAQUE, HIDDEN);
}

/**
 * Draws two lines: that of the file, cut around the column, and a caret below the column. `clean` removes secrets that are
 * known.
 */
export function excerptOf(
  { line: number, column }: Pick<Problem, 'line' | 'column'>,
  line: string,
  {
    columns,
    paint,
    clean,
  }: { readonly columns: number; readonly paint: Paint; readonly clean: (text: string) => string },
): string {
  const shown = spaced(masked(line, clean).trimEnd());
  const all = [...shown];
  const caret = Math.min(all.length, [...spaced(beforeCaret(line, column, clean))].length);
  const gutter = String(number);
  const room = Math.max(20, columns - gutter.length - 7);
  // 1. The start of the part that fits, with a third of it after the caret.
  let [from, to] = [caret, caret];
  let width = 0;
  const widthAt = (index: number) => textWidth(all[index] ?? '');
  const isShort = textWidth(shown) <= room;
  while (from > 0 && (isShort || width + widthAt(from - 1) <= (2 * room) / 3)) {
    from -= 1;
    width += widthAt(from);
  }
  // 2. The rest of the room.
  while (to < all.length && width + widthAt(to) <= room) {
    width += widthAt(to);
    to += 1;
  }
  const [start, end] = [from > 0 ? '…' : '', to < all.length ? '…' : ''];
  const indent = textWidth(start + all.slice(from, caret).join(''));
  const bar = paint.faint('|');
  return [
    `  ${paint.faint(gutter)} ${bar} ${start}${all.slice(from, to).join('')}${end}`,
    `  ${' '.repeat(gutter.length)} ${bar} ${' '.repeat(indent)}${paint.remove('^')}`,
  ].join('\n');
}

/** Returns the text that is shown before the caret. Where a secret spans the column, it is that before the secret. */
function beforeCaret(line: string, column: number, clean: (text: string) => string): string {
  const [whole, before] = [masked(line, clean), masked(line.slice(0, column - 1), clean)];
  if (whole.startsWith(before)) {
    return before;
  }
  let same = 0;
  while (same < before.length && before[same] === whole[same]) {
    same += 1;
  }
  return whole.slice(0, same);
}

function spaced(text: string): string {
  return printable(text.replaceAll('\t', '  '));
}
