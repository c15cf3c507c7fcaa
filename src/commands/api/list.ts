import { ConfigError } from '../../core/errors.ts';
import { shownJson } from '../../core/json.ts';
import { largest } from '../../core/lists.ts';
import { didYouMean, quote } from '../../core/text/suggest.ts';
import type { Paint } from '../../plan/render/text-layout.ts';
import { counted } from '../../plan/render/words.ts';
import type { Operation } from '../../platform/operations/model/operation.ts';
import type { CommandContext } from '../cli/setup.ts';
import { paintFor } from '../cli/terminal.ts';
import { describe, type Field, REPEAT_WORDS } from './describe.ts';
import { jsonSchemaOf } from './schema-words.ts';

/** As many operations as are shown with all that they take. */
const FEW = 3;

/** `octavo api --list`: what there is, offline. Throws ConfigError where nothing matches. */
export function listOperations(
  table: readonly Operation[],
  words: readonly string[],
  format: 'text' | 'json',
  { terminal }: CommandContext,
): void {
  const found = matching(table, words);
  if (format === 'json') {
    terminal.out(`${shownJson({ format: 'octavo.operations/1', operations: found.map(asJson) })}\n`);
    return;
  }
  const paint = paintFor(terminal.isOutTerminal, terminal.env);
  if (found.length <= FEW) {
    terminal.out(found.map((operation) => details(operation, paint)).join('\n'));
    return;
  }
  terminal.out(overview(found, paint, terminal.isOutTerminal ? terminal.columns : null));
  terminal.err(`\n${counted(found.length, 'operation')}; run octavo api --list NAME to show the parameters of one\n`);
}

/** An operation of exactly this name, else those whose name or path have every word, else whose summary does too. */
function matching(table: readonly Operation[], words: readonly string[]): readonly Operation[] {
  const wanted = words.map((word) => word.toLowerCase());
  const ways: readonly ((operation: Operation) => boolean)[] = [
    ({ name }) => wanted.length === 1 && name.toLowerCase() === wanted[0],
    ({ name, method, path }) => hasAll(`${name} ${method} ${path}`, wanted),
    ({ name, method, path, summary }) => hasAll(`${name} ${method} ${path} ${summary}`, wanted),
  ];
  const found = ways.map((way) => table.filter(way)).find((some) => some.length > 0);
  if (found === undefined) {
    const names = table.map(({ name }) => name);
    throw new ConfigError(
      `no operation matches ${quote(words.join(' '))}${didYouMean(words.join(''), names, '; run octavo api --list to list all operations')}`,
    );
  }
  return found.toSorted((a, b) => (a.path === b.path ? 0 : a.path < b.path ? -1 : 1));
}

function hasAll(text: string, words: readonly string[]): boolean {
  const lower = text.toLowerCase();
  return words.every((word) => lower.includes(word));
}

function asJson({ query, body, ...operation }: Operation): object {
  const { name, summary, method, path, paginated, streamed, repeat, success } = operation;
  return {
    ...{ name, summary, method, path, class: operation.class, repeat, paginated, streamed, success },
    query: query === null ? null : jsonSchemaOf(query),
    body: body === null ? null : jsonSchemaOf(body),
  };
}

/** A line each. On a terminal none is longer than that is wide: where there is no room for both, paths are left out. */
function overview(found: readonly Operation[], { strong, faint }: Paint, columns: number | null): string {
  const names = largest(found.map(({ name }) => name.length)) + 2;
  const paths = largest(found.map(({ path }) => path.length)) + 2;
  const wide = columns === null || columns - names - METHOD_WIDTH - paths >= LEAST_SUMMARY;
  const room = columns === null ? Number.POSITIVE_INFINITY : columns - names - METHOD_WIDTH - (wide ? paths : 0);
  const lines = found.map(({ name, method, path, summary }) => {
    const told = summary.length <= room ? summary : `${summary.slice(0, Math.max(0, room - 1))}…`;
    return `${strong(name.padEnd(names))}${method.padEnd(METHOD_WIDTH)}${wide ? path.padEnd(paths) : ''}${faint(told)}\n`;
  });
  return lines.join('');
}

const METHOD_WIDTH = 8;
/** Characters of a summary that are worth their place. */
const LEAST_SUMMARY = 24;

/** All that an operation takes, and how the queue deals with it. */
function details(operation: Operation, { strong, faint }: Paint): string {
  const { name, method, path, summary, paginated, streamed, repeat } = operation;
  const { parameters, query, body } = describe(operation);
  const ids = parameters.filter((parameter) => parameter !== 'organizationId');
  const parts = [
    `${strong(name)}  ${method} ${path}`,
    `  ${summary}`,
    ...section('query', query, faint),
    ...(method !== 'GET' && body.length === 0 ? [`  ${faint('no body')}`] : section('body', body, faint)),
    `  ${faint('rate')}   ${operation.class}; ${REPEAT_WORDS[repeat]}`,
    ...(paginated ? [`  ${faint('list')}   paginated; --paginate streams all items`] : []),
    ...(streamed ? [`  ${faint('stream')} streamed response, one line per event`] : []),
    `  ${faint('try')}    octavo api ${[name, ...ids.map((id) => id.toUpperCase()), ...example(method === 'GET' ? [] : body)].join(' ')}`,
  ];
  return `${parts.join('\n')}\n`;
}

function section(title: string, fields: readonly Field[], faint: Paint['faint']): readonly string[] {
  const width = largest(
    fields.map((field) => field.name.length + 1),
    0,
  );
  return fields.map(
    ({ name, isRequired, words }, index) =>
      `  ${faint((index === 0 ? title : '').padEnd(6))} ${`${name}${isRequired ? '*' : ''}`.padEnd(width)}  ${words}`,
  );
}

/** What has to be given, as it is typed. */
function example(fields: readonly Field[]): readonly string[] {
  return fields
    .filter(({ isRequired }) => isRequired)
    .map(({ name, words }) => {
      const isText = /^(text|a URL|a time|one of|either|")/.test(words);
      const key = words.startsWith('either ') ? `${name}[…]` : name;
      return `${isText ? '-f' : '-F'} ${/[[\]]/.test(key) ? `'${key}=…'` : `${key}=…`}`;
    });
}
