/** Definitions of known differences, and their matching. */
import type { Version } from './document.ts';
import type { Disagreement } from './judge.ts';

/** Conditions of a disagreement; all that are present have to match. */
export interface Matter {
  readonly in: Disagreement['in'];
  readonly keyword: string;
  /** The operation's id. */
  readonly operation?: string;
  readonly place?: string;
  readonly params?: Readonly<Record<string, unknown>>;
}

/** An intended difference to a version of the vendor's OpenAPI document. */
export interface Known extends Matter {
  readonly version: Version;
  readonly because: string;
  /** Section of the platform notes on it. */
  readonly says: string;
}

type Difference = readonly [versions: readonly Version[], matters: readonly Matter[], because: string];

/** Differences that a section of the platform notes explains, each for several documents or fields. */
export function about(says: string, differences: readonly Difference[]): readonly Known[] {
  return differences.flatMap(([versions, matters, because]) =>
    versions.flatMap((version) => matters.map((matter) => ({ version, ...matter, because, says }))),
  );
}

/** Fields that the document requires, and that answers lack. */
export function lacks(place: string, ...fields: readonly string[]): readonly Matter[] {
  return fields.map((missingProperty) => ({
    in: 'body',
    keyword: 'required',
    place,
    params: { missingProperty },
  }));
}

/** Fields of answers that the document does not have. */
export function adds(place: string, ...fields: readonly string[]): readonly Matter[] {
  return fields.map((property) => ({ in: 'body', keyword: 'undeclared', place, params: { property } }));
}

/** A value that the document does not allow. */
export function differs(place: string, keyword: string): readonly Matter[] {
  return [{ in: 'body', keyword, place }];
}

/** Statuses that the document does not declare. */
export function answers(status: number, operation?: string): readonly Matter[] {
  const matter = { in: 'status', keyword: 'undeclared', params: { status } } as const;
  return [operation === undefined ? matter : { ...matter, operation }];
}

/** Reports whether a disagreement matches. */
export function isKnown(entry: Known, found: Disagreement): boolean {
  return (
    entry.version === found.version &&
    entry.in === found.in &&
    entry.keyword === found.keyword &&
    (entry.place ?? found.place) === found.place &&
    (entry.operation ?? found.operation) === found.operation &&
    Object.entries(entry.params ?? {}).every(([name, value]) => found.params[name] === value)
  );
}

/** A disagreement in one line, the same for equivalent ones. */
export function described(found: Disagreement | Known): string {
  const { version, operation, in: where, keyword, params, place } = found;
  const at = 'pointer' in found ? ` (${found.pointer.replace(/\/\d+(?=\/|$)/g, '/*')})` : '';
  return [version, operation, where, keyword, params && JSON.stringify(params), place]
    .filter((part) => part !== undefined && part !== '')
    .join(' ')
    .concat(at);
}
