// Loads and validates a folder of manifests three times: cold, unchanged, and with ten files changed.
//   node load.js <folder>
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { kinds } from '../../src/kinds/registry.ts';
import { openDiskTree } from '../../src/manifests/disk-tree.ts';
import { createManifestLoader } from '../../src/manifests/loader.ts';

const [folder = '.'] = process.argv.slice(2);
const loader = createManifestLoader(kinds);
const tree = openDiskTree(folder);

async function timed(): Promise<number> {
  const started = performance.now();
  await loader.load(tree);
  return performance.now() - started;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

const cold = await timed();
const unchanged: number[] = [];
const changed: number[] = [];
const files = readdirSync(folder, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.name.endsWith('.yaml'))
  .map((entry) => join(entry.parentPath, entry.name));
for (let round = 0; round < 5; round += 1) {
  unchanged.push(await timed());
  for (let index = 0; index < 10; index += 1) {
    const file = files[(index * 997 + round) % files.length] ?? '';
    writeFileSync(file, readFileSync(file, 'utf8').replace(/title: Team/, 'title: The team'));
  }
  changed.push(await timed());
}
process.stdout.write(JSON.stringify({ cold, unchanged: median(unchanged), changed: median(changed) }));
