/** Checks that docs, help, messages and comments use plain language, and that no type name is exported twice. */
import { expect, test } from 'vitest';
import { repositoryPages } from './citations.ts';

const TESTS = /^(?:test|bench)\/.*\.[jt]s$/;
const pages = repositoryPages().filter(({ path }) => TESTS.test(path) || !/^(?:test|bench)\//.test(path));

/** Phrases that a reader has to translate, each with the wording that an engineer would use instead. */
const BANNED: Readonly<Record<string, RegExp>> = {
  'is told of: learns, receives': /\b(?:told|tells|telling) of\b/i,
  'told: notified, reported': /(?<!`)\btold\b(?!`| him\b)/i,
  'so many: N, a number of': /\bso many\b/i,
  'whoever: anyone who, the person who': /\bwhoever\b/i,
  'anew: again': /\banew\b/i,
  'beside, besides: next to, in addition to': /\bbesides?\b/i,
  'by hand: manually': /\bby hand\b/i,
  'mend: fix': /\bmend(?:s|ed|ing)?\b/i,
  'as it is meant to be: the default': /\bas it is meant\b/i,
  'of which: split the sentence': /\bof which\b/i,
  'stands: is': /\b(?:stands|stood)\b(?! for\b| in for\b)/i,
  'lies: is': /\blies\b/i,
  'is no X: is not an X':
    /(?<!\bthere )\b(?:is|are|was|were) no (?!longer\b|more\b|other\b|less\b|such\b|need\b)[a-z]/i,
  'nothing of: none of': /\bnothing of\b/i,
  'that is to say': /\bthat is to say\b/i,
};
const DOCSTRING = /\/\*\*\s*(?:\*\s*)?(?:What|Whether|How|Who|Where|Whose)\b/;

const QUOTED = /'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`[^`]*`?/g;
const TITLE =
  /^[ \t]*(?:(?:test|it|describe)\b[^\n]*?|[\])}]+)\(\s*('(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`[^`\n]*`)/gm;

/** Comments of a line of code; `code` is the line without its quoted texts. */
function commentOf(line: string, code: string): string {
  return /^\s*(?:\/\*\*?|\*|\/\/)(.*)$/.exec(line)?.[0] ?? / \/[/*].*$/.exec(code)?.[0] ?? '';
}

/** Comments and titles of a test, without other quoted texts: tests quote hostile and wrong text. */
function proseOfTest(text: string): readonly (readonly [number, string])[] {
  const comments = text
    .split('\n')
    .map((line, index) => [index + 1, commentOf(line, line.replaceAll(QUOTED, "''"))] as const);
  const titles = [...text.matchAll(TITLE)].map(
    (match) => [text.slice(0, match.index + match[0].length).split('\n').length, match[1] ?? ''] as const,
  );
  return [...comments, ...titles].filter(([, part]) => part !== '');
}

/** Text that people read: a whole page, or the comments and quoted texts of code, with the number of each line. */
function proseOf(path: string, text: string): readonly (readonly [number, string])[] {
  const lines = text.split('\n');
  if (!/\.[jt]s$/.test(path)) {
    return lines.map((line, index) => [index + 1, line] as const);
  }
  if (TESTS.test(path)) {
    return proseOfTest(text);
  }
  return lines.flatMap((line, index) => {
    const comment = commentOf(line, line);
    const quoted = comment === '' ? [...line.matchAll(QUOTED)].map(([all]) => all) : [];
    return [comment, ...quoted].filter((part) => part !== '').map((part) => [index + 1, part] as const);
  });
}

function violations(path: string, text: string): readonly string[] {
  return proseOf(path, text).flatMap(([line, prose]) => [
    ...Object.entries(BANNED).flatMap(([rule, phrase]) =>
      phrase.test(prose) ? [`${path}:${line}: ${rule}: ${prose.trim()}`] : [],
    ),
    ...(DOCSTRING.test(prose) ? [`${path}:${line}: a docstring starts with a noun or a verb: ${prose.trim()}`] : []),
  ]);
}

test('no page, help text, message or comment contains a banned phrase', () => {
  expect(pages.flatMap(({ path, text }) => violations(path, text))).toEqual([]);
});

test('no type name is exported twice', () => {
  const places = new Map<string, string[]>();
  for (const { path, text } of pages.filter(({ path }) => path.startsWith('src/'))) {
    for (const [, name = ''] of text.matchAll(/^export (?:abstract )?(?:interface|type|class|enum) (\w+)/gm)) {
      places.set(name, [...(places.get(name) ?? []), path]);
    }
  }
  expect([...places].filter(([, paths]) => paths.length > 1)).toEqual([]);
});
