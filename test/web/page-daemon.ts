/** Starts a daemon with its web page in the test process. */
import { readFileSync } from 'node:fs';
import { Writable } from 'node:stream';
import { loadConfig } from '../../src/config/load.ts';
import { type Clock, systemClock } from '../../src/core/clock.ts';
import type { ConfigurationFiles } from '../../src/daemon/fleet/configuration.ts';

import { createDaemon, type Daemon } from '../../src/daemon.ts';
import { kinds } from '../../src/kinds/registry.ts';
import { createLogger } from '../../src/log.ts';
import { LogBuffer } from '../../src/web/model/log-buffer.ts';
import { VERSION } from '../support/octavo-process.ts';
import type { DaemonSettings, Workspace } from '../support/workspace.ts';

/** A daemon with a web page. */
export interface PageDaemon extends AsyncDisposable {
  readonly daemon: Daemon;
  /** URL of the page. */
  readonly url: string;
  /** Lines of the log. */
  readonly log: readonly string[];
  get(path: string, headers?: Readonly<Record<string, string>>): Promise<Response>;
  /** Sends a form, as a browser does from a page of the server. */
  post(
    path: string,
    form: Readonly<Record<string, string>>,
    headers?: Readonly<Record<string, string>>,
  ): Promise<Response>;
}

export interface PageSettings extends DaemonSettings {
  readonly ui?: Readonly<Record<string, unknown>>;
  readonly clock?: Clock;
  /** Files whose changes the daemon applies. Default: none. */
  readonly configuration?: ConfigurationFiles;
}

/** Starts a daemon of a workspace and waits for its first pass. */
export async function startPage(
  work: Workspace,
  { ui = {}, clock = systemClock, configuration, ...settings }: PageSettings = {},
): Promise<PageDaemon> {
  const source = { git: { url: work.repository.directory, pollInterval: '1h' } };
  const file = work.configure({
    ...settings,
    top: { ui: { listen: '127.0.0.1:0', ...ui }, ...settings.top },
    organization: { source, ...settings.organization },
  });
  const readFile = (name: string) => readFileSync(name, 'utf8');
  const config = loadConfig({ text: readFile(file), file, env: work.env, readFile, kinds });
  const log: string[] = [];
  const destination = new Writable({
    write: (chunk, _encoding, done) => {
      log.push(String(chunk));
      done();
    },
  });
  const logBuffer = new LogBuffer();
  const daemon = await createDaemon({
    config,
    clock,
    random: Math.random,
    log: createLogger({
      ...{ level: 'info', format: 'json', secrets: config.secrets, destination },
      onRecord: (record) => logBuffer.add(record),
    }),
    logBuffer,
    version: VERSION,
    dryRun: false,
    ...(configuration === undefined ? {} : { configuration }),
  });
  await daemon.start();
  await Promise.all(daemon.organizations.map((organization) => organization.idle()));
  const url = String(daemon.pageAddress);
  return {
    daemon,
    url,
    log,
    get: (path, headers = {}) => fetch(`${url}${path}`, { headers, redirect: 'manual' }),
    post: (path, form, headers = {}) =>
      fetch(`${url}${path}`, {
        method: 'POST',
        redirect: 'manual',
        headers: { 'sec-fetch-site': 'same-origin', ...headers },
        body: new URLSearchParams(form),
      }),
    [Symbol.asyncDispose]: () => daemon.stop(),
  };
}
