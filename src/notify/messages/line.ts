/** Makes text from elsewhere fit for a message: one line, without secrets, control characters and invisible characters. */
import { maskUrls } from '../../core/text/safe-url.ts';

/** Characters that break lines, change the text direction, or cannot be seen. */
const UNSAFE = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u061c\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff\s]+/gu;

/** Removes secrets from text: the redactor of the log. */
export type RedactText = (text: string) => string;

/** Returns a text as one line of at most `most` characters. Secrets are removed before it is cut. */
export function messageLine(text: string, most: number, redact: RedactText): string {
  const line = maskUrls(redact(text)).replaceAll(UNSAFE, ' ').trim();
  const characters = line.length > most ? [...line] : null;
  return characters === null || characters.length <= most ? line : `${characters.slice(0, most - 1).join('')}…`;
}
