/** Finds the operation of a method and a path, and similar paths for error messages. */
import { nearest } from '../../core/text/suggest.ts';
import type { Operation } from '../../platform/operations/model/operation.ts';

/** HTTP methods that the platform supports. */
export const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
export type RequestMethod = (typeof METHODS)[number];

/** Returns the operation of a request, or null. `path` starts with `/v1` and has its parameters filled in. */
export function findOperation(table: readonly Operation[], method: RequestMethod, path: string): Operation | null {
  const found = table.filter((operation) => operation.method === method && matchesTemplate(operation.path, path));
  // The template with the fewest parameters is the most specific.
  return found.toSorted((a, b) => parameterCount(a.path) - parameterCount(b.path))[0] ?? null;
}

/**
 * Operations whose path supports a POST that the table does not have. Such a POST is sent as an unknown request and not
 * refused as a wrong method.
 */
const POST_UNLISTED: readonly string[] = [
  'getChangeRequestContent',
  'listInstallationSites',
  'listInstallationSpaces',
  'listOrganizations',
];

/** Returns true for a POST that the platform supports but the table does not have. */
export function isUnlisted(method: RequestMethod, operationsOfPath: readonly Operation[]): boolean {
  return method === 'POST' && operationsOfPath.some(({ name }) => POST_UNLISTED.includes(name));
}

/** Returns the operations of a path, for all methods. */
export function operationsWithPath(table: readonly Operation[], path: string): readonly Operation[] {
  return table.filter((operation) => matchesTemplate(operation.path, path));
}

function matchesTemplate(template: string, path: string): boolean {
  const wanted = template.split('/');
  const given = path.split('/');
  return wanted.length === given.length && wanted.every((part, index) => matchesPart(part, given[index] ?? ''));
}

function matchesPart(wanted: string, given: string): boolean {
  return isParameter(wanted) ? given !== '' : wanted === given;
}

function isParameter(part: string): boolean {
  return part.startsWith('{');
}

function parameterCount(template: string): number {
  return template.split('/').filter(isParameter).length;
}

/** Returns a known path of the same length in which a single segment differs slightly, or null. */
export function similarPath(table: readonly Operation[], path: string): string | null {
  const given = path.split('/');
  const near = table
    .map((operation) => operation.path)
    .filter((template) => isSimilar(template.split('/'), given))
    .sort();
  return near[0] ?? null;
}

/** Minimum length of a segment that is compared; shorter ones resemble too many others. */
const MIN_LENGTH = 3;

function isSimilar(wanted: readonly string[], given: readonly string[]): boolean {
  if (wanted.length !== given.length) {
    return false;
  }
  const wrong = wanted.flatMap((part, index) => (matchesPart(part, given[index] ?? '') ? [] : [index]));
  const [only, second] = wrong;
  if (only === undefined || second !== undefined) {
    return false;
  }
  const [is, meant] = [given[only] ?? '', wanted[only] ?? ''];
  return Math.min(is.length, meant.length) >= MIN_LENGTH && nearest(is, [meant]) !== null;
}
