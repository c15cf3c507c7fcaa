#!/usr/bin/env node
// Entry point: a checkout runs its source, an installed package runs the build.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
// An older Node lacks this function, and must still get as far as starting the checkout's own Node.
import * as nodeModule from 'node:module';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const from = (path) => new URL(path, import.meta.url);
const major = Number(process.versions.node.split('.')[0]);

if (major >= 24) {
  // Caches compiled code between starts, in the user's own directory: code from a directory that others can write to
  // could be anybody's. Without write access, code is compiled again.
  nodeModule.enableCompileCache?.(join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'octavo'));
  const source = from('../src/cli.ts');
  const entry = existsSync(source) ? source : from('../dist/cli.js');
  const { main } = await import(entry.href);
  process.exitCode = await main(process.argv.slice(2));
  // All work is done: exits even if something, such as a git that hangs, keeps the process open.
  setTimeout(() => process.exit(), 500).unref();
} else {
  // A checkout has its own Node (a devDependency), so that an older one on the machine does not matter.
  const own = fileURLToPath(from('../node_modules/node/bin/node'));
  if (!existsSync(own)) {
    process.stderr.write(`octavo needs Node 24 or newer; this is ${process.version}\n`);
    process.exitCode = 1;
  } else {
    const child = spawn(own, process.argv.slice(1), { stdio: 'inherit' });
    for (const signal of ['SIGTERM', 'SIGHUP']) {
      process.on(signal, () => child.kill(signal));
    }
    // A terminal sends SIGINT to both processes.
    process.on('SIGINT', () => {});
    const [code] = await once(child, 'exit');
    process.exitCode = code ?? 1;
  }
}
