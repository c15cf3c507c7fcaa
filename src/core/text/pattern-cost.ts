/** What is refused of a pattern, in words that hold nothing of it. */
export class PatternSyntaxError extends Error {}

/** What a piece of a pattern can cost, and what it may begin with. */
interface Piece {
  /** In how many ways it can match at one place, at most. */
  readonly ways: number;
  /** Whether it may match nothing. */
  readonly isOptional: boolean;
  /** Which of the sampled characters it may begin with. */
  readonly begins: ReadonlySet<number>;
  /** It is one character of a set, repeated: then it is known where the next piece cannot take over. */
  readonly isRun: boolean;
}

/** Sampled: ASCII, Latin-1, and one of each script that patterns tell apart. */
const SAMPLES: readonly number[] = [
  ...Array.from({ length: 256 }, (_, code) => code),
  0x3b1,
  0x431,
  0x4e2d,
  0x660,
  0x2028,
];
/** Stands for all that is not sampled. */
const OTHER = -1;
const ALL: ReadonlySet<number> = new Set([...SAMPLES, OTHER]);
const MOST = 1e12;

/**
 * In how many ways a backtracking engine can try a pattern at one place of a text, at most. Repeats with no bound count
 * as the window's length. A repeat whose characters cannot begin what follows is tried in one way only, as giving any
 * of it back fails at once.
 *
 * Throws PatternSyntaxError for backreferences and lookaround.
 */
export function costOf(pattern: string, window: number): number {
  const reader = { pattern, at: 0, window };
  const piece = alternatives(reader, ALL);
  return piece.ways;
}

interface Reader {
  readonly pattern: string;
  at: number;
  readonly window: number;
}

/** `next`: what may follow the whole, or null where it is not known. */
function alternatives(reader: Reader, next: ReadonlySet<number>): Piece {
  const branches = [sequence(reader, next)];
  while (reader.pattern[reader.at] === '|') {
    reader.at += 1;
    branches.push(sequence(reader, next));
  }
  return {
    ways: capped(branches.reduce((sum, { ways }) => sum + ways, 0)),
    isOptional: branches.some(({ isOptional }) => isOptional),
    begins: union(branches.map(({ begins }) => begins)),
    isRun: false,
  };
}

function sequence(reader: Reader, next: ReadonlySet<number>): Piece {
  const pieces: Piece[] = [];
  while (reader.at < reader.pattern.length && !'|)'.includes(reader.pattern[reader.at] as string)) {
    pieces.push(quantified(reader));
  }
  let follows = next;
  let ways = 1;
  let isOptional = true;
  let begins: ReadonlySet<number> = new Set();
  for (const piece of pieces.toReversed()) {
    // The last of a pattern has nothing after it that could fail.
    const isDecided = piece.isRun && (!overlap(piece.begins, follows) || (follows === next && next === ALL));
    ways = capped(ways * (isDecided ? 1 : piece.ways));
    follows = piece.isOptional ? union([piece.begins, follows]) : piece.begins;
    begins = piece.isOptional ? union([piece.begins, begins]) : piece.begins;
    isOptional &&= piece.isOptional;
  }
  return { ways, isOptional, begins, isRun: false };
}

const QUANTIFIER = /(?:([*+?])|\{(\d{1,9})(?:(,)(\d{0,9}))?\})\??/y;

function quantified(reader: Reader): Piece {
  const { piece, isSingle } = atom(reader);
  QUANTIFIER.lastIndex = reader.at;
  const match = QUANTIFIER.exec(reader.pattern);
  if (match === null) {
    return piece;
  }
  reader.at += match[0].length;
  const [fewest, most] = boundsOf(match, reader.window);
  return {
    ways: repeated(piece.ways, fewest, most),
    isOptional: piece.isOptional || fewest === 0,
    begins: piece.begins,
    isRun: isSingle,
  };
}

