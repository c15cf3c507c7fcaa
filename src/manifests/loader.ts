/** Loader of desired state from the manifests of a tree. */
import { posix } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Address } from '../core/address.ts';
import { DesiredStateError, type Problem, problemOfFile } from '../core/errors.ts';
import type { FileEntry, FileTree } from '../core/files/file-tree.ts';
import { isObject } from '../core/json.ts';
import type { Declared } from '../core/resource.ts';
import { quote, Suggestions } from '../core/text/suggest.ts';
import type { Kind } from '../kinds/model/kind.ts';
import { type CachedManifest, FileReader, ManifestCache, type ManifestLimits, type OnSections } from './file-reader.ts';
import { indexKinds, type KindIndex } from './kind-index.ts';
import { findManifestFiles } from './manifest-files.ts';
import { mergeManifests } from './merge.ts';
import type { ReadManifest } from './read-manifest.ts';
import { createYamlReader } from './yaml.ts';

/** Desired state that the manifests of one tree declare. */
export interface DesiredState {
  /** Declared resources by address, sorted. */
  readonly declared: ReadonlyMap<Address, Declared>;
  /** Number of manifests. */
  readonly files: number;
  /** Paths of the manifests, as shown in problems. */
  readonly paths: readonly string[];
  /** Files that look like manifests and are not read; empty unless `findsMisnamed` is set. */
  readonly misnamed: readonly Problem[];
}

export interface ManifestLoadOptions {
  /** Prefix of paths in problems and sources. */
  readonly root?: string;
  /** The daemon's own config file, relative to the tree. It is not a manifest. */
  readonly config?: string;
  /** Called if there is much to parse. The names are found without parsing, so some may be missing or wrong. */
  readonly onSections?: OnSections;
  /** Finds files that have sections as JSON, at the cost of reading every small `.json` file that nothing refers to. */
  readonly findsMisnamed?: boolean;
}

/** Loads manifests, and caches unchanged files from one load to the next. */
export interface ManifestLoader {
  /** Loads the desired state. Throws DesiredStateError with all problems. */
  load(tree: FileTree, options?: ManifestLoadOptions): Promise<DesiredState>;
  /** Returns the declared addresses that can be read, even if the manifests have problems. For editors. */
  survey(tree: FileTree, options?: ManifestLoadOptions): Promise<readonly Address[]>;
}

const DEFAULT_LIMITS: ManifestLimits = {
  manifestBytes: 10 * 1_048_576,
  fileBytes: 10 * 1_048_576,
  aliasedValues: 100_000,
};

/** Maximum characters of a problem. Names in manifests can have any length, and each can have many problems. */
const MAX_LENGTH = { file: 4096, address: 400, message: 4000 };

/** Maximum concurrent reads: enough to keep the disk busy while other files are parsed. */
const PARALLEL_READS = 32;

/** Size in bytes above which files are read last. Most of them are the content of a `{ file }` and need no parsing. */
const LARGE_FILE = 65_536;
/** Number of entries from which merging them gives a turn to other work. */
const MANY = 5000;

const RENAME_JSON = 'rename it to .yaml, which JSON is too';

