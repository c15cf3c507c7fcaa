import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { optionalMembers } from '../../scripts/kind-members.ts';

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

test('the worked examples of the page are the sources of the kind and of its sample', () => {
  const [kind = '', sample = ''] = [...read('docs/adding-a-kind.md').matchAll(/```ts\n([\s\S]*?)```/g)].map(
    ([, example = '']) => example,
  );
  expect(kind).toContain('listedKind({');
  expect(read('src/kinds/collection.ts')).toContain(kind);
  expect(sample).toContain('collection: {');
  expect(read('test/contract/samples.ts')).toContain(sample);
});

test('finds optional members with their docstrings', () => {
  const source =
    'interface A {\n  /** One. */\n  readonly one?: string;\n  two: string;\n  /**\n   * Three {@link A.one}.\n   */\n  three?(): void;\n}';
  expect(optionalMembers(source, 'A')).toEqual([
    { name: 'one', text: 'One.' },
    { name: 'three', text: 'Three `one`.' },
  ]);
});

test('refuses an optional member without a docstring', () => {
  expect(() => optionalMembers('interface A {\n  one?: string;\n}', 'A')).toThrow('A.one has no docstring');
});
