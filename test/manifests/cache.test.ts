import { describe, expect, it } from 'vitest';
import { createManifestLoader } from '../../src/manifests/loader.ts';
import { type MemoryTree, memoryTree } from '../support/memory-tree.ts';
import { fakeKinds } from './fake-kinds.ts';

const FILES = {
  'a.yaml': 'teams: { a: { note: { file: n.txt } } }',
  'b.yaml': 'folders: { f: { title: Ff, owners: [a] } }',
  'n.txt': 'one',
};

function takeReads(tree: MemoryTree): string[] {
  return tree.reads.splice(0);
}

describe('loading again', () => {
  it('reads no file and returns the same state if nothing changed', async () => {
    const tree = memoryTree(FILES);
    const loader = createManifestLoader(fakeKinds);
    const state = await loader.load(tree);
    expect(takeReads(tree).sort()).toEqual(['a.yaml', 'b.yaml', 'n.txt']);
    expect(await loader.load(tree)).toBe(state);
    expect(takeReads(tree)).toEqual([]);
  });

  it('reads only the file that changed', async () => {
    const tree = memoryTree(FILES);
    const loader = createManifestLoader(fakeKinds);
    await loader.load(tree);
    takeReads(tree);
    tree.files.set('b.yaml', 'folders: { g: { title: Gg } }');
    expect([...(await loader.load(tree)).declared.keys()]).toEqual(['folder/g', 'team/a']);
    expect(takeReads(tree)).toEqual(['b.yaml']);
  });

  it('notices a referenced file that changes, is deleted and is restored', async () => {
    const tree = memoryTree(FILES);
    const loader = createManifestLoader(fakeKinds);
    await loader.load(tree);
    tree.files.set('n.txt', 'two');
    expect((await loader.load(tree)).declared.get('team/a')?.fields).toEqual({ note: 'two' });
    tree.files.delete('n.txt');
    await expect(loader.load(tree)).rejects.toThrow('cannot read "n.txt"');
    tree.files.set('n.txt', 'three');
    expect((await loader.load(tree)).declared.get('team/a')?.fields).toEqual({ note: 'three' });
  });

  it('evicts a removed file, and reports references to it', async () => {
    const tree = memoryTree(FILES);
    const loader = createManifestLoader(fakeKinds);
    await loader.load(tree);
    tree.files.delete('a.yaml');
    await expect(loader.load(tree)).rejects.toThrow('no team or member "a"');
  });

  it('compares the text if the tree has no versions', async () => {
    const tree = memoryTree(FILES, { versions: false });
    const loader = createManifestLoader(fakeKinds);
    const before = await loader.load(tree);
    tree.files.set('b.yaml', 'folders: {}');
    expect([...(await loader.load(tree)).declared.keys()]).toEqual(['team/a']);
    tree.files.set('b.yaml', FILES['b.yaml']);
    expect(await loader.load(tree)).toEqual(before);
  });

  it('reports the problems of unchanged files again', async () => {
    const tree = memoryTree({ 'a.yaml': 'teams: { a: { size: 9 } }' });
    const loader = createManifestLoader(fakeKinds);
    await expect(loader.load(tree)).rejects.toThrow('size is 9');
    takeReads(tree);
    await expect(loader.load(tree)).rejects.toThrow('size is 9');
    expect(takeReads(tree)).toEqual([]);
  });

  it('keeps trees with the same paths separate', async () => {
    const loader = createManifestLoader(fakeKinds);
    const one = memoryTree({ 'a.yaml': 'teams: { a: {} }' }, { label: 'one' });
    const two = memoryTree({ 'a.yaml': 'teams: { b: {} }' }, { label: 'two' });
    const [first, second] = await Promise.all([loader.load(one), loader.load(two)]);
    expect([...first.declared.keys(), ...second.declared.keys()]).toEqual(['team/a', 'team/b']);
    expect([...(await loader.load(one, { root: 'docs' })).declared.values()][0]?.source.file).toBe('docs/a.yaml');
  });
});
