/** Prints the operations of the platform for `octavo api --list`. */
import { ConfigError } from '../../core/errors.ts';
import { shownJson } from '../../core/json.ts';
import { largest } from '../../core/lists.ts';
import { didYouMean, quote } from '../../core/text/suggest.ts';
import type { Paint } from '../../plan/render/text-layout.ts';
import { counted } from '../../plan/render/words.ts';
import type { Operation } from '../../platform/operations/model/operation.ts';
import type { CommandContext } from '../cli/context.ts';
import { paintFor } from '../cli/terminal.ts';
import { describeFields, type FieldDescription, RETRY_TEXT } from './describe.ts';
import { toJsonSchema } from './schema-text.ts';

/** Maximum number of matches that are printed with their fields. */
const FEW = 3;

/** Prints the operations that match, offline. Throws ConfigError when none does. */
export function listOperations(
  table: readonly Operation[],
  expected: readonly string[],
  format: 'text' | 'json',
  { terminal }: CommandContext,
): void {
  const found = matching(table, expected);
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

/** Matches the exact name, else every word in the name or path, else every word in the name, path or summary. */
function matching(table: readonly Operation[], expected: readonly string[]): readonly Operation[] {
  const wanted = expected.map((word) => word.toLowerCase());
  const ways: readonly ((operation: Operation) => boolean)[] = [
    ({ name }) => wanted.length === 1 && name.toLowerCase() === wanted[0],
    ({ name, method, path }) => hasAll(`${name} ${method} ${path}`, wanted),
    ({ name, method, path, summary }) => hasAll(`${name} ${method} ${path} ${summary}`, wanted),
  ];
  const found = ways.map((way) => table.filter(way)).find((some) => some.length > 0);
  if (found === undefined) {
    const names = table.map(({ name }) => name);
    throw new ConfigError(
      `no operation matches ${quote(expected.join(' '))}${didYouMean(expected.join(''), names, '; run octavo api --list to list all operations')}`,
    );
  }
  return found.toSorted((a, b) => (a.path === b.path ? 0 : a.path < b.path ? -1 : 1));
}

function hasAll(text: string, expected: readonly string[]): boolean {
  const lower = text.toLowerCase();
  return expected.every((word) => lower.includes(word));
}

function asJson({ query, body, ...operation }: Operation): object {
  const { name, summary, method, path, paginated, streamed, repeat, success } = operation;
  return {
    ...{ name, summary, method, path, class: operation.class, repeat, paginated, streamed, success },
    query: query === null ? null : toJsonSchema(query),
    body: body === null ? null : toJsonSchema(body),
  };
}

/** One line per operation; on a narrow terminal the paths are left out and summaries are shortened. */
function overview(found: readonly Operation[], { strong, faint }: Paint, columns: number | null): string {
  const names = largest(found.map(({ name }) => name.length)) + 2;
  const paths = largest(found.map(({ path }) => path.length)) + 2;
  const wide = columns === null || columns - names - METHOD_WIDTH - paths >= LEAST_SUMMARY;
  const room = columns === null ? Number.POSITIVE_INFINITY : columns - names - METHOD_WIDTH - (wide ? paths : 0);
  const lines = found.map(({ name, method, path, summary }) => {
    const text = summary.length <= room ? summary : `${summary.slice(0, Math.max(0, room - 1))}…`;
    return `${strong(name.padEnd(names))}${method.padEnd(METHOD_WIDTH)}${wide ? path.padEnd(paths) : ''}${faint(text)}\n`;
  });
  return lines.join('');
}

const METHOD_WIDTH = 8;
/** Minimum width of the summary column, in characters. */
const LEAST_SUMMARY = 24;

/** An operation with its fields, its rate class and an example. */
function details(operation: Operation, { strong, faint }: Paint): string {
  const { name, method, path, summary, paginated, streamed, repeat } = operation;
  const { parameters, query, body } = describeFields(operation);
  const ids = parameters.filter((parameter) => parameter !== 'organizationId');
  const parts = [
    `${strong(name)}  ${method} ${path}`,
    `  ${summary}`,
    ...section('query', query, faint),
    ...(method !== 'GET' && body.length === 0 ? [`  ${faint('no body')}`] : section('body', body, faint)),
    `  ${faint('rate')}   ${operation.class}; ${RETRY_TEXT[repeat]}`,
    ...(paginated ? [`  ${faint('list')}   paginated; --paginate streams all items`] : []),
    ...(streamed ? [`  ${faint('stream')} streamed response, one line per event`] : []),
    `  ${faint('try')}    octavo api ${[name, ...ids.map((id) => id.toUpperCase()), ...example(method === 'GET' ? [] : body)].join(' ')}`,
  ];
  return `${parts.join('\n')}\n`;
}

function section(title: string, fields: readonly FieldDescription[], faint: Paint['faint']): readonly string[] {
  const width = largest(
    fields.map((field) => field.name.length + 1),
    0,
  );
  return fields.map(
    ({ name, isRequired, expected }, index) =>
      `  ${faint((index === 0 ? title : '').padEnd(6))} ${`${name}${isRequired ? '*' : ''}`.padEnd(width)}  ${expected}`,
  );
}

/** The required fields as command-line arguments. */
function example(fields: readonly FieldDescription[]): readonly string[] {
  return fields
    .filter(({ isRequired }) => isRequired)
    .map(({ name, expected }) => {
      const isText = /^(text|a URL|a time|one of|either|")/.test(expected);
      const key = expected.startsWith('either ') ? `${name}[…]` : name;
      return `${isText ? '-f' : '-F'} ${/[[\]]/.test(key) ? `'${key}=…'` : `${key}=…`}`;
    });
}
