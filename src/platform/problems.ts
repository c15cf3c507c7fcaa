import type { ZodError } from 'zod';

/** Problems that are named in one message. */
const MOST = 3;

/** What a schema found wrong, without the values: `items.0.id: expected string`. */
export function problemsOf(error: ZodError): string {
  const named = error.issues.slice(0, MOST).map((issue) => {
    const place = issue.path.map(String).join('.');
    return place === '' ? issue.message : `${place}: ${issue.message}`;
  });
  const more = error.issues.length - named.length;
  return more > 0 ? `${named.join('; ')}; and ${more} more` : named.join('; ');
}
