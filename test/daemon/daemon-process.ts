/** Starts a daemon, in this process or as a process, and reads its HTTP server. */
import { eventually, type LogLine, type OctavoProcess, type OctavoRun } from '../support/octavo-process.ts';
import type { DaemonSettings, Workspace } from '../support/workspace.ts';

/** A daemon of a workspace, and its HTTP server. */
export interface RunningDaemon<R extends OctavoRun = OctavoRun> {
  readonly run: R;
  readonly address: string;
  /** Value of a metric by the beginning of its line; null if there is none. */
  metric(line: string): Promise<number | null>;
  /** Waits until a metric has a value. */
  untilMetric(line: string, value: number): Promise<void>;
  /** Requests a pass (SIGHUP) and waits until it has ended. */
  pass(): Promise<LogLine>;
}

/** Starts `octavo run` in this process and waits until it answers. Faster, for tests that do not need a process. */
export async function startDaemon(
  work: Workspace,
  settings: DaemonSettings = {},
  ...flags: string[]
): Promise<RunningDaemon> {
  return untilRunning(work.beginInside('run', ...flags, '--config', work.configure(settings)));
}

/** Starts `octavo run` as a process, which can be killed, and waits until it answers. */
export async function startDaemonProcess(
  work: Workspace,
  settings: DaemonSettings = {},
): Promise<RunningDaemon<OctavoProcess>> {
  return untilRunning(work.begin('run', '--config', work.configure(settings)));
}

async function untilRunning<R extends OctavoRun>(run: R): Promise<RunningDaemon<R>> {
  const { address } = await run.waitForLog('octavo is running');
  const metric = async (line: string) => {
    const text = await readMetrics(String(address));
    const found = text.split('\n').find((each) => each.startsWith(`${line} `));
    return found === undefined ? null : Number(found.slice(line.length + 1));
  };
  return {
    run,
    address: String(address),
    metric,
    untilMetric: async (line, value) => {
      await eventually(`${line} to be ${value}`, async () => (await metric(line)) === value);
    },
    pass: async () => {
      const ended = () => run.logged('pass ').filter(({ trigger, outcome }) => trigger === 'manual' && outcome);
      const before = ended().length;
      run.hangUp();
      return eventually('the pass to end', () => ended()[before] ?? null);
    },
  };
}

/** Returns the current metrics: a busy daemon repeats earlier ones, with their age. */
export async function readMetrics(address: string): Promise<string> {
  return eventually('current metrics', async () => {
    const response = await fetch(`${address}/metrics`);
    const text = await response.text();
    return response.headers.has('age') ? null : text;
  });
}

/** Manifests with these teams. */
export function teams(...titles: string[]): string {
  return `teams:\n${titles.map((title) => `  ${title.toLowerCase()}: { title: ${title} }\n`).join('')}`;
}
