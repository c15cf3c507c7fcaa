/** Configuration files as plain values that keep their locations, and organizations in files of their own. */
import { dirname, join, resolve } from 'node:path';
import { isAlias, isMap, isScalar, isSeq, LineCounter, type Node, parseDocument } from 'yaml';
import { messageOf, type Problem, problemOfFile } from '../core/errors.ts';
import { isObject } from '../core/json.ts';
import { append } from '../core/lists.ts';
import { plainLine } from '../core/text/plain-line.ts';
import { didYouMean } from '../core/text/suggest.ts';
import type { Path } from './values.ts';

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
    if (result.isUnset && isOptionalValue(path)) {
      return undefined;
    }
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
interface SubstitutionContext {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Throws if the file cannot be read. */
  readonly readFile: (path: string) => string;
  readonly base: string;
  /** Returns why a reference may not be resolved; null if it may. Default: all references may be resolved. */
  readonly refuse?: (scheme: 'env' | 'file', name: string) => string | null;
}

/**
 * Replaces every `${env:NAME}` and `${file:PATH}`. The trailing newline of a file is removed. `isWhole`: the string
 * consists of one reference only.
 */
function substitute(text: string, context: SubstitutionContext) {
  const values: string[] = [];
  const problems: string[] = [];
  let isUnset = false;
  const replaced = text.replace(/\$\{([^}]*)\}/g, (whole, reference: string) => {
    try {
      const value = resolveReference(whole, reference, context);
      values.push(value);
      return value;
    } catch (error) {
      isUnset ||= error instanceof UnsetError;
      problems.push(messageOf(error));
      return whole;
    }
  });
  return { text: replaced, values, isWhole: /^\$\{[^}]*\}$/.test(text), problems, isUnset };
}

/** A reference to a variable or a file that does not exist. */
class UnsetError extends Error {}

/** Returns true for the value of a secret for manifests, which a process may lack. */
function isOptionalValue(path: Path): boolean {
  return path.at(-3) === 'manifestSecrets' && path.at(-1) === 'value';
}

/** Returns the value of a reference. Throws an error whose message is the problem. */
function resolveReference(
  whole: string,
  reference: string,
  { env, readFile, base, refuse }: SubstitutionContext,
): string {
  const separator = reference.indexOf(':');
  const [scheme, name] = [reference.slice(0, separator), reference.slice(separator + 1)];
  if (separator < 0 || name === '' || (scheme !== 'env' && scheme !== 'file')) {
    throw new Error(`${whole} is not a valid reference; use \${env:NAME} or \${file:PATH}`);
  }
  const refused = refuse?.(scheme, name) ?? null;
  if (refused !== null) {
    throw new Error(refused);
  }
  if (scheme === 'env') {
    const value = env[name] ?? '';
    if (value === '') {
      throw new UnsetError(`the environment variable ${name} is not set; set it, or write the value here`);
    }
    return value;
  }
  try {
    return readFile(resolve(base, name)).replace(/\r?\n$/, '');
  } catch (error) {
    const problem = `cannot read the file ${name} (${messageOf(error)}); create it, or write the value here`;
    throw new UnsetError(problem, { cause: error });
  }
}

export interface OrganizationFileOptions {
  /** Name of the configuration file in messages. */
  readonly file: string;
  readonly context: SubstitutionContext;
  /**
   * Returns the contents of the files in a directory whose names `isOrganizationFile` accepts, by name; an error for a file
   * that cannot be read. Throws if the directory cannot be read.
   */
  readonly readDirectory: (directory: string) => ReadonlyMap<string, string | Error>;
}

/** Longest name of a file, in code points. */
const MAX_NAME = 255;
const SETTINGS = ['directory', 'list'];

/** Returns true for the name of a file that has an organization. */
export function isOrganizationFile(name: string): boolean {
  return /^[^.].*\.ya?ml$/s.test(name);
}

/** Document whose organizations are a list, with the directory of the others; null: there is none. */
export interface OrganizationsDocument extends ConfigDocument {
  readonly directory: string | null;
  /** Files of the directory, by path, with the index of their organization; null if none can be read. */
  readonly files: ReadonlyMap<string, OrganizationFile>;
}

interface OrganizationFile {
  readonly index: number | null;
  /** Id of the organization, also if the file is not valid YAML; null if it cannot be read. */
  readonly id: string | null;
}

