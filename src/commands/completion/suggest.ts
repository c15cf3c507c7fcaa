import type { Command, Option } from 'commander';
import type { Operation } from '../../platform/operations/model/operation.ts';
import { METHODS } from '../api/find.ts';
import { fieldSuggestions, requestSuggestions } from './api-words.ts';
import { offered, plain, type Suggestions } from './suggestions.ts';

const NOTHING: Suggestions = { words: [], areFiles: false, goesOn: false };
const FILES: Suggestions = { words: [], areFiles: true, goesOn: false };

/** What may stand in the place of the last word; the others come before it. Nothing is read, and nothing asked. */
export function suggest(program: Command, table: readonly Operation[], line: readonly string[]): Suggestions {
  const word = line.at(-1) ?? '';
  const { command, words, pending } = follow(program, line.slice(0, -1));
  if (pending !== null) {
    return optionValue(pending, { command, table, words, word });
  }
  if (word.startsWith('-')) {
    return optionNames(command, word);
  }
  const commands = command.commands.filter((one) => !isHidden(one));
  if (commands.length > 0 && words.length === 0) {
    return offered(
      commands.map((one) => ({ value: one.name(), description: one.description() })),
      word,
    );
  }
  if (command.name() === 'api') {
    return requestSuggestions(table, words, word);
  }
  const argument = command.registeredArguments[words.length] ?? command.registeredArguments.at(-1);
  if (argument?.argChoices !== undefined) {
    return offered(plain(argument.argChoices), word);
  }
  return argument !== undefined && isFile(argument.name()) ? FILES : NOTHING;
}

/** Commander marks what help leaves out, and tells it in no other way. */
function isHidden(command: Command): boolean {
  return (command as unknown as { readonly _hidden?: boolean })._hidden === true;
}

interface Followed {
  readonly command: Command;
  /** What is no option: arguments, after the names of the commands. */
  readonly words: readonly string[];
  /** The option whose value comes next. */
  readonly pending: Option | null;
}

/** Goes along a command line to where it leads. */
function follow(program: Command, line: readonly string[]): Followed {
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

interface Place {
  readonly command: Command;
  readonly table: readonly Operation[];
  readonly words: readonly string[];
  readonly word: string;
}

function optionValue(option: Option, { command, table, words, word }: Place): Suggestions {
  if (option.argChoices !== undefined) {
    return offered(plain(option.argChoices), word);
  }
  if (command.name() === 'api' && ['--field', '--typed-field'].includes(option.long ?? '')) {
    return fieldSuggestions(table, words, word);
  }
  if (option.long === '--method') {
    return offered(plain(METHODS), word);
  }
  return isFile(option.flags) ? FILES : NOTHING;
}

function isFile(name: string): boolean {
  return /\b(file|files|dir|dir-or-plan)\b/.test(name);
}

function optionNames(command: Command, word: string): Suggestions {
  const help = { value: '--help', description: 'Show help' };
  const names = command.options
    .filter(({ hidden }) => !hidden)
    .flatMap(({ long, short, description }) =>
      [long, short].flatMap((value) => (value === undefined || value === null ? [] : [{ value, description }])),
    );
  const wanted = word.startsWith('--') ? names.filter(({ value }) => value.startsWith('--')) : names;
  return offered([...wanted, help], word);
}
