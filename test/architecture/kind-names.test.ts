import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { kinds } from '../../src/kinds/registry.ts';

/** Settings that have the same name as a kind. */
const SETTINGS: Readonly<Record<string, readonly string[]>> = {
  'config/clusters.ts': ['space'],
  'config/store.ts': ['organization'],
  'config/notifications.ts': ['organization'],
};

const SRC = new URL('../../src/', import.meta.url);
const files = ['plan', 'config'].flatMap((folder) =>
  readdirSync(new URL(folder, SRC), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => `${folder}/${name}`),
);

/** Kinds that a source text names, alone or at the start of an address. */
function kindsNamedIn(text: string): readonly string[] {
  const code = text.replace(/\/\*[\s\S]*?\*\/|\/\/.*/g, '');
  return kinds.map(({ name }) => name).filter((name) => new RegExp(`['"\`]${name}(?:/|['"\`])`).test(code));
}

describe('kinds are named only where they are defined', () => {
  test.each(files)('src/%s names no kind', (path) => {
    const named = kindsNamedIn(readFileSync(new URL(path, SRC), 'utf8'));
    expect(named.filter((name) => SETTINGS[path]?.includes(name) !== true)).toEqual([]);
  });
});
