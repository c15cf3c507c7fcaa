import type { ZodError } from 'zod';
import { RejectedError } from '../core/errors.ts';
import { isObject } from '../core/json.ts';
import type { AnyInput, Operation } from './operations/model/operation.ts';

/** Returns the path of a call from `/v1`, with parameters and query encoded. Throws RejectedError for invalid input. */
export function requestPath(operation: Operation, input: AnyInput, organization: string): string {
  const path = operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = input.path?.[name] ?? (name === 'organizationId' ? organization : '');
    // Dots cannot be encoded: servers would resolve them as the parent directory.
    if (value === '' || value === '.' || value === '..') {
      throw new RejectedError(`${operation.name} was not sent: ${name} is not an id`, 400);
    }
    return encodeURIComponent(value);
  });
  const query = queryText(operation, input.query);
  return query === '' ? path : `${path}?${query}`;
}

function queryText(operation: Operation, query: unknown): string {
  if (operation.query === null || query === undefined) {
    return '';
  }
  const checked = operation.query.safeParse(query);
  if (!checked.success) {
    throw new RejectedError(`${operation.name} was not sent: query: ${problemsOf(checked.error)}`, 400);
  }
  const text = new URLSearchParams();
  for (const [name, value] of Object.entries(isObject(checked.data) ? checked.data : {})) {
    for (const item of Array.isArray(value) ? value : [value]) {
      if (item !== undefined) {
        text.append(name, String(item));
      }
    }
  }
  return text.toString();
}

/** Maximum problems in one message. */
const MOST = 3;

/** Formats validation errors without the values: `items.0.id: expected string`. */
export function problemsOf(error: ZodError): string {
  const named = error.issues.slice(0, MOST).map((issue) => {
    const place = issue.path.map(String).join('.');
    return place === '' ? issue.message : `${place}: ${issue.message}`;
  });
  const more = error.issues.length - named.length;
  return more > 0 ? `${named.join('; ')}; and ${more} more` : named.join('; ');
}
