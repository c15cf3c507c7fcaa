/**
 * Characters that nobody sees, so that two names that differ would look the same (Unicode, Default_Ignorable_Code_Point),
 * without those that make letters and pictures: selectors of a variant, and joiners but between ASCII.
 */
const UNSEEN =
  /(?!\u034f|\u200c|\u200d|[\u180b-\u180d\u180f\ufe00-\ufe0f\u{e0100}-\u{e01ef}])\p{DI}|(?<=[!-~])(?:\u200c|\u200d)(?=[!-~])/gu;

/**
 * Text that cannot move the cursor, change colours, turn the reading direction or speak to the program that reads a CI
 * job's output (`##[…]` of runners, `##vso[…]`, `##teamcity[…]`): what a manifest or the platform says is shown, never
 * obeyed.
 */
export function printable(text: string): string {
  return text
    .replace(UNSEEN, writtenOut)
    .replace(/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u061c\u202a-\u202e\u2066-\u2069\u200e\u200f\ufeff]/gu, writtenOut)
    .replace(/##(?=\w*\[)/g, `#${writtenOut('#')}`);
}

/**
 * Lines of which each is printable, and none is a workflow command: those begin with `::`, whatever spaces are before
 * it.
 */
export function printableLines(text: string): string {
  return text.split('\n').map(printable).map(noCommand).join('\n');
}

/** A line that no runner takes for a workflow command. */
export function noCommand(line: string): string {
  return line.replace(/^(\s*):(?=:)/, `$1${writtenOut(':')}`);
}

function writtenOut(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  const hex = code.toString(16).padStart(4, '0');
  return hex.length > 4 ? `\\u{${hex}}` : `\\u${hex}`;
}

/** A number with the word it counts: `1 change`, `2 changes`. */
export function counted(count: number, word: string): string {
  return `${count} ${word}${count === 1 ? '' : 's'}`;
}

/** A time in words: `under 1 s`, `about 40 s`, `about 12 min`, `about 3.5 h`. */
export function durationWords(seconds: number): string {
  if (seconds < 1) {
    return 'under 1 s';
  }
  if (seconds < 120) {
    return `about ${Math.round(seconds)} s`;
  }
  if (seconds < 7200) {
    return `about ${Math.round(seconds / 60)} min`;
  }
  return `about ${(seconds / 3600).toFixed(1)} h`;
}
