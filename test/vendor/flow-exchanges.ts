import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import type { Features } from '../../src/emulator/emulator.ts';
import { getFeatures } from '../../src/emulator/model/features.ts';
import { withCluster } from '../support/cluster-tickets.ts';
import { openWorkspace, type Workspace } from '../support/workspace.ts';
import type { Exchange } from './judge.ts';
import { type RecordingProxy, startRecordingProxy } from './recording-proxy.ts';
import type { Exchanges } from './row-exchanges.ts';

const EXAMPLES = fileURLToPath(new URL('../../examples/', import.meta.url));

/** Requests of commands during the life of manifests, of conversations and of their clusters. */
export async function flowExchanges(): Promise<Exchanges> {
  const latest = getFeatures('0.202');
  return {
    described: [...(await recorded(reconcile)), ...(await recorded(converse))],
    latest: [...(await recorded(reconcile, latest)), ...(await recorded(record, latest))],
  };
}

type Run = (...args: string[]) => Promise<string>;

async function recorded(
  flow: (work: Workspace, run: Run, proxy: RecordingProxy) => Promise<void>,
  features?: Features,
): Promise<readonly Exchange[]> {
  await using work = await openWorkspace({ processing: { openapi: 0, translation: 0, conversations: 0 }, features });
  const proxy = await startRecordingProxy(work.emulator.url);
  const run: Run = async (...args) => {
    const { code, stdout, stderr } = await work.inside(args, { OCTAVO_BASE_URL: proxy.url });
    expect({ args, code, stderr }).toEqual({ args, code: 0, stderr: expect.not.stringMatching(/^Error|failed/m) });
    return stdout;
  };
  try {
    await flow(work, run, proxy);
    return proxy.exchanges;
  } finally {
    await proxy.close();
  }
}

/** A whole organization is created, changed, edited out of band, corrected, read back and deleted. */
async function reconcile(work: Workspace, run: Run): Promise<void> {
  cpSync(join(EXAMPLES, 'acme'), work.repository.directory, { recursive: true });
  work.repository.commit('Everything');
  await run('doctor');
  await run('apply', '--yes', '--record');
  const rewrite = (file: string, from: string, to: string) => {
    const path = join(work.repository.directory, file);
    const text = readFileSync(path, 'utf8');
    expect(text).toContain(from);
    writeFileSync(path, text.replace(from, to));
  };
  rewrite('teams.yaml', 'title: Writers', 'title: Docs writers');
  rewrite('spaces.yaml', 'protect: true', 'protect: false');
  work.repository.commit('Another title');
  const { items } = (await work.call('GET', '/teams')) as { items: { id: string; title: string }[] };
  const writers = items.find(({ title }) => title === 'Writers')?.id;
  await work.call('PATCH', `/teams/${writers}`, { title: 'By hand' });
  await run('apply', '--yes', '--base', 'applied', '--record');
  await run('import', '--dry-run');
  rewrite('organization.yaml', '  defaultContent: { site: help }\n', '');
  for (const file of ['saml', 'sites', 'spaces', 'teams', 'translations', 'openapi']) {
    writeFileSync(join(work.repository.directory, `${file}.yaml`), '');
  }
  work.repository.commit('Hardly anything');
  const { checksum } = JSON.parse(await run('plan', '--base', 'applied', '--format', 'json')) as { checksum: string };
  await run('apply', '--yes', '--base', 'applied', '--approve', checksum);
}

/** Tickets are sent, become clusters, and each cluster a change request. */
async function converse(work: Workspace, run: Run, proxy: RecordingProxy): Promise<void> {
  const tickets = ['mailbox.mbox', 'zendesk-export.json'].map((file) => join(EXAMPLES, 'tickets', file));
  const { cluster, space } = await withCluster(work);
  // biome-ignore lint/suspicious/noTemplateCurlyInString: syntax of a variable in the configuration
  const platform = { baseUrl: proxy.url, token: '${env:OCTAVO_TOKEN}' };
  const config = work.configure({ organization: { clusters: { defaultSpace: space } }, top: { platform } });
  await run('conversations', 'push', ...tickets, '--config', config);
  await run('clusters', 'list', '--config', config);
  await run('clusters', 'mute', cluster, '--config', config);
  await run('clusters', 'unmute', cluster, '--config', config);
  await run('clusters', 'open', cluster, '--config', config);
}

/** The same without conversations: a site accepts the tickets, and its topics become change requests. */
async function record(work: Workspace, run: Run, proxy: RecordingProxy): Promise<void> {
  const { id: space } = await work.call('POST', '/spaces', { title: 'Guides' });
  const { id: site } = await work.call('POST', '/sites', { title: 'Help', spaces: [space] });
  // biome-ignore lint/suspicious/noTemplateCurlyInString: syntax of a variable in the configuration
  const platform = { baseUrl: proxy.url, token: '${env:OCTAVO_TOKEN}' };
  const organization = { conversations: { site, sources: [] }, clusters: { defaultSpace: space } };
  const config = work.configure({ organization, top: { platform } });
  const tickets = ['mailbox.mbox', 'zendesk-export.json'].map((file) => join(EXAMPLES, 'tickets', file));
  await run('conversations', 'push', ...tickets, '--config', config);
  const { items } = await work.call('GET', `/sites/${site}/topics`);
  const topic = items[0].id as string;
  await run('clusters', 'list', '--config', config);
  await run('clusters', 'mute', topic, '--config', config);
  await run('clusters', 'unmute', topic, '--config', config);
  await run('clusters', 'open', topic, '--config', config);
}
