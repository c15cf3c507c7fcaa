/** Reads the method and path of a request from the words of a command line, and fills in its placeholders. */
import { ConfigError } from '../../core/errors.ts';
import { maskUrls } from '../../core/text/safe-url.ts';
import { didYouMean, nearest, quote } from '../../core/text/suggest.ts';
import { withoutTrailingSlashes } from '../../core/trim.ts';
import { counted } from '../../plan/render/words.ts';
import type { Operation } from '../../platform/operations/model/operation.ts';
import { pathParameters } from './describe.ts';
import type { InputField } from './fields.ts';
import { METHODS, type RequestMethod } from './find.ts';

/** The requested method and path, before placeholders are filled in. */
export interface RequestTarget {
  readonly method: RequestMethod;
  /** Path from `/v1`, with `{placeholders}`. */
  readonly path: string;
  /** The query, without `?`. */
  readonly search: string;
  /** True for a full URL, which is used unchanged. */
  readonly isUrl: boolean;
}

/** Known operations, and settings that affect the target. */
export interface TargetOptions {
  readonly table: readonly Operation[];
  /** `--method`. */
  readonly method: string | undefined;
  /** Base URL of the platform; full URLs must be below it. */
  readonly baseUrl: string;
}

/** Reads METHOD PATH, PATH alone, or an operation name with the ids of its path. Throws ConfigError. */
export function readTarget(words: readonly string[], options: TargetOptions): RequestTarget {
  const [first, ...rest] = words;
  if (first === undefined) {
    throw new ConfigError(
      'no request given; pass METHOD PATH or an operation name (run octavo api --list to list operations)',
    );
  }
  if (isPath(first)) {
    refuseExtra(rest);
    return { method: parseMethod(options.method ?? 'GET'), ...splitPath(first, options.baseUrl) };
  }
  const [second] = rest;
  if (METHODS.some((method) => method === first.toUpperCase()) || isMethodAndPath(first, second, options.table)) {
    const method = parseMethod(first);
    if (second === undefined) {
      throw new ConfigError(`${method} needs a path, such as /v1/orgs/{organization}/teams`);
    }
    refuseExtra(rest.slice(1));
    return { method, ...splitPath(second, options.baseUrl) };
  }
  return namedTarget(first, rest, options);
}

/** Returns true when a path follows a word that is not an operation name, so the word must be a method. */
function isMethodAndPath(first: string, second: string | undefined, table: readonly Operation[]): boolean {
  const lower = first.toLowerCase();
  return second !== undefined && isPath(second) && !table.some(({ name }) => name.toLowerCase() === lower);
}

function isPath(word: string): boolean {
  return word.includes('/');
}

function refuseExtra(words: readonly string[]): void {
  const [extra] = words;
  if (extra !== undefined) {
    throw new ConfigError(`${quote(extra)} is an extra argument; pass fields with -f and a body with -d`);
  }
}

function parseMethod(word: string): RequestMethod {
  const method = METHODS.find((known) => known === word.toUpperCase());
  if (method === undefined) {
    throw new ConfigError(`${quote(word)} is not a supported method; use one of ${METHODS.join(', ')}`);
  }
  return method;
}

function namedTarget(name: string, ids: readonly string[], { table, method }: TargetOptions): RequestTarget {
  const names = table.map((operation) => operation.name);
  const operation = table.find((one) => one.name.toLowerCase() === name.toLowerCase());
  if (operation === undefined) {
    throw new ConfigError(`no operation ${quote(name)}${didYouMean(name, names, howToSearch(name, names))}`);
  }
  if (method !== undefined && parseMethod(method) !== operation.method) {
    throw new ConfigError(`${operation.name} is a ${operation.method} operation, not ${method.toUpperCase()}`);
  }
  const open = pathParameters(operation.path).filter((parameter) => parameter !== ORGANIZATION);
  if (ids.length > open.length) {
    const takes = open.length === 0 ? 'no id' : open.join(', ');
    throw new ConfigError(
      `${operation.name} takes ${takes}, but got ${counted(ids.length, 'argument')}; pass fields with -f`,
    );
  }
  const path = ids.reduce(
    (filled, id, index) => filled.replace(`{${open[index]}}`, encodeId(open[index] ?? '', id)),
    operation.path,
  );
  return { method: operation.method, path, search: '', isUrl: false };
}

