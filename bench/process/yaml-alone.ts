// CPU time and memory of the YAML library alone for the files of a folder: reading and parsing only.
// node yaml-alone.js <folder>
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

const [folder = '.'] = process.argv.slice(2);
const started = performance.now();
let files = 0;
for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
  if (entry.name.endsWith('.yaml')) {
    parse(readFileSync(join(entry.parentPath, entry.name), 'utf8'));
    files += 1;
  }
}
process.stdout.write(JSON.stringify({ files, cold: performance.now() - started }));
