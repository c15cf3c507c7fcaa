/** Words: printable text, counted nouns and durations, and what waits for approval. */
import type { ChangeDocument } from './document.ts';

/**
 * Invisible characters, which would make different names look the same (Unicode, Default_Ignorable_Code_Point), without
 * those that form letters and emoji: variation selectors, and joiners except between ASCII characters.
 */
const UNSEEN =
  /(?!\u034f|\u200c|\u200d|[\u180b-\u180d\u180f\ufe00-\ufe0f\u{e0100}-\u{e01ef}])\p{DI}|(?<=[!-~])(?:\u200c|\u200d)(?=[!-~])/gu;

/** Text in ASCII without control characters. */
const PLAIN = /^[ -~]*$/;

/**
 * Escapes characters that move the cursor, change colors or the text direction, and sequences that CI runners execute
 * in the output of a job (`##[…]`, `##vso[…]`, `##teamcity[…]`). Text of manifests and of the platform is shown, never
 * executed.
 */
export function printable(text: string): string {
  if (PLAIN.test(text) && !text.includes('##')) {
    return text;
  }
  return text
    .replace(UNSEEN, writtenOut)
    .replace(/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u061c\u202a-\u202e\u2066-\u2069\u200e\u200f\ufeff]/gu, writtenOut)
    .replace(/##(?=\w*\[)/g, `#${writtenOut('#')}`);
}

/** Makes each line printable and none a workflow command, which begins with `::` after optional spaces. */
export function printableLines(text: string): string {
  return text.split('\n').map(printable).map(noCommand).join('\n');
}

/** Escapes a line so that no runner treats it as a workflow command. */
export function noCommand(line: string): string {
  return line.replace(/^(\s*):(?=:)/, `$1${writtenOut(':')}`);
}

function writtenOut(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  const hex = code.toString(16).padStart(4, '0');
  return hex.length > 4 ? `\\u{${hex}}` : `\\u${hex}`;
}

/** Shortens a text to a number of characters. */
export function shortened(text: string, longest: number): string {
  const characters = [...text.slice(0, 2 * longest + 2)];
  return characters.length > longest ? `${characters.slice(0, longest - 1).join('')}…` : text;
}

/** `1cefed34`: the digits of a checksum that a person types to approve. */
export function shortApproval(checksum: string): string {
  return checksum.replace(/^sha256:/, '').slice(0, 8);
}

/** Formats a number with its noun: `1 change`, `2 changes`. */
export function counted(count: number, word: string, plural = `${word}s`): string {
  return `${count} ${count === 1 ? word : plural}`;
}

/** Starts a text with a capital letter. */
export function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Formats a duration: `under 1 s`, `about 40 s`, `about 12 min`, `about 3.5 h`. */
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

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** `40 seconds`, `2 minutes`, `3 hours`, `5 days`. Rounds down. */
export function spanWords(milliseconds: number): string {
  const span = Math.max(0, milliseconds);
  if (span < MINUTE) {
    return counted(Math.floor(span / SECOND), 'second');
  }
  if (span < HOUR) {
    return counted(Math.floor(span / MINUTE), 'minute');
  }
  return span < 2 * DAY ? counted(Math.floor(span / HOUR), 'hour') : counted(Math.floor(span / DAY), 'day');
}

/** Returns true if a resource is deleted and not replaced. */
export function isDeletion({ action, isReplacement }: Pick<ChangeDocument, 'action' | 'isReplacement'>): boolean {
  return action === 'delete' && !isReplacement;
}

/** `site space`: a kind in words. */
export function kindWords(kind: string): string {
  const names: Readonly<Record<string, string>> = { openapi: 'OpenAPI specification', saml: 'SAML provider' };
  return names[kind] ?? kind.replaceAll('-', ' ');
}
