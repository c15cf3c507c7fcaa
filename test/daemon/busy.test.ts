import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { eventually, type OctavoProcess } from '../support/octavo-process.ts';
import { openWorkspace } from '../support/workspace.ts';

/** Milliseconds between requests. */
const EVERY = 50;
/** Bytes of a large manifest, which takes seconds to parse. */
const SIZE = 4 * 1_048_576;

interface Answer {
  readonly path: string;
  readonly status: number;
  /** Longest pause of the main thread in seconds, according to the metrics; null for other paths. */
  readonly busy: number | null;
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

async function ask(address: string, path: string): Promise<Answer> {
  const response = await fetch(`${address}${path}`);
  const text = await response.text();
  return {
    path,
    status: response.status,
    busy: path === '/metrics' ? Number(/^octavo_main_thread_busy_seconds (\S+)$/m.exec(text)?.[1]) : null,
  };
}

/** Requests health and metrics until `isOver`. */
async function probe(address: string, isOver: () => boolean): Promise<readonly Answer[]> {
  const answers: Answer[] = [];
  for (let turn = 0; !isOver(); turn += 1) {
    answers.push(await ask(address, turn % 4 === 3 ? '/metrics' : '/healthz'));
    await pause(EVERY);
  }
  return answers;
}

const passes = (daemon: OctavoProcess) => daemon.logged('pass completed').length;

test('serves health and metrics and stops on SIGTERM after the main thread parses a large manifest', async () => {
  await using work = await openWorkspace();
  const { directory } = work.repository;
  const file = join(directory, 'teams.yaml');
  writeFileSync(file, 'teams:\n  t0: { title: T }\n');
  const daemon = work.begin('run', '--config', work.configure({ organization: { source: { directory } } }));
  const address = String((await daemon.waitForLog('octavo is running')).address);
  await eventually('the first pass', () => passes(daemon) > 0);
  writeFileSync(file, hostileManifest('a', SIZE));
  const answers = await probe(address, () => passes(daemon) > 1);
  expect(answers.filter(({ status }) => status !== 200)).toEqual([]);
  const silent = Math.max(...answers.map(({ busy }) => busy ?? 0));
  expect(silent).toBeGreaterThan(1);

  writeFileSync(file, hostileManifest('b', SIZE / 2));
  await eventually('the main thread to be busy', async () => ((await ask(address, '/metrics')).busy ?? 0) > 0.5);
  const { code } = await daemon.stop();
  expect(code).toBe(0);
}, 180_000);
