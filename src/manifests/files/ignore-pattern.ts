/** Parses an ignore file as git parses a `.gitignore`. Characters are bytes, as in git. */
import { append } from '../../core/lists.ts';

/** One token of a pattern. */
export type Token =
  | { readonly kind: 'one'; readonly code: number }
  | { readonly kind: 'set'; readonly members: Uint8Array }
  /** Any number of characters; includes slashes only if `spans` is set. */
  | { readonly kind: 'any'; readonly spans: boolean }
  /** Matches no character; the next two tokens are optional together. */
  | { readonly kind: 'optional' };

export interface IgnoreRule {
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
export function readIgnoreRules(content: Uint8Array): readonly IgnoreRule[] {
  const text = Buffer.from(content)
    .toString('latin1')
    .replace(/^\u00ef\u00bb\u00bf/, '');
  return text
    .split('\n')
    .filter((line) => !line.startsWith('#'))
    .flatMap((line) => ruleOf(withoutTrailingSpaces(withoutReturn(line).split('\0', 1)[0] ?? '')) ?? []);
}

function withoutReturn(line: string): string {
  return line.endsWith('\r') ? line.slice(0, -1) : line;
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
      const end = endOfStars(pattern, at);
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

function endOfStars(pattern: string, from: number): number {
  let end = from;
  while (pattern[end] === '*') {
    end += 1;
  }
  return end;
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
