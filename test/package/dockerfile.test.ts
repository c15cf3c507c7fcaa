import { once } from 'node:events';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseIgnoreRules } from '../../src/manifests/manifest-files.ts';
import { eventually } from '../support/octavo-process.ts';
import { execFileSync, spawn } from '../support/programs.ts';
import { copyInto, linkProductionModules, ROOT } from './pruned.ts';

interface Instruction {
  readonly name: string;
  readonly value: string;
}

interface Stage {
  readonly base: string;
  readonly name: string;
  readonly instructions: readonly Instruction[];
}

/** The instructions of a Dockerfile by stage. */
function readStages(text: string): readonly Stage[] {
  const lines = text
    .replaceAll(/^#.*\n/gm, '')
    .replaceAll(/\\\n\s*/g, ' ')
    .split('\n')
    .filter((line) => line.trim() !== '');
  const stages: { base: string; name: string; instructions: Instruction[] }[] = [];
  for (const line of lines) {
    const [, name = '', value = ''] = /^([A-Z]+)\s+(.*)$/.exec(line.trim()) ?? [];
    const [, base = '', as = ''] = name === 'FROM' ? (/^(\S+)(?:\s+AS\s+(\S+))?$/.exec(value) ?? []) : [];
    if (name === 'FROM') {
      stages.push({ base, name: as, instructions: [] });
    } else {
      stages.at(-1)?.instructions.push({ name, value });
    }
  }
  return stages;
}

const stages = readStages(readFileSync(join(ROOT, 'Dockerfile'), 'utf8'));
const final = stages.at(-1);
const all = stages.flatMap(({ instructions }) => instructions);
const valuesOf = (name: string) =>
  (final?.instructions ?? []).filter((each) => each.name === name).map((each) => each.value);
const commandsOf = (stage: Stage | undefined) =>
  (stage?.instructions ?? []).filter(({ name }) => name === 'RUN').flatMap(({ value }) => value.split(/\s+&&\s+/));

/** Sources of each COPY, with their stages. */
const copies = all
  .filter(({ name }) => name === 'COPY')
  .flatMap(({ value }) => {
    const from = /^--from=(\S+)\s+/.exec(value)?.[1] ?? null;
    const words = value.replace(/^--\S+\s+/g, '').split(/\s+/);
    return words.slice(0, -1).map((source) => ({ from, source }));
  });

describe('Dockerfile', () => {
  test.each(copies.filter(({ from }) => from === null))(
    '$source exists and is not ignored by the build',
    ({ source }) => {
      expect(existsSync(join(ROOT, source))).toBe(true);
      const rules = parseIgnoreRules(readFileSync(join(ROOT, '.dockerignore')));
      const path = source.replace(/^\.\//, '');
      expect(rules.ignores(path)).toBe(false);
    },
  );

  test.each(copies.filter(({ from }) => from !== null))('the stage $from creates $source', ({ from, source }) => {
    const stage = stages.find(({ name }) => name === from);
    const [, folder = '', made = ''] = /^(.*)\/([^/]+)$/.exec(source) ?? [];
    expect(stage?.instructions).toContainEqual({ name: 'WORKDIR', value: folder });
    const maker = { node_modules: /^npm ci/, dist: /^npm run build$/ }[made];
    expect(maker).toBeDefined();
    expect(commandsOf(stage).some((command) => maker?.test(command))).toBe(true);
  });

  test('builds only with commands that continuous integration also runs', () => {
    // "npm run check" runs the build among others.
    const checks = readFileSync(join(ROOT, 'scripts/check.ts'), 'utf8');
    expect(checks).toMatch(/CHECKS = \[.*'build'/);
    const runs = readFileSync(join(ROOT, '.ci/run'), 'utf8').replace(/^npm run check/m, 'npm run build\n$&');
    const commands = stages.slice(0, -1).flatMap(commandsOf);
    expect(commands).toEqual(['npm ci', 'npm run build', 'npm ci --omit=dev']);
    for (const command of commands) {
      expect(runs).toMatch(new RegExp(`^\\(?.*\\b${command}( --no-audit --no-fund\\)?)?$`, 'm'));
    }
  });

  test('copies nothing into the image that the npm package does not have, so the demonstration also runs from there', () => {
    const { files } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { files: readonly string[] };
    const packed = [...files, 'package.json', 'LICENSE'];
    const copied = (final?.instructions ?? [])
      .filter(({ name, value }) => name === 'COPY' && !value.startsWith('--from=production'))
      .flatMap(({ value }) =>
        value
          .replace(/^--from=\S+ \/build\//, '')
          .split(/\s+/)
          .slice(0, -1),
      );
    expect(copied).toContain('dist');
    const isPacked = (path: string) => packed.some((each) => path === each || path.startsWith(`${each}/`));
    expect(copied.filter((path) => !isPacked(path))).toEqual([]);
  });

  test('contains git, an SSH client and certificates, but no development dependency', () => {
    const install = commandsOf(final).find((command) => command.startsWith('apt-get install')) ?? '';
    expect(install.split(' ')).toEqual(expect.arrayContaining(['git', 'openssh-client', 'ca-certificates']));
    expect(copies).toContainEqual({ from: 'production', source: '/production/node_modules' });
  });

  test('runs as a non-root user, keeps its state in a volume and has a health check', () => {
    expect(valuesOf('USER')).toEqual(['node']);
    const order = (final?.instructions ?? []).map(({ name }) => name);
    expect(order.indexOf('USER')).toBeGreaterThan(order.lastIndexOf('RUN'));
    expect(valuesOf('VOLUME')).toEqual(['["/var/lib/octavo"]']);
    expect(valuesOf('HEALTHCHECK')[0]).toContain('CMD ["octavo", "health", "--config", "/etc/octavo/config.yaml"]');
  });
});

/** Runs the build on what the Dockerfile copies for it, and moves the result. */
function buildInto(image: string): void {
  const folder = mkdtempSync(join(tmpdir(), 'octavo-docker-build-'));
  try {
    const build = stages.find(({ name }) => name === 'build');
    for (const { value } of (build?.instructions ?? []).filter(({ name }) => name === 'COPY')) {
      for (const source of value.split(/\s+/).slice(0, -1)) {
        cpSync(join(ROOT, source), join(folder, source), { recursive: true });
      }
    }
    symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
    execFileSync(process.execPath, ['scripts/build.ts', join(image, 'dist')], { cwd: folder, stdio: 'pipe' });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

describe('the contents of the image', () => {
  let folder: string;

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'octavo-image-'));
    copyInto(
      folder,
      copies
        .filter(({ from, source }) => from === null && !/^(src|tsconfig)|lock/.test(source))
        .map(({ source }) => source),
    );
    buildInto(folder);
    linkProductionModules(folder);
  });

  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const run = (...args: readonly string[]) =>
    execFileSync(process.execPath, [join(folder, 'bin/octavo.js'), ...args], { cwd: folder, encoding: 'utf8' });

  test('runs the demo', () => {
    expect(run('demo', '--once')).toContain('The demonstration is complete.');
  });

  test('the daemon answers health checks from its own thread and stops on SIGTERM', async () => {
    const directory = join(folder, 'examples/acme');
    const config = {
      platform: { baseUrl: 'http://127.0.0.1:9', token: 'none' },
      organizations: [{ id: 'org_1', source: { directory } }],
      store: { path: join(folder, 'state/octavo.db') },
      server: { listen: '127.0.0.1:0' },
      log: { format: 'json' },
    };
    writeFileSync(join(folder, 'daemon.json'), JSON.stringify(config));
    const args = [join(folder, 'bin/octavo.js'), 'run', '--config', join(folder, 'daemon.json')];
    const child = spawn(process.execPath, args, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
    const ended = once(child, 'exit');
    let log = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        log += text;
      });
    }
    const address = await eventually('the address', () => /"address":"([^"]+)"/.exec(log)?.[1] ?? null);
    expect((await fetch(`${address}/healthz`)).status).toBe(200);
    expect(await (await fetch(`${address}/metrics`)).text()).toContain('octavo_main_thread_busy_seconds 0');
    child.kill('SIGTERM');
    expect(await ended).toEqual([0, null]);
  });

  test('has the command of its health check', () => {
    const [, json = '[]'] = /CMD (\[.*\])$/.exec(valuesOf('HEALTHCHECK')[0] ?? '') ?? [];
    const [program, command = ''] = JSON.parse(json) as readonly string[];
    expect(program).toBe('octavo');
    expect(run(command, '--help')).toContain('Exit 0 if the daemon of this configuration is healthy');
  });
});
