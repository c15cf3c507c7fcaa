#!/usr/bin/env node
// The door: a checkout runs its source as it stands, an installed package runs what was built.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const from = (path) => new URL(path, import.meta.url);
const major = Number(process.versions.node.split('.')[0]);

if (major >= 24) {
  const source = from('../src/cli.ts');
  const entry = existsSync(source) ? source : from('../dist/cli.js');
  const { main } = await import(entry.href);
  process.exitCode = await main(process.argv.slice(2));
} else {
  // A checkout brings its own Node (a devDependency), so an older one on the machine is no obstacle.
  const own = fileURLToPath(from('../node_modules/node/bin/node'));
  if (!existsSync(own)) {
    process.stderr.write(`octavo needs Node 24 or newer; this is ${process.version}\n`);
    process.exitCode = 1;
  } else {
    const run = spawnSync(own, process.argv.slice(1), { stdio: 'inherit' });
    process.exitCode = run.status ?? 1;
  }
}
