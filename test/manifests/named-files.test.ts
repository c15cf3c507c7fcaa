import { once } from 'node:events';
import { mkdir, mkdtemp, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { openDiskTree } from '../../src/manifests/disk-tree.ts';
import { createManifestLoader } from '../../src/manifests/loader.ts';
import { makeFifo } from '../support/fifo.ts';
import { fakeKinds } from './fake-kinds.ts';
import { load, problemsIn, problemsOf } from './loading.ts';

it('rejects a manifest that is a Git LFS pointer', async () => {
  const pointer = 'version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12\n';
  expect(await problemsOf({ 'a.yaml': 'teams: {}\n', 'b.yaml': pointer })).toEqual([
    'b.yaml:1:1: is a Git LFS pointer and not the content of the file; store the file in git itself: Octavo runs no filters of a repository',
  ]);
});

describe('{ file: path }', () => {
  it('is read relative to the manifest at any depth', async () => {
    const state = await load({
      'a/b.yaml': 'teams: { x: { note: { file: ../notes/n.md }, shape: { file: s.json } } }',
      'notes/n.md': '\ufeffHé\n',
      'a/s.json': '{"a": [1]}',
    });
    expect(state.declared.get('team/x')?.fields).toEqual({ note: 'Hé\n', shape: { a: [1] } });
  });

  it('is validated like an inline value', async () => {
    const files = { 'a.yaml': 'teams:\n  x:\n    note: { file: n.txt }\n', 'n.txt': 'x'.repeat(21) };
    expect(await problemsOf(files)).toEqual(['a.yaml:3:11: team/x: note is 21 characters long, must be at most 20']);
    const shape = { 'a.yaml': 'teams:\n  x:\n    shape: { file: s.json }\n', 's.json': '[1]' };
    expect(await problemsOf(shape)).toEqual([
      'a.yaml:3:12: team/x: shape s.json does not hold a mapping in JSON or YAML',
    ]);
  });

  it('is accepted only by fields that allow a file', async () => {
    expect(await problemsOf({ 'a.yaml': 'teams: { x: { title: { file: n.txt } } }', 'n.txt': 'Title' })).toEqual([
      'a.yaml:1:22: team/x: title must be a string, not { file: path }',
    ]);
  });

  it('can be used through an alias', async () => {
    const text = 'teams:\n  x: { note: &n { file: n.txt } }\n  y: { note: *n }\n';
    expect((await load({ 'a.yaml': text, 'n.txt': 'Hi' })).declared.get('team/y')?.fields).toEqual({ note: 'Hi' });
  });

  it.each([
    ['/etc/passwd', '"/etc/passwd" is an absolute path; use a path relative to this manifest'],
    ['../../etc/passwd', '"../../etc/passwd" is outside the manifest directory; use a file inside it'],
    ['notes/m.txt', 'cannot read "notes/m.txt": a/notes/m.txt is not there; did you mean "a/notes/n.txt"?'],
    ['latin.txt', '"latin.txt" is not UTF-8 text; use a text file'],
    ['large.txt', '"large.txt" is 11 MB; the limit is 10 MB'],
    [
      'pointer.pem',
      '"pointer.pem" is a Git LFS pointer and not the content of the file; store the file in git itself: Octavo runs no filters of a repository',
    ],
    ["''", '"" is not a path; use a path relative to this manifest'],
  ])('rejects %s', async (file, message) => {
    const problems = await problemsOf({
      'a/b.yaml': `teams:\n  x:\n    note: { file: ${file} }\n`,
      'a/notes/n.txt': 'x',
      'a/pointer.pem': 'version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12\n',
      'a/latin.txt': new Uint8Array([0xe9]),
      'a/large.txt': new Uint8Array(11 * 1_048_576),
    });
    expect(problems).toEqual([`a/b.yaml:3:19: team/x: ${message}`]);
  });
});

it('an unreadable file is reported without follow-up problems', async () => {
  const text = 'teams:\n  x: { shape: { file: nope.json }, size: 9 }\n';
  expect(await problemsOf({ 'a.yaml': text })).toEqual([
    'a.yaml:2:23: team/x: cannot read "nope.json": nope.json is not there',
    'a.yaml:2:42: team/x: size is 9, must be at most 5',
  ]);
});

describe('on disk', () => {
  const folders: string[] = [];
  afterEach(async () => {
    for (const folder of folders.splice(0)) {
      await rm(folder, { recursive: true });
    }
  });

  async function makeTree(): Promise<string> {
    const folder = await mkdtemp(join(tmpdir(), 'octavo-manifests-'));
    folders.push(folder);
    await mkdir(join(folder, 'tree/certs'), { recursive: true });
    await writeFile(join(folder, 'secret.txt'), 'secret');
    return folder;
  }

  it('rejects a file behind a link that leaves the tree', async () => {
    const folder = await makeTree();
    await writeFile(
      join(folder, 'tree/a.yaml'),
      'teams:\n  x: { note: { file: certs/link.txt } }\n  y: { note: { file: out/secret.txt } }\n',
    );
    await symlink('../../secret.txt', join(folder, 'tree/certs/link.txt'));
    await symlink('..', join(folder, 'tree/out'));
    const problems = await problemsIn(openDiskTree(join(folder, 'tree')));
    expect(problems).toHaveLength(2);
    expect(problems[0]).toMatch(/^a\.yaml:2:22: team\/x: cannot read "certs\/link\.txt": .*link/);
    expect(problems[1]).toMatch(/^a\.yaml:3:22: team\/y: cannot read "out\/secret\.txt": .*link/);
    expect(problems.join()).not.toContain('secret"');
  });

  it('follows links inside the tree, and does not read a referenced file as a manifest', async () => {
    const folder = await makeTree();
    await writeFile(join(folder, 'tree/a.yaml'), 'teams: { x: { shape: { file: link.yaml } } }');
    await writeFile(join(folder, 'tree/certs/real.yaml'), 'a: 1');
    await symlink('certs/real.yaml', join(folder, 'tree/link.yaml'));
    const loader = createManifestLoader(fakeKinds);
    const state = await loader.load(openDiskTree(join(folder, 'tree')));
    expect(state.files).toBe(1);
    expect(state.declared.get('team/x')?.fields).toEqual({ shape: { a: 1 } });
  });

  it.each([
    ['.git/config', 'is inside .git'],
    ['.GIT/config', 'is inside .git'],
    ['sub/.g\u200cit/config', 'is inside .git'],
    ['git~1/config', 'is inside .git'],
    ['link.txt', 'link.txt is a link into .git'],
    ['.env', 'is hidden'],
    ['.cache/x', 'is hidden'],
    ['visible-link.txt', 'is hidden'],
    ['fifo', 'is a FIFO, not a regular file'],
    ['huge', 'the limit is 10 MB'],
  ])('rejects %s without git', async (file, message) => {
    const folder = await makeTree();
    const tree = join(folder, 'tree');
    await mkdir(join(tree, '.git'));
    await mkdir(join(tree, '.cache'));
    for (const name of ['.git/config', '.env', '.cache/x', 'huge']) {
      await writeFile(join(tree, name), 'secret');
    }
    await truncate(join(tree, 'huge'), 2 ** 40);
    makeFifo(join(tree, 'fifo'));
    await symlink('.git/config', join(tree, 'link.txt'));
    await symlink('.env', join(tree, 'visible-link.txt'));
    await writeFile(join(tree, 'a.yaml'), `teams:\n  x:\n    note: { file: "${file}" }\n`);
    const problems = await problemsIn(openDiskTree(tree));
    expect(problems).toEqual([expect.stringContaining(message)]);
    expect(problems[0]).toMatch(/^a\.yaml:3:19: team\/x: /);
    expect(problems[0]).not.toContain('secret');
  });

  it('rejects manifests that cannot be read, and ignores other files of these kinds', async () => {
    const folder = await makeTree();
    const tree = join(folder, 'tree');
    await writeFile(join(tree, 'a.yaml'), 'teams: { x: {} }');
    makeFifo(join(tree, 'fifo.yaml'));
    makeFifo(join(tree, 'fifo'));
    await symlink('fifo', join(tree, 'to-fifo.yml'));
    await symlink('/dev/zero', join(tree, 'device.yaml'));
    await symlink('certs', join(tree, 'directory.yaml'));
    await using server = createServer().listen(join(tree, 'socket.yaml'));
    await once(server, 'listening');
    await writeFile(Buffer.concat([Buffer.from(join(tree, 'latin-')), Buffer.of(0xe9), Buffer.from('.yaml')]), 'a: 1');
    await writeFile(Buffer.concat([Buffer.from(join(tree, 'latin-')), Buffer.of(0xe9), Buffer.from('.png')]), 'a: 1');
    expect(await problemsIn(openDiskTree(tree))).toEqual([
      expect.stringMatching(/^device\.yaml:1:1: device\.yaml is a symbolic link to a place outside/),
      'fifo.yaml:1:1: fifo.yaml is a FIFO, not a regular file',
      'latin-\uFFFD.yaml:1:1: latin-\uFFFD.yaml has a name that is not UTF-8; rename it',
      'socket.yaml:1:1: socket.yaml is a socket, not a regular file',
      'to-fifo.yml:1:1: to-fifo.yml is a FIFO, not a regular file',
    ]);
  });

  it('rejects a manifest that is a link into .git', async () => {
    const folder = await makeTree();
    await mkdir(join(folder, 'tree/.git'));
    await writeFile(join(folder, 'tree/.git/config'), 'secret');
    await symlink('.git/config', join(folder, 'tree/a.yaml'));
    expect(await problemsIn(openDiskTree(join(folder, 'tree')))).toEqual([
      'a.yaml:1:1: a.yaml is a link into .git; use a file outside it',
    ]);
  });

  it('reads the files of a ConfigMap, which are in hidden directories behind links', async () => {
    const folder = await makeTree();
    const tree = join(folder, 'tree');
    await mkdir(join(tree, '..2026_01'));
    await writeFile(join(tree, '..2026_01/a.yaml'), 'teams: { x: { note: { file: n.txt } } }');
    await writeFile(join(tree, '..2026_01/n.txt'), 'Hi');
    await symlink('..2026_01', join(tree, '..data'));
    await symlink('..data/a.yaml', join(tree, 'a.yaml'));
    await symlink('..data/n.txt', join(tree, 'n.txt'));
    const state = await createManifestLoader(fakeKinds).load(openDiskTree(tree));
    expect(state.declared.get('team/x')?.fields).toEqual({ note: 'Hi' });
  });

  it('accepts only tracked files in a git repository', async () => {
    const folder = await makeTree();
    const tree = join(folder, 'tree');
    await writeFile(join(tree, 'n.txt'), 'Hi');
    await writeFile(join(tree, 'untracked.txt'), 'secret');
    await symlink('untracked.txt', join(tree, 'b.yaml'));
    const tracked = async () => new Set(['n.txt', 'b.yaml']);
    await writeFile(
      join(tree, 'a.yaml'),
      'teams:\n  x: { note: { file: n.txt } }\n  y: { note: { file: untracked.txt } }\n',
    );
    expect(await problemsIn(openDiskTree(tree, tracked))).toEqual([
      'b.yaml:1:1: b.yaml is not tracked by git; stage or commit it (git add)',
      'a.yaml:3:22: team/y: cannot read "untracked.txt": untracked.txt is not tracked by git; stage or commit it (git add)',
    ]);
  });
});
