import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { optionalMembers } from '../../scripts/kind-members.ts';

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

test('the worked example of the page is the source of the kind', () => {
  const [, example = ''] = /```ts\n([\s\S]*?)```/.exec(read('docs/adding-a-kind.md')) ?? [];
  expect(example).toContain('listedKind({');
  expect(read('src/kinds/collection.ts')).toContain(example);
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
