/** Runs of tests that are ended: they leave neither processes nor files. */
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { canEndWithParent } from './end-with-parent.ts';
import { eventually } from './octavo-process.ts';
import { execFileSync, spawn } from './programs.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Test that starts a program in a group of its own, and waits for it. */
const ENDLESS = `
const { spawn } = process.getBuiltinModule('node:child_process');
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'vitest';
test('ends never', async () => {
  for (const parent of [tmpdir(), process.env.OCTAVO_TEST_MEMORY]) mkdtempSync(join(parent, 'left-'));
  spawn('sleep', ['3600'], { detached: true, stdio: 'ignore' });
  await new Promise(() => undefined);
});
`;

/** Processes whose environment has this variable, with their programs. */
function processesWith(variable: string): readonly string[] {
  return readdirSync('/proc').flatMap((pid) => {
    try {
      const environment = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
      return environment.includes(variable) ? [readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')] : [];
    } catch {
      return [];
    }
  });
}

describe.skipIf(!canEndWithParent || process.platform !== 'linux')('a run of tests', () => {
  let folder: string;
  /** Project with one test. */
  let project: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'octavo-ended-'));
    project = join(folder, 'project');
    mkdirSync(join(project, 'test'), { recursive: true });
    symlinkSync(join(ROOT, 'node_modules'), join(project, 'node_modules'));
    writeFileSync(join(project, 'test/endless.test.ts'), ENDLESS);
  });
  afterAll(() => {
    rmSync(folder, { recursive: true, force: true });
  });

  /** Starts `npm run test:unit` for the endless test, and waits until its program runs. */
  async function startRun(mark: string) {
    const temporary = mkdtempSync(join(folder, 'tmp-'));
    const env = { ...process.env, TMPDIR: temporary, OCTAVO_MARK: mark, OCTAVO_TEST_MEMORY: undefined };
    const args = ['--root', project, '--config', join(ROOT, 'vitest.config.ts')];
    const npm = spawn('npm', ['run', 'test:unit', '--', ...args], { cwd: ROOT, env, stdio: 'ignore' });
    const exit = once(npm, 'exit');
    await eventually(
      'the endless test',
      () => processesWith(`OCTAVO_MARK=${mark}`).some((line) => /^sleep /.test(line)),
      60,
    );
    const memory = readdirSync('/dev/shm').filter((each) => runFolders(temporary).some((run) => each.startsWith(run)));
    return { npm, exit, temporary, memory };
  }

  /** Runs in a folder, without the random end of their names. */
  const runFolders = (temporary: string) =>
    readdirSync(temporary).flatMap((each) => /^octavo-run-\d+-\d+-/.exec(each)?.[0] ?? []);

  test.each(['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGKILL'] as const)(
    'leaves nothing when npm gets %s',
    { timeout: 120_000 },
    async (signal) => {
      const mark = `${process.pid}-${signal}`;
      const { npm, exit, temporary, memory } = await startRun(mark);
      expect(memory).toHaveLength(1);
      npm.kill(signal);
      await exit;
      await eventually('the end of all processes', () => processesWith(`OCTAVO_MARK=${mark}`).length === 0, 20);
      expect(runFolders(temporary)).toEqual([]);
      expect(existsSync(join('/dev/shm', memory[0] ?? ''))).toBe(false);
    },
  );

  test('that was killed whole is removed by the next, which leaves live runs alone', { timeout: 180_000 }, async () => {
    const mark = `${process.pid}-all`;
    const live = await startRun(`${mark}-live`);
    const killed = await startRun(mark);
    // Everything but the program in a group of its own, at once: nobody is left to remove anything.
    for (const pid of readdirSync('/proc').filter((each) => /^\d+$/.test(each))) {
      const path = `/proc/${pid}`;
      const isRun =
        existsSync(path) &&
        processHas(pid, `OCTAVO_MARK=${mark}`) &&
        !readFileSync(`${path}/cmdline`, 'utf8').startsWith('sleep');
      if (isRun) {
        process.kill(Number(pid), 'SIGKILL');
      }
    }
    await killed.exit;
    const script = `import(${JSON.stringify(join(ROOT, 'test/support/run-folder.ts'))}).then((it) => it.removeAbandonedFolders())`;
    execFileSync(process.execPath, ['-e', script], { env: { ...process.env, TMPDIR: killed.temporary } });
    await eventually('the end of the program', () => processesWith(`OCTAVO_MARK=${mark}`).length === 0, 20);
    expect(runFolders(killed.temporary)).toEqual([]);
    expect(existsSync(join('/dev/shm', killed.memory[0] ?? ''))).toBe(false);
    expect(runFolders(live.temporary)).toHaveLength(1);
    expect(existsSync(join('/dev/shm', live.memory[0] ?? ''))).toBe(true);
    live.npm.kill('SIGTERM');
    await live.exit;
  });
});

function processHas(pid: string, variable: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0').includes(variable);
  } catch {
    return false;
  }
}
