import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createYamlReader, parsePlainYaml, type YamlNode } from '../../src/manifests/yaml.ts';

const read = createYamlReader();

/** A comment with a tab, which only the library reads. */
const ONLY_LIBRARY = '\n#\t\n';

const isPlain = (text: string) => parsePlainYaml(text, (source) => source) !== null;

/** Contents without the ends of collections: the library counts what follows the last value. */
function withoutEnds(node: YamlNode | null): unknown {
  if (node === null || node.type === 'scalar' || node.type === 'alias') {
    return node;
  }
  const { end, ...rest } = node;
  return node.type === 'map'
    ? { ...rest, pairs: node.pairs.map(({ key, value }) => [withoutEnds(key), withoutEnds(value)]) }
    : { ...rest, items: node.items.map(withoutEnds) };
}

function readBoth(text: string) {
  return [read(text), read(text + ONLY_LIBRARY)].map(({ documents, problems }) => ({
    problems,
    documents: documents.map(({ broken, contents }) => ({ broken, contents: withoutEnds(contents) })),
  }));
}

const keys = fc.constantFrom('a', 'teams', 'b-1', '/path', 'x@y.example', 'null', '12', '__proto__');
const values = fc.constantFrom(
  ...['word', 'two words', 'x:y', 'http://x.example/y', 'é 😀', 'x#c', 'a-b', 'a, b', '^', '\\d', '=', '<<', '\u2028'],
  ...['1', '-1', '+1', '012', '0x1F', '0o17', '1.5', '.5', '1e3', '1e999', '.inf', '.nan', '2026-01-01', '1_0', '9'],
  ...['null', '~', 'True', 'tRue', '-a', '.', '..', '...', '---', '-', '- a', '- a: 1', '- - a', '? a', ': a'],
  ...['"q"', '"q" x', '"\\n"', "'q'", "'it''s'", '"', "'", '&a', '&a b', '*a', '!t x', '|', '>', '%', '@x', '`', ','],
  ...['{}', '[]', '{ a: 1 }', '{a: b, c: "d"}', '{ a }', '{ a: }', '{ a:b }', '{ a: , b: 1 }', '{ "a": 1 }'],
  ...['[a, b]', '[ a , -1, ~ ]', '[a,]', '[a b , c]', '[ #c', '[', ']', '}', '{ a: [1, { b: c }] }', '{} x', '{}#c'],
  ...['a: b', 'a:', 'a : b', '', ' # c', ' x # c', '\u00a0', '\t', 'x\ty', 'x\r', '\ufeff'],
);
const indents = fc.constantFrom('', '', '  ', '  ', '    ', '    ', ' ', '      ', '   ');
const gaps = fc.constantFrom(' ', ' ', ' ', '', '  ');
const lines = fc.oneof(
  { weight: 6, arbitrary: fc.tuple(indents, keys, fc.constant(':'), gaps, values).map((parts) => parts.join('')) },
  { weight: 4, arbitrary: fc.tuple(indents, keys, fc.constant(':')).map((parts) => parts.join('')) },
  { weight: 3, arbitrary: fc.tuple(indents, fc.constant('-'), gaps, values).map((parts) => parts.join('')) },
  { weight: 2, arbitrary: fc.tuple(indents, fc.constant('- '), keys, fc.constant(': x')).map((each) => each.join('')) },
  { weight: 1, arbitrary: fc.tuple(indents, fc.constantFrom('# c', '#', '', 'word')).map((parts) => parts.join('')) },
);
/** Nested mappings and lists, whose values may be invalid. */
const nested = fc
  .array(fc.record({ depth: fc.nat(3), isItem: fc.boolean(), key: keys, gap: gaps, value: values }), { minLength: 1 })
  .map((entries) => {
    let before = -1;
    return entries.map(({ depth, isItem, key, gap, value }, index) => {
      before = Math.min(depth, before + 1);
      const hasChildren = (entries[index + 1]?.depth ?? 0) > before;
      const start = '  '.repeat(before) + (isItem && before > 0 ? '- ' : `${key}${index}:`);
      return start + (hasChildren ? '' : gap + value);
    });
  });
const texts = fc
  .tuple(fc.oneof(nested, fc.array(lines, { minLength: 1, maxLength: 7 })), fc.constantFrom('\n', '', '\n\n', ' \n'))
  .map(([all, end]) => all.join('\n') + end);

describe('the parser for plain YAML', () => {
  it('reads the same values at the same offsets as the library, in whatever it accepts', () => {
    let accepted = 0;
    fc.assert(
      fc.property(texts, (text) => {
        if (isPlain(text)) {
          accepted += 1;
          const [plain, library] = readBoth(text);
          expect(plain).toEqual(library);
        }
      }),
      { numRuns: 20_000 },
    );
    expect(accepted).toBeGreaterThan(500);
  });

  it.each([
    ['comments and empty lines', '# a\nteams:\n\n  a: # b\n    # c\n    title: Docs # d\n'],
    ['lists of mappings', 'sites:\n  a:\n    spaces:\n      - space: b\n        path: c\n      -\n        space: d\n'],
    ['lists in the column of their key', 'spaces:\n  a:\n    languages:\n    - de\n    - fr\n'],
    ['collections on one line', 'teams:\n  a: {}\n  b: { title: B b, members: [x, { y: "z" }] }\n'],
    ['numbers, booleans and null', 'a:\n  - 1\n  - 1.5\n  - true\n  - ~\n  - 1e3\n  - 0x1F\n  -\n'],
    ['text in quotes', 'a:\n  b: "c: d"\n  e: \'# f\'\n  g: ""\n'],
  ])('accepts %s', (_what, text) => {
    expect(isPlain(text)).toBe(true);
    const [plain, library] = readBoth(text);
    expect(plain).toEqual(library);
  });

  it.each([
    ['anchors', 'a: &b c\nd: *b\n'],
    ['tags', 'a: !b c\n'],
    ['block scalars', 'a: |\n  b\n'],
    ['values on several lines', 'a: b\n  c\n'],
    ['escapes', 'a: "\\n"\n'],
    ['tabs', 'a:\tb\n'],
    ['several documents', 'a: b\n---\nc: d\n'],
    ['a member in another column', 'a:\n    b: c\n  d: e\n'],
    ['a text that is not a mapping', 'a\n'],
    ['no content', '# a\n'],
    ['deep nesting', `a: ${'['.repeat(200)}${']'.repeat(200)}\n`],
    ['deep nesting by indentation', Array.from({ length: 200 }, (_, depth) => `${' '.repeat(depth)}a:\n`).join('')],
  ])('leaves %s to the library', (_what, text) => {
    expect(isPlain(text)).toBe(false);
  });
});
