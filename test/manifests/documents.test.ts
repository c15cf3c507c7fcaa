import { describe, expect, it } from 'vitest';
import { load, problemsOf } from './loading.ts';

describe('manifest documents', () => {
  it('merges files and documents, sorted by address', async () => {
    const state = await load({
      'b/teams.yml': 'teams:\n  writers: { title: Writers }\n---\nteams:\n  editors: { title: Editors }\n',
      'a.yaml': '# only a comment\n---\n---\nfolders: {}\nmembers:\n',
    });
    expect([...state.declared.keys()]).toEqual(['team/editors', 'team/writers']);
    expect(state.files).toBe(2);
    expect(state.declared.get('team/editors')).toEqual({
      address: 'team/editors',
      kind: 'team',
      fields: { title: 'Editors' },
      within: null,
      place: null,
      id: null,
      renamedFrom: null,
      protect: null,
      paused: null,
      ignore: [],
      source: { file: 'b/teams.yml', line: 5, column: 3 },
    });
  });

  it('reads the common fields', async () => {
    const text =
      'teams:\n  a:\n    id: t_1\n    protect: false\n    renamedFrom: Old\n    paused: { reason: Later }\n    ignore: [title]\n';
    const state = await load({ 'a.yaml': text });
    expect(state.declared.get('team/a')).toMatchObject({
      id: 't_1',
      protect: false,
      renamedFrom: 'Old',
      paused: { reason: 'Later', until: null },
      ignore: ['title'],
      fields: {},
    });
  });

  it('keeps null and drops absent fields', async () => {
    const state = await load({ 'a.yaml': 'teams:\n  writers:\n  editors: { size: null }\n' });
    expect(state.declared.get('team/writers')?.fields).toEqual({});
    expect(state.declared.get('team/editors')?.fields).toEqual({ size: null });
  });

  it('reads a single-resource section as that resource', async () => {
    const state = await load({ 'a.yaml': 'organization: { title: Acme }\n' });
    expect(state.declared.get('organization')).toMatchObject({
      source: { line: 1, column: 1 },
      fields: { title: 'Acme' },
    });
  });

  it('supports anchors, aliases and a byte order mark', async () => {
    const state = await load({ 'a.yaml': '\ufeffteams:\n  a: &a { title: Same }\n  b: *a\n' });
    expect(state.declared.get('team/b')?.fields).toEqual({ title: 'Same' });
  });

  it('reads keys that look like numbers, booleans or dates as strings', async () => {
    const state = await load({ 'a.yaml': 'teams:\n  1e3: {}\n  no: {}\n  null: {}\n  0x1F: {}\n  constructor: {}\n' });
    expect([...state.declared.keys()]).toEqual([
      'team/0x1F', 'team/1e3', 'team/constructor', 'team/no', 'team/null',
    ]); // biome-ignore format: short
  });

  it('rejects __proto__ without changing any prototype', async () => {
    expect(
      await problemsOf({ 'a.yaml': 'teams:\n  __proto__: { title: Bad }\n  a: { shape: { __proto__: { x: 1 } } }\n' }),
    ).toEqual(['a.yaml:2:3: "__proto__" cannot be used as a key', 'a.yaml:3:17: "__proto__" cannot be used as a key']);
    expect(({} as Record<string, unknown>).x).toBeUndefined();
  });

  it('shows the root before paths', async () => {
    const state = await load({ 'a.yaml': 'teams: { a: {} }' }, { root: 'docs/manifests' });
    expect(state.declared.get('team/a')?.source.file).toBe('docs/manifests/a.yaml');
    expect(await problemsOf({ 'a.yaml': 'team: {}' }, { root: 'docs' })).toEqual([
      'docs/a.yaml:1:1: unknown section "team"; did you mean "teams"?',
    ]);
  });
});

describe('manifest files', () => {
  const teams = { 'teams.yaml': 'teams: { a: {} }' };
  const wrong = 'nothing: known';

  it('skips hidden files and directories', async () => {
    expect((await load({ ...teams, '.hidden.yaml': wrong, '.github/ci.yml': wrong, 'a/.b/c.yaml': wrong })).files).toBe(
      1,
    );
  });

  it('skips the config', async () => {
    const config = 'platform: { baseUrl: https://api.example }\n';
    expect((await load({ ...teams, 'config.yaml': config, 'config.example.yaml': config })).files).toBe(1);
    expect((await load({ ...teams, 'ops/octavo.yaml': wrong }, { config: 'ops/octavo.yaml' })).files).toBe(1);
    expect(await problemsOf({ ...teams, 'a/config.yaml': config })).toHaveLength(1);
  });

  it('skips the files that .octavoignore lists', async () => {
    const ignore = 'drafts/\n*.local.yaml\n!keep.local.yaml\n';
    const files = {
      '.octavoignore': ignore,
      'drafts/a.yaml': wrong,
      'b.local.yaml': wrong,
      'keep.local.yaml': 'teams: {}',
    };
    expect((await load({ ...teams, ...files })).files).toBe(2);
  });

  it('rejects a .octavoignore that is too large or takes too long to match', async () => {
    expect(await problemsOf({ ...teams, '.octavoignore': 'a\n'.repeat(1001) }, { root: 'docs' })).toEqual([
      'docs/.octavoignore:1:1: has more than 1000 patterns; ignore directories instead of files',
    ]);
    const paths = Array.from({ length: 40 }, (_, index) => [`${'a'.repeat(200)}${index}b.yaml`, 'teams: {}']);
    const slow = `${'*a'.repeat(30)}[b].yaml\n`;
    expect(await problemsOf({ ...Object.fromEntries(paths), '.octavoignore': slow.repeat(1000) })).toEqual([
      '.octavoignore:1:1: is longer than 65536 bytes; ignore directories instead of files',
    ]);
    expect(await problemsOf({ ...Object.fromEntries(paths), '.octavoignore': slow.repeat(900) })).toEqual([
      '.octavoignore:1:1: takes too long to match; use fewer wildcards',
    ]);
  });

  it('skips a file that a manifest refers to, regardless of its content', async () => {
    const files = {
      'a.yaml': 'teams: { a: { shape: { file: data/shape.yaml }, note: { file: note.yml } } }',
      'data/shape.yaml': 'x: { file: not/there }\n',
      'note.yml': '\ttabs: [',
    };
    const state = await load(files);
    expect(state.files).toBe(1);
    expect(state.declared.get('team/a')?.fields).toEqual({ shape: { x: { file: 'not/there' } }, note: '\ttabs: [' });
  });

  it('reads a file that only a referenced file refers to as a manifest', async () => {
    const files = {
      'a.yaml': 'teams: { a: { shape: { file: b.yaml } } }',
      'b.yaml': 'teams: { b: { note: { file: c.yaml } } }',
      'c.yaml': 'teams: { c: {} }',
    };
    expect([...(await load(files)).declared.keys()]).toEqual(['team/a', 'team/c']);
  });

  it('rejects files that refer to each other', async () => {
    const named = (file: string) => `teams: { x: { shape: { file: ${file} } } }`;
    const message =
      'references a file that references this one; a file is either a manifest or the content of a { file: … }';
    expect(await problemsOf({ 'a.yaml': named('b.yaml'), 'b.yaml': named('a.yaml'), ...teams })).toEqual([
      `a.yaml:1:1: ${message}`,
      `b.yaml:1:1: ${message}`,
    ]);
  });
});
