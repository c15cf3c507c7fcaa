#!/usr/bin/env node
// Entry point: an installed package runs the build, and so does a checkout while the build matches its source.
import { existsSync, readFileSync } from 'node:fs';
// An older Node lacks this function, and must still get as far as starting the checkout's own Node.
import * as nodeModule from 'node:module';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { sourceDigest } from './source.js';

const from = (path) => new URL(path, import.meta.url);
const major = Number(process.versions.node.split('.')[0]);

if (major >= 24) {
  // Caches compiled code between starts, in the user's own directory: code from a directory that others can write to
  // could be anybody's. Without write access, code is compiled again.
  nodeModule.enableCompileCache?.(join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'octavo'));
  // Keeps the young generation of the heap small: a quarter less memory, without more CPU time.
  setFlagsFromString('--semi-space-growth-factor=1');
  const { main } = await import(from(isBuildCurrent() ? '../dist/cli.js' : '../src/cli.ts').href);
  process.exitCode = await main(process.argv.slice(2));
  // All work is done: exits even if something, such as a git that hangs, keeps the process open.
  setTimeout(() => process.exit(), 500).unref();
} else {
  const { spawn } = await import('node:child_process');
  const { once } = await import('node:events');
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

/** True for an installed package, and for a checkout whose source has not changed since its last build. */
function isBuildCurrent() {
  const root = fileURLToPath(from('..'));
  if (!existsSync(join(root, 'src/cli.ts'))) {
    return true;
  }
  try {
    return readFileSync(join(root, 'dist/source.sha256'), 'utf8') === sourceDigest(root);
  } catch {
    return false;
  }
}
