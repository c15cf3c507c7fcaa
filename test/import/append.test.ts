import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { appendEntries } from '../../src/import/manifest-text.ts';

const NEW = 'new:\n  title: New\n  text: |\n    one\n\n    two\nmore: { title: More }\n';
const ADDED = { new: { title: 'New', text: 'one\n\ntwo\n' }, more: { title: 'More' } };

/** Possible ends of an entry's value. */
const ENDS = [
  ' { title: A }',
  ' { title: A } # why',
  '\n    title: A',
  '\n    title: A\n    # about its end',
  '\n    title: A\n\n    # about its end',
  '\n    text: |\n      one\n      two',
  '\n    text: |+\n      one\n\n',
  '\n    text: >-\n      one\n      two\n',
  '\n    list:\n      - 1\n      - 2',
  '\n    list:\n    - 1\n    - a: b',
  '\n    quoted: "one\n      two"',
  ' {\n    title: A\n  }',
  '',
  ' # nothing yet',
  ' null',
  '\n    member: &anchor { a: 1 }\n    other: *anchor',
];
const BEFORE = ['', '# ours\n\n', '\ufeff', 'saml: {}\n', '---\n', 'saml:\n  x: { label: X }\n---\n'];
const AFTER = [
  '',
  '\n',
  '\n\n',
  '\n# the end',
  '\n\n# the end\n',
  '\nspaces:\n  s: { title: S }\n',
  '\n...\n',
  '\n---\nspaces: {}\n',
];

/** The text without the additions; null if anything else has changed. */
function withoutAdded(text: string, appended: string): string | null {
  let start = 0;
  while (start < text.length && text[start] === appended[start]) {
    start += 1;
  }
  // A common part may extend into the addition.
  for (let at = start; at >= 0; at -= 1) {
    const rest = text.slice(at);
    if (appended.endsWith(rest)) {
      return appended.slice(0, at) + rest;
    }
  }
  return null;
}

describe('appended entries', () => {
  test('change no existing byte, and are read with the existing entries', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...BEFORE),
        fc.constantFrom(...ENDS),
        fc.constantFrom(...AFTER),
        fc.constantFrom('  ', '    ', ' '),
        fc.boolean(),
        (before, end, after, indent, isWindows) => {
          const wide = end.replaceAll('\n    ', `\n${indent}  `).replaceAll('\n  }', `\n${indent}}`);
          const plain = `${before}teams:\n${indent}a:${wide}${after}`;
          const text = isWindows ? plain.replaceAll('\n', '\r\n') : plain;
          const appended = appendEntries(text, 'teams', NEW);
          expect(appended).not.toBeNull();
          expect(withoutAdded(text, appended ?? '')).toBe(text);
          expect(sections(appended ?? '')).toEqual(merged(sections(text)));
          expect((appended ?? '').includes('\r')).toBe(isWindows);
        },
      ),
      { numRuns: 500, seed: 7 },
    );
  });

  test.each([
    ['teams:\n', 'teams:\n  new:\n'],
    ['teams: # none yet\n', 'teams: # none yet\n  new:\n'],
    ['teams:\n  # none yet\nspaces: {}\n', 'teams:\n  # none yet\n  new:\n'],
    ['teams:', 'teams:\n  new:\n'],
  ])('are added to the empty section %j', (text, begins) => {
    expect(appendEntries(text, 'teams', NEW)).toMatch(new RegExp(`^${begins}`));
  });

  test('come before a comment that belongs to the next section', () => {
    expect(appendEntries('teams:\n  a: { title: A }\n# spaces\nspaces: {}\n', 'teams', 'b: {}\n')).toBe(
      'teams:\n  a: { title: A }\n  b: {}\n# spaces\nspaces: {}\n',
    );
  });
});

test.each([
  ['teams: { a: { title: A } }\n'],
  ['teams: {}\n'],
  ['{"teams": {"a": {"title": "A"}}}\n'],
  ['teams: &all\n'],
  ['teams: !!map\n'],
  ['x: &all\n  a: { title: A }\nteams: *all\n'],
  ['? teams\n: a: { title: A }\n'],
  ['spaces: {}\n'],
  ['teams:\n  a: [\n'],
  [''],
])('appends nothing to %j, which has no line to append to', (text) => {
  expect(appendEntries(text, 'teams', NEW)).toBeNull();
});

type Sections = Record<string, Record<string, unknown> | null>;

/** All sections of all documents. */
function sections(text: string): Sections {
  const documents = parseAllDocuments(text).map((document) => document.toJS() as Sections | null);
  return Object.assign({}, ...documents.map((document) => document ?? {}));
}

function merged(before: Sections): Sections {
  return { ...before, teams: { ...before.teams, ...ADDED } };
}
