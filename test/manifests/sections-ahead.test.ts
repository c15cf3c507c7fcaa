/** The names of sections that a loader reports before it parses much. */
import { expect, test } from 'vitest';
import { createManifestLoader } from '../../src/manifests/loader.ts';
import { type MemoryTree, memoryTree } from '../support/memory-tree.ts';
import { fakeKinds } from './fake-kinds.ts';

const comment = (length: number) => `# ${'x'.repeat(length)}\n`;

async function reportedIn(tree: MemoryTree, loader = createManifestLoader(fakeKinds)): Promise<string[][]> {
  const reported: string[][] = [];
  const onSections = async (names: ReadonlySet<string>) => void reported.push([...names]);
  await loader.load(tree, { onSections }).catch(() => {});
  return reported;
}

test.each([
  ['a small manifest', { 'a.yaml': 'teams: {}' }, []],
  [
    'a large manifest',
    { 'a.yaml': `${comment(9000)}teams: {}\nfolders:\n  f: { title: F }\n` },
    [['teams', 'folders']],
  ],
  [
    'a name that is no section, and one in a text',
    { 'a.yaml': `${comment(9000)}team: {}\n  x: |\ny: 1` },
    [['team', 'y']],
  ],
  ['one in JSON', { 'a.yaml': `${comment(9000)}{ "teams": {} }` }, []],
  [
    'many small manifests, each name once',
    Object.fromEntries(
      Array.from({ length: 20 }, (_, index) => [
        `m${10 + index}.yaml`,
        `${comment(1000)}teams:\n  t${index}: { title: T${index} }\n`,
      ]),
    ),
    [['teams']],
  ],
])('%s', async (_, files, expected) => {
  expect(await reportedIn(memoryTree(files as Record<string, string>))).toEqual(expected);
});

test('a manifest that has not changed is not parsed, and reports nothing', async () => {
  const tree = memoryTree({ 'a.yaml': `${comment(9000)}teams: {}` });
  const loader = createManifestLoader(fakeKinds);
  expect(await reportedIn(tree, loader)).toEqual([['teams']]);
  expect(await reportedIn(tree, loader)).toEqual([]);
});
