import { nearest } from '../../core/text/suggest.ts';
import type { Operation } from '../../platform/operations/model/operation.ts';

/** The methods that the platform has. */
export const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
export type Method = (typeof METHODS)[number];

/** The operation that a request is, or null. `path` is from `/v1`, with its parameters filled. */
export function operationOf(table: readonly Operation[], method: Method, path: string): Operation | null {
  const found = table.filter((operation) => operation.method === method && fits(operation.path, path));
  // What is written out is meant more than what could be any id.
  return found.toSorted((a, b) => parameterCount(a.path) - parameterCount(b.path))[0] ?? null;
}

/**
 * Operations in the table whose paths also have a POST on the platform that is not in the table: it is sent like any
 * other unknown request, and not refused as a wrong method.
 */
const POST_UNLISTED: readonly string[] = [
  'getChangeRequestContent',
  'listInstallationSites',
  'listInstallationSpaces',
  'listOrganizations',
];

/** Tells whether a request that is not in the table is nevertheless known to be an operation of the platform. */
export function isUnlisted(method: Method, there: readonly Operation[]): boolean {
  return method === 'POST' && there.some(({ name }) => POST_UNLISTED.includes(name));
}

/** The operations that a path has, whatever the method. */
export function operationsAt(table: readonly Operation[], path: string): readonly Operation[] {
  return table.filter((operation) => fits(operation.path, path));
}

function fits(template: string, path: string): boolean {
  const wanted = template.split('/');
  const given = path.split('/');
  return wanted.length === given.length && wanted.every((part, index) => isSame(part, given[index] ?? ''));
}

function isSame(wanted: string, given: string): boolean {
  return isParameter(wanted) ? given !== '' : wanted === given;
}

function isParameter(part: string): boolean {
  return part.startsWith('{');
}

function parameterCount(template: string): number {
  return template.split('/').filter(isParameter).length;
}

/** The path that was probably meant: as long as this one, and one part of it is nearly the same. */
export function nearestPath(table: readonly Operation[], path: string): string | null {
  const given = path.split('/');
  const near = table
    .map((operation) => operation.path)
    .filter((template) => isNear(template.split('/'), given))
    .sort();
  return near[0] ?? null;
}

/** Shorter parts of a path are too near to everything. */
const SHORTEST = 3;

function isNear(wanted: readonly string[], given: readonly string[]): boolean {
  if (wanted.length !== given.length) {
    return false;
  }
  const wrong = wanted.flatMap((part, index) => (isSame(part, given[index] ?? '') ? [] : [index]));
  const [only, second] = wrong;
  if (only === undefined || second !== undefined) {
    return false;
  }
  const [is, meant] = [given[only] ?? '', wanted[only] ?? ''];
  return Math.min(is.length, meant.length) >= SHORTEST && nearest(is, [meant]) !== null;
}
