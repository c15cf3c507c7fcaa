/** Layout of the text of a plan: colors, widths, and lines broken at the width of the terminal or the comment. */
import { createRequire } from 'node:module';
import { shortApproval } from './words.ts';

const require = createRequire(import.meta.url);

/** Returns the number of terminal columns of a text. The library for this is loaded only for texts beyond ASCII. */
export function textWidth(text: string): number {
  if (/^[ -~]*$/.test(text)) {
    return text.length;
  }
  const { default: stringWidth } = require('string-width') as typeof import('string-width');
  return stringWidth(text);
}

/** Styles parts of a text; the identity function without colors. */
export interface Paint {
  readonly strong: (text: string) => string;
  readonly faint: (text: string) => string;
  readonly create: (text: string) => string;
  readonly change: (text: string) => string;
  readonly remove: (text: string) => string;
  readonly warn: (text: string) => string;
}

const same = (text: string) => text;
/** No colors: for pipes, files and `NO_COLOR`. */
export const PLAIN: Paint = { strong: same, faint: same, create: same, change: same, remove: same, warn: same };

/** Commands that approve held changes. */
export interface Approval {
  /** Text before `approve`, such as `once merged, `; usually empty. */
  readonly when: string;
  /** The command for a checksum, in one line that a shell can run. */
  readonly command: (checksum: string) => string;
  /** True: a comment on the pull request approves, too. */
  readonly isByComment?: boolean;
}

/** Width and colors of a text. */
export interface PlanTextOptions {
  /** Characters in a line. */
  readonly columns: number;
  readonly paint: Paint;
  /** True: the first line says what the plan does. A comment says it above the text. */
  readonly hasSentence?: boolean;
  /** Absent: without the folder and the options that the plan was made with. */
  readonly approval?: Approval;
}

/** The approval of a plan of the working directory, without any option. */
export const PLAIN_APPROVAL: Approval = {
  when: '',
  command: (checksum) => `octavo apply --approve ${shortApproval(checksum)}`,
};

/** Inserts spaces into words that are wider than `room` columns, so that they can be wrapped. */
export function breakLongWords(text: string, room: number): string {
  // A word of less than half of the room fits, because no character is wider than two columns.
  if (textWidth(text) <= room || !new RegExp(`\\S{${Math.ceil(room / 2)}}`).test(text)) {
    return text;
  }
  const pieces = text.split(' ').flatMap((word) => {
    const characters = [...word];
    const count = Math.max(1, Math.ceil(textWidth(word) / room));
    const each = Math.ceil(characters.length / count);
    return Array.from({ length: count }, (_, at) => characters.slice(at * each, (at + 1) * each).join(''));
  });
  return pieces.join(' ');
}

/** Breaks a line at spaces and indents the continuation lines. */
export function wrap(lead: string, text: string, columns: number, indent: number): string {
  if (textWidth(lead) + textWidth(text) <= columns) {
    return `${lead}${text}`;
  }
  const lines: string[] = [];
  let line = lead;
  let empty = true;
  for (const word of text.split(/(?<!(?:^| )[-+~→]) /)) {
    if (!empty && textWidth(line) + 1 + textWidth(word) > columns) {
      lines.push(line.trimEnd());
      line = ' '.repeat(indent) + word;
    } else {
      line += empty ? word : ` ${word}`;
    }
    empty = false;
  }
  return [...lines, line].join('\n');
}

/**
 * Returns the lines from the start that fit with a mark for the omitted rest; only the mark if not even the first line
 * fits.
 */
export function takeLines(lines: readonly string[], room: number, gap = '  …'): readonly string[] {
  const kept: string[] = [];
  let left = room - gap.length - 1;
  for (const line of lines) {
    left -= line.length + 1;
    if (left < 0) {
      return [...kept, gap];
    }
    kept.push(line);
  }
  return kept;
}
