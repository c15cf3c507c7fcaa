#!/usr/bin/env node
// The door: a checkout runs its source as it stands, an installed package runs what was built.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
// An older Node has no such function, and must still get as far as finding the checkout's own.
import * as nodeModule from 'node:module';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const from = (path) => new URL(path, import.meta.url);
const major = Number(process.versions.node.split('.')[0]);

if (major >= 24) {
  // What was compiled once is not compiled again by the next start; where nothing can be written, it just is.
  // In the user's own folder: what is run from a folder that everybody can write to could be anybody's.
  nodeModule.enableCompileCache?.(join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'octavo'));
  const source = from('../src/cli.ts');
  const entry = existsSync(source) ? source : from('../dist/cli.js');
  const { main } = await import(entry.href);
  process.exitCode = await main(process.argv.slice(2));
  // The work is over: what still holds the process open, such as a git that does not end, holds it no longer.
  setTimeout(() => process.exit(), 500).unref();
} else {
  // A checkout brings its own Node (a devDependency), so an older one on the machine is no obstacle.
  const own = fileURLToPath(from('../node_modules/node/bin/node'));
  if (!existsSync(own)) {
    process.stderr.write(`octavo needs Node 24 or newer; this is ${process.version}\n`);
    process.exitCode = 1;
  } else {
    const child = spawn(own, process.argv.slice(1), { stdio: 'inherit' });
    for (const signal of ['SIGTERM', 'SIGHUP']) {
      process.on(signal, () => child.kill(signal));
    }
    // A terminal interrupts both.
    process.on('SIGINT', () => {});
    const [code] = await once(child, 'exit');
    process.exitCode = code ?? 1;
  }
}
