import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import type { Case } from './cases.ts';
import { Figures } from './figures.ts';
import { writeDaemonConfig, writeTeams } from './manifests.ts';
import { median } from './measure.ts';
import { type Platform, startPlatform } from './platform.ts';
import type { Stage } from './stage.ts';

const CYCLES = 100;
/** V8 lets the heap of a young process grow up to a level before it collects in earnest. */
const WARM_UP = 40;
/** Clock ticks a second in /proc: fixed on Linux. */
const TICKS = 100;

interface Line {
  readonly msg: string;
  readonly address?: string;
}

interface Running {
  readonly child: ChildProcessByStdio<null, null, Readable>;
  next(matches: (line: Line) => boolean): Promise<Line>;
  stop(): Promise<void>;
}

export const DAEMON_CASES: readonly Case[] = [
  {
    name: 'daemon, start to ready',
    async measure(stage, runs) {
      const times: number[] = [];
      for (let run = 0; run < runs; run += 1) {
        const { platform, config } = await world(stage, 500, `ready-${run}`);
        const started = performance.now();
        const daemon = start(stage, config);
        const { address } = await daemon.next(({ msg }) => msg === 'octavo is running');
        while (!(await isReady(address ?? ''))) {
          await new Promise((resolve) => setTimeout(resolve, 2));
        }
        times.push((performance.now() - started) / 1000);
        await daemon.stop();
        await platform.stop();
      }
      const figures = new Figures(this.name);
      figures.add('500 teams, the first pass included', median(times), 's', 1);
      return figures.list;
    },
  },
  {
    name: 'daemon, no-change cycles at 5000',
    async measure(stage) {
      const { platform, config } = await world(stage, 5000, 'cycles');
      const daemon = start(stage, config);
      const pid = daemon.child.pid ?? 0;
      const cycle = async () => {
        daemon.child.kill('SIGHUP');
        await daemon.next(({ msg }) => msg.startsWith('pass ended'));
      };
      await daemon.next(({ msg }) => msg.startsWith('pass ended'));
      for (let count = 0; count < WARM_UP; count += 1) {
        await cycle();
      }
      const [memory, cpu] = [residentOf(pid), cpuOf(pid)];
      for (let count = 0; count < CYCLES; count += 1) {
        await cycle();
      }
      const figures = new Figures(this.name);
      figures.add('CPU a cycle', (cpuOf(pid) - cpu) / CYCLES, 's', 0.15);
      figures.add('resident before', memory, 'MB');
      figures.add(`growth over ${CYCLES}`, (100 * (residentOf(pid) - memory)) / memory, '%', 10);
      await daemon.stop();
      await platform.stop();
      return figures.list;
    },
  },
];

async function world(stage: Stage, count: number, name: string): Promise<{ platform: Platform; config: string }> {
  const folder = writeTeams(join(stage.folder, `teams-${count}-one`), count, { single: true });
  const platform = await startPlatform(stage, count);
  return { platform, config: writeDaemonConfig(join(stage.folder, `${name}.yaml`), platform, folder) };
}

function start(stage: Stage, config: string): Running {
  const child = spawn(process.execPath, [stage.octavo, 'run', '--config', config], {
    cwd: stage.folder,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const lines = createInterface(child.stderr)[Symbol.asyncIterator]();
  return {
    child,
    async next(matches) {
      for (;;) {
        const { value, done } = await lines.next();
        if (done === true) {
          throw new Error('the daemon ended');
        }
        const line = JSON.parse(value) as Line;
        if (matches(line)) {
          return line;
        }
      }
    },
    async stop() {
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      await ended;
    },
  };
}

async function isReady(address: string): Promise<boolean> {
  return fetch(`${address}/readyz`).then(
    (answer) => answer.ok,
    () => false,
  );
}

function residentOf(pid: number): number {
  const [, kilobytes] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kilobytes) / 1024;
}

/** Seconds, user and system, threads included. */
function cpuOf(pid: number): number {
  // The name, in brackets, may hold blanks; what follows does not.
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) / TICKS;
}
