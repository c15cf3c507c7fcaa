/** Completes command lines from the definitions of commands and operations. */
import type { Command, Option } from 'commander';
import { EXIT, type ExitCode } from '../../core/errors.ts';
import type { Operation } from '../../platform/operations/model/operation.ts';
import { memberSchemas } from '../../platform/operations/model/request-schema.ts';
import { allOperations } from '../../platform/operations/table.ts';
import {
  alternativesOf,
  describeFields,
  findOperation,
  isNamed,
  METHODS,
  type RequestMethod,
} from '../api/operations.ts';
import type { CommandContext } from '../cli/context.ts';
import { readLine, SCRIPTS, type Shell } from './shells.ts';

/** Prints the completion script of a shell. */
export function completionCommand(shell: Shell, { terminal }: CommandContext): ExitCode {
  terminal.out(SCRIPTS[shell]);
  return EXIT.done;
}

/** Bits of the directive in the last line of the output. */
const NO_SPACE = 2;
const NO_FILES = 4;

/**
 * Returns `octavo complete -- LINE`, which prints completions: one line each, with the description after a tab, and a
 * last line `:DIRECTIVE`. `line` is the command line up to the cursor, and `breaks` is `COMP_WORDBREAKS` of bash.
 */
export function completeCommand(program: Command) {
  return (
    line: string,
    { shell, breaks }: { readonly shell: Shell; readonly breaks?: string },
    { terminal }: CommandContext,
  ): ExitCode => {
    const typed = readLine(line, shell, breaks);
    const { words, includesFiles, isPartial } = completeWords(program, allOperations, typed.words);
    const directive = (isPartial ? NO_SPACE : 0) + (includesFiles ? 0 : NO_FILES);
    const lines = words.flatMap(({ value, description }) => {
      const inserted = typed.insert(value);
      return inserted === null ? [] : [`${inserted}\t${description}`];
    });
    terminal.out(`${[...lines, `:${directive}`].join('\n')}\n`);
    return EXIT.done;
  };
}

const NOTHING: Completions = { words: [], includesFiles: false, isPartial: false };
const FILES: Completions = { words: [], includesFiles: true, isPartial: false };

/** Completes the last word of a line, offline. The table of operations is read only for `octavo api`. */
export function completeWords(
  program: Command,
  table: () => readonly Operation[],
  line: readonly string[],
): Completions {
  const word = line.at(-1) ?? '';
  const { command, words, pending } = locateCommand(program, line.slice(0, -1));
  if (pending !== null) {
    return optionValue(pending, command, table, words, word);
  }
  if (word.startsWith('-')) {
    return optionNames(command, word);
  }
  const commands = command.commands.filter((one) => !isHidden(one));
  if (commands.length > 0 && words.length === 0) {
    return matching(
      commands.map((one) => ({ value: one.name(), description: one.description() })),
      word,
    );
  }
  if (command.name() === 'api') {
    return requestSuggestions(table(), words, word);
  }
  const argument = command.registeredArguments[words.length] ?? command.registeredArguments.at(-1);
  if (argument?.argChoices !== undefined) {
    return matching(withoutDescriptions(argument.argChoices), word);
  }
  return argument !== undefined && isFile(argument.name()) ? FILES : NOTHING;
}

/** Commander has no public property for hidden commands. */
function isHidden(command: Command): boolean {
  return (command as unknown as { readonly _hidden?: boolean })._hidden === true;
}

/**
 * Finds the command at the end of a line, its arguments without options and command names, and the option whose value is
 * the next word.
 */
function locateCommand(program: Command, line: readonly string[]) {
  let command = program;
  let words: string[] = [];
  let pending: Option | null = null;
  for (const word of line) {
    if (pending !== null) {
      pending = null;
    } else if (word.startsWith('-') && word.length > 1) {
      const option: Option | null = command.options.find(({ long, short }) => word === long || word === short) ?? null;
      pending = option?.required === true ? option : null;
    } else {
      const next: Command | undefined =
        words.length === 0 ? command.commands.find((one) => one.name() === word) : undefined;
      command = next ?? command;
      words = next === undefined ? [...words, word] : [];
    }
  }
  return { command, words, pending };
}

function optionValue(
  option: Option,
  command: Command,
  table: () => readonly Operation[],
  words: readonly string[],
  word: string,
): Completions {
  if (option.argChoices !== undefined) {
    return matching(withoutDescriptions(option.argChoices), word);
  }
  if (command.name() === 'api' && ['--field', '--typed-field'].includes(option.long ?? '')) {
    return fieldSuggestions(table(), words, word);
  }
  if (option.long === '--method') {
    return matching(withoutDescriptions(METHODS), word);
  }
  return isFile(option.flags) ? FILES : NOTHING;
}

function isFile(name: string): boolean {
  return /\b(file|files|dir|dir-or-plan)\b/.test(name);
}

