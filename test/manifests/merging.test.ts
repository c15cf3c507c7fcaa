import { describe, expect, it } from 'vitest';
import { load, problemsOf } from './loading.ts';

describe('merging', () => {
  it('reports both positions of a key that is declared twice', async () => {
    expect(
      await problemsOf({
        'a.yaml': 'teams:\n  x: { title: One }\n',
        'b.yaml': '\nteams:\n  x: { title: Two }\nmembers:\n  Ana@x.example: {}\n  ana@x.example: {}\n',
        'c.yaml': 'organization: {}\n---\norganization: {}\n',
      }),
    ).toEqual([
      'b.yaml:3:3: team/x: is declared twice; first at a.yaml:2; remove one of them',
      'b.yaml:6:3: member/ana@x.example: is declared twice; first at b.yaml:5; remove one of them',
      'c.yaml:3:1: organization: is declared twice; first at c.yaml:1; remove one of them',
    ]);
  });

  it('reports both positions of a part that is declared twice', async () => {
    expect(await problemsOf({ 'a.yaml': 'books:\n  b:\n    pages:\n      - page: one\n      - page: one\n' })).toEqual([
      'a.yaml:5:9: page/b/one: is declared twice; first at a.yaml:4; remove one of them',
    ]);
  });

  it('rejects an id that two keys bind', async () => {
    expect(
      await problemsOf({
        'a.yaml': 'teams:\n  x: { id: t1 }\n  y: { id: t1 }\nfolders:\n  z: { id: t1, title: Zz }\n',
      }),
    ).toEqual(['a.yaml:3:12: team/y: id "t1" is also bound by team/x (a.yaml:2); bind each id to one key']);
  });

  it('replaces references with addresses at any depth', async () => {
    const state = await load({
      'a.yaml':
        'folders:\n  x: { title: Xx, parent: y, owners: [writers, Ana@x.example] }\n  y: { title: Yy, parent: null }\n',
      'b.yaml': 'teams: { writers: {} }\nmembers: { ANA@x.example: {} }\n',
      'c.yaml': 'books: { b: { start: two, pages: [{ page: one, next: two }, { page: two }] } }',
    });
    expect(state.declared.get('folder/x')?.fields).toEqual({
      title: 'Xx',
      parent: 'folder/y',
      owners: ['team/writers', 'member/ana@x.example'],
    });
    expect(state.declared.get('folder/y')?.fields).toEqual({ title: 'Yy', parent: null });
    expect(state.declared.get('book/b')?.fields).toEqual({ start: 'page/b/two' });
    expect(state.declared.get('page/b/one')).toMatchObject({
      fields: { next: 'page/b/two' },
      within: 'book/b',
      place: { list: 'book/b', index: 0 },
      source: { file: 'c.yaml', line: 1, column: 35 },
    });
  });

  it('reports missing references, with suggestions', async () => {
    expect(
      await problemsOf({
        'a.yaml':
          'folders:\n  guides-fr: { title: Guides }\n  x: { title: Xx, parent: guide-fr, owners: [writer, nobody-at-all] }\n',
        'b.yaml':
          'teams:\n  writers: {}\nbooks:\n  b: { start: on, pages: [{ page: one }] }\n  c: { pages: [{ page: on }] }\n',
      }),
    ).toEqual([
      'a.yaml:3:27: folder/x: no folder "guide-fr"; did you mean "guides-fr" (a.yaml:2)?',
      'a.yaml:3:46: folder/x: no team or member "writer"; did you mean "writers" (b.yaml:2)?',
      'a.yaml:3:54: folder/x: no team or member "nobody-at-all"',
      'b.yaml:4:15: book/b: no page "on"; did you mean "one" (b.yaml:4)?',
    ]);
  });

  it('does not report a resource with problems as missing', async () => {
    expect(
      await problemsOf({
        'a.yaml': 'folders:\n  x: { title: Xx, parent: y, owners: [t] }\n  y: { titel: Yy }\n',
        'b.yaml': 'teams:\n  t: "unclosed\n',
      }),
    ).toEqual([
      'b.yaml:3:1: a closing " is missing',
      'a.yaml:3:8: folder/y: unknown field "titel"; did you mean "title"?',
    ]);
  });

  it('lists causes before their consequences, whatever the names of the files', async () => {
    expect(
      await problemsOf({
        'a.yaml': 'folders:\n  x: { title: Xx, parent: none, owners: [t] }\n',
        'm.yaml': 'folders:\n  y: { titel: Yy }\n  z: { title: Zz, parent: z }\n',
        'z.yaml': 'team:\n  t: {}\n',
      }),
    ).toEqual([
      'z.yaml:1:1: unknown section "team"; did you mean "teams"?',
      'm.yaml:2:8: folder/y: unknown field "titel"; did you mean "title"?',
      'a.yaml:2:27: folder/x: no folder "none"',
      'a.yaml:2:42: folder/x: no team or member "t"',
      'm.yaml:3:27: folder/z: is part of a reference cycle: folder/z → folder/z; remove one of these references',
    ]);
  });

  it('requires distinct keys if a reference is ambiguous', async () => {
    const text = 'teams: { x: {} }\nfolders: { x: { title: Xx } }\nbooks:\n  b: { about: x }\n';
    expect(await problemsOf({ 'a.yaml': text })).toEqual([
      'a.yaml:4:15: book/b: "x" matches both team/x (a.yaml:1) and folder/x (a.yaml:2); use distinct keys',
    ]);
  });

  it('reports each reference cycle once', async () => {
    const text =
      'folders:\n  a: { title: Aa, parent: b }\n  b: { title: Bb, parent: c }\n  c: { title: Cc, parent: a }\n' +
      '  d: { title: Dd, parent: d }\n  e: { title: Ee, parent: a }\n';
    expect(await problemsOf({ 'x.yaml': text })).toEqual([
      'x.yaml:2:27: folder/a: is part of a reference cycle: folder/a → folder/b → folder/c → folder/a; remove one of these references',
      'x.yaml:5:27: folder/d: is part of a reference cycle: folder/d → folder/d; remove one of these references',
    ]);
  });

  it('resolves long reference chains', async () => {
    const lines = Array.from(
      { length: 20_000 },
      (_, n) => `  f${n}: { title: Ff, parent: ${n === 0 ? 'null' : `f${n - 1}`} }\n`,
    );
    expect((await load({ 'a.yaml': `folders:\n${lines.join('')}` })).declared.size).toBe(20_000);
  });
});