/** Id at the start of a line of a file that is not valid YAML. */
const ID = /^id:[ \t]*["']?([^\s"'#$]+)/m;

/**
 * Returns the document with all organizations in one list, `organizations`. A problem of an organization in a file of its
 * own is located in that file.
 */
export function mergeOrganizations(document: ConfigDocument, options: OrganizationFileOptions): OrganizationsDocument {
  const organizations = isObject(document.values) ? document.values.organizations : undefined;
  if (!isObject(organizations)) {
    return { ...document, directory: null, files: new Map() };
  }
  const { directory, list = [] } = organizations;
  const problems = [...settingProblems(document, organizations)];
  const listed: readonly unknown[] = Array.isArray(list) ? list : [];
  const named = typeof directory === 'string' && directory.trim() !== '' ? directory : null;
  const entries = new Map<string, OrganizationFile>();
  const files: ConfigDocument[] = [];
  const read = named === null ? [] : readFiles(named, document, options, problems);
  for (const { path, content, found } of read) {
    const index = found === null ? null : listed.length + files.push(found) - 1;
    entries.set(path, { index, id: idOf(found?.values) ?? ID.exec(content)?.[1] ?? null });
  }
  const substituted = document.substituted.map((each) => ({ ...each, path: mergedPath(each.path) }));
  for (const [index, found] of files.entries()) {
    append(problems, found.problems);
    const at = ['organizations', listed.length + index];
    append(
      substituted,
      found.substituted.map((each) => ({ ...each, path: [...at, ...each.path] })),
    );
  }
  return {
    values: {
      ...(document.values as object),
      organizations: [...listed, ...files.map(({ values }) => values)],
    },
    problems: [...document.problems, ...problems],
    substituted,
    directory: named,
    files: entries,
    problemAt: (path, message, key) => {
      const [section, index, ...rest] = path;
      if (section !== 'organizations' || typeof index !== 'number') {
        return document.problemAt(path, message, key);
      }
      const file = files[index - listed.length];
      return file === undefined
        ? document.problemAt(['organizations', 'list', index, ...rest], message, key)
        : file.problemAt(rest, message, key);
    },
  };
}

function settingProblems(document: ConfigDocument, organizations: Readonly<Record<string, unknown>>): Problem[] {
  const at: Path = ['organizations'];
  const { directory, list } = organizations;
  const isText = typeof directory === 'string' && directory.trim() !== '';
  return [
    ...Object.keys(organizations)
      .filter((key) => !SETTINGS.includes(key))
      .map((key) => {
        const hint = didYouMean(key, SETTINGS) || `; valid settings: ${SETTINGS.join(', ')}`;
        return document.problemAt(at, `unknown setting${hint}`, key);
      }),
    ...(isText || (directory === undefined && list !== undefined)
      ? []
      : [document.problemAt(at, 'requires a directory with one file for each organization', 'directory')]),
    ...(list === undefined || Array.isArray(list)
      ? []
      : [document.problemAt([...at, 'list'], 'is not valid; expected a list of organizations')]),
  ];
}

function idOf(values: unknown): string | null {
  return isObject(values) && typeof values.id === 'string' ? values.id : null;
}

/** Reads the files of the directory; `found` is null for one that has no organization. */
function readFiles(
  directory: string,
  document: ConfigDocument,
  { file, context, readDirectory }: OrganizationFileOptions,
  problems: Problem[],
): readonly { readonly path: string; readonly content: string; readonly found: ConfigDocument | null }[] {
  const at: Path = ['organizations', 'directory'];
  let contents: ReadonlyMap<string, string | Error>;
  try {
    contents = readDirectory(resolve(context.base, directory));
  } catch (error) {
    problems.push(document.problemAt(at, `cannot read the directory (${messageOf(error)}); create it`));
    return [];
  }
  return [...contents]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, content]) => {
      const shown = plainLine(name, MAX_NAME);
      const path = join(dirname(file), directory, shown);
      if (typeof content !== 'string' || shown !== name) {
        const reason = typeof content === 'string' ? 'its name is too long or not plain text' : content.message;
        const message = `cannot be read: ${reason}; correct or remove the file`;
        problems.push(problemOfFile(path, message));
        return { path, content: '', found: null };
      }
      const found = readDocument(content, path, context);
      if (isObject(found.values)) {
        return { path, content, found };
      }
      const what = 'is not an organization; write the settings of one organization, such as id: org_1';
      append(problems, found.problems.length > 0 ? found.problems : [found.problemAt([], what)]);
      return { path, content, found: null };
    });
}

/** Returns the path in the merged list for a path in the configuration file. */
function mergedPath(path: Path): Path {
  const [section, list, ...rest] = path;
  return section === 'organizations' && list === 'list' ? ['organizations', ...rest] : path;
}

/** A file of `organizations.directory` that cannot be used, so that its organization is not in the configuration. */
export interface InvalidFile {
  /** Path, as in problems. */
  readonly file: string;
  /** Id of its organization; null if it cannot be read. */
  readonly id: string | null;
  /** At least one line, such as `organizations/acme.yaml:3:8: prune: "some" is not valid`. */
  readonly problems: readonly string[];
}

/**
 * Returns the part of a configuration without the files that have problems; null if the configuration file itself has
 * one, or no file is valid. `format` returns the lines of the problems of a file. `values` are the settings without the
 * organizations of those files, `indexes` the places of the others in the list of all, and `organizationFiles` their
 * files, by id.
 */
export function usablePart(
  document: OrganizationsDocument,
  problems: readonly Problem[],
  main: string,
  format: (problems: readonly Problem[], file: string) => string,
) {
  const { files } = document;
  const byFile = Map.groupBy(problems, ({ file }) => file);
  if ([...byFile.keys()].some((file) => file === main || !files.has(file))) {
    return null;
  }
  const valid = [...files].filter(([file]) => !byFile.has(file));
  if (files.size > 0 && valid.length === 0) {
    return null;
  }
  const invalidFiles = [...byFile].map(
    ([file, found]): InvalidFile => ({
      file,
      id: files.get(file)?.id ?? null,
      problems: format(found, file).split('\n'),
    }),
  );
  const organizationFiles = new Map(valid.flatMap(([file, { id }]) => (id === null ? [] : [[id, file] as const])));
  return { ...withoutFiles(document, new Set(byFile.keys())), organizationFiles, invalidFiles };
}

function withoutFiles({ values, files }: OrganizationsDocument, invalid: ReadonlySet<string>) {
  if (!isObject(values) || !Array.isArray(values.organizations)) {
    return { values, indexes: [] as readonly number[] };
  }
  const removed = new Set([...files].filter(([file]) => invalid.has(file)).map(([, { index }]) => index));
  const organizations: readonly unknown[] = values.organizations;
  const indexes = [...organizations.keys()].filter((index) => !removed.has(index));
  return { values: { ...values, organizations: indexes.map((index) => organizations[index]) }, indexes };
}
