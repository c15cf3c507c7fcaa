import { describe, expect, test } from 'vitest';
import { RENAMED } from '../../src/config/load.ts';
import { configOf, problemsIn } from './loading.ts';

const CASES = Object.entries(RENAMED).flatMap(([path, names]) =>
  Object.entries(names).map(([old, current]) => [`${path}.${old}`, current] as const),
);

/** Writes one setting as YAML, one level per line, and returns the position of its key. */
function yamlOf(path: string): { readonly text: string; readonly line: number; readonly column: number } {
  const lines: string[] = [];
  let indent = 0;
  let dash = '';
  for (const part of path.split('.')) {
    if (part === '*') {
      dash = '- ';
      continue;
    }
    lines.push(`${' '.repeat(indent)}${dash}${part}:`);
    indent += dash.length + 2;
    dash = '';
  }
  return { text: `${lines.join('\n')} 1\n`, line: lines.length, column: (lines.at(-1) ?? '').search(/\w/) + 1 };
}

const messageOf = (text: string) => problemsIn(() => configOf(text, { kinds: [{ name: 'site' }] }), '').join('\n');

describe('a setting with an earlier name', () => {
  test.each(CASES)('%s is an error that names %s', (path, current) => {
    const { text, line, column } = yamlOf(path);
    const address = path.replaceAll('.*', '[0]');
    expect(messageOf(text).split('\n')).toContain(
      `config.yaml:${line}:${column}: ${address}: was renamed; use ${current}`,
    );
  });

  test.each(CASES)('%s has a current name that is a setting: %s', (path, current) => {
    const message = messageOf(yamlOf(path.replace(/[^.]+$/, current)).text);
    expect(message).not.toContain(`.${current}: unknown setting`);
    expect(message).not.toContain(`.${current}: was renamed`);
  });
});

test.each(['repeatInterval', 'digest', 'timezone'])(
  'notifications.%s is an error that says what to do without it',
  (name) => {
    expect(messageOf(`notifications:\n  ${name}: 1\n`)).toMatch(
      new RegExp(`config.yaml:2:3: notifications.${name}: was removed; .*\\b(?:no longer|instead)\\b`),
    );
  },
);
