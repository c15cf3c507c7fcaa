/** Checks that every section of the documentation that code or pages cite exists. */
import { describe, expect, test } from 'vitest';
import { brokenCitations, citationsIn, repositoryPages } from './citations.ts';

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
    expect(pages.flatMap(citationsIn).length).toBeGreaterThan(300);
    expect(pages.flatMap(brokenCitations)).toEqual([]);
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
