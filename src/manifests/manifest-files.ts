/** Search for the files of a tree that may be manifests, with ignore files in the syntax of `.gitignore`. */

import { posix } from 'node:path';
import { DesiredStateError, problemOfFile } from '../core/errors.ts';
import type { FileEntry, FileTree } from '../core/files/file-tree.ts';
import { append } from '../core/lists.ts';

/** One token of a pattern. */
type Token =
  | { readonly kind: 'one'; readonly code: number }
  | { readonly kind: 'set'; readonly members: Uint8Array }
  /** Any number of characters; includes slashes only if `spans` is set. */
  | { readonly kind: 'any'; readonly spans: boolean }
  /** Matches no character; the next two tokens are optional together. */
  | { readonly kind: 'optional' };

interface IgnoreRule {
  readonly isNegated: boolean;
  readonly isForFolders: boolean;
  /** The pattern has no slash, so it is compared with names at any depth. */
  readonly isForNames: boolean;
  /** The part before the first wildcard. */
  readonly prefix: string;
  /** The part after the last wildcard. */
  readonly suffix: string;
  /** Tokens after the prefix. */
  readonly tokens: readonly Token[];
}

const SLASH = '/'.charCodeAt(0);

/** Parses the rules of an ignore file, in order. Patterns that cannot match anything are left out. */
function readIgnoreRules(content: Uint8Array): readonly IgnoreRule[] {
  const text = Buffer.from(content)
    .toString('latin1')
    .replace(/^\u00ef\u00bb\u00bf/, '');
  return text
    .split('\n')
    .filter((line) => !line.startsWith('#'))
    .flatMap((line) => ruleOf(withoutTrailingSpaces(line.replace(/\r$/, '').split('\0', 1)[0] ?? '')) ?? []);
}

/** Removes trailing spaces, except one that is escaped with a backslash. */
function withoutTrailingSpaces(line: string): string {
  let end = line.length;
  while (end > 0 && line[end - 1] === ' ') {
    end -= 1;
  }
  const isEscaped = end < line.length && trailingBackslashes(line.slice(0, end)) % 2 === 1;
  return line.slice(0, isEscaped ? end + 1 : end);
}

function trailingBackslashes(text: string): number {
  let count = 0;
  while (text[text.length - 1 - count] === '\\') {
    count += 1;
  }
  return count;
}

