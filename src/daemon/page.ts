/** The web page of the daemon, if it is configured, and the view models of its pages for commands. Their modules are loaded only then. */
import { randomBytes } from 'node:crypto';
import { messageOf } from '../core/errors.ts';
import type { ViewLoader } from '../server/control.ts';
import type { RequestHandlers } from '../server/requests.ts';
import { DAEMON_HISTORY } from '../store/history.ts';
import type { Backend } from '../web/model/page.ts';
import { recordAction } from './organization/audit.ts';
import type { DaemonContext } from './organization/feature.ts';

/** Serves the page. Returns its server and its URL; null if it is not configured. */
export async function servePage(context: DaemonContext, backend: Backend, handlers: RequestHandlers) {
  const { config, log, store } = context;
  if (config.ui.listen === undefined) {
    return null;
  }
  const { createPageServer } = await import('../web/server/page-server.ts');
  const server = await createPageServer({
    backend,
    handlers,
    config: config.ui,
    log,
    randomBytes,
    sessions: store.sessions(),
    onGuesses: (peer, attempts) => recordGuesses(context, peer, attempts),
  });
  const address = await server.listen();
  log.info({ address }, 'web page is served');
  const { tokens, proxy, oidc, roles } = config.ui;
  if (roles.length === 0 && (tokens.length > 0 || proxy !== undefined || oidc !== undefined)) {
    log.warn('nobody has a role on the web page; set ui.roles');
  }
  return { server, address };
}

/** Records in the audit that somebody guesses tokens. */
function recordGuesses(context: DaemonContext, peer: string | null, attempts: number): void {
  const { store, clock, log, events } = context;
  const detail = `${attempts} wrong tokens within a minute; further ones are refused for a minute`;
  const about = { action: 'sign in', subject: peer ?? 'all addresses', reason: '', detail } as const;
  const entry = { ...about, at: clock.now(), actor: { name: '', method: 'token' }, outcome: 'refused' } as const;
  recordAction(context, store.history(DAEMON_HISTORY), entry).then(
    () => events.publish.onChange?.('audit'),
    (error: unknown) => log.warn({ reason: messageOf(error) }, 'cannot record wrong tokens in the audit'),
  );
}

/** Returns the loader of view models for a user of the machine, who may see everything. */
export function viewLoader(backend: Backend, handlers: RequestHandlers): ViewLoader {
  return async (by, path) => {
    const { loadView } = await import('../web/pages/load-view.ts');
    return loadView(backend, handlers, { actor: by, role: () => 'approver' }, path);
  };
}
