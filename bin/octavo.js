#!/usr/bin/env node
// Entry point: an installed package runs the build, and so does a checkout while the build matches its source.
const from = (path) => new URL(path, import.meta.url);
const major = Number(process.versions.node.split('.')[0]);

if (major >= 24) {
  // Not imported: an import of a built-in module also loads what only some of its functions need.
  const { homedir } = process.getBuiltinModule('node:os');
  const { join } = process.getBuiltinModule('node:path');
  // Caches compiled code between starts, in the user's own directory: code from a directory that others can write to
  // could be anybody's. Without write access, code is compiled again.
  const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'octavo');
  process.getBuiltinModule('node:module').enableCompileCache(cache);
  // Keeps memory small: the young generation does not grow, and the old one grows by half between full collections, not
  // fourfold. This takes a third less memory; a plan takes a few percent more CPU time, a pass of the daemon about 30.
  const { setFlagsFromString } = process.getBuiltinModule('node:v8');
  setFlagsFromString('--semi-space-growth-factor=1');
  setFlagsFromString('--heap-growing-percent=50');
  const { main } = await import(from((await isBuildCurrent()) ? '../dist/cli.js' : '../src/cli.ts').href);
  process.exitCode = await main(process.argv.slice(2));
  // All work is done: exits even if something, such as a git that hangs, keeps the process open.
  setTimeout(() => process.exit(), 500).unref();
} else {
  const { spawn } = await import('node:child_process');
  const { once } = await import('node:events');
  const { existsSync } = await import('node:fs');
  const { fileURLToPath } = await import('node:url');
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
async function isBuildCurrent() {
  const { existsSync, readFileSync } = process.getBuiltinModule('node:fs');
  if (!existsSync(from('../src/cli.ts'))) {
    return true;
  }
  const { sourceDigest } = await import('./source.js');
  try {
    return (
      readFileSync(from('../dist/source.sha256'), 'utf8') ===
      sourceDigest(process.getBuiltinModule('node:url').fileURLToPath(from('..')))
    );
  } catch {
    return false;
  }
}
