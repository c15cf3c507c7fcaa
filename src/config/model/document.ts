/** YAML reader for configuration files that keeps the location of each value. */

import { isAbsolute, resolve } from 'node:path';
import { isAlias, isMap, isScalar, isSeq, LineCounter, type Node, parseDocument } from 'yaml';
import { messageOf, type Problem } from '../../core/errors.ts';
import { append } from '../../core/lists.ts';

/** Keys and indexes from the root of the file. */
export type Path = readonly PropertyKey[];

/** A configuration file as plain values, with the location of each. */
export interface ConfigDocument {
  readonly values: unknown;
  /** Problems of the YAML syntax and of references. */
  readonly problems: readonly Problem[];
  readonly substituted: readonly SubstitutedValue[];
  /** Returns a problem located at the value of a path or its nearest ancestor; with `key`, at that key. */
  problemAt(path: Path, message: string, key?: string): Problem;
}

/** Value that replaced a reference. */
interface SubstitutedValue {
  readonly path: Path;
  readonly value: string;
  /** True if the setting consists of one reference only. */
  readonly isWhole: boolean;
  /** The setting as written, such as `${env:OCTAVO_TOKEN}`. */
  readonly written: string;
}

/** Limits per file for expanded aliases and for values: a few lines of aliases could expand to billions of values. */
const MOST = { aliases: 1_000, values: 200_000 } as const;

/** Reads YAML 1.2 and replaces references in its strings. Never throws; reports all errors in `problems`. */
export function readDocument(text: string, file: string, context: SubstitutionContext): ConfigDocument {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, uniqueKeys: true });
  const problems: Problem[] = [];
  const substituted: SubstitutedValue[] = [];
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
      // An empty value counts as missing, so the default applies.
      return isScalar(node) ? (node.value ?? undefined) : undefined;
    }
    const result = substitute(node.value, context);
    append(
      problems,
      result.problems.map((message) => place(offsetOf(node), path, message)),
    );
    append(
      substituted,
      result.values.map((value) => ({ path, value, isWhole: result.isWhole, written: String(node.value) })),
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

/** Formats a path, such as `organizations[0].source.git.url`. */
function formatPath(path: Path): string {
  return path.reduce<string>((text, part) => {
    if (typeof part === 'number') {
      return `${text}[${part}]`;
    }
    return text === '' ? String(part) : `${text}.${String(part)}`;
  }, '');
}

/** Returns the offset of the value at a path, of its key, or of the deepest ancestor that exists. */
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

/** Data that `${env:NAME}` and `${file:PATH}` are resolved from. Relative paths start at the directory `base`. */
export interface SubstitutionContext {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Throws if the file cannot be read. */
  readonly readFile: (path: string) => string;
  readonly base: string;
  /** Returns why a reference may not be resolved; null if it may. Default: all references may be resolved. */
  readonly refuse?: (scheme: 'env' | 'file', name: string) => string | null;
}

/** A string with its references replaced, and the problems with them. */
interface Substituted {
  readonly text: string;
  /** Values that replaced references. */
  readonly values: readonly string[];
  /** True if the string consists of one reference only. */
  readonly isWhole: boolean;
  readonly problems: readonly string[];
}

/** Replaces every `${env:NAME}` and `${file:PATH}`. The trailing newline of a file is removed. */
function substitute(text: string, context: SubstitutionContext): Substituted {
  const values: string[] = [];
  const problems: string[] = [];
  const put = (value: string) => {
    values.push(value);
    return value;
  };
  const replaced = text.replace(/\$\{([^}]*)\}/g, (whole, reference: string) => {
    const separator = reference.indexOf(':');
    const [scheme, name] = [reference.slice(0, separator), reference.slice(separator + 1)];
    if (separator < 0 || name === '' || (scheme !== 'env' && scheme !== 'file')) {
      problems.push(`${whole} is not a valid reference; use \${env:NAME} or \${file:PATH}`);
      return whole;
    }
    const refused = context.refuse?.(scheme, name) ?? null;
    if (refused !== null) {
      problems.push(refused);
      return whole;
    }
    const found = scheme === 'env' ? fromEnvironment(name, context) : fromFile(name, context);
    if (found.problem !== undefined) {
      problems.push(found.problem);
      return whole;
    }
    return put(found.value);
  });
  return { text: replaced, values, isWhole: /^\$\{[^}]*\}$/.test(text), problems };
}

type Found = { readonly value: string; readonly problem?: undefined } | { readonly problem: string };

function fromEnvironment(name: string, { env }: SubstitutionContext): Found {
  const value = env[name];
  return value === undefined || value === ''
    ? { problem: `the environment variable ${name} is not set; set it, or write the value here` }
    : { value };
}

function fromFile(name: string, { readFile, base }: SubstitutionContext): Found {
  const path = isAbsolute(name) ? name : resolve(base, name);
  try {
    return { value: readFile(path).replace(/\r?\n$/, '') };
  } catch (error) {
    return { problem: `cannot read the file ${name} (${messageOf(error)}); create it, or write the value here` };
  }
}
