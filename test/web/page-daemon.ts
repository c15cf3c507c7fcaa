/** Starts a daemon with its web page in the test process. */
import { type InsideSettings, type StartedDaemon, startHere } from '../daemon/inside.ts';
import type { Workspace } from '../support/workspace.ts';

/** A daemon with a web page. */
export interface PageDaemon extends StartedDaemon, AsyncDisposable {
  /** URL of the page. */
  readonly url: string;
  get(path: string, headers?: Readonly<Record<string, string>>): Promise<Response>;
  /** Sends a form, as a browser does from a page of the server. */
  post(
    path: string,
    form: Readonly<Record<string, string>>,
    headers?: Readonly<Record<string, string>>,
  ): Promise<Response>;
}

export interface PageSettings extends InsideSettings {
  readonly ui?: Readonly<Record<string, unknown>>;
}

/** Starts a daemon of a workspace and waits for its first pass. */
export async function startPage(work: Workspace, { ui = {}, ...settings }: PageSettings = {}): Promise<PageDaemon> {
  const top = { ui: { listen: '127.0.0.1:0', ...ui }, ...settings.top };
  const { daemon, log } = await startHere(work, { ...settings, top });
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
