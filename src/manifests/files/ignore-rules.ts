/** Rules of an ignore file in `.gitignore` syntax, matched in time bounded by pattern × path length. */

import { type IgnoreRule, readIgnoreRules, type Token } from './ignore-pattern.ts';

/** Rules that decide which files of a tree are ignored. */
export interface IgnoreRules {
  /**
   * Reports whether a file, or a directory above it, is ignored. Paths are relative, with forward slashes. Throws
   * IgnoreError when all paths together have exceeded the limit of steps.
   */
  ignores(path: string): boolean;
}

/** Error for rules that are too large or take too long to match. Its message follows the name of the file. */
export class IgnoreError extends Error {}

export interface IgnoreLimits {
  /** Maximum size of the rules, in bytes. */
  readonly bytes: number;
  readonly patterns: number;
  /** Maximum comparisons of a path or a character with a position in a pattern, for all paths together. */
  readonly steps: number;
}

/** Limits that the largest repositories stay below. All steps take a few seconds. */
export const IGNORE_LIMITS: IgnoreLimits = { bytes: 65_536, patterns: 1000, steps: 100_000_000 };

const SLASH = 47;

/** Parses rules. Throws IgnoreError if there are too many. */
export function parseIgnoreRules(content: Uint8Array, limits: IgnoreLimits = IGNORE_LIMITS): IgnoreRules {
  if (content.byteLength > limits.bytes) {
    throw new IgnoreError(`is longer than ${limits.bytes} bytes; ignore directories instead of files`);
  }
  const rules = readIgnoreRules(content);
  if (rules.length > limits.patterns) {
    throw new IgnoreError(`has more than ${limits.patterns} patterns; ignore directories instead of files`);
  }
  // The last matching rule decides.
  return new Matcher(rules.toReversed(), limits.steps);
}

class Matcher implements IgnoreRules {
  readonly #rules: readonly IgnoreRule[];
  readonly #mostSteps: number;
  readonly #folders = new Map<string, boolean>([['', false]]);
  #steps = 0;

  constructor(rules: readonly IgnoreRule[], mostSteps: number) {
    this.#rules = rules;
    this.#mostSteps = mostSteps;
  }

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
