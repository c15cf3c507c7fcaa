/** The page about a new kind shows code of the repository. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

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