function optionNames(command: Command, word: string): Completions {
  const help = { value: '--help', description: 'Show help' };
  const names = command.options
    .filter(({ hidden }) => !hidden)
    .flatMap(({ long, short, description }) =>
      [long, short].flatMap((value) => (value === undefined || value === null ? [] : [{ value, description }])),
    );
  const wanted = word.startsWith('--') ? names.filter(({ value }) => value.startsWith('--')) : names;
  return matching([...wanted, help], word);
}

/** Completes the arguments of `octavo api`: methods and operations, or paths. */
function requestSuggestions(table: readonly Operation[], words: readonly string[], word: string): Completions {
  const [first] = words;
  const method = METHODS.find((known) => known === first?.toUpperCase());
  if (words.length === 0 && !word.includes('/')) {
    const names = table.map(({ name, summary }) => ({ value: name, description: summary }));
    return matching([...withoutDescriptions(METHODS), ...names], word);
  }
  if (words.length === 0 || (words.length === 1 && method !== undefined)) {
    return pathSuggestions(
      table.filter((operation) => operation.method === (method ?? 'GET')),
      word,
    );
  }
  return matching([], word);
}

/** Completes a path up to the next id; ids in the word are kept. The version may be left out, as in `octavo api`. */
function pathSuggestions(table: readonly Operation[], word: string): Completions {
  const isVersioned = /^\/(v\d*(\/|$)|$)/.test(word) || word === '';
  const before = isVersioned ? '' : word.startsWith('/') ? '/v1' : '/v1/';
  const given = `${before}${word}`;
  const found = new Map<string, CompletionItem>();
  for (const operation of table) {
    const next = completePath(operation.path, given);
    if (next !== null && !found.has(next)) {
      const isWhole = !next.endsWith('/');
      found.set(next, { value: next.slice(before.length), description: isWhole ? operation.summary : '' });
    }
  }
  const words = [...found.values()];
  return { words, includesFiles: false, isPartial: words.some(({ value }) => value.endsWith('/')) };
}

/** The organization comes from the configuration, so its placeholder is completed. */
const ORGANIZATION_PARAMETER = '{organizationId}';
const ORGANIZATION_PLACEHOLDER = '{organization}';

/** Fills the typed segments into a template, up to the next unknown id; null if they do not match. */
function completePath(template: string, given: string): string | null {
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
    if (index < last || (isId && index === last && text !== '' && !ORGANIZATION_PLACEHOLDER.startsWith(text))) {
      path.push(text);
      continue;
    }
    const shown = part === ORGANIZATION_PARAMETER ? ORGANIZATION_PLACEHOLDER : part;
    if (isId && part !== ORGANIZATION_PARAMETER) {
      return `${path.join('/')}/`;
    }
    if (index === last && !shown.startsWith(text)) {
      return null;
    }
    path.push(shown);
  }
  return path.join('/');
}

/** Completes `-f` with the fields of the operation before it, and with the values of a field. */
function fieldSuggestions(table: readonly Operation[], words: readonly string[], word: string): Completions {
  const operation = operationBefore(table, words);
  if (operation === null) {
    return matching([], word);
  }
  const equals = word.indexOf('=');
  if (equals >= 0) {
    const name = word.slice(0, equals);
    return matching(
      valuesOf(operation, name).map((value) => ({ value: `${name}=${value}`, description: '' })),
      word,
    );
  }
  const { query, body } = describeFields(operation);
  const fields = [...query, ...body].filter(({ expected }) => !expected.startsWith('either '));
  return matching(
    fields.map((field) => ({ value: `${field.name}=`, description: field.expected })),
    word,
    true,
  );
}

function operationBefore(table: readonly Operation[], words: readonly string[]): Operation | null {
  const [first = '', second] = words;
  const named = table.find((operation) => isNamed(operation, first));
  const method = second === undefined ? 'GET' : first.toUpperCase();
  const path = `/v1/${(second ?? first).replace(/^\/?(v1\/)?/, '').replace(/\?.*$/, '')}`;
  return named ?? findOperation(table, method as RequestMethod, path);
}

function valuesOf({ query, body }: Operation, name: string): readonly string[] {
  const members = [query, body].flatMap((schema) => (schema === null ? [] : (memberSchemas(schema.json)[name] ?? [])));
  const options = members.flatMap(alternativesOf);
  const isFlag = options.some(({ type }) => type === 'boolean');
  return [...options.flatMap((option) => option.enum ?? []).map(String), ...(isFlag ? ['true', 'false'] : [])];
}

/** A possible value of the word at the cursor. */
interface CompletionItem {
  readonly value: string;
  readonly description: string;
}

/** Completions of the word at the cursor. */
interface Completions {
  readonly words: readonly CompletionItem[];
  /** True if the shell should also complete file names. */
  readonly includesFiles: boolean;
  /** True if completed words are partial, so that the shell adds no space. */
  readonly isPartial: boolean;
}

/** Returns the completions that start with the word. */
function matching(words: readonly CompletionItem[], word: string, isPartial = false): Completions {
  return { words: words.filter(({ value }) => value.startsWith(word)), includesFiles: false, isPartial };
}

/** Converts values to completions without descriptions. */
function withoutDescriptions(values: readonly string[]): readonly CompletionItem[] {
  return values.map((value) => ({ value, description: '' }));
}
