/** Completes command lines from the definitions of commands and operations. */
/** Completes command lines from the definitions of commands and operations. */
import type { Command, Option } from 'commander';
import type { Operation } from '../../platform/operations/model/operation.ts';
import { METHODS } from '../api/find.ts';
import { fieldSuggestions, requestSuggestions } from './api-completions.ts';
import { type Completions, matching, withoutDescriptions } from './completions.ts';

const NOTHING: Completions = { words: [], includesFiles: false, isPartial: false };
const FILES: Completions = { words: [], includesFiles: true, isPartial: false };

/** Completes the last word of a line, offline and without reading files. */
export function completeWords(program: Command, table: readonly Operation[], line: readonly string[]): Completions {
  const word = line.at(-1) ?? '';
  const { command, words, pending } = locateCommand(program, line.slice(0, -1));
  if (pending !== null) {
    return optionValue(pending, { command, table, words, word });
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
    return requestSuggestions(table, words, word);
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

interface CommandPosition {
  readonly command: Command;
  /** Arguments, without options and command names. */
  readonly words: readonly string[];
  /** The option whose value is the next word. */
  readonly pending: Option | null;
}

/** Finds the command, its arguments and a pending option at the end of a line. */
function locateCommand(program: Command, line: readonly string[]): CommandPosition {
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

interface Position {
  readonly command: Command;
  readonly table: readonly Operation[];
  readonly words: readonly string[];
  readonly word: string;
}

function optionValue(option: Option, { command, table, words, word }: Position): Completions {
  if (option.argChoices !== undefined) {
    return matching(withoutDescriptions(option.argChoices), word);
  }
  if (command.name() === 'api' && ['--field', '--typed-field'].includes(option.long ?? '')) {
    return fieldSuggestions(table, words, word);
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
