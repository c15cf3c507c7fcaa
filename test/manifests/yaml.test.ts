import { describe, expect, it } from 'vitest';
import { createManifestLoader } from '../../src/manifests/loader.ts';
import { memoryTree } from '../support/memory-tree.ts';
import { fakeKinds } from './fake-kinds.ts';
import { load, problemsIn, problemsOf } from './loading.ts';

describe('broken YAML', () => {
  it.each([
    ['teams:\n\ta: {}\n', ['2:1: tabs are not allowed for indentation; use spaces']],
    [
      'teams:\n  a:\n    title: Foo: bar\n',
      ['3:12: a string with ": " must be quoted; a nested mapping starts on its own line'],
    ],
    ['teams:\n  a:\n    title: "x\n', ['4:1: a closing " is missing']],
    ['teams:\n  a: {}\n b: {}\n', ['3:1: the members of a mapping must start in the same column']],
    ['teams:\n  a:\n    title: @x\n', ['3:12: plain value cannot start with reserved character @; quote the string']],
    [
      'teams:\n  a:\n    title: "\\d"\n',
      ['3:13: invalid escape sequence \\d; use single quotes, or double the backslash'],
    ],
    [
      'teams\n',
      ['1:1: a manifest must be a mapping of sections (organization, members, teams, folders, books), not a string'],
    ],
    [
      '- teams\n',
      ['1:1: a manifest must be a mapping of sections (organization, members, teams, folders, books), not a list'],
    ],
    ['teams: [a]\n', ['1:8: teams must be a mapping of keys to entries, not a list']],
    ['teams:\n  a: { note: !!binary aGk= }\n', ['2:14: the tag !!binary is not supported; remove it']],
    ['teams:\n  a: { note: !secret aGk= }\n', ['2:14: the tag !secret is not supported; remove it']],
    [
      'teams:\n  a: { <<: { title: Ab } }\n',
      ['2:8: "<<" cannot be used as a key: merge keys are not YAML 1.2; write the fields out'],
    ],
    ['teams:\n  ? [x]\n  : {}\n', ['2:5: a key must be a string; quote it']],
    ['teams:\n  a: *nowhere\n', ['2:6: the anchor &nowhere is not defined before this alias']],
    ['teams:\n  a: &a { shape: { x: *a } }\n', ['2:23: the anchor &a is not defined before this alias']],
    ['%YAML 1.1\n---\nteams: {}\n', ['1:1: manifests are YAML 1.2; remove the %YAML directive']],
    ['teams:\n  a: { shape: { x: .inf } }\n', ['2:20: .inf is not a finite number; use a finite number']],
  ])('%j', async (text, problems) => {
    expect(await problemsOf({ 'a.yaml': text })).toEqual(problems.map((problem) => `a.yaml:${problem}`));
  });

  it('reports both positions of a duplicate key', async () => {
    const text = 'teams:\n  a:\n    title: One\n    title: Two\n  a: {}\nteams: {}\n';
    expect(await problemsOf({ 'a.yaml': text })).toEqual([
      'a.yaml:4:5: "title" is written twice; first at a.yaml:3',
      'a.yaml:5:3: "a" is written twice; first at a.yaml:2',
      'a.yaml:6:1: "teams" is written twice; first at a.yaml:1; move all its entries into one section',
    ]);
  });

  it('rejects an alias bomb', async () => {
    const levels = Array.from({ length: 12 }, (_, level) => {
      const inner =
        level === 0
          ? '[x, x, x, x, x, x, x, x, x]'
          : `[${Array(9)
              .fill(`*l${level - 1}`)
              .join(', ')}]`;
      return `      l${level}: &l${level} ${inner}\n`;
    });
    const problems = await problemsOf({ 'a.yaml': `teams:\n  a:\n    shape:\n${levels.join('')}` });
    expect(problems).toEqual([
      expect.stringMatching(
        /^a\.yaml:8:\d+: the aliases of this file expand to more than \d+ values; use fewer aliases$/,
      ),
    ]);
  });

  it('allows many aliases of small values', async () => {
    const members = Array.from({ length: 500 }, (_, index) => `      p${index}@x.example: *r\n`).join('');
    const state = await load({ 'a.yaml': `teams:\n  a:\n    members:\n      first@x.example: &r read\n${members}` });
    expect(Object.keys(state.declared.get('team/a')?.fields.members ?? {})).toHaveLength(501);
  });

  it.each([5_000, 200_000])('rejects %i levels without a stack overflow', async (depth) => {
    const problems = await problemsOf({ 'a.yaml': `teams: { a: { shape: ${'['.repeat(depth)}` });
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(/^a\.yaml:\d+:\d+: [^\n]+$/);
  });

  it('rejects values that are nested too deeply', async () => {
    const problems = await problemsOf({
      'a.yaml': `teams: { a: { shape: { x: ${'['.repeat(150)}${']'.repeat(150)} } } }`,
    });
    expect(problems).toEqual(['a.yaml:1:124: is nested more than 100 levels deep']);
  });

  it('rejects invalid UTF-8, with its position', async () => {
    const bytes = new Uint8Array([...new TextEncoder().encode('teams:\n  a: { title: '), 0xe9, 0x74, 0x20, 0x7d]);
    expect(await problemsOf({ 'a.yaml': bytes })).toEqual(['a.yaml:2:15: is not UTF-8; save the file as UTF-8']);
  });

  it('does not read a manifest that is too large', async () => {
    const tree = memoryTree({
      'a.yaml': new Uint8Array(50 * 1_048_576),
      'b.yaml': 'folders: { x: { title: Xy, parent: y } }',
    });
    expect(await problemsIn(tree)).toEqual(['a.yaml:1:1: is 50 MB; the limit for a manifest is 10 MB']);
    expect(tree.reads).toEqual(['b.yaml']);
  });

  it('reports the problems of all files: of files, then of entries, each sorted', async () => {
    const tree = memoryTree({
      'b.yaml': 'teams:\n\tx',
      'a.yaml': 'team: {}\nteams:\n  a: { size: 9 }\n',
      'c.yaml': 'x: 1',
    });
    expect(await problemsIn(tree)).toEqual([
      'a.yaml:1:1: unknown section "team"; did you mean "teams"?',
      'b.yaml:2:1: tabs are not allowed for indentation; use spaces',
      'c.yaml:1:1: unknown section "x"; valid sections: organization, members, teams, folders, books (list files that are not manifests in .octavoignore)',
      'a.yaml:3:14: team/a: size is 9, must be at most 5',
    ]);
  });

  it('accepts custom limits', async () => {
    const loader = createManifestLoader(fakeKinds, { limits: { manifestBytes: 10 } });
    await expect(loader.load(memoryTree({ 'a.yaml': 'teams: { abc: {} }' }))).rejects.toThrow('is 0.1 MB');
  });
});
