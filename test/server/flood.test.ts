/** A daemon that many connections flood. */
import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { expect, test } from 'vitest';
import { openWorkspace } from '../support/workspace.ts';
import type { Target } from './flood-thread.ts';

/** Connections of one flood. */
const CONNECTIONS = 5000;
/** Seconds of one flood. */
const SECONDS = 5;
/** Largest memory of the daemon, in megabytes. */
const MEMORY = 300;
/** Milliseconds in which a health check is answered, as in deploy/. */
const PROBE = 5000;

const head = (path: string, more = '') => `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n${more}`;
const form = 'Content-Type: application/x-www-form-urlencoded\r\n';

type Flood = (path: string) => readonly [first: string, more: string];

/** Texts that a client sends: the first once, the second again every few milliseconds. */
const FLOODS: Readonly<Record<string, Flood>> = {
  'one-byte chunks': (path) => [`${head(path, form)}Transfer-Encoding: chunked\r\n\r\n`, '1\r\na\r\n'],
  'large headers without a body': (path) => [
    head(path, `X-A: ${'a'.repeat(14_000)}\r\nContent-Length: 1000\r\n\r\n`),
    '',
  ],
  'headers that do not end': (path) => [head(path), 'X-A: aaaa\r\n'],
  'nothing sent': () => ['', ''],
  'endless bodies': (path) => [
    `${head(path, form)}Transfer-Encoding: chunked\r\n\r\n`,
    `4000\r\n${'a'.repeat(0x4000)}\r\n`,
  ],
  'pipelined requests': () => ['', 'GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n'.repeat(3)],
  'unknown paths': () => [`${head('/nothing', form)}Transfer-Encoding: chunked\r\n\r\n`, '1\r\na\r\n'],
};

function megabytes(pid: number, name: 'VmRSS' | 'VmHWM'): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1]) / 1024;
}

/** Sends a flood from a thread of its own: it must not delay the probes. Returns a function that ends it. */
function flood(targets: readonly Target[], count: number): () => Promise<unknown> {
  const thread = new Worker(new URL('flood-thread.ts', import.meta.url), { workerData: { targets, count } });
  return () => thread.terminate();
}

/** Returns the milliseconds until a health check was answered. Like those of Kubernetes, it is repeated if it fails. */
async function probe(address: string): Promise<number> {
  const began = performance.now();
  const signal = AbortSignal.timeout(PROBE);
  for (;;) {
    try {
      const response = await fetch(`${address}/healthz`, { headers: { connection: 'close' }, signal });
      expect(response.status).toBe(200);
      await response.text();
      return performance.now() - began;
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof TypeError)) {
        throw error;
      }
      // The flood has displaced its connection.
      await pause(100);
    }
  }
}

const MIX = Object.values(FLOODS);
const CASES: readonly (readonly [string, readonly Flood[], number])[] = [
  ...Object.entries(FLOODS).map(([name, one]) => [name, [one], CONNECTIONS] as const),
  ['a mix of all', MIX, CONNECTIONS],
  ['20 connections with one-byte chunks', [FLOODS['one-byte chunks'] as Flood], 20],
];

test.runIf(process.platform === 'linux').each(CASES)(
  'answers health checks and keeps its memory: %s',
  async (name, floods, count) => {
    await using work = await openWorkspace();
    const daemon = work.begin('run', '--config', work.configure({ top: { ui: { listen: '127.0.0.1:0' } } }));
    const health = String((await daemon.waitForLog('octavo is running')).address);
    const page = String((await daemon.waitForLog('web page is served')).address);
    const pid = Number(daemon.child.pid);
    const targets = floods.flatMap((one) => [
      [health, ...one('/hooks/org_acme')] as const,
      [page, ...one('/sign-in')] as const,
    ]);
    const before = megabytes(pid, 'VmRSS');
    const stop = flood(targets, count);
    const times: number[] = [];
    try {
      const until = performance.now() + SECONDS * 1000;
      while (performance.now() < until) {
        times.push(await probe(health));
        await pause(100);
      }
    } finally {
      await stop();
    }
    const busy = /^octavo_main_thread_busy_seconds (\S+)$/m.exec(await (await fetch(`${health}/metrics`)).text())?.[1];
    const peak = megabytes(pid, 'VmHWM');
    process.stderr.write(
      `flood: ${name}: ${before.toFixed()} MB, peak ${peak.toFixed()} MB; slowest probe ${Math.max(...times).toFixed()} ms of ${times.length}; main thread busy ${Number(busy).toFixed(2)} s\n`,
    );
    expect(peak).toBeLessThan(MEMORY);
    expect((await daemon.stop()).code).toBe(0);
  },
  120_000,
);
