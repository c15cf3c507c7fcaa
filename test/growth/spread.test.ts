import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const SOURCES = new URL('../../src/', import.meta.url);

/** A call of one of these methods with a spread argument, after arguments that may have brackets of their own. */
const SPREAD =
  /\.(?:push|unshift|splice|concat|max|min|fromCharCode|fromCodePoint|apply)\(\s*(?:(?:[^()[\]{}]|\([^()]*\)|\[[^[\]]*\]|\{[^{}]*\})*,\s*)?\.\.\..*/g;

test('no list is spread into call arguments, because long ones overflow the call stack', () => {
  const files = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
  const found = files.flatMap((file) =>
    [...readFileSync(new URL(file, SOURCES), 'utf8').matchAll(SPREAD)].map(([call]) => `${file}: ${call}`),
  );
  expect(found).toEqual([]);
  expect('list.push(...items)'.match(SPREAD)).not.toBeNull();
  expect('list.splice(at(1), [0].length,\n  ...items)'.match(SPREAD)).not.toBeNull();
});