/** Hint for an unknown operation: the only name that contains the word, or the command to search with. */
function howToSearch(word: string, names: readonly string[]): string {
  const [only, second] = names.filter((name) => name.toLowerCase().includes(word.toLowerCase()));
  if (only !== undefined && second === undefined) {
    return `; did you mean ${quote(only)}?`;
  }
  const filter = only === undefined ? '' : ` ${word}`;
  return `; run octavo api --list${filter} to list operations, or start a path with /`;
}

/** The path parameter that is filled in from the configuration. */
const ORGANIZATION = 'organizationId';
/** Names that placeholders may use for it. */
const ORGANIZATION_NAMES = [ORGANIZATION, 'organization', 'org', 'orgId'];

type PathParts = Omit<RequestTarget, 'method'>;

function splitPath(word: string, baseUrl: string): PathParts {
  const isUrl = /^https?:\/\//i.test(word);
  const own = isUrl ? pathBelowBase(word, baseUrl) : word;
  const [before = '', ...after] = own.split('?');
  const path = `/${before.replace(/^\/+/, '')}`;
  if (path.split('/').some((part) => /^(\.|%2e){1,2}$/i.test(part))) {
    throw new ConfigError(`${quote(maskUrls(word))} is not a valid path: it has a segment of only dots`);
  }
  const search = after.join('?');
  return isUrl ? { path, search, isUrl } : { path: versionedPath(path), search, isUrl };
}

/** Adds `/v1` if the path has no version, and removes trailing slashes. */
function versionedPath(path: string): string {
  const versioned = /^\/v\d+(\/|$)/.test(path) ? path : `/v1${path}`;
  return versioned === '/v1' || versioned === '/v1/' ? '/v1/' : withoutTrailingSlashes(versioned);
}

/**
 * Returns the path and query of a URL, without its fragment. Throws ConfigError for a URL that is not below the base
 * URL, because the token is sent nowhere else.
 */
function pathBelowBase(word: string, baseUrl: string): string {
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

/** A path without placeholders, and the remaining fields. */
export interface FilledPath {
  readonly path: string;
  readonly fields: readonly InputField[];
}

/**
 * Fills `{placeholders}` from fields of the same name, and the organization also from the configuration. `:placeholders`
 * are filled only outside of full URLs.
 */
export function fillPath({ path, isUrl }: PathParts, fields: readonly InputField[], organization: string): FilledPath {
  const used = new Set<InputField>();
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
      `${name} is missing; pass the id after the operation name, in the path, or with -f ${name}=ID${similarName(name, fields)}`,
    );
  };
  const parts = path.split('/').map((part) => {
    const name = /^\{(\w+)\}$/.exec(part)?.[1] ?? (isUrl ? undefined : /^:(\w+)$/.exec(part)?.[1]);
    return name === undefined ? part : encodeId(name, value(name));
  });
  return { path: encodeText(parts.join('/')), fields: fields.filter((field) => !used.has(field)) };
}

function similarName(name: string, fields: readonly InputField[]): string {
  const names = fields.map((field) => String(field.path[0]));
  const near = nearest(name, names);
  return near === null ? '' : `; ${quote(near)} was given`;
}

/** Encodes an id as one segment of a path. Throws ConfigError for dots, which cannot be encoded, and an empty id. */
function encodeId(name: string, id: string): string {
  if (id === '' || id === '.' || id === '..') {
    throw new ConfigError(`${quote(id)} is not an id for {${name}}`);
  }
  return encodeURIComponent(id);
}

/** Encodes characters that a path or a query cannot contain; existing escapes are kept. */
export function encodeText(part: string): string {
  return part.replaceAll(/[^\w\-.~!$&'()*+,;=:@/%?]+/gu, (text) => encodeURIComponent(text.toWellFormed()));
}
