/** Starts a daemon in the test process. */
import { readFileSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { loadConfig } from '../../src/config/load.ts';
import { type Clock, systemClock } from '../../src/core/clock.ts';
import { createDaemon } from '../../src/daemon.ts';
import { kinds } from '../../src/kinds/registry.ts';
import { createLogger } from '../../src/log.ts';
import type { PassEnd } from '../../src/reconcile/pass.ts';
import { openSqliteStore } from '../../src/store/sqlite.ts';
import { keepLines } from '../support/log-lines.ts';
import { type LogLine, VERSION } from '../support/octavo-process.ts';
import type { DaemonSettings, Workspace } from '../support/workspace.ts';
import { readMetrics } from './daemon-process.ts';

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

/** Starts a daemon that checks its repository only on request, and waits for its first pass. */
export async function startInside(
  work: Workspace,
  { clock = systemClock, ...settings }: DaemonSettings & { readonly clock?: Clock } = {},
): Promise<InsideDaemon> {
  const source = { git: { url: work.repository.directory, pollInterval: '1h' } };
  const file = work.configure({ ...settings, organization: { source, ...settings.organization } });
  const config = loadConfig({
    text: readFileSync(file, 'utf8'),
    file,
    env: work.env,
    readFile: (name) => readFileSync(name, 'utf8'),
    kinds,
  });
  const log: LogLine[] = [];
  let database: DatabaseSync | undefined;
  const daemon = await createDaemon({
    config,
    clock,
    random: Math.random,
    log: createLogger({ level: 'info', format: 'json', secrets: config.secrets, destination: keepLines(log) }),
    version: VERSION,
    dryRun: false,
    openStore: ({ path }) =>
      openSqliteStore(String(path), (opened) => {
        database = opened;
      }),
  });
  await daemon.start();
  const [organization] = daemon.organizations;
  await organization?.idle();
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
