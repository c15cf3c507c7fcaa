/** Check of an entry against the schema of its kind, with problems in words that name the field. */
import type { z } from 'zod';
import { didYouMean, nearest, quote } from '../core/text/suggest.ts';
import { type EntryPath, FileContent } from '../kinds/model/manifest.ts';

type Issue = z.core.$ZodIssue;

/** A problem of an entry, located at the key or the value of a path. */
interface EntryProblem {
  readonly path: EntryPath;
  readonly at: 'key' | 'value';
  readonly message: string;
}

type CheckedEntry =
  | { readonly entry: unknown; readonly problems: null }
  | { readonly entry: null; readonly problems: readonly EntryProblem[] };

/** Marks an issue message that holds the valid field names, for an issue about unknown fields. */
const FIELDS = '\u0001';
const NULL_MESSAGE = 'cannot be cleared: null is not allowed here; leave the field out if it should not be managed';
/** Placeholder for a value inside a referenced file, which is not part of the entry. */
const UNSEEN = Symbol('unseen');
/** Placeholder for an unreadable file. Its text is not empty, so that no kind reports a second problem. */
export const UNREAD_FILE: FileContent = Object.freeze(new FileContent('', '', 'unread'));

/** Validates an entry against its kind's schema, and returns problems that name the field. */
export function checkEntry(schema: z.ZodType, value: unknown): CheckedEntry {
  const result = schema.safeParse(value, CARRYING_FIELDS);
  if (result.success) {
    return { entry: result.data, problems: null };
  }
  const problems = result.error.issues.flatMap((issue) => explain(issue as Issue, value, []));
  return { entry: null, problems: withoutConsequences(problems) };
}

/**
 * Error map for zod. An issue without a message from the schema gets an empty message, so that it can be recognized. An
 * issue about unknown fields gets the valid field names, which zod provides only during validation.
 */
function carryFields(issue: z.core.$ZodRawIssue): string {
  if (issue.code !== 'unrecognized_keys') {
    return '';
  }
  const definition = issue.inst?._zod.def as { readonly shape?: object } | undefined;
  return FIELDS + Object.keys(definition?.shape ?? {}).join(',');
}

const CARRYING_FIELDS = { error: carryFields };

interface Explained extends EntryProblem {
  /** Field that was probably meant, so that it is not also reported as missing. */
  readonly meant?: string;
  readonly missing?: boolean;
}

function explain(issue: Issue, entry: unknown, base: EntryPath): Explained[] {
  const path = [...base, ...(issue.path as EntryPath)];
  const value = valueAt(entry, path);
  if (value === UNREAD_FILE) {
    return [];
  }
  if (issue.code === 'unrecognized_keys') {
    return unknownFields(issue, path);
  }
  if (issue.code === 'custom' || value === UNSEEN) {
    return [{ path, at: 'value', message: withSubject(path, issue.message || describeProblem(issue, undefined)) }];
  }
  if (value === null) {
    return [{ path, at: 'value', message: withSubject(path, NULL_MESSAGE) }];
  }
  if (value === undefined) {
    const demand = issue.message || describeRequirement(issue);
    const message = demand === null ? 'is missing' : `is missing; it ${demand}`;
    return [{ path, at: 'value', message: withSubject(path, message), missing: true }];
  }
  if (issue.code === 'invalid_key') {
    const inner = issue.issues[0] as Issue | undefined;
    const words = inner === undefined ? '' : inner.message || describeProblem(inner, path.at(-1));
    return [{ path, at: 'key', message: `${quote(String(path.at(-1)))} in ${subjectOf(path.slice(0, -1))}: ${words}` }];
  }
  if (issue.code === 'invalid_union') {
    const branch = likeliest(issue.errors as Issue[][], value, issue.message !== '');
    if (branch !== null) {
      return branch.flatMap((inner) => explain(inner, entry, path));
    }
  }
  return [{ path, at: 'value', message: withSubject(path, issue.message || describeProblem(issue, value)) }];
}

function unknownFields(issue: z.core.$ZodIssueUnrecognizedKeys, path: EntryPath): Explained[] {
  const fields = issue.message.startsWith(FIELDS) ? issue.message.slice(1).split(',').filter(Boolean) : [];
  const inside = path.length === 0 ? '' : ` in ${subjectOf(path)}`;
  return issue.keys.map((key) => {
    const near = nearest(key, fields);
    const hint =
      near !== null
        ? `; did you mean ${quote(near)}?`
        : fields.length > 0
          ? `; valid fields: ${fields.join(', ')}`
          : '';
    const message = `unknown field ${quote(key)}${inside}${hint}`;
    return { path: [...path, key], at: 'key' as const, message, ...(near === null ? {} : { meant: near }) };
  });
}

/**
 * Returns the issues of the union alternative whose fields match the value best; null if its type matches none.
 * With `unlessTied`, also returns null for a tie, because the union's own message is more helpful then.
 */
function likeliest(branches: readonly Issue[][], value: unknown, unlessTied: boolean): Issue[] | null {
  const weighed = branches
    .filter((branch) => !branch.some(({ path, code }) => path.length === 0 && code !== 'unrecognized_keys'))
    .map((branch) => ({ branch, weight: branch.reduce((sum, issue) => sum + mismatchWeight(issue, value), 0) }))
    .sort((a, b) => a.weight - b.weight);
  const [best, second] = weighed;
  const tied = best !== undefined && second !== undefined && best.weight === second.weight;
  return best === undefined || (tied && unlessTied) ? null : best.branch;
}

/** Returns the weight of an issue against its alternative, based only on the names of the fields. */
function mismatchWeight(issue: Issue, value: unknown): number {
  if (issue.code === 'unrecognized_keys' && issue.path.length === 0) {
    return 2 * issue.keys.length;
  }
  return issue.path.length === 1 && valueAt(value, issue.path as EntryPath) === undefined ? 1 : 0;
}

