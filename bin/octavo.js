#!/usr/bin/env node
// Entry point: an installed package runs the build, and so does a checkout while the build matches its source.
const from = (path) => new URL(path, import.meta.url);
/** Folders with the compiled code of other builds to keep. */
const OTHER_CACHES = 3;
/**
 * Size of the young generation by command, in megabytes. With 1 MB, what a request or a pass needs outlives most
 * collections and fills the old generation. An apply takes a quarter less CPU time and a fifth more memory, a plan 5 % of
 * each, and a pass of the daemon 40 % less CPU time. V8 sizes it before any JavaScript runs, unless it sees it fill up.
 */
const YOUNG_GENERATION = new Map([
  ['plan', 2],
  ['apply', 12],
  ['run', 16],
]);
/**
 * Flags of the commands that make one plan. They end before the code of V8's last compiler has saved the time that it
 * takes to compile: without it, they take 10 to 20 % less CPU time, even for 20,000 resources. Without incremental
 * marking, the heap does not grow during a collection, and the peak is 10 MB lower.
 */
const SINGLE_PLAN = ['--no-turbofan', '--no-incremental-marking'];
const SINGLE_PLAN_COMMANDS = ['plan', 'apply'];
/** Architectures on which V8 has another optimizing compiler. */
const WITH_MAGLEV = ['x64', 'arm64'];
const major = Number(process.versions.node.split('.')[0]);

if (process.argv.length === 3 && process.argv[2] === '--version') {
  // Answered without the program: scripts ask often, and a checkout would compare its build with its source first.
  const { readFileSync } = process.getBuiltinModule('node:fs');
  process.stdout.write(`${JSON.parse(readFileSync(from('../package.json'), 'utf8')).version}\n`);
} else if (major >= 24) {
  const { existsSync } = process.getBuiltinModule('node:fs');
  const isCheckout = existsSync(from('../src/cli.ts'));
  const build = await currentBuild(isCheckout);
  if (!isCheckout && !existsSync(from('../dist/cli.js'))) {
    // npm installs a package from a git URL without the script that builds it.
    process.stderr.write(
      'octavo: this installation has no build; clone the repository and run npm ci && npm link there\n',
    );
    process.exit(1);
  }
  setFlags(process.argv[2] ?? '');
  // After the flags: V8 accepts only code that was compiled with the same ones, and Node has a folder for each set.
  process.getBuiltinModule('node:module').enableCompileCache(cacheFolder(isCheckout, build));
  const { main } = await import(from(build === null ? '../src/cli.ts' : '../dist/cli.js').href);
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

/**
 * Sets V8's flags. The young generation stays at its size, and the old one grows by half between full collections, not
 * fourfold. This takes a third less memory; a plan takes a few percent more CPU time.
 */
function setFlags(command) {
  const { setFlagsFromString } = process.getBuiltinModule('node:v8');
  const young = YOUNG_GENERATION.get(command);
  if (young !== undefined) {
    setFlagsFromString(`--semi-space-growth-factor=${young}`);
    fillYoungGeneration();
  }
  setFlagsFromString('--semi-space-growth-factor=1');
  setFlagsFromString('--heap-growing-percent=50');
  if (SINGLE_PLAN_COMMANDS.includes(command) && WITH_MAGLEV.includes(process.arch)) {
    for (const flag of SINGLE_PLAN) {
      setFlagsFromString(flag);
    }
  }
}

/** Allocates 2 MB that survive a collection, which makes V8 enlarge the young generation once. */
function fillYoungGeneration() {
  return Array.from({ length: 256 }, () => new Array(1024).fill(0.5)).length;
}

/** Returns the digest of the source of the build; null for a checkout whose source has changed since its last build. */
async function currentBuild(isCheckout) {
  const { readFileSync } = process.getBuiltinModule('node:fs');
  try {
    const digest = readFileSync(from('../dist/source.sha256'), 'utf8');
    if (!isCheckout) {
      return digest;
    }
    const { sourceDigest } = await import('./source.js');
    return digest === sourceDigest(process.getBuiltinModule('node:url').fileURLToPath(from('..'))) ? digest : null;
  } catch {
    return isCheckout ? null : '';
  }
}

/**
 * Returns the folder in which Node caches compiled code between starts, one for each build. It is in the checkout, or in
 * the user's own cache: code from a folder that others can write to could be anybody's. The first start of a build
 * removes the folders of builds before the last few. Without write access, code is compiled again.
 */
function cacheFolder(isCheckout, build) {
  // Not imported: an import of a built-in module also loads what only some of its functions need.
  const { existsSync, readdirSync, rmSync, statSync } = process.getBuiltinModule('node:fs');
  const { join } = process.getBuiltinModule('node:path');
  const caches = isCheckout
    ? process.getBuiltinModule('node:url').fileURLToPath(from('../.octavo/cache'))
    : join(process.env.XDG_CACHE_HOME || join(process.getBuiltinModule('node:os').homedir(), '.cache'), 'octavo');
  const folder = join(caches, build === null ? 'source' : `build-${build.slice(0, 16)}`);
  try {
    const others =
      existsSync(folder) || !existsSync(caches) ? [] : readdirSync(caches).map((name) => join(caches, name));
    const newestFirst = others.map((path) => ({ path, at: statSync(path).mtimeMs })).sort((a, b) => b.at - a.at);
    for (const { path } of newestFirst.slice(OTHER_CACHES)) {
      rmSync(path, { recursive: true, force: true });
    }
  } catch {
    // Another process removes them, or they cannot be removed.
  }
  return folder;
}
