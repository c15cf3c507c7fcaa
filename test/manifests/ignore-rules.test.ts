import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { IGNORE_LIMITS, parseIgnoreRules } from '../../src/manifests/manifest-files.ts';
import { makeFolder, makeRepository } from '../git/repository.ts';
import { countCases } from '../support/campaign.ts';
import { execFileSync } from '../support/programs.ts';

const folder = makeFolder();
makeRepository(folder);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const RUNS = Number(process.env.OCTAVO_RUNS ?? countCases({ sample: 50, ci: 200, full: 10000 }));

/** Returns the paths that git itself ignores. */
function ignoredByGit(rules: string, paths: readonly string[]): readonly string[] {
  writeFileSync(join(folder, '.gitignore'), rules);
  const settings = ['-c', 'core.ignoreCase=false', '-c', 'core.excludesFile=/dev/null'];
  try {
    const listed = execFileSync('git', [...settings, 'check-ignore', '--no-index', '-z', '--stdin'], {
      cwd: folder,
      input: paths.map((path) => `${path}\0`).join(''),
      encoding: 'utf8',
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    return listed.split('\0').slice(0, -1);
  } catch (error) {
    // Nothing is ignored.
    expect((error as { status: number }).status).toBe(1);
    return [];
  }
}

function ignoredHere(rules: string, paths: readonly string[]): readonly string[] {
  const parsed = parseIgnoreRules(Buffer.from(rules));
  return paths.filter((path) => parsed.ignores(path));
}

const piece = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom('a', 'b', 'ab', 'A', '1', 'ü', '-', 'x.yaml') },
  { weight: 5, arbitrary: fc.constantFrom('*', '**', '***', '?', '/', '/**/', '**/', '/**', '*.yaml') },
  { weight: 2, arbitrary: fc.constantFrom('[ab]', '[!a]', '[^b]', '[a-c]', '[]a]', '[]-a]', '[a-]', '[--a]', '[!]a]') },
  {
    weight: 2,
    arbitrary: fc.constantFrom('[[:alpha:]]', '[[:digit:]-b]', '[[:punct:][:space:]]', '[[:nope:]]', '[[:]'),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom('\\', '\\a', '\\*', '\\[', '\\/', '\\ ', '[\\]a]', '[\\a-b]', '[a-\\b]', '['),
  },
  { weight: 2, arbitrary: fc.constantFrom(' ', '#', '!', '.', ']', ':', '\t', '\r', '\u200d', '🙂') },
);
const pattern = fc
  .tuple(
    fc.constantFrom('', '', '', '!', '/', '#', '\\!', '\\#', ' '),
    fc.array(piece, { maxLength: 7 }),
    fc.constantFrom('', '', '/', ' '),
  )
  .map(([before, pieces, after]) => `${before}${pieces.join('')}${after}`);
const rules = fc
  .tuple(
    fc.constantFrom('', '', '\ufeff'),
    fc.array(pattern, { minLength: 1, maxLength: 5 }),
    fc.constantFrom('\n', '\r\n'),
  )
  .map(([mark, lines, end]) => mark + lines.join(end));
const name = fc
  .array(
    fc.constantFrom('a', 'b', 'c', 'ab', 'A', '1', 'ü', '-', '.', '*', '[', ']', '\\', '!', '#', ' ', 'x.yaml', '🙂'),
    {
      minLength: 1,
      maxLength: 4,
    },
  )
  .map((pieces) => pieces.join(''))
  .filter((text) => !/^\.+$/.test(text));
const paths = fc.uniqueArray(
  fc.array(name, { minLength: 1, maxLength: 4 }).map((names) => names.join('/')),
  { minLength: 1, maxLength: 30 },
);

describe('ignore rules', () => {
  test('ignore the same files as git', () => {
    fc.assert(
      fc.property(rules, paths, (text, all) => {
        expect(ignoredHere(text, all)).toEqual(ignoredByGit(text, all));
      }),
      { numRuns: RUNS },
    );
  }, 120_000);

  test.each([
    ['foo**/bar', ['foo/bar', 'foox/bar', 'foo/x/bar', 'foox/y/bar', 'fo/bar']],
    ['a/**/b', ['a/b', 'a/x/b', 'a/x/y/b', 'ab', 'x/a/b']],
    ['abc/**', ['abc', 'abc/d', 'abc/d/e']],
    ['**/foo', ['foo', 'a/foo', 'a/foo/b']],
    ['/x\n!/x/y', ['x', 'x/y']],
    ['*\n!*/\n!*.yaml', ['a.yaml', 'b/a.yaml', 'b/a.txt']],
    ['a\\ \nb \nc\\\\ ', ['a ', 'a', 'b', 'c\\', 'c\\ ']],
    ['??', ['ü', 'ab', 'a']],
    ['/\n//\n!\n#\n\\', ['a', '#', '!']],
  ])('%j is parsed as by git', (text, all) => {
    expect(ignoredHere(text, all)).toEqual(ignoredByGit(text, all));
  });

  test.each([
    ['stars between letters', '*a'.repeat(50), 'a'.repeat(4000)],
    ['folders at any depth', `${'**/a/'.repeat(50)}x`, `${'a/'.repeat(300)}b`],
    ['stars in each folder', '*a*/'.repeat(30), `${'aaaa/'.repeat(200)}b`],
    ['sets and stars', '[!b]*?'.repeat(30), 'a'.repeat(4000)],
  ])('%s take steps bounded by pattern × path, for the file and each folder above it', (_name, text, path) => {
    const steps = 2 * text.length * path.length * path.split('/').length;
    expect(() => parseIgnoreRules(Buffer.from(text), { ...IGNORE_LIMITS, steps }).ignores(path)).not.toThrow();
  });
});
