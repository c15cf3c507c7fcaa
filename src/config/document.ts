import { isAlias, isMap, isScalar, isSeq, LineCounter, type Node, parseDocument } from 'yaml';
import type { Problem } from '../core/errors.ts';
import { append } from '../core/lists.ts';
import { type Surroundings, substitute } from './substitute.ts';

/** Member names and indexes from the root of the file. */
export type Path = readonly PropertyKey[];

/** A config file as plain values, and where each of them stands. */
export interface ConfigDocument {
  readonly values: unknown;
  /** Problems of the YAML itself and of its references. */
  readonly problems: readonly Problem[];
  /** What references put in, with the place where it was put. `isWhole`: nothing else is in that text. */
  readonly substituted: readonly { readonly path: Path; readonly value: string; readonly isWhole: boolean }[];
  /** The problem at a path; at the key itself where `key` is given, else at the value, or its nearest ancestor. */
  problemAt(path: Path, message: string, key?: string): Problem;
}

/** Aliases that are expanded, and values of a whole file, at most: a few lines of aliases could stand for billions. */
const MOST = { aliases: 1_000, values: 200_000 } as const;

/** Reads YAML 1.2 and replaces references in its texts. Never throws: all that is wrong is in `problems`. */
export function readDocument(text: string, file: string, surroundings: Surroundings): ConfigDocument {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, uniqueKeys: true });
  const problems: Problem[] = [];
  const substituted: { path: Path; value: string; isWhole: boolean }[] = [];
  const place = (offset: number, path: Path, message: string): Problem => {
    const { line, col } = lines.linePos(offset);
    return { file, line: Math.max(1, line), column: Math.max(1, col), address: formatPath(path), message };
  };
  const seen = { aliases: 0, values: 0 };
  const toValue = (node: unknown, path: Path): unknown => {
    seen.values += 1;
    seen.aliases += isAlias(node) ? 1 : 0;
    if (seen.values > MOST.values || seen.aliases > MOST.aliases) {
      return undefined;
    }
    if (isMap(node)) {
      return Object.fromEntries(
        node.items.map((pair) => {
          const key = String(isScalar(pair.key) ? pair.key.value : pair.key);
          return [key, toValue(pair.value, [...path, key])];
        }),
      );
    }
    if (isSeq(node)) {
      return node.items.map((item, index) => toValue(item, [...path, index]));
    }
    if (isAlias(node)) {
      return toValue(node.resolve(document), path);
    }
    if (!isScalar(node) || typeof node.value !== 'string') {
      // An empty value is the same as none: its default holds.
      return isScalar(node) ? (node.value ?? undefined) : undefined;
    }
    const result = substitute(node.value, surroundings);
    append(
      problems,
      result.problems.map((message) => place(offsetOf(node), path, message)),
    );
    append(
      substituted,
      result.values.map((value) => ({ path, value, isWhole: result.isWhole })),
    );
    return result.text;
  };
  append(
    problems,
    document.errors.map((error) => place(error.pos[0], [], `is not valid YAML: ${error.message}`)),
  );
  const resolved = document.errors.length > 0 ? undefined : toValue(document.contents, []);
  const isTooMuch = seen.values > MOST.values || seen.aliases > MOST.aliases;
  if (isTooMuch) {
    problems.push(place(0, [], 'expands to too many values; use fewer aliases'));
  }
  return {
    values: isTooMuch ? undefined : resolved,
    problems,
    substituted,
    problemAt: (path, message, key) =>
      place(locate(document.contents, path, key), [...path, ...(key ? [key] : [])], message),
  };
}

/** `organizations[0].source.git.url`. */
function formatPath(path: Path): string {
  return path.reduce<string>((text, part) => {
    if (typeof part === 'number') {
      return `${text}[${part}]`;
    }
    return text === '' ? String(part) : `${text}.${String(part)}`;
  }, '');
}

/** The offset of the value at a path, of its key, or of the deepest ancestor that is there. */
function locate(root: unknown, path: Path, key: string | undefined): number {
  let node = root;
  let offset = offsetOf(root);
  for (const part of key === undefined ? path : [...path, key]) {
    if (isMap(node)) {
      const pair = node.items.find((item) => String(isScalar(item.key) ? item.key.value : item.key) === part);
      if (pair === undefined) {
        return offset;
      }
      offset = part === key ? offsetOf(pair.key) : offsetOf(pair.value, offsetOf(pair.key));
      node = pair.value;
    } else if (isSeq(node) && typeof part === 'number') {
      node = node.items[part];
      offset = offsetOf(node, offset);
    } else {
      return offset;
    }
  }
  return offset;
}

function offsetOf(node: unknown, otherwise = 0): number {
  return (node as Node | null | undefined)?.range?.[0] ?? otherwise;
}
