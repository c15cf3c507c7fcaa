/** Checks that every section of the documentation that code or pages cite exists. */
import { describe, expect, test } from 'vitest';
import { anchorsOf, brokenCitations, citationsIn, repositoryPages } from './citations.ts';

const THIS = 'test/docs/anchors.test.ts';
const pages = repositoryPages().filter(({ path }) => path !== THIS);

/** Names of documents that are not in the repository. */
const OUTSIDE: readonly RegExp[] = [
  /\bsupplement\b/i,
  /\b(?:queue policy|ticket connectors|field lessons|reliability rules)\b/i,
  /\((?:the )?design\)|\bdesign: [A-Z]/,
  /\b(?:[Pp]latform API|API document)[,:] [A-Z]/,
];

describe('citations', () => {
  test('point to existing headings', () => {
    expect(pages.flatMap(brokenCitations)).toEqual([]);
  });

  test('are found in code and pages', () => {
    const citing = pages.filter((page) => citationsIn(page).length > 0).map(({ path }) => path);
    expect(citing).toEqual(
      expect.arrayContaining(['src/queue/request.ts', 'test/vendor/judge.ts', 'docs/clusters.md']),
    );
    expect(pages.filter(({ path }) => path.startsWith('src/')).flatMap(citationsIn).length).toBeGreaterThan(300);
  });

  test('do not name a document outside the repository', () => {
    const named = pages.flatMap(({ path, text }) =>
      text
        .split('\n')
        .flatMap((line, index) =>
          OUTSIDE.some((name) => name.test(line)) ? [`${path}:${index + 1}: ${line.trim()}`] : [],
        ),
    );
    expect(named).toEqual([]);
  });
});

describe('a citation is reported', () => {
  test.each([
    [
      'of a heading that does not exist',
      'src/a.ts',
      '// Source: docs/platform-notes.md#rate-limit',
      'docs/platform-notes.md#rate-limit',
    ],
    ['of a page that does not exist', 'src/a.ts', '/** Source: docs/platform.md#errors */', 'docs/platform.md#errors'],
    ['of a page as a whole', 'src/a.ts', '// See docs/platform.md.', 'docs/platform.md#'],
    ['in other letter case', 'src/a.ts', "says: 'docs/platform-notes.md#Errors'", 'docs/platform-notes.md#Errors'],
    ['as a link between pages', 'docs/a.md', '[limits](platform-notes.md#rate)', 'docs/platform-notes.md#rate'],
    ['as a link within a page', 'docs/metrics.md', '[there](#nowhere)', 'docs/metrics.md#nowhere'],
    ['as a link from the README', 'README.md', '[limits](docs/platform-notes.md#rate)', 'docs/platform-notes.md#rate'],
  ])('%s', (_what, path, text, broken) => {
    expect(brokenCitations({ path, text })).toEqual([`${path}: ${broken}`]);
  });

  test.each([
    ['of a heading', 'src/a.ts', 'Source: docs/platform-notes.md#rate-limits'],
    ['at the end of a sentence', 'src/a.ts', 'See docs/platform-notes.md#rate-limits.'],
    ['as a link between pages', 'docs/a.md', '[limits](platform-notes.md#rate-limits)'],
    ['of another site', 'docs/a.md', '[limits](https://example.com/docs/page.md#rate)'],
  ])('not if it is valid: %s', (_what, path, text) => {
    expect(brokenCitations({ path, text })).toEqual([]);
  });
});

describe('the anchor of a heading', () => {
  test.each([
    ['in lower case, with hyphens', '## Rate limits', ['rate-limits']],
    ['without punctuation', '### `Told`: a "word" (or two)', ['told-a-word-or-two']],
    ['with the text of a link', '## [Limits](x.md) of it', ['limits-of-it']],
    ['numbered when repeated', '## A\n\n## A', ['a', 'a-1']],
    ['not of a comment in code', '```yaml\n# no heading\n```\n\n## One', ['one']],
  ])('is %s', (_what, markdown, anchors) => {
    expect(anchorsOf(markdown)).toEqual(anchors);
  });
});
