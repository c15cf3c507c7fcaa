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

export const SHELLS = ['bash', 'zsh', 'fish'] as const;
type Shell = (typeof SHELLS)[number];

/** Works with bash 3.2 and later, without bash-completion. Does not evaluate the typed line. */
const BASH = `# bash completion for octavo
_octavo() {
  local reply directive=0 one word=\${COMP_WORDS[COMP_CWORD]}
  reply=$("$1" complete --shell bash --breaks "$COMP_WORDBREAKS" -- "\${COMP_LINE:0:COMP_POINT}" 2>/dev/null) || return
  COMPREPLY=()
  while IFS= read -r one; do
    case $one in
      :*) directive=\${one#:} ;;
      ?*) COMPREPLY+=("\${one%%$'\\t'*}") ;;
    esac
  done <<< "$reply"
  if (( directive & 2 )); then compopt -o nospace 2>/dev/null; fi
  if (( !(directive & 4) )); then
    compopt -o default 2>/dev/null || while IFS= read -r one; do COMPREPLY+=("$one"); done < <(compgen -f -- "$word")
  fi
}
complete -F _octavo octavo
`;

const ZSH = `#compdef octavo
# zsh completion for octavo
_octavo() {
  local line="\${(j: :)words[1,CURRENT-1]} \${QIPREFIX}\${PREFIX}" run=\${(Q)words[1]} directive=0 reply one value
  local -a pairs rest
  whence -- "$run" >/dev/null || run=octavo
  reply=$("$run" complete --shell zsh -- "$line" 2>/dev/null) || return 1
  for one in "\${(@f)reply}"; do
    case $one in
      (:*) directive=\${one#:} ;;
      (?*)
        value=\${one%%$'\\t'*}
        # A colon ends what is inserted.
        value=\${value//\\\\/\\\\\\\\}
        pairs+=("\${value//:/\\\\:}:\${one#*$'\\t'}") ;;
    esac
  done
  if (( directive & 2 )); then rest=(-S ''); fi
  if (( \${#pairs} )); then
    _describe octavo pairs -Q "\${rest[@]}"
  elif (( !(directive & 4) )); then
    _files
  fi
}
if [ "\${funcstack[1]}" = _octavo ]; then
  _octavo "$@"
else
  compdef _octavo octavo
fi
`;

const FISH = `# fish completion for octavo
function __octavo_complete
    set -l reply (octavo complete --shell fish -- (commandline -cp | string collect) 2>/dev/null)
    or return
    set -l directive (string sub --start 2 -- $reply[-1])
    string match --invert --regex '^:\\d+$' -- $reply
    if test (math "floor($directive / 4) % 2") = 0
        __fish_complete_path (commandline -ct)
    end
end
complete --command octavo --erase
complete --command octavo --no-files --arguments '(__octavo_complete)'
`;

/** Completion script by shell. */
export const SCRIPTS: Readonly<Record<Shell, string>> = { bash: BASH, zsh: ZSH, fish: FISH };

/** A command line up to the cursor. */
interface TypedLine {
  /** The unquoted words after the command name; the last one is incomplete and may be empty. */
  readonly words: readonly string[];
  /**
   * Quotes a completion of the last word for the shell: the typed part is kept, and the rest is quoted the same way. Null
   * if that is not possible.
   */
  insert(value: string): string | null;
}

type Quote = "'" | '"' | null;

/** A word; `raw` is its typed form. The shell replaces the part after `from`. */
interface Word {
  text: string;
  raw: string;
  from: number;
  isOpen: boolean;
}

/** Parses a line. `breaks`: characters that separate words only in completion (`COMP_WORDBREAKS` of bash). */
export function readLine(line: string, shell: Shell, breaks = ''): TypedLine {
  const words: Word[] = [];
  let word: Word = emptyWord();
  let quote: Quote = null;
  const end = () => {
    if (word.isOpen) {
      words.push(word);
    }
    word = emptyWord();
  };
  for (let at = 0; at < line.length; at += 1) {
    const character = line[at] ?? '';
    if (quote === null && /\s/.test(character)) {
      end();
      continue;
    }
    word.isOpen = true;
    word.raw += character;
    if (quote === null ? character === "'" || character === '"' : character === quote) {
      quote = quote === null ? (character as Quote) : null;
      word.from = word.raw.length;
    } else if (character === '\\' && isEscape(quote, line[at + 1], shell)) {
      at += 1;
      word.raw += line[at] ?? '';
      word.text += line[at] ?? '';
    } else {
      word.text += character;
      word.from = quote === null && breaks.includes(character) ? word.raw.length : word.from;
    }
  }
  const texts = [...words, word].map(({ text }) => text);
  const command = texts.findIndex((text) => !/^\w+=/.test(text));
  return { words: texts.slice(command + 1), insert: (value) => insertion(value, word, quote, shell) };
}

function emptyWord(): Word {
  return { text: '', raw: '', from: 0, isOpen: false };
}

/** Returns true if a backslash escapes the next character. */
function isEscape(quote: Quote, next: string | undefined, shell: Shell): boolean {
  if (next === undefined || quote === null) {
    return next !== undefined;
  }
  return quote === '"' ? '"\\$`'.includes(next) : shell === 'fish' && "'\\".includes(next);
}

function insertion(value: string, { text, raw, from }: Word, quote: Quote, shell: Shell): string | null {
  if (shell === 'fish') {
    // fish compares and inserts unquoted values.
    return value;
  }
  const added = value.slice(text.length);
  if (!value.startsWith(text) || (quote === "'" && added.includes("'"))) {
    return null;
  }
  const special = quote === '"' ? /["\\$`]/g : shell === 'zsh' ? /[^\w\-.,/:=@%+{}]/g : /[\s'"\\$`&|;<>()*?!#~^]/g;
  return raw.slice(from) + (quote === "'" ? added : added.replaceAll(special, '\\$&'));
}
