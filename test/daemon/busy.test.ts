/** Health checks and metrics of a daemon whose main thread is busy. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { request } from 'undici';
import { expect, test } from 'vitest';
import { eventually, type OctavoProcess } from '../support/octavo-process.ts';
import { openWorkspace } from '../support/workspace.ts';

/** Milliseconds between requests. */
const EVERY = 50;
/** Bytes of a large manifest, which takes seconds to parse. */
const SIZE = 4 * 1_048_576;

/** Longest time in milliseconds that probes wait: the time limit of those in deploy/. */
const PROBE_LIMIT = 5000;

/** Milliseconds that the main thread of a process has worked. Unlike the time that passes, other programs do not lengthen it. */
function worked(pid: number): number {
  const [nanoseconds] = readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ');
  return Number(nanoseconds) / 1e6;
}

interface Answer {
  readonly status: number;
  /** For which the main thread worked before it answered. */
  readonly milliseconds: number;
}

/** A manifest in which every entry has a problem. */
function hostileManifest(field: string, bytes: number): string {
  const entry = (index: number) => `  t${index}: &a${index} { title: [*a0, "${'x'.repeat(40)}"], ${field}: *a0 }\n`;
  const lines = ['teams:\n  t0: &a0 { title: T }\n'];
  let size = 0;
  for (let index = 1; size < bytes - 200; index += 1) {
    lines.push(entry(index));
    size += entry(index).length;
  }
  return lines.join('');
}

async function ask(address: string, path: string, pid: number): Promise<Answer> {
  const from = worked(pid);
  // As a probe of Kubernetes, on a connection of its own: a busy server may close an idle one that is about to be used.
  const { statusCode, body } = await request(`${address}${path}`, { reset: true });
  await body.dump();
  return { status: statusCode, milliseconds: worked(pid) - from };
}

/** Requests health and metrics until `isOver`. */
async function probe(address: string, pid: number, isOver: () => boolean): Promise<readonly Answer[]> {
  const answers: Answer[] = [];
  for (let turn = 0; !isOver(); turn += 1) {
    answers.push(await ask(address, turn % 4 === 3 ? '/metrics' : '/healthz', pid));
    await pause(EVERY);
  }
  return answers;
}

const passes = (daemon: OctavoProcess) => daemon.logged('pass completed').length;

const slowest = (answers: readonly Answer[]) => Math.max(...answers.map(({ milliseconds }) => milliseconds));

test.runIf(process.platform === 'linux')(
  'answers probes in time while it parses a large manifest, and stops on SIGTERM afterwards',
  async () => {
    await using work = await openWorkspace();
    const { directory } = work.repository;
    const file = join(directory, 'teams.yaml');
    writeFileSync(file, 'teams:\n  t0: { title: T }\n');
    const daemon = work.begin('run', '--config', work.configure({ organization: { source: { directory } } }));
    const address = String((await daemon.waitForLog('octavo is running')).address);
    await eventually('the first pass', () => passes(daemon) > 0);
    writeFileSync(file, hostileManifest('a', SIZE));
    const answers = await probe(address, Number(daemon.child.pid), () => passes(daemon) > 1);
    expect(answers.filter(({ status }) => status !== 200)).toEqual([]);
    expect(slowest(answers)).toBeLessThan(PROBE_LIMIT);

    writeFileSync(file, hostileManifest('b', SIZE / 2));
    await eventually(
      'a busy main thread',
      async () => (await ask(address, '/healthz', Number(daemon.child.pid))).milliseconds > 200,
    );
    const { code } = await daemon.stop();
    expect(code).toBe(0);
  },
  180_000,
);

test.runIf(process.platform === 'linux')(
  'answers probes in time while it reads and plans 100,000 resources in 10 MB',
  async () => {
    await using work = await openWorkspace();
    const { directory } = work.repository;
    writeFileSync(join(directory, 'teams.yaml'), 'teams:\n  t0: { title: T }\n');
    const daemon = work.begin(
      'run',
      '--dry-run',
      '--config',
      work.configure({ organization: { source: { directory } } }),
    );
    const address = String((await daemon.waitForLog('octavo is running')).address);
    await eventually('the first pass', () => passes(daemon) > 0);
    for (let index = 0; index < 10; index += 1) {
      const entry = (number: number) =>
        `  s${index}_${number}: { title: "Space ${index} ${number} ${'x'.repeat(25)}" } # ${'-'.repeat(30)}\n`;
      const text = `spaces:\n${Array.from({ length: 10_000 }, (_, number) => entry(number)).join('')}`;
      writeFileSync(join(directory, `spaces-${index}.yaml`), text);
    }
    const planned = () => daemon.log.some(({ summary }) => String(summary).includes('100001 to create'));
    const answers = await probe(address, Number(daemon.child.pid), planned);
    expect(answers.filter(({ status }) => status !== 200)).toEqual([]);
    expect(slowest(answers)).toBeLessThan(PROBE_LIMIT);
  },
  180_000,
);
