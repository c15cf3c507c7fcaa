/** Keeps the imports of src to what architecture.json allows, and finds every form of an import. */
import { describe, expect, test } from 'vitest';
import {
  findFolderProblems,
  findForbiddenImports,
  findImports,
  findTableProblems,
  findUnusedAllowances,
  type Layer,
  readImports,
  readLayers,
} from '../../scripts/layers.ts';

const layer = (name: string, ...imports: string[]): Layer => ({ name, purpose: 'Does something.', imports });

describe('architecture.json', () => {
  const [layers, sources] = [readLayers(), readImports()];
  const importsOf = (name: string) => layers.find((candidate) => candidate.name === name)?.imports;

  test('allows every import in src', () => {
    expect(findForbiddenImports(sources, layers)).toEqual([]);
  });

  test('lists every folder from bottom to top, without cycles', () => {
    expect(findTableProblems(sources, layers)).toEqual([]);
  });

  test('gives every folder a purpose, and no cycle', () => {
    expect(findFolderProblems(sources, layers)).toEqual([]);
  });

  test('allows nothing that is not needed', () => {
    expect(findUnusedAllowances(sources, layers)).toEqual([]);
  });

  test('core imports nothing, and nothing imports the command line', () => {
    expect(importsOf('core')).toEqual([]);
    expect(layers.filter(({ imports }) => imports.includes('cli.ts'))).toEqual([]);
  });

  test('the planner is pure: it imports only core', () => {
    expect(importsOf('plan')).toEqual(['core']);
  });

  test('the embedded platform shares only core with the client', () => {
    expect(importsOf('emulator')).toEqual(['core']);
    expect(layers.filter(({ imports }) => imports.includes('emulator')).map(({ name }) => name)).toEqual([
      'demo',
      'commands',
    ]);
  });
});

test.each([
  ["import { a } from './b.ts';", './b.ts'],
  ["import type { A } from './b.ts';", './b.ts'],
  ["import { type A, b } from './b.ts';", './b.ts'],
  ["import a, * as b from './b.ts';", './b.ts'],
  ["import './b.ts';", './b.ts'],
  ["import {\n  a,\n} from './b.ts';", './b.ts'],
  ["import data from './b.json' with { type: 'json' };", './b.json'],
  ["export { a } from './b.ts';", './b.ts'],
  ["export type { A } from './b.ts';", './b.ts'],
  ["export * as b from './b.ts';", './b.ts'],
  ["const { a } = await import('./b.ts');", './b.ts'],
  ["let a: import('./b.ts').A;", './b.ts'],
  ["type B = typeof import('./b.ts');", './b.ts'],
  ["import b = require('./b.ts');", './b.ts'],
  ["const { a } = require('./b.ts') as typeof b;", './b.ts'],
  ["function f() { return () => import(/* late */ './b.ts'); }", './b.ts'],
  ["new Worker(new URL('./b.ts', import.meta.url));", './b.ts'],
  ["const b = new URL(isSource ? './b.ts' : data, import.meta.url);", './b.ts'],
  ['const b = await import(path);', null],
  // biome-ignore lint/suspicious/noTemplateCurlyInString: source code of a template literal
  ['const b = await import(`./${name}.ts`);', null],
])('findImports finds the import in %s', (text, specifier) => {
  expect(findImports('a.ts', text)).toEqual([{ specifier, line: 1 }]);
});

const FOLDERS = [layer('core'), layer('queue/rate-limit', 'core'), layer('queue', 'queue/rate-limit'), layer('a.ts')];

test.each([
  ['core/a.ts', "import '../queue/b.ts';", 'core may not import queue'],
  ['core/a.ts', "import type { B } from '../queue/b.ts';", 'core may not import queue'],
  ['queue/a.ts', "import '../core/b.ts';", 'queue may not import core'],
  ['queue/rate-limit/a.ts', "import '../b.ts';", 'queue/rate-limit may not import queue'],
  ['core/a.ts', "import '../a.ts';", 'core may not import a.ts'],
  ['a.ts', "import './core/a.ts';", 'a.ts may not import core'],
  ['new/a.ts', "import '../core/b.ts';", 'new/a.ts may not import core'],
  ['core/a.ts', "import '../new/b.ts';", '../new/b.ts is not in a layer of architecture.json'],
  ['core/a.ts', "import '../../test/b.ts';", '../../test/b.ts is not in a layer of architecture.json'],
  ['core/a.ts', "import '/src/core/b.ts';", '/src/core/b.ts is not in a layer of architecture.json'],
  ['core/a.ts', "import 'file:///core/b.ts';", 'file:///core/b.ts is not in a layer of architecture.json'],
  ['core/a.ts', "import '#core/b.ts';", '#core/b.ts is not in a layer of architecture.json'],
  ['core/a.ts', 'import(name);', 'the path of an import must be a literal'],
])('findForbiddenImports refuses in %s: %s', (path, text, problem) => {
  expect(findForbiddenImports(new Map([[path, findImports(path, text)]]), FOLDERS)).toEqual([
    `src/${path}:1: ${problem}`,
  ]);
});