/** Removes the problem of a missing field if a misspelled field was probably meant for it. */
function withoutConsequences(problems: readonly Explained[]): EntryProblem[] {
  const meant = new Set(
    problems.flatMap(({ meant: field, path }) => (field ? [JSON.stringify([...path.slice(0, -1), field])] : [])),
  );
  return problems
    .filter((problem) => !(problem.missing && meant.has(JSON.stringify(problem.path))))
    .map(({ path, at, message }) => ({ path, at, message }));
}

function valueAt(entry: unknown, path: EntryPath): unknown {
  let value = entry;
  for (const segment of path) {
    if (value instanceof FileContent) {
      return UNSEEN;
    }
    // Own members only, so that a field named `constructor` exists only if it was written.
    const holds = typeof value === 'object' && value !== null && Object.hasOwn(value, segment);
    value = holds ? (value as Record<string | number, unknown>)[segment] : undefined;
  }
  return value;
}

function withSubject(path: EntryPath, message: string): string {
  return `${subjectOf(path)} ${message}`;
}

/** Formats a path for messages: `structure[0].spaces[1].path`. */
function subjectOf(path: EntryPath): string {
  if (path.length === 0) {
    return 'the entry';
  }
  return path.reduce<string>((text, segment) => {
    if (typeof segment === 'number') {
      return `${text}[${segment}]`;
    }
    return /^[\w-]{1,100}$/.test(segment) ? `${text}${text === '' ? '' : '.'}${segment}` : `${text}[${quote(segment)}]`;
  }, '');
}

const TYPES: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  object: 'a mapping',
  record: 'a mapping',
  array: 'a list',
  tuple: 'a list',
  null: 'null',
  never: 'left out',
  FileContent: '{ file: path }',
};

/** Returns words for the type of a value. */
export function describeType(value: unknown): string {
  if (value === null) {
    return 'null';
  }
  if (value instanceof FileContent) {
    return '{ file: path }';
  }
  if (Array.isArray(value)) {
    return 'a list';
  }
  return typeof value === 'object'
    ? 'a mapping'
    : typeof value === 'boolean'
      ? String(value)
      : (TYPES[typeof value] ?? typeof value);
}

/** Returns the requirement without a subject: `must be a string`. Null for an issue that is not about the type. */
function describeRequirement(issue: Issue): string | null {
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${TYPES[issue.expected] ?? issue.expected}`;
    case 'invalid_value':
      return issue.values.length === 1
        ? `must be ${shown(issue.values[0])}`
        : `must be one of ${issue.values.map(plain).join(', ')}`;
    case 'invalid_union':
      return unionDemand(issue);
    default:
      return null;
  }
}

function unionDemand(issue: z.core.$ZodIssueInvalidUnion): string | null {
  const options = 'options' in issue ? issue.options : undefined;
  if (options !== undefined && options.length > 0) {
    return `must be one of ${options.map(plain).join(', ')}`;
  }
  const demands = issue.errors.flatMap((branch) => {
    const first = branch.find((inner) => inner.path.length === 0);
    const demand = first === undefined ? null : describeRequirement(first);
    return demand === null ? [] : [demand.replace(/^must be /, '')];
  });
  return demands.length === 0 ? null : `must be ${[...new Set(demands)].join(', or ')}`;
}

/** Returns the problem of a value without a subject: `must be a string, not a number`. */
function describeProblem(issue: Issue, value: unknown): string {
  const demand = describeRequirement(issue);
  if (demand !== null && (typeof value === 'string' || issue.code === 'invalid_value')) {
    return `${demand}, not ${shown(value)}${suggestionFor(issue, value)}`;
  }
  if (demand !== null) {
    // YAML reads text of that form as a number or a boolean.
    const needsQuotes = /^(?:number|boolean)$/.test(typeof value) && /\ba string\b/.test(demand);
    return `${demand}, not ${describeType(value)}${needsQuotes ? '; quote it' : ''}`;
  }
  switch (issue.code) {
    case 'too_big':
      return outside(issue.origin, value, issue.exact ? 'exactly' : 'at most', Number(issue.maximum));
    case 'too_small':
      return outside(issue.origin, value, issue.exact ? 'exactly' : 'at least', Number(issue.minimum));
    case 'not_multiple_of':
      return `is ${shown(value)}, must be a multiple of ${issue.divisor}`;
    case 'invalid_format':
      return `${shown(value)} is not ${issue.format === 'regex' ? `of the form ${issue.pattern ?? ''}` : `a valid ${issue.format}`}`;
    default:
      return 'is not valid here';
  }
}

function suggestionFor(issue: Issue, value: unknown): string {
  const options = issue.code === 'invalid_value' ? issue.values : 'options' in issue ? (issue.options ?? []) : [];
  const words = options.filter((option) => typeof option === 'string');
  return typeof value === 'string' ? didYouMean(value, words) : '';
}

function outside(origin: string, value: unknown, bound: string, limit: number): string {
  if (typeof value === 'string') {
    return `is ${[...value].length} characters long, must be ${bound} ${limit}`;
  }
  if (Array.isArray(value)) {
    return `has ${value.length} items, must have ${bound} ${limit}`;
  }
  return origin === 'number' || origin === 'int'
    ? `is ${shown(value)}, must be ${bound} ${limit}`
    : `must be ${bound} ${limit}`;
}

function plain(value: unknown): string {
  return typeof value === 'string' && value !== '' ? value : shown(value);
}

function shown(value: unknown): string {
  if (typeof value === 'string') {
    return quote(value);
  }
  return typeof value === 'object' && value !== null ? describeType(value) : String(value);
}
