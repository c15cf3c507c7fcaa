import { ConfigError } from '../../core/errors.ts';
import { maskUrls } from '../../core/text/safe-url.ts';
import { didYouMean, nearest, quote } from '../../core/text/suggest.ts';
import { withoutTrailingSlashes } from '../../core/trim.ts';
import { counted } from '../../plan/render/words.ts';
import type { Operation } from '../../platform/operations/model/operation.ts';
import { parametersOf } from './describe.ts';
import type { Field } from './fields.ts';
import { METHODS, type Method } from './find.ts';

/** What was asked for on the command line, before anything is filled in. */
export interface Asked {
  readonly method: Method;
  /** From `/v1`, with `{placeholders}`. */
  readonly path: string;
  /** What follows the `?`. */
  readonly search: string;
  /** Whether it was given as a whole URL, which is used as it is. */
  readonly isUrl: boolean;
}

/** What words on the command line are read with. */
export interface Reading {
  readonly table: readonly Operation[];
  /** `--method`. */
  readonly method: string | undefined;
  /** The platform's base URL, whose paths may be given whole. */
  readonly baseUrl: string;
}

/**
 * METHOD PATH, PATH alone, or the name of an operation with the ids that its path needs. Throws ConfigError.
 */
export function readTarget(words: readonly string[], reading: Reading): Asked {
  const [first, ...rest] = words;
  if (first === undefined) {
    throw new ConfigError(
      'no request given; pass METHOD PATH or an operation name (run octavo api --list to list operations)',
    );
  }
  if (isPath(first)) {
    noMore(rest);
    return { method: methodOf(reading.method ?? 'GET'), ...splitPath(first, reading.baseUrl) };
  }
  const [second] = rest;
  if (METHODS.some((method) => method === first.toUpperCase()) || isRequest(first, second, reading.table)) {
    const method = methodOf(first);
    if (second === undefined) {
      throw new ConfigError(`${method} needs a path, such as /v1/orgs/{organization}/teams`);
    }
    noMore(rest.slice(1));
    return { method, ...splitPath(second, reading.baseUrl) };
  }
  return namedTarget(first, rest, reading);
}

/** Whether a path follows a word that names no operation: then it is meant as a method. */
function isRequest(first: string, second: string | undefined, table: readonly Operation[]): boolean {
  const lower = first.toLowerCase();
  return second !== undefined && isPath(second) && !table.some(({ name }) => name.toLowerCase() === lower);
}

function isPath(word: string): boolean {
  return word.includes('/');
}

function noMore(words: readonly string[]): void {
  const [extra] = words;
  if (extra !== undefined) {
    throw new ConfigError(`${quote(extra)} is an extra argument; pass fields with -f and a body with -d`);
  }
}

function methodOf(word: string): Method {
  const method = METHODS.find((known) => known === word.toUpperCase());
  if (method === undefined) {
    throw new ConfigError(`${quote(word)} is not a supported method; use one of ${METHODS.join(', ')}`);
  }
  return method;
}

function namedTarget(name: string, ids: readonly string[], { table, method }: Reading): Asked {
  const names = table.map((operation) => operation.name);
  const operation = table.find((one) => one.name.toLowerCase() === name.toLowerCase());
  if (operation === undefined) {
    throw new ConfigError(`no operation ${quote(name)}${didYouMean(name, names, whereToLook(name, names))}`);
  }
  if (method !== undefined && methodOf(method) !== operation.method) {
    throw new ConfigError(`${operation.name} is a ${operation.method} operation, not ${method.toUpperCase()}`);
  }
  const open = parametersOf(operation.path).filter((parameter) => parameter !== ORGANIZATION);
  if (ids.length > open.length) {
    const takes = open.length === 0 ? 'no id' : open.join(', ');
    throw new ConfigError(
      `${operation.name} takes ${takes}, but got ${counted(ids.length, 'argument')}; pass fields with -f`,
    );
  }
  const path = ids.reduce(
    (filled, id, index) => filled.replace(`{${open[index]}}`, encodedId(open[index] ?? '', id)),
    operation.path,
  );
  return { method: operation.method, path, search: '', isUrl: false };
}

/** A word of an operation's name is how its name is looked for. */
function whereToLook(word: string, names: readonly string[]): string {
  const [only, second] = names.filter((name) => name.toLowerCase().includes(word.toLowerCase()));
  if (only !== undefined && second === undefined) {
    return `; did you mean ${quote(only)}?`;
  }
  const filter = only === undefined ? '' : ` ${word}`;
  return `; run octavo api --list${filter} to list operations, or start a path with /`;
}