function ruleOf(line: string): IgnoreRule | null {
  const isNegated = line.startsWith('!');
  const whole = isNegated ? line.slice(1) : line;
  const isForFolders = whole.endsWith('/');
  const pattern = isForFolders ? whole.slice(0, -1) : whole;
  const isForNames = !pattern.includes('/');
  const anchored = pattern.startsWith('/') ? pattern.slice(1) : pattern;
  const length = anchored.search(/[*?[\\]/);
  const prefix = length === -1 ? anchored : anchored.slice(0, length);
  const tokens = tokensOf(anchored.slice(prefix.length));
  return tokens === null || anchored === ''
    ? null
    : { isNegated, isForFolders, isForNames, prefix, suffix: suffixOf(tokens), tokens };
}

function suffixOf(tokens: readonly Token[]): string {
  const wildcard = tokens.findLastIndex(({ kind }) => kind !== 'one');
  // The slash after `**` is optional together with it.
  const isSlashOptional = tokens[wildcard - 1]?.kind === 'optional';
  const literals = tokens.slice(wildcard + (isSlashOptional ? 2 : 1));
  return literals.map((token) => (token.kind === 'one' ? String.fromCharCode(token.code) : '')).join('');
}

/** Returns the tokens of a pattern, or null if it cannot match anything. */
function tokensOf(pattern: string): readonly Token[] | null {
  const tokens: Token[] = [];
  let at = 0;
  while (at < pattern.length) {
    const character = pattern[at];
    if (character === '*') {
      let end = at;
      while (pattern[end] === '*') {
        end += 1;
      }
      append(tokens, starsOf(pattern, at, end));
      at = end;
    } else if (character === '[') {
      const read = readSet(pattern, at + 1);
      if (read === null) {
        return null;
      }
      tokens.push({ kind: 'set', members: read.members });
      at = read.end;
    } else if (character === '?') {
      tokens.push({ kind: 'set', members: new Uint8Array(256).fill(1).fill(0, SLASH, SLASH + 1) });
      at += 1;
    } else {
      at += character === '\\' ? 1 : 0;
      if (at === pattern.length) {
        return null;
      }
      tokens.push({ kind: 'one', code: pattern.charCodeAt(at) });
      at += 1;
    }
  }
  return tokens;
}

/** Two or more stars that are a whole path segment match slashes too, and with a following slash also match nothing. */
function starsOf(pattern: string, from: number, end: number): readonly Token[] {
  const isPart =
    end - from > 1 &&
    (from === 0 || pattern[from - 1] === '/') &&
    (end === pattern.length || pattern[end] === '/' || pattern.startsWith('\\/', end));
  const stars: Token = { kind: 'any', spans: isPart };
  return isPart && pattern[end] === '/' ? [{ kind: 'optional' }, stars] : [stars];
}

const CLASSES: Readonly<Record<string, RegExp>> = {
  alnum: /[A-Za-z0-9]/,
  alpha: /[A-Za-z]/,
  blank: /[ \t]/,
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the class consists of them
  cntrl: /[\u0000-\u001f\u007f]/,
  digit: /[0-9]/,
  graph: /[!-~]/,
  lower: /[a-z]/,
  print: /[ -~]/,
  punct: /[!-/:-@[-`{-~]/,
  space: /[ \t\n\r]/,
  upper: /[A-Z]/,
  xdigit: /[A-Fa-f0-9]/,
};

/** Parses a set such as `[a-z]` after its bracket; null if it is not closed or names an unknown class. */
function readSet(pattern: string, from: number): { readonly members: Uint8Array; readonly end: number } | null {
  const members = new Uint8Array(256);
  const isNegated = pattern[from] === '!' || pattern[from] === '^';
  let at = isNegated ? from + 1 : from;
  const first = at;
  /** Character that can start a range, or null. */
  let start: number | null = null;
  while (at === first || pattern[at] !== ']') {
    const isRange: boolean =
      pattern[at] === '-' && start !== null && at + 1 < pattern.length && pattern[at + 1] !== ']';
    const named = !isRange && pattern.startsWith('[:', at) ? classAt(pattern, at + 2) : undefined;
    if (named === null) {
      return null;
    }
    if (named !== undefined) {
      members.forEach((_, code) => {
        members[code] = named.members.test(String.fromCharCode(code)) ? 1 : (members[code] ?? 0);
      });
      start = null;
      at = named.end;
      continue;
    }
    at += isRange ? 1 : 0;
    at += pattern[at] === '\\' ? 1 : 0;
    if (at >= pattern.length) {
      return null;
    }
    const code = pattern.charCodeAt(at);
    members.fill(1, isRange && start !== null ? start : code, code + 1);
    start = isRange ? null : code;
    at += 1;
  }
  const chosen = isNegated ? members.map((member) => 1 - member) : members;
  chosen[SLASH] = 0;
  return { members: chosen, end: at + 1 };
}

/** Parses a class such as `[:digit:]` after `[:`; undefined for plain characters, null for an unknown class. */
function classAt(pattern: string, from: number): { readonly members: RegExp; readonly end: number } | null | undefined {
  const bracket = pattern.indexOf(']', from);
  if (bracket === -1) {
    return null;
  }
  if (bracket === from || pattern[bracket - 1] !== ':') {
    return undefined;
  }
  const name = pattern.slice(from, bracket - 1);
  const members = Object.hasOwn(CLASSES, name) ? CLASSES[name] : undefined;
  return members === undefined ? null : { members, end: bracket + 1 };
}

/** Error for rules that are too large or take too long to match. Its message follows the name of the file. */
class IgnoreError extends Error {}

/** Limits that the largest repositories stay below. All steps take a few seconds. */
export const IGNORE_LIMITS = {
  /** Maximum size of the rules, in bytes. */
  bytes: 65_536,
  patterns: 1000,
  /** Maximum comparisons of a path or a character with a position in a pattern, for all paths together. */
  steps: 100_000_000,
};

/** Parses rules. Throws IgnoreError if there are too many. */
export function parseIgnoreRules(content: Uint8Array, limits = IGNORE_LIMITS): IgnoreRules {
  if (content.byteLength > limits.bytes) {
    throw new IgnoreError(`is longer than ${limits.bytes} bytes; ignore directories instead of files`);
  }
  const rules = readIgnoreRules(content);
  if (rules.length > limits.patterns) {
    throw new IgnoreError(`has more than ${limits.patterns} patterns; ignore directories instead of files`);
  }
  // The last matching rule decides.
  return new IgnoreRules(rules.toReversed(), limits.steps);
}

/** Rules that decide which files of a tree are ignored, in time bounded by pattern × path length. */
class IgnoreRules {
  readonly #rules: readonly IgnoreRule[];
  readonly #mostSteps: number;
  readonly #folders = new Map<string, boolean>([['', false]]);
  #steps = 0;

  constructor(rules: readonly IgnoreRule[], mostSteps: number) {
    this.#rules = rules;
    this.#mostSteps = mostSteps;
  }

  /**
   * Reports whether a file, or a directory above it, is ignored. Paths are relative, with forward slashes. Throws
   * IgnoreError when all paths together have exceeded the limit of steps.
   */
  ignores(path: string): boolean {
    const bytes = Buffer.from(path, 'utf8').toString('latin1');
    for (let slash = bytes.indexOf('/'); slash !== -1; slash = bytes.indexOf('/', slash + 1)) {
      if (this.#ignoresFolder(bytes.slice(0, slash))) {
        return true;
      }
    }
    return this.#isIgnored(bytes, false);
  }

  #ignoresFolder(folder: string): boolean {
    const known = this.#folders.get(folder);
    if (known !== undefined) {
      return known;
    }
    const isIgnored = this.#isIgnored(folder, true);
    this.#folders.set(folder, isIgnored);
    return isIgnored;
  }

  #isIgnored(path: string, isFolder: boolean): boolean {
    const name = path.slice(path.lastIndexOf('/') + 1);
    const rule = this.#rules.find(
      (each) => (isFolder || !each.isForFolders) && this.#matches(each, each.isForNames ? name : path),
    );
    return rule !== undefined && !rule.isNegated;
  }

  #matches({ prefix, suffix, tokens }: IgnoreRule, text: string): boolean {
    this.#spend(1);
    if (tokens.length === 0) {
      return text === prefix;
    }
    if (!text.startsWith(prefix) || !text.endsWith(suffix)) {
      return false;
    }
    const states = new States(tokens);
    for (let at = prefix.length; at < text.length && !states.isEmpty; at += 1) {
      this.#spend(states.width);
      states.advance(text.charCodeAt(at));
    }
    return states.isAtEnd;
  }

  #spend(steps: number): void {
    this.#steps += steps;
    if (this.#steps > this.#mostSteps) {
      throw new IgnoreError('takes too long to match; use fewer wildcards');
    }
  }
}

/** States of a nondeterministic matcher: all positions in the pattern that the path can have reached. */
class States {
  readonly #tokens: readonly Token[];
  #now: Uint8Array;
  #next: Uint8Array;
  /** Lowest and highest active position; all positions outside are 0. */
  #low = 0;
  #high = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
    this.#now = new Uint8Array(tokens.length + 1);
    this.#next = new Uint8Array(tokens.length + 1);
    this.#now[0] = 1;
    this.#addSkipped(this.#now);
  }

  get isEmpty(): boolean {
    return this.#high < this.#low;
  }

  get width(): number {
    return this.#high - this.#low + 1;
  }

  get isAtEnd(): boolean {
    return this.#now[this.#tokens.length] === 1;
  }

  advance(code: number): void {
    const now = this.#now;
    const next = this.#next;
    const [low, high] = [this.#low, this.#high];
    this.#low = next.length;
    this.#high = -1;
    for (let at = low; at <= high; at += 1) {
      const token = now[at] === 1 ? this.#tokens[at] : undefined;
      if (token !== undefined && accepts(token, code)) {
        const to = token.kind === 'any' ? at : at + 1;
        next[to] = 1;
        this.#low = Math.min(this.#low, to);
        this.#high = to;
      }
    }
    now.fill(0, low, high + 1);
    this.#now = next;
    this.#next = now;
    this.#addSkipped(next);
  }

  /** Adds the positions that can be reached without consuming a character. */
  #addSkipped(states: Uint8Array): void {
    for (let at = this.#low; at <= this.#high; at += 1) {
      const token = states[at] === 1 ? this.#tokens[at] : undefined;
      if (token?.kind === 'any' || token?.kind === 'optional') {
        const last = token.kind === 'any' ? at + 1 : at + 3;
        states[at + 1] = 1;
        states[last] = 1;
        this.#high = Math.max(this.#high, last);
      }
    }
  }
}

function accepts(token: Token, code: number): boolean {
  switch (token.kind) {
    case 'one':
      return token.code === code;
    case 'set':
      return token.members[code] === 1;
    case 'any':
      return token.spans || code !== SLASH;
    case 'optional':
      return false;
  }
}

const IGNORE_FILE = '.octavoignore';
const CONFIG_FILES: readonly string[] = ['config.yaml', 'config.example.yaml'];

/** Files of a tree that may be manifests, and those with JSON, which is not read. */
interface FoundFiles {
  readonly files: readonly FileEntry[];
  readonly json: readonly FileEntry[];
}

/**
 * Finds the files of a tree that may be manifests, without hidden and ignored files and the daemon's own config. `root` is
 * the prefix of paths in problems. Throws DesiredStateError for an ignore file that is too large or takes too long to
 * match.
 */
export async function findManifestFiles(
  tree: FileTree,
  entries: readonly FileEntry[],
  config: string | null,
  root = '',
): Promise<FoundFiles> {
  try {
    const ignored = await readIgnoreFile(tree, entries);
    const isRead = ({ path }: FileEntry) => !isHidden(path) && path !== config && !ignored(path);
    return {
      files: entries.filter((entry) => isYaml(entry.path) && isRead(entry)),
      json: entries.filter((entry) => entry.path.endsWith('.json') && isRead(entry)),
    };
  } catch (error) {
    throw error instanceof IgnoreError ? ignoreProblem(error, root) : error;
  }
}

function isYaml(path: string): boolean {
  return path.endsWith('.yaml') || path.endsWith('.yml');
}

function isHidden(path: string): boolean {
  return path.startsWith('.') || path.includes('/.');
}

async function readIgnoreFile(tree: FileTree, entries: readonly FileEntry[]): Promise<(path: string) => boolean> {
  if (!entries.some((entry) => entry.path === IGNORE_FILE)) {
    return () => false;
  }
  const rules = parseIgnoreRules(await tree.read(IGNORE_FILE));
  return (path) => rules.ignores(path);
}

function ignoreProblem(error: IgnoreError, root: string): DesiredStateError {
  const file = posix.join(root, IGNORE_FILE);
  return new DesiredStateError([problemOfFile(file, error.message)], [], { cause: error });
}

/** Reports whether a file is the daemon's config rather than a manifest, judged by its name and its content. */
export function isConfig(path: string, text: string): boolean {
  return CONFIG_FILES.includes(path) && /^(platform|organizations)\s*:/m.test(text);
}
