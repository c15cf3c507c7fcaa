/** The daemon: its start, passes without changes, and its memory at rest. */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Daemon, startDaemon } from '../daemon.ts';
import { cpuSeconds, residentMegabytes } from '../machine.ts';
import { writeDaemonConfig, writeTeams } from '../manifests.ts';
import { runOnce } from '../measure.ts';
import { type Platform, peer, startPlatform } from '../platform.ts';
import type { Case, CaseContext } from '../runner.ts';

const CYCLES = 100;
/** V8 lets the heap of a young process grow to a certain size before a full collection. */
const WARM_UP = 40;
/** Milliseconds without work before memory at rest is read. */
const REST = 15_000;

export const DAEMON_CASES: readonly Case[] = [
  {
    name: 'daemon-start',
    title: 'Start of the daemon until it is ready, with the first pass over 500 teams',
    async measure(context) {
      const times: number[] = [];
      for (let run = 0; run < context.runs; run += 1) {
        const { platform, config } = await prepare(context, 500);
        const started = performance.now();
        const daemon = startDaemon(context, config);
        const { address } = await daemon.waitFor(({ msg }) => msg === 'octavo is running');
        while (!(await isReady(address ?? ''))) {
          await sleep(2);
        }
        times.push((performance.now() - started) / 1000);
        await daemon.stop();
        await platform.stop();
      }
      context.record('wall', 'seconds', times, 1);
    },
  },
  {
    name: 'daemon-cycles',
    title: `${CYCLES} passes without changes over 5,000 teams`,
    async measure(context) {
      const { platform, config } = await prepare(context, 5000);
      const daemon = startDaemon(context, config);
      const pid = daemon.child.pid ?? 0;
      await endOfPass(daemon);
      await cycles(daemon, WARM_UP);
      const [before, cpu] = [residentMegabytes(pid).now, cpuSeconds(pid)];
      await cycles(daemon, CYCLES);
      const perCycle = (cpuSeconds(pid) - cpu) / CYCLES;
      const after = residentMegabytes(pid).now;
      await sleep(REST, undefined, { signal: context.signal });
      const floor = await runOnce(context, peer(context, platform, 'http', 10, 'list'));
      context.record('CPU per pass', 'seconds', perCycle, 0.15);
      context.record('CPU per pass over floor', 'CPU ratio', perCycle / floor.cpu);
      context.record(`memory growth over ${CYCLES} passes`, 'growth', (100 * (after - before)) / before, 10);
      context.record('memory at rest', 'memory', residentMegabytes(pid).now, 200);
      context.record('peak memory', 'memory', residentMegabytes(pid).peak);
    },
  },
];

async function prepare(context: CaseContext, count: number): Promise<{ platform: Platform; config: string }> {
  const folder = writeTeams(join(context.folder, 'teams'), count, { single: true });
  const platform = await startPlatform(context, count);
  return { platform, config: writeDaemonConfig(join(context.folder, `daemon-${Date.now()}.json`), platform, folder) };
}

async function cycles(daemon: Daemon, count: number): Promise<void> {
  for (let cycle = 0; cycle < count; cycle += 1) {
    daemon.child.kill('SIGHUP');
    await endOfPass(daemon);
  }
}

async function endOfPass(daemon: Daemon): Promise<void> {
  const { outcome, msg } = await daemon.waitFor((line) => line.outcome !== undefined);
  if (outcome !== 'done') {
    throw new Error(`a pass did not succeed: ${msg}`);
  }
}

async function isReady(address: string): Promise<boolean> {
  return fetch(`${address}/readyz`).then(
    (answer) => answer.ok,
    () => false,
  );
}
