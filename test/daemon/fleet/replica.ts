/** Daemons with pages in this process that share a database. */
import type { Workspace } from '../../support/workspace.ts';
import { type PageDaemon, type PageSettings, startPage } from '../../web/page-daemon.ts';

/** Starts a replica. `lease`: seconds of its leases. */
export function startReplica(
  work: Workspace,
  name: string,
  store: string,
  lease: number,
  settings: Omit<PageSettings, 'name' | 'top'> = {},
): Promise<PageDaemon> {
  return startPage(work, {
    ...settings,
    name: `${name}.yaml`,
    top: {
      store,
      runtime: { directory: `${work.folder}/${name}` },
      platform: { baseUrl: work.emulator.url, token: work.env.OCTAVO_TOKEN, timeout: '1s' },
      fleet: { lease: `${lease}s` },
    },
  });
}
