import type { Operation } from '../../platform/operations/model/operation.ts';
import { describe } from '../api/describe.ts';
import { METHODS, type Method, operationOf } from '../api/find.ts';
import { jsonSchemaOf, namedValues, optionsOf } from '../api/schema-words.ts';
import { offered, plain, type Suggestion, type Suggestions } from './suggestions.ts';

/** What may follow `octavo api`: methods and operations, or paths. */
export function requestSuggestions(table: readonly Operation[], words: readonly string[], word: string): Suggestions {
  const [first] = words;
  const method = METHODS.find((known) => known === first?.toUpperCase());
  if (words.length === 0 && !word.includes('/')) {
    const names = table.map(({ name, summary }) => ({ value: name, description: summary }));
    return offered([...plain(METHODS), ...names], word);
  }
  if (words.length === 0 || (words.length === 1 && method !== undefined)) {
    return pathSuggestions(
      table.filter((operation) => operation.method === (method ?? 'GET')),
      word,
    );
  }
  return offered([], word);
}

/**
 * Paths that go on as the word does, up to the next id: what stands in an id's place is kept. The version may be left
 * out, as `octavo api` allows.
 */
function pathSuggestions(table: readonly Operation[], word: string): Suggestions {
  const isVersioned = /^\/(v\d*(\/|$)|$)/.test(word) || word === '';
  const before = isVersioned ? '' : word.startsWith('/') ? '/v1' : '/v1/';
  const given = `${before}${word}`;
  const found = new Map<string, Suggestion>();
  for (const operation of table) {
    const next = goOn(operation.path, given);
    if (next !== null && !found.has(next)) {
      const isWhole = !next.endsWith('/');
      found.set(next, { value: next.slice(before.length), description: isWhole ? operation.summary : '' });
    }
  }
  const words = [...found.values()];
  return { words, areFiles: false, goesOn: words.some(({ value }) => value.endsWith('/')) };
}

/** The organization's id is the configuration's to know. */
const KNOWN = '{organizationId}';
const SHOWN = '{organization}';

/** What a path is with what was typed in it, up to the next id that nobody knows; null where it is another. */
function goOn(template: string, given: string): string | null {
  const parts = template.split('/');
  const typed = given.split('/');
  const last = typed.length - 1;
  if (typed.length > parts.length) {
    return null;
  }
  const path: string[] = [];
  for (const [index, part] of parts.entries()) {
    const text = typed[index] ?? '';
    const isId = part.startsWith('{');
    if (index < last && !(isId ? text !== '' : text === part)) {
      return null;
    }
    if (index < last || (isId && index === last && text !== '' && !SHOWN.startsWith(text))) {
      path.push(text);
      continue;
    }
    const shown = part === KNOWN ? SHOWN : part;
    if (isId && part !== KNOWN) {
      return `${path.join('/')}/`;
    }
    if (index === last && !shown.startsWith(text)) {
      return null;
    }
    path.push(shown);
  }
  return path.join('/');
}

/** What may follow `-f`: the fields of the operation that is named before it, and the values that one may have. */
export function fieldSuggestions(table: readonly Operation[], words: readonly string[], word: string): Suggestions {
  const operation = operationBefore(table, words);
  if (operation === null) {
    return offered([], word);
  }
  const equals = word.indexOf('=');
  if (equals >= 0) {
    const name = word.slice(0, equals);
    return offered(
      valuesOf(operation, name).map((value) => ({ value: `${name}=${value}`, description: '' })),
      word,
    );
  }
  const { query, body } = describe(operation);
  const fields = [...query, ...body].filter(({ words: right }) => !right.startsWith('either '));
  return offered(
    fields.map((field) => ({ value: `${field.name}=`, description: field.words })),
    word,
    true,
  );
}

function operationBefore(table: readonly Operation[], words: readonly string[]): Operation | null {
  const [first = '', second] = words;
  const named = table.find(({ name }) => name === first);
  const method = second === undefined ? 'GET' : first.toUpperCase();
  const path = `/v1/${(second ?? first).replace(/^\/?(v1\/)?/, '').replace(/\?.*$/, '')}`;
  return named ?? operationOf(table, method as Method, path);
}

function valuesOf({ query, body }: Operation, name: string): readonly string[] {
  const nodes = [query, body].flatMap((schema) => (schema === null ? [] : optionsOf(jsonSchemaOf(schema))));
  const members = nodes.flatMap(({ properties }) => (typeof properties?.[name] === 'object' ? [properties[name]] : []));
  const options = members.flatMap((member) => optionsOf(member));
  const isFlag = options.some(({ type }) => type === 'boolean');
  return [...options.flatMap(namedValues).map(String), ...(isFlag ? ['true', 'false'] : [])];
}
