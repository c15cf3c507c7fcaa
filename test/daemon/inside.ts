/** Starts a daemon in the test process. */
import { readFileSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { loadConfig } from '../../src/config/load.ts';
import { type Clock, systemClock } from '../../src/core/clock.ts';
import type { DaemonOptions } from '../../src/daemon/options.ts';
import { createDaemon, type Daemon } from '../../src/daemon.ts';
import { kinds } from '../../src/kinds/registry.ts';
import { createLogger } from '../../src/log.ts';
import type { PassEnd } from '../../src/reconcile/pass.ts';
import { openSqliteStore } from '../../src/store/sqlite.ts';
import { LogBuffer } from '../../src/web/model/log-buffer.ts';
import { keepLines } from '../support/log-lines.ts';
import { type LogLine, VERSION } from '../support/octavo-process.ts';
import type { DaemonSettings, Workspace } from '../support/workspace.ts';
import { readMetrics } from './daemon-process.ts';

export interface InsideSettings extends DaemonSettings, Pick<DaemonOptions, 'configuration' | 'openStore'> {
  readonly clock?: Clock;
}

/** A daemon, and its log for operators, without debug lines. */
export interface StartedDaemon {
  readonly daemon: Daemon;
  readonly log: readonly LogLine[];
}

/** Starts a daemon that checks its repository only on request, and waits for the first pass of each organization. */
export async function startHere(
  work: Workspace,
  { clock = systemClock, configuration, openStore, ...settings }: InsideSettings,
): Promise<StartedDaemon> {
  const source = { git: { url: work.repository.directory, pollInterval: '1h' } };
  const file = work.configure({ ...settings, organization: { source, ...settings.organization } });
  const readFile = (name: string) => readFileSync(name, 'utf8');
  const config = loadConfig({ text: readFile(file), file, env: work.env, readFile, kinds });
  const log: LogLine[] = [];
  const logBuffer = new LogBuffer();
  const daemon = await createDaemon({
    ...{ config, clock, logBuffer, random: Math.random, version: VERSION, dryRun: false },
    log: createLogger({
      ...{ level: 'info', format: 'json', secrets: config.secrets, destination: keepLines(log) },
      onRecord: (record) => logBuffer.add(record),
    }),
    ...(configuration === undefined ? {} : { configuration }),
    ...(openStore === undefined ? {} : { openStore }),
  });
  await daemon.start();
  await Promise.all(daemon.organizations.map((organization) => organization.idle()));
  return { daemon, log };
}

/** A daemon of a workspace in this process, whose state file can be damaged or locked. */
export interface InsideDaemon extends AsyncDisposable {
  readonly address: string;
  /** Log lines for operators, without debug lines. */
  readonly log: readonly LogLine[];
  readonly database: DatabaseSync;
  pass(): Promise<PassEnd | null>;
  /** Waits for the pass that runs, if any. */
  idle(): Promise<void>;
  metrics(): Promise<string>;
}

/** Starts a daemon with a state file. */
export async function startInside(work: Workspace, settings: InsideSettings = {}): Promise<InsideDaemon> {
  let database: DatabaseSync | undefined;
  const { daemon, log } = await startHere(work, {
    ...settings,
    openStore: ({ path }) =>
      openSqliteStore(String(path), (opened) => {
        database = opened;
      }),
  });
  const [organization] = daemon.organizations;
  if (database === undefined || organization === undefined) {
    throw new Error('there is no state, or no organization');
  }
  return {
    address: String(daemon.address),
    log,
    database,
    pass: async () => {
      await organization.trigger('manual');
      return organization.lastEnd;
    },
    idle: () => organization.idle(),
    metrics: () => readMetrics(String(daemon.address)),
    [Symbol.asyncDispose]: () => daemon.stop(),
  };
}
