// Reads architecture.json, which lists the imports that each folder of src may have, and reports all others.

import { globSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { posix } from 'node:path';
import { parseSync, Visitor } from 'rolldown/utils';

const ROOT = new URL('../', import.meta.url);

/** A folder of `src`, or a file directly in it, and the other layers that it may import. */
export interface Layer {
  readonly name: string;
  /** One sentence for the table in docs/architecture.md. */
  readonly purpose: string;
  readonly imports: readonly string[];
  /** The folders inside of it, by their path below it, each with one sentence on its purpose. */
  readonly folders?: Readonly<Record<string, string>>;
}

/** An import of a source file; `specifier` is null where it is not a literal. */
export interface Import {
  readonly specifier: string | null;
  readonly line: number;
}

/** The imports of every source file, by path below `src`. */
export type SourceImports = ReadonlyMap<string, readonly Import[]>;

/** The layers of architecture.json, in its order: from the lowest to the highest. */
export function readLayers(): readonly Layer[] {
  const table = JSON.parse(readFileSync(new URL('architecture.json', ROOT), 'utf8')) as Record<
    string,
    Omit<Layer, 'name'>
  >;
  return Object.entries(table).map(([name, layer]) => ({ name, ...layer }));
}

/** The imports of all files of `src`. Throws SyntaxError if one cannot be parsed. */
export function readImports(): SourceImports {
  const src = new URL('src/', ROOT);
  const paths = globSync('**/*.{ts,mts,cts,js,mjs,cjs}', { cwd: src }).map((path) => path.replaceAll('\\', '/'));
  return new Map(paths.sort().map((path) => [path, findImports(path, readFileSync(new URL(path, src), 'utf8'))]));
}

/** The layer that a file belongs to: the longest name that is its path or a folder above it; null if there is none. */
function findLayer(path: string, layers: readonly Layer[]): Layer | null {
  const owners = layers.filter(({ name }) => path === name || path.startsWith(`${name}/`));
  return owners.sort((a, b) => b.name.length - a.name.length)[0] ?? null;
}

/** Every import, export from, `import()`, `import('…').Type`, `require()` and `new URL('….ts')` of a file. Throws SyntaxError. */
export function findImports(path: string, text: string): readonly Import[] {
  const { program, errors } = parseSync(path, text);
  const [error] = errors;
  if (error !== undefined) {
    throw new SyntaxError(`src/${path}: ${error.message}`);
  }
  const found: Import[] = [];
  const add = ({ start, source }: { readonly start: number; readonly source: object | null }) => {
    if (source !== null) {
      const specifier = 'value' in source && typeof source.value === 'string' ? source.value : null;
      found.push({ specifier, line: text.slice(0, start).split('\n').length });
    }
  };
  new Visitor({
    ImportDeclaration: add,
    ExportNamedDeclaration: add,
    ExportAllDeclaration: add,
    ImportExpression: add,
    TSImportType: add,
    TSExternalModuleReference: ({ start, expression }) => add({ start, source: expression }),
    CallExpression: ({ start, callee, arguments: [source] }) => {
      if (callee.type === 'Identifier' && callee.name === 'require' && source !== undefined) {
        add({ start, source });
      }
    },
    NewExpression: ({ start, callee, arguments: [path] }) => {
      // The file of a worker thread.
      const choices = path?.type === 'ConditionalExpression' ? [path.consequent, path.alternate] : [path];
      for (const source of choices) {
        const isScript = source?.type === 'Literal' && /^\.{1,2}\/.*\.[cm]?[jt]s$/.test(String(source.value));
        if (callee.type === 'Identifier' && callee.name === 'URL' && isScript) {
          add({ start, source });
        }
      }
    },
  }).visit(program);
  return found;
}

/** The layer that an import leads to, null for a package, or what is wrong with its path. */
function resolveImport(path: string, { specifier }: Import, layers: readonly Layer[]): Layer | string | null {
  if (specifier === null) {
    return 'the path of an import must be a literal';
  }
  if (isBuiltin(specifier) || /^@?\w[^:]*$/.test(specifier)) {
    return null;
  }
  const target = posix.join(posix.dirname(path), specifier);
  const layer = specifier.startsWith('.') ? findLayer(target, layers) : null;
  return layer ?? `${specifier} is not in a layer of architecture.json`;
}

/** Imports that the layers do not allow, one message each. */
export function findForbiddenImports(sources: SourceImports, layers: readonly Layer[]): readonly string[] {
  return [...sources].flatMap(([path, imports]) => {
    const from = findLayer(path, layers);
    return imports.flatMap((found) => {
      const to = resolveImport(path, found, layers);
      if (to === null || from === to || (typeof to === 'object' && from?.imports.includes(to.name))) {
        return [];
      }
      const problem = typeof to === 'string' ? to : `${from?.name ?? path} may not import ${to.name}`;
      return [`src/${path}:${found.line}: ${problem}`];
    });
  });
}

/** Mistakes in the list itself, one message each: files without a layer, layers without files, and cycles. */
export function findTableProblems(sources: SourceImports, layers: readonly Layer[]): readonly string[] {
  const names = layers.map(({ name }) => name);
  const owned = new Set([...sources.keys()].map((path) => findLayer(path, layers)?.name));
  return [
    ...[...sources.keys()]
      .filter((path) => findLayer(path, layers) === null)
      .map((path) => `src/${path}: has no layer`),
    ...names.filter((name) => !owned.has(name)).map((name) => `${name}: has no files`),
    ...layers.filter(({ purpose }) => !/^[A-Z`].*\.$/.test(purpose)).map(({ name }) => `${name}: has no purpose`),
    ...layers.flatMap(({ name, imports }, index) =>
      imports
        .filter((other) => !names.slice(0, index).includes(other))
        .map((other) => `${name}: imports ${other}, which is not listed above it`),
    ),
  ];
}

/**
 * Mistakes in the folders inside of layers, one message each: folders without a purpose, purposes without a folder, and
 * folders that import each other in a cycle.
 */
export function findFolderProblems(sources: SourceImports, layers: readonly Layer[]): readonly string[] {
  const files = Map.groupBy(sources.keys(), (path) => posix.dirname(path));
  const listed = layers.flatMap(({ name, folders = {} }) => [
    name,
    ...Object.keys(folders).map((each) => `${name}/${each}`),
  ]);
  const arrows = new Map(
    [...files].map(([folder, paths]) => [
      folder,
      new Set(paths.flatMap((path) => foldersOf(path, sources.get(path) ?? []))),
    ]),
  );
  return [
    ...[...files.keys()]
      .filter((folder) => folder !== '.' && !listed.includes(folder))
      .map((each) => `src/${each}: has no purpose in architecture.json`),
    ...listed.filter((each) => each.includes('/') && !files.has(each)).map((each) => `${each}: has no files`),
    ...[...files.keys()]
      .filter((folder) => folder !== '.' && reaches(arrows, folder, folder))
      .map((folder) => `src/${folder}: imports itself by way of other folders`),
  ];
}

function foldersOf(path: string, imports: readonly Import[]): readonly string[] {
  return (
    imports
      .filter(({ specifier }) => specifier?.startsWith('.') === true)
      .map(({ specifier }) => posix.dirname(posix.join(posix.dirname(path), specifier as string)))
      // Files directly in src are layers of their own.
      .filter((folder) => folder !== '.' && folder !== posix.dirname(path))
  );
}

function reaches(arrows: ReadonlyMap<string, ReadonlySet<string>>, from: string, to: string): boolean {
  const seen = new Set<string>();
  const open = [from];
  for (let folder = open.pop(); folder !== undefined; folder = open.pop()) {
    for (const next of arrows.get(folder) ?? []) {
      if (next === to) {
        return true;
      }
      if (!seen.has(next)) {
        seen.add(next);
        open.push(next);
      }
    }
  }
  return false;
}

/** Allowed imports that no file makes, which can be removed from the list. */
export function findUnusedAllowances(sources: SourceImports, layers: readonly Layer[]): readonly string[] {
  const used = new Set(
    [...sources].flatMap(([path, imports]) =>
      imports.map((found) => {
        const to = resolveImport(path, found, layers);
        return `${findLayer(path, layers)?.name} imports ${typeof to === 'object' ? to?.name : to}`;
      }),
    ),
  );
  return layers
    .flatMap(({ name, imports }) => imports.map((other) => `${name} imports ${other}`))
    .filter((edge) => !used.has(edge));
}

/** The table of the layers in docs/architecture.md. */
export function layersTable(layers: readonly Layer[]): string {
  const rows = layers.flatMap(({ name, purpose, imports, folders = {} }) => {
    const others = imports.length === 0 ? 'nothing' : imports.map((other) => `\`${other}\``).join(', ');
    const inside = Object.entries(folders).map(([folder, what]) => `| \`${name}/${folder}\` | ${what} | |`);
    return [`| \`${name}\` | ${purpose} | ${others} |`, ...inside];
  });
  return ['| in `src/` | purpose | may import |', '|---|---|---|', ...rows].join('\n');
}
