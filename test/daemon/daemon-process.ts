/** Starts a daemon as a process and reads its HTTP server. */
import type { LogLine, OctavoProcess } from '../support/octavo-process.ts';
import { eventually } from '../support/octavo-process.ts';
import type { DaemonSettings, Workspace } from '../support/workspace.ts';

/** A daemon of a workspace, and its HTTP server. */
export interface RunningDaemon {
  readonly process: OctavoProcess;
  readonly address: string;
  /** Value of a metric by the beginning of its line; null if there is none. */
  metric(line: string): Promise<number | null>;
  /** Waits until a metric has a value. */
  untilMetric(line: string, value: number): Promise<void>;
  /** Requests a pass (SIGHUP) and waits until it has ended. */
  pass(): Promise<LogLine>;
}

/** Starts `octavo run` and waits until it answers. */
export async function startDaemon(
  work: Workspace,
  settings: DaemonSettings = {},
  ...flags: string[]
): Promise<RunningDaemon> {
  const process = work.begin('run', ...flags, '--config', work.configure(settings));
  const { address } = await process.waitForLog('octavo is running');
  const metric = async (line: string) => {
    const text = await (await fetch(`${address}/metrics`)).text();
    const found = text.split('\n').find((each) => each.startsWith(`${line} `));
    return found === undefined ? null : Number(found.slice(line.length + 1));
  };
  return {
    process,
    address: String(address),
    metric,
    untilMetric: async (line, value) => {
      await eventually(`${line} to be ${value}`, async () => (await metric(line)) === value);
    },
    pass: async () => {
      const ended = () => process.logged('pass ').filter(({ trigger, outcome }) => trigger === 'manual' && outcome);
      const before = ended().length;
      process.child.kill('SIGHUP');
      return eventually('the pass to end', () => ended()[before] ?? null);
    },
  };
}

/** Manifests with these teams. */
export function teams(...titles: string[]): string {
  return `teams:\n${titles.map((title) => `  ${title.toLowerCase()}: { title: ${title} }\n`).join('')}`;
}