function boundsOf([, sign, from, comma, to]: RegExpExecArray, window: number): readonly [number, number] {
  if (sign !== undefined) {
    return sign === '?' ? [0, 1] : [sign === '+' ? 1 : 0, window];
  }
  const fewest = Math.min(Number(from), window);
  const most = comma === undefined ? fewest : to === '' ? window : Math.min(Number(to), window);
  return [fewest, most];
}

/** Every number of repeats is a way, times the ways of each repeat. */
function repeated(ways: number, fewest: number, most: number): number {
  let sum = 0;
  for (let count = fewest; count <= most && sum < MOST; count += 1) {
    sum += ways ** count;
  }
  return capped(Math.max(1, sum));
}

const ESCAPE = /\\(?:u\{[0-9a-fA-F]{1,6}\}|u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|[pP]\{[^}]{1,60}\}|c[A-Za-z]|.)/sy;

function atom(reader: Reader): { readonly piece: Piece; readonly isSingle: boolean } {
  const { pattern, at } = reader;
  const character = pattern[at] as string;
  if (character === '(') {
    return { piece: group(reader), isSingle: false };
  }
  if (character === '^' || character === '$') {
    reader.at += 1;
    return { piece: { ways: 1, isOptional: true, begins: new Set(), isRun: false }, isSingle: false };
  }
  reader.at = character === '[' ? endOfClass(pattern, at) : character === '\\' ? endOfEscape(pattern, at) : at + 1;
  const source = pattern.slice(at, reader.at);
  if (source === '\\b' || source === '\\B') {
    return { piece: { ways: 1, isOptional: true, begins: new Set(), isRun: false }, isSingle: false };
  }
  return { piece: { ways: 1, isOptional: false, begins: membersOf(source), isRun: false }, isSingle: true };
}

function group(reader: Reader): Piece {
  const head =
    /^\((?:\?(?::|<[A-Za-z_$][\w$]*>|.{1,2}))?/s.exec(reader.pattern.slice(reader.at, reader.at + 80))?.[0] ?? '(';
  if (head.startsWith('(?') && head !== '(?:' && !/^\(\?<[A-Za-z_$]/.test(head)) {
    throw new PatternSyntaxError('lookahead, lookbehind and flags of a group are not taken; \\b is');
  }
  reader.at += head.length;
  // What follows a group is not known while it is read: anything may.
  const piece = alternatives(reader, new Set(ALL));
  reader.at += 1;
  return piece;
}

function endOfClass(pattern: string, at: number): number {
  let end = at + 1;
  while (end < pattern.length && pattern[end] !== ']') {
    end += pattern[end] === '\\' ? 2 : 1;
  }
  return end + 1;
}

function endOfEscape(pattern: string, at: number): number {
  if (/^\\(?:[1-9]|k<)/.test(pattern.slice(at, at + 3))) {
    throw new PatternSyntaxError('references to an earlier group are not taken');
  }
  ESCAPE.lastIndex = at;
  return at + (ESCAPE.exec(pattern)?.[0].length ?? 2);
}

/** Written so that it may match what is not sampled. */
const REACHES_FAR = /[^\0-\x7f]|\\[uxpPcWDS]|^\[\^|^\.$/;

/** The sampled characters that a class, an escape or a character matches, whatever its case. */
function membersOf(source: string): ReadonlySet<number> {
  for (const flags of ['iu', 'i']) {
    try {
      const one = new RegExp(`^(?:${source})$`, flags);
      const members = SAMPLES.filter((code) => one.test(String.fromCharCode(code)) || source === '.');
      return new Set(REACHES_FAR.test(source) ? [...members, OTHER] : members);
    } catch {
      // Written without the flag `u`, where more is allowed.
    }
  }
  return ALL;
}

function union(sets: readonly ReadonlySet<number>[]): ReadonlySet<number> {
  return new Set(sets.flatMap((set) => [...set]));
}

function overlap(a: ReadonlySet<number>, b: ReadonlySet<number>): boolean {
  return [...a].some((code) => b.has(code));
}

function capped(ways: number): number {
  return Math.min(ways, MOST);
}
