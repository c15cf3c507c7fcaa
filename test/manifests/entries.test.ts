import { describe, expect, it } from 'vitest';
import { problemsOf } from './loading.ts';

async function teamProblems(entry: string): Promise<string[]> {
  return problemsOf({ 'a.yaml': `teams:\n  a: ${entry}\n` });
}

describe('entries', () => {
  it.each([
    ['{ titel: Ab }', '2:8: team/a: unknown field "titel"; did you mean "title"?'],
    [
      '{ colour: red }',
      '2:8: team/a: unknown field "colour"; valid fields: title, membership, members, size, note, shape, site, source, id, renamedFrom, protect, paused, ignore',
    ],
    ['{ title: 3 }', '2:15: team/a: title must be a string, not a number; quote it'],
    ['{ title: 2024 }', '2:15: team/a: title must be a string, not a number; quote it'],
    ['{ title: true }', '2:15: team/a: title must be a string, not true; quote it'],
    ['{ title: [x] }', '2:15: team/a: title must be a string, not a list'],
    ['{ title: { file2: x } }', '2:15: team/a: title must be a string, not a mapping'],
    ['{ title: x }', '2:15: team/a: title is 1 characters long, must be 2 to 64'],
    [`{ title: ${'x'.repeat(65)} }`, '2:15: team/a: title is 65 characters long, must be at most 64'],
    [
      '{ title: null }',
      '2:15: team/a: title cannot be cleared: null is not allowed here; leave the field out if it should not be managed',
    ],
    [
      '{ membership: exakt }',
      '2:20: team/a: membership must be one of exact, additive, not "exakt"; did you mean "exact"?',
    ],
    ['{ membership: true }', '2:20: team/a: membership must be one of exact, additive, not true'],
    [
      '{ members: { x@y.example: amdin } }',
      '2:32: team/a: members["x@y.example"] must be one of admin, create, review, edit, comment, read, not "amdin"; did you mean "admin"?',
    ],
    ['{ members: [x] }', '2:17: team/a: members must be a mapping, not a list'],
    ['{ size: big }', '2:14: team/a: size must be a number, not "big"'],
    ['{ size: 9 }', '2:14: team/a: size is 9, must be at most 5'],
    ['{ size: 1.5 }', '2:14: team/a: size must be a whole number, not a number'],
    ['{ note: [x] }', '2:14: team/a: note must be a string, or { file: path }'],
    [
      '{ note: null }',
      '2:14: team/a: note cannot be cleared: null is not allowed here; leave the field out if it should not be managed',
    ],
    ['{ shape: x }', '2:15: team/a: shape must be a mapping, or { file: path }'],
    ['{ site: ftp://x }', '2:14: team/a: site "ftp://x" is not an address that begins with https:// or http://'],
    ['{ source: { urll: "https://x.example" } }', '2:18: team/a: unknown field "urll" in source; did you mean "url"?'],
    ['{ source: { text: x } }', '2:8: team/a: source.draft is missing; it must be true or false'],
    ['{ source: text }', '2:16: team/a: source must be a mapping, not "text"'],
    ['{ protect: yes }', '2:17: team/a: protect must be true or false, not "yes"'],
    ['{ paused: { until: 2030-01-01 } }', '2:8: team/a: paused.reason is missing; it must be a string'],
    [
      '{ paused: { reason: x, until: soon } }',
      '2:36: team/a: paused.until is not a date in the form YYYY-MM-DD, such as 2030-01-31',
    ],
    [
      '{ paused: { reason: x, until: 2030-02-30 } }',
      '2:36: team/a: paused.until is not a day of the calendar; write one that exists, such as 2030-01-31',
    ],
    ['{ ignore: [titel] }', '2:17: team/a: cannot ignore "titel": no such field; did you mean "title"?'],
    ['text', '2:3: team/a: the entry must be a mapping, not "text"'],
  ])('reports the problem of %s', async (entry, problem) => {
    expect(await teamProblems(entry)).toEqual([`a.yaml:${problem}`]);
  });

  it('reports all problems of an entry', async () => {
    expect(await teamProblems('{ size: 9, title: 3, colour: red, membership: x }')).toHaveLength(4);
  });

  it('points at the entry of a missing field', async () => {
    expect(await problemsOf({ 'a.yaml': 'folders:\n  x:\n    protect: true\n' })).toEqual([
      'a.yaml:2:3: folder/x: title is missing; it must be a string',
    ]);
  });

  it('does not report a misspelled field as missing', async () => {
    expect(await problemsOf({ 'a.yaml': 'folders:\n  x:\n    titel: Ab\n' })).toEqual([
      'a.yaml:3:5: folder/x: unknown field "titel"; did you mean "title"?',
    ]);
  });

  it('points at the key if the value is empty', async () => {
    expect(await problemsOf({ 'a.yaml': 'folders:\n  x:\n    title:\n' })).toEqual([
      'a.yaml:3:5: folder/x: title cannot be cleared: null is not allowed here; leave the field out if it should not be managed',
    ]);
  });

  it('reports the problems that a kind finds, with the address of the part', async () => {
    expect(await problemsOf({ 'a.yaml': 'folders:\n  x: { title: Forbidden }\n' })).toEqual([
      'a.yaml:2:15: folder/x: title must not be "Forbidden"',
    ]);
    expect(await problemsOf({ 'a.yaml': 'books:\n  b:\n    pages:\n      - { page: one, ignore: [nxt] }\n' })).toEqual([
      'a.yaml:4:31: page/b/one: cannot ignore "nxt": no such field; did you mean "next"?',
    ]);
  });

  it('validates keys', async () => {
    const text = 'teams:\n  "w riters": {}\nmembers:\n  ana: {}\n';
    expect(await problemsOf({ 'a.yaml': text })).toEqual([
      'a.yaml:2:3: team/w riters: "w riters" cannot be a key here; use letters, digits, ".", "_" and "-", beginning with a letter or a digit, at most 100',
      'a.yaml:4:3: member/ana: "ana" cannot be a key here; use an email address',
    ]);
  });
});