/** Creates a loader for these kinds, with its own cache. */
export function createManifestLoader(
  kinds: readonly Kind[],
  options: { readonly limits?: Partial<ManifestLimits> } = {},
): ManifestLoader {
  const index = indexKinds(kinds);
  const cache = new ManifestCache();
  const parts = { kinds: index, limits: { ...DEFAULT_LIMITS, ...options.limits }, cache, parse: createYamlReader() };
  let last: { readonly manifests: readonly ReadManifest[]; readonly state: DesiredState } | null = null;
  const read = async (tree: FileTree, options: ManifestLoadOptions) => {
    const { root = '', config, onSections, findsMisnamed = false } = options;
    const entries = await tree.list();
    const { files, json } = await findManifestFiles(tree, entries, config ?? null, root);
    const listed = {
      tree,
      entries: new Map(entries.map((entry) => [entry.path, entry])),
      suggestions: new Suggestions(),
    };
    cache.begin();
    const reader = new FileReader(parts, listed, root, onSections);
    const { manifests, problems, named, texts } = await readManifests(reader, files);
    if (manifests.length === 0 && problems.length === 0) {
      problems.push(noManifest(tree, root, index, json));
    }
    const others = findsMisnamed ? json.filter(({ path }) => !named.has(path)) : [];
    return { manifests, problems, texts, misnamed: await findMisnamed(tree, others, root, index) };
  };
  return {
    survey: async (tree, options = {}) => addressesOf((await read(tree, options)).manifests, index),
    load: async (tree, options = {}) => {
      const { manifests, problems, texts, misnamed } = await read(tree, options);
      const isSame =
        last?.manifests.length === manifests.length && manifests.every((each, at) => each === last?.manifests[at]);
      if (last !== null && problems.length === 0 && isSame) {
        return last.state;
      }
      if (manifests.reduce((sum, { entries }) => sum + entries.length, 0) >= MANY) {
        // Merging very many entries keeps the main thread busy as well.
        await nextTurn();
      }
      const merged = mergeManifests(manifests, problems, index);
      const paths = manifests.map(({ shown }) => shown);
      if (merged.problems.length > 0) {
        const shown = merged.problems.map(bounded);
        throw new DesiredStateError(shown, paths, { lines: linesAt(shown, texts) });
      }
      const { declared } = merged;
      last = { manifests, state: { declared, files: manifests.length, paths, misnamed } };
      return last.state;
    },
  };
}

/** Reads the files that may be manifests until it is decided which of them are. */
async function readManifests(
  reader: FileReader,
  files: readonly FileEntry[],
): Promise<{
  manifests: ReadManifest[];
  problems: Problem[];
  named: ReadonlySet<string>;
  texts: ReadonlyMap<string, string>;
}> {
  const read = new Map<string, CachedManifest>();
  let settled = settleManifests([]);
  let next = files.filter(({ size }) => size <= LARGE_FILE);
  let later = files.filter(({ size }) => size > LARGE_FILE);
  while (next.length > 0 || later.length > 0) {
    await readAll(reader, next, read);
    settled = settleManifests(
      [...read].flatMap(([path, { manifest, names }]) => (manifest === null ? [] : [{ path, names }])),
    );
    const { named } = settled;
    next = later.filter(({ path }) => !named.has(path));
    later = later.filter(({ path }) => named.has(path));
    if (next.length === 0) {
      break;
    }
  }
  const { manifests, named, undecided } = settled;
  return {
    named,
    texts: new Map([...read.values()].map(({ manifest, text }) => [manifest?.shown ?? '', text])),
    manifests: files.flatMap(({ path }) => {
      const manifest = manifests.has(path) ? read.get(path)?.manifest : undefined;
      return manifest === null || manifest === undefined ? [] : [manifest];
    }),
    problems: undecided.map((path) =>
      problemOfFile(
        read.get(path)?.manifest?.shown ?? path,
        'references a file that references this one; a file is either a manifest or the content of a { file: … }',
      ),
    ),
  };
}

async function readAll(
  reader: FileReader,
  files: readonly FileEntry[],
  into: Map<string, CachedManifest>,
): Promise<void> {
  const queue = files.values();
  const worker = async () => {
    for (const file of queue) {
      into.set(file.path, await reader.read(file));
    }
  };
  await Promise.all(Array.from({ length: Math.min(PARALLEL_READS, files.length) }, worker));
}

/** Problems whose lines are kept, and the most characters of a line: a part of one could have half of a secret. */
const MAX_LINES = 50;
const MAX_LINE = 10_000;

/** Returns the lines of the first problems, except of those that concern a whole file. */
function linesAt(problems: readonly Problem[], texts: ReadonlyMap<string, string>): ReadonlyMap<Problem, string> {
  const files = new Map<string, readonly string[]>();
  const lines = new Map<Problem, string>();
  for (const problem of problems.slice(0, MAX_LINES)) {
    const { file, line, column, address } = problem;
    const text = files.get(file) ?? (texts.get(file) ?? '').split('\n');
    files.set(file, text);
    const at = text[line - 1]?.replace(/\r$/, '') ?? '';
    const isOfFile = line === 1 && column === 1 && address === '';
    if (!isOfFile && at.trim() !== '' && at.length <= MAX_LINE && column <= at.length + 1) {
      lines.set(problem, at);
    }
  }
  return lines;
}

