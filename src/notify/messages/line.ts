/** Makes text from elsewhere fit for a message: one short line without secrets. */
import { plainLine } from '../../core/text/plain-line.ts';
import { maskUrls } from '../../core/text/safe-url.ts';

/** Removes secrets from text: the redactor of the log. */
export type RedactText = (text: string) => string;

/** Returns a text as one line of at most `most` characters. Secrets are removed before it is cut. */
export function messageLine(text: string, most: number, redact: RedactText): string {
  const line = plainLine(redact(text), Number.MAX_SAFE_INTEGER);
  // Again, because characters that cannot be seen may have divided a secret.
  return plainLine(maskUrls(redact(line)), most);
}
