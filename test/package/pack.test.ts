import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { execFileSync, spawnSync } from '../support/programs.ts';
import { copyInto, linkProductionModules, ROOT } from './pruned.ts';

interface Packed {
  readonly filename: string;
  readonly files: readonly { readonly path: string }[];
}

/** Runs the build of `npm pack` (prepack) in a copy, so that nothing changes in this working tree. */
describe('the npm package', () => {
  let folder: string;
  let packed: Packed;
  let installed: string;

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'octavo-pack-'));
    const checkout = join(folder, 'checkout');
    mkdirSync(checkout);
    const { files } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { files: readonly string[] };
    const kept = files.filter((path) => path !== 'dist');
    copyInto(checkout, [...kept, 'src', 'package.json', 'tsconfig.json', 'scripts', 'README.md', 'LICENSE']);
    symlinkSync(join(ROOT, 'node_modules'), join(checkout, 'node_modules'));
    const answer = execFileSync('npm', ['pack', '--json', '--silent', '--pack-destination', folder], {
      cwd: checkout,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const parsed = JSON.parse(answer.slice(answer.search(/^[[{]/m))) as readonly Packed[] | Record<string, Packed>;
    packed = Object.values(parsed)[0] as Packed;
    execFileSync('tar', ['-xzf', join(folder, packed.filename), '-C', folder]);
    installed = join(folder, 'package');
    linkProductionModules(installed);
  });

  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const run = (...args: readonly string[]) =>
    execFileSync(process.execPath, [join(installed, 'bin/octavo.js'), ...args], { cwd: folder, encoding: 'utf8' });

  test('contains the build and the docs, but no source', () => {
    const paths = packed.files.map(({ path }) => path);
    expect(paths).toEqual(
      expect.arrayContaining([
        'LICENSE',
        'README.md',
        'CHANGELOG.md',
        'bin/octavo.js',
        'dist/cli.js',
        'config.example.yaml',
        'examples/acme/teams.yaml',
        'examples/tickets/mailbox.mbox',
        'examples/tickets/zendesk-export.json',
        'examples/kubernetes/stateful-set.yaml',
        'deploy/kustomize/sqlite/stateful-set.yaml',
      ]),
    );
    expect(paths.filter((path) => /^(src|test|bench|scripts)\/|\.ts$|\.db/.test(path))).toEqual([]);
  });

  test('contains the files that its pages for users refer to', () => {
    const pages = packed.files.map(({ path }) => path).filter((path) => /^(docs|examples|deploy)\/.*\.md$/.test(path));
    // Contributors read these pages in the repository.
    const forUsers = pages.filter((path) => !/^docs\/(decisions\/|architecture\.md)/.test(path));
    const missing = forUsers.flatMap((page) => {
      const links = [...readFileSync(join(installed, page), 'utf8').matchAll(/\]\((?![a-z]+:|#)([^)#\s]+)/g)];
      const paths = links.map(([, link = '']) => join(dirname(page), link));
      return paths.filter((path) => !existsSync(join(installed, path))).map((path) => `${page}: ${path}`);
    });
    expect(forUsers.length).toBeGreaterThan(20);
    // An image is built in a clone of the repository.
    expect(missing.filter((each) => !each.endsWith(': Dockerfile'))).toEqual([]);
  });

  test('runs without the source', () => {
    expect(existsSync(join(installed, 'src'))).toBe(false);
    expect(run('--version')).toMatch(/^\d+\.\d+\.\d+\n$/);
    expect(run('validate', join(installed, 'examples/acme'))).toMatch(/^Valid: /);
  });

  test('says what to do if npm installed it from git, and so without a build', () => {
    const unbuilt = join(folder, 'unbuilt');
    mkdirSync(unbuilt);
    cpSync(join(installed, 'bin'), join(unbuilt, 'bin'), { recursive: true });
    cpSync(join(installed, 'package.json'), join(unbuilt, 'package.json'));
    const { status, stderr } = spawnSync(process.execPath, [join(unbuilt, 'bin/octavo.js'), 'doctor'], {
      encoding: 'utf8',
    });
    expect([status, stderr]).toEqual([
      1,
      'octavo: this installation has no build; clone the repository and run npm ci && npm link there\n',
    ]);
  });

  test('loads every command', () => {
    const modules = readdirSync(join(installed, 'dist')).filter((name) => name.endsWith('.js'));
    const script = `await Promise.all(${JSON.stringify(modules)}.map((name) => import(${JSON.stringify(`${installed}/dist/`)} + name)))`;
    execFileSync(process.execPath, ['--input-type=module', '-e', script], { stdio: 'pipe' });
    expect(modules.some((name) => name.startsWith('plan-'))).toBe(true);
  });

  test('starts without built-in modules that few commands need', () => {
    const script = `
      const { main } = await import(${JSON.stringify(`${installed}/dist/cli.js`)});
      await main(['--version']);
      process.stdout.write(process.moduleLoadList.join('\\n'));`;
    const loaded = execFileSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' });
    const modules = loaded.split('\n').filter((line) => line.startsWith('NativeModule '));
    expect(modules).toContain('NativeModule fs');
    for (const name of ['child_process', 'crypto', 'http', 'http2', 'readline', 'tls', 'zlib']) {
      expect(modules).not.toContain(`NativeModule ${name}`);
    }
  });

  const text = (name: string) => readFileSync(join(installed, 'dist', name), 'utf8');

  /** Returns the modules that are loaded with those of a name. */
  function loadedWith(names: RegExp): readonly string[] {
    const loaded = new Set(readdirSync(join(installed, 'dist')).filter((name) => names.test(name)));
    for (const name of loaded) {
      for (const [, imported = ''] of text(name).matchAll(/^import .*"\.\/([^"]+)";$/gm)) {
        loaded.add(imported);
      }
    }
    return [...loaded];
  }

  test('loads only the operations on declared resources to plan', () => {
    const plan = loadedWith(/^(plan|planning|validate)-.*\.js$/);
    const having = (operation: string) => plan.filter((name) => text(name).includes(`"${operation}"`));
    expect(having('listSpaces')).toHaveLength(1);
    expect(having('publishIntegration')).toEqual([]);
  });

  test('loads the client of PostgreSQL only for a store that uses it', () => {
    const modules = readdirSync(join(installed, 'dist')).filter((name) => name.endsWith('.js'));
    const clients = modules.filter((name) => text(name).includes('import("pg")'));
    expect(clients).not.toEqual([]);
    expect(modules.filter((name) => /^import .*"pg";$/m.test(text(name)))).toEqual([]);
    const daemon = loadedWith(/^run-.*\.js$/);
    expect(daemon).not.toEqual([]);
    expect(daemon.filter((name) => clients.includes(name))).toEqual([]);
  });

  test('loads no HTTP server to push files, and no HTTP client for a dry run', () => {
    const withServer = (modules: readonly string[]) => modules.filter((name) => text(name).includes('from "fastify"'));
    const withClient = (modules: readonly string[]) => modules.filter((name) => name.startsWith('undici-'));
    expect(withServer(loadedWith(/\.js$/))).not.toEqual([]);
    const push = loadedWith(/^push-(?!dry-run).*\.js$/);
    expect(withClient(push)).toHaveLength(1);
    expect(withServer(push)).toEqual([]);
    const dryRun = loadedWith(/^push-dry-run-.*\.js$/);
    expect(dryRun).not.toEqual([]);
    expect(withClient(dryRun)).toEqual([]);
  });
});