/** Returns the problem with its texts shortened. */
function bounded(problem: Problem): Problem {
  const { file, address, message } = problem;
  return {
    ...problem,
    file: shortened(file, MAX_LENGTH.file),
    address: shortened(address, MAX_LENGTH.address),
    message: shortened(message, MAX_LENGTH.message),
  };
}

function shortened(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most - 1)}…`;
}

function addressesOf(manifests: readonly ReadManifest[], { byName }: KindIndex): readonly Address[] {
  const entries = manifests.flatMap((manifest) => manifest.entries);
  const named = entries.filter(({ kind, key }) => byName.get(kind)?.manifest?.key.pattern.test(key) === true);
  return named.flatMap(({ address, resources }) => [address, ...resources.map((resource) => resource.address)]);
}

/** Returns a warning for each file that has a section as JSON. */
async function findMisnamed(
  tree: FileTree,
  files: readonly FileEntry[],
  root: string,
  { sections }: KindIndex,
): Promise<readonly Problem[]> {
  const found: Problem[] = [];
  for (const { path } of files.filter(({ size }) => size <= LARGE_FILE)) {
    const bytes = await tree.read(path).catch(() => new Uint8Array());
    const names = namesOf(new TextDecoder().decode(bytes)).filter((name) => sections.has(name));
    if (names.length > 0) {
      const message = `has the section ${names[0]}, but only .yaml and .yml files are read; ${RENAME_JSON}`;
      found.push(problemOfFile(posix.join(root, path), message));
    }
  }
  return found;
}

/** Returns the names of the members of a JSON object; none for other texts. */
function namesOf(text: string): string[] {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? Object.keys(value) : [];
  } catch {
    return [];
  }
}

function noManifest(tree: FileTree, root: string, kinds: KindIndex, json: readonly FileEntry[]): Problem {
  const sections = [...kinds.sections.keys()].join(', ');
  const message =
    `no manifests found below ${tree.label}: it has no .yaml or .yml file that is not hidden or ignored; ` +
    `${json[0] === undefined ? '' : `${quote(json[0].path)} is not read: ${RENAME_JSON}, or `}` +
    `create one with a section (${sections}), or pass another directory`;
  return problemOfFile(root === '' ? tree.label : root, message);
}

/**
 * Decides which YAML files are manifests, by the names of the files that each refers to. A file that no candidate refers
 * to is a manifest. A file that a manifest refers to is content, and its own references are ignored. If all remaining
 * references to a file come from content, it is a manifest. `named` are the files that manifests refer to, and
 * `undecided` those that refer to each other in a cycle: neither manifest nor content.
 */
function settleManifests(candidates: readonly { readonly path: string; readonly names: readonly string[] }[]) {
  const manifests = new Set<string>();
  const named = new Set<string>();
  const open = new Map(candidates.map(({ path, names }) => [path, new Set(names)]));
  const claims = new Map<string, number>();
  for (const name of [...open.values()].flatMap((names) => [...names])) {
    claims.set(name, (claims.get(name) ?? 0) + 1);
  }
  const decided = [...open.keys()].filter((path) => !claims.has(path));
  // The list grows during the iteration.
  for (const path of decided) {
    manifests.add(path);
    const fresh = [...(open.get(path) ?? [])].filter((name) => !named.has(name));
    open.delete(path);
    for (const name of fresh) {
      named.add(name);
    }
    for (const name of fresh) {
      for (const claimed of open.get(name) ?? []) {
        const left = (claims.get(claimed) ?? 0) - 1;
        claims.set(claimed, left);
        if (left === 0 && open.has(claimed) && !named.has(claimed)) {
          decided.push(claimed);
        }
      }
      open.delete(name);
    }
  }
  return { manifests, named, undecided: [...open.keys()] };
}