/** The parameter that the configuration knows. */
const ORGANIZATION = 'organizationId';
/** What else it may be called. */
const ORGANIZATION_NAMES = [ORGANIZATION, 'organization', 'org', 'orgId'];

type PathParts = Omit<Asked, 'method'>;

function splitPath(word: string, baseUrl: string): PathParts {
  const isUrl = /^https?:\/\//i.test(word);
  const own = isUrl ? belowBase(word, baseUrl) : word;
  const [before = '', ...after] = own.split('?');
  const path = `/${before.replace(/^\/+/, '')}`;
  if (path.split('/').some((part) => /^(\.|%2e){1,2}$/i.test(part))) {
    throw new ConfigError(`${quote(maskUrls(word))} is not a valid path: it has a segment of only dots`);
  }
  const search = after.join('?');
  return isUrl ? { path, search, isUrl } : { path: versionedPath(path), search, isUrl };
}

/** Adds `/v1` where no version is given, and removes slashes at the end. */
function versionedPath(path: string): string {
  const versioned = /^\/v\d+(\/|$)/.test(path) ? path : `/v1${path}`;
  return versioned === '/v1' || versioned === '/v1/' ? '/v1/' : withoutTrailingSlashes(versioned);
}

/**
 * The path and the query of a URL, without its fragment. Throws ConfigError for a URL that is not below the base URL:
 * the token is sent nowhere else.
 */
function belowBase(word: string, baseUrl: string): string {
  const [, authority = '', rest = ''] = /^(https?:\/\/[^/\\?#]*)([^#]*)/i.exec(word) ?? [];
  const base = URL.parse(baseUrl);
  const url = URL.parse(authority);
  const prefix = withoutTrailingSlashes(base?.pathname ?? '');
  const isBelow = rest === prefix || ['/', '?'].some((next) => rest.startsWith(`${prefix}${next}`));
  if (base === null || url === null || url.origin !== base.origin || url.username !== '' || !isBelow) {
    const shown = withoutTrailingSlashes(baseUrl);
    throw new ConfigError(`${quote(maskUrls(word))} is not below ${shown}; the token is sent only there`);
  }
  return rest.slice(prefix.length);
}

/** A path without placeholders, and the fields that did not fill any. */
export interface Filled {
  readonly path: string;
  readonly fields: readonly Field[];
}

/**
 * Fills `{placeholders}` and, where the path is not that of a whole URL, `:placeholders` from fields of that name, the
 * organization also from the configuration.
 */
export function fillPath({ path, isUrl }: PathParts, fields: readonly Field[], organization: string): Filled {
  const used = new Set<Field>();
  const value = (name: string): string => {
    const field = fields.find((one) => one.path.length === 1 && one.path[0] === name);
    if (field !== undefined) {
      used.add(field);
      return String(field.value);
    }
    if (ORGANIZATION_NAMES.includes(name)) {
      return organization;
    }
    throw new ConfigError(
      `${name} is missing; pass the id after the operation name, in the path, or with -f ${name}=ID${nearName(name, fields)}`,
    );
  };
  const parts = path.split('/').map((part) => {
    const name = /^\{(\w+)\}$/.exec(part)?.[1] ?? (isUrl ? undefined : /^:(\w+)$/.exec(part)?.[1]);
    return name === undefined ? part : encodedId(name, value(name));
  });
  return { path: encoded(parts.join('/')), fields: fields.filter((field) => !used.has(field)) };
}

function nearName(name: string, fields: readonly Field[]): string {
  const names = fields.map((field) => String(field.path[0]));
  const near = nearest(name, names);
  return near === null ? '' : `; ${quote(near)} was given`;
}

/** An id as one part of a path. Dots cannot be encoded, and nothing at all would name what holds it. */
function encodedId(name: string, id: string): string {
  if (id === '' || id === '.' || id === '..') {
    throw new ConfigError(`${quote(id)} is not an id for {${name}}`);
  }
  return encodeURIComponent(id);
}

/** Encodes the characters that a path or a query cannot contain; what is encoded stays so. */
export function encoded(part: string): string {
  return part.replaceAll(/[^\w\-.~!$&'()*+,;=:@/%?]+/gu, (text) => encodeURIComponent(text.toWellFormed()));
}
