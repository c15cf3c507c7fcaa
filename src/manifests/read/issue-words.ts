import type { z } from 'zod';
import { didYouMean, quote } from '../../core/text/suggest.ts';
import { FileContent } from '../../kinds/model/manifest.ts';

type Issue = z.core.$ZodIssue;

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

/** Returns words for a type of the schema. */
function typeWords(expected: string): string {
  return TYPES[expected] ?? expected;
}

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
  return typeof value === 'object' ? 'a mapping' : typeof value === 'boolean' ? String(value) : typeWords(typeof value);
}

/** Returns the requirement without a subject: `must be a string`. Null for an issue that is not about the type. */
export function describeRequirement(issue: Issue): string | null {
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${typeWords(issue.expected)}`;
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
export function describeProblem(issue: Issue, value: unknown): string {
  const demand = describeRequirement(issue);
  if (demand !== null) {
    return typeof value === 'string' || issue.code === 'invalid_value'
      ? `${demand}, not ${shown(value)}${suggestionFor(issue, value)}`
      : `${demand}, not ${describeType(value)}${needsQuotes(demand, value) ? '; quote it' : ''}`;
  }
  switch (issue.code) {
    case 'too_big':
      return outside(issue.origin, value, issue.exact ? 'exactly' : 'at most', Number(issue.maximum));
    case 'too_small':
      return outside(issue.origin, value, issue.exact ? 'exactly' : 'at least', Number(issue.minimum));
    case 'not_multiple_of':
      return `is ${shown(value)}, must be a multiple of ${issue.divisor}`;
    case 'invalid_format':
      return `${shown(value)} is not ${issue.format === 'regex' ? `of the form ${issue.pattern ?? ''}` : formatWords(issue.format)}`;
    default:
      return 'is not valid here';
  }
}

/** Returns true for a number or a boolean in place of a string: YAML reads text of that form so. */
function needsQuotes(demand: string, value: unknown): boolean {
  return (typeof value === 'number' || typeof value === 'boolean') && /\ba string\b/.test(demand);
}

function suggestionFor(issue: Issue, value: unknown): string {
  const options = issue.code === 'invalid_value' ? issue.values : 'options' in issue ? (issue.options ?? []) : [];
  return typeof value === 'string'
    ? didYouMean(
        value,
        options.filter((option) => typeof option === 'string'),
      )
    : '';
}

function formatWords(format: string): string {
  return format === 'email' ? 'an email address' : `a valid ${format}`;
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
