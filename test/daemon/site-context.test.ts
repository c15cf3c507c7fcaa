/** Platforms with neither conversations nor issue clusters, from the dropped ticket to the change request. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { PlatformVersion } from '../../src/emulator/emulator.ts';
import { pickCases } from '../support/campaign.ts';
import { eventually } from '../support/octavo-process.ts';
import { openWorkspace, type Workspace } from '../support/workspace.ts';
import { startDaemon, startDaemonProcess } from './daemon-process.ts';

const EMAIL = 'kim.customer@shop.example';
const ALWAYS = '* * * * * *';

const WORDS: Readonly<Record<string, string>> = {
  'Invoice export is blocked': 'The export of invoices is completely broken, everything is down.',
  'Locked out by a password reset': 'Nobody can sign in: no mail with a link ever arrives.',
};

const ticket = (topic: string, id: number) => ({
  id: `${topic.replaceAll(' ', '-')}-${id}`,
  subject: topic,
  parts: [
    { type: 'message', role: 'user', body: `${WORDS[topic]} (${EMAIL})` },
    { type: 'message', role: 'team-member', body: 'We look into it.' },
  ],
});
const tickets = (topic: string, from = 0) => [0, 1, 2].map((id) => JSON.stringify(ticket(topic, from + id))).join('\n');

/** A workspace with a declared site, whose daemon reads tickets from a folder. */
async function open(platform: PlatformVersion) {
  const work = await openWorkspace({ platform, processing: { openapi: 0, translation: 0, conversations: 0 } });
  work.repository.write('spaces.yaml', 'spaces: { guides: { title: Guides } }\n');
  work.repository.write(
    'sites.yaml',
    'sites: { help: { title: Help, structure: [{ key: guides, space: guides }] } }\n',
  );
  work.repository.commit('One');
  const drop = join(work.folder, 'drop');
  mkdirSync(drop);
  const conversations = { site: 'help', settleDelay: '0s', sources: [{ name: 'drop', folder: { path: drop } }] };
  const clusters = { enabled: true, schedule: ALWAYS, defaultSpace: 'guides', afterMerge: { mute: true } };
  const settings = { organization: { conversations, clusters } };
  const say = (name: string, text: string) => writeFileSync(join(drop, name), `${text}\n`);
  return { work, settings, say };
}

const requests = (work: Workspace) =>
  (work.emulator.state().changeRequests ?? []).map(({ subject, status }) => `${status}: ${subject}`);
const records = (work: Workspace) => (work.emulator.state().conversations ?? []).filter(({ site }) => site);

test.each(pickCases(['0.167', '0.201'] as const, 1, 1))(
  '%s: turns tickets into context records and each topic into one change request, despite kills',
  async (platform) => {
    const { work, settings, say } = await open(platform);
    await using _work = work;
    // The site exists, and is known by its key, once it has been applied.
    expect((await work.inside(['run', '--once', '--config', work.configure(settings)])).code).toBe(0);
    work.emulator.requests.reset();
    const daemon = await startDaemonProcess(work, settings);
    say('one.ndjson', tickets('Invoice export is blocked'));
    await daemon.run.waitForLog('sending context records to the site');
    // Killed once the draft exists: it is not open yet, or the answer is still in flight.
    await eventually('a draft', () => requests(work).length > 0);
    await daemon.run.stop('SIGKILL');
    const again = await startDaemon(work, settings);
    await eventually('it is open', () => requests(work).join().startsWith('open: Docs gap: Invoice export'));
    say('two.ndjson', `${tickets('Invoice export is blocked')}\n${tickets('Locked out by a password reset')}`);
    await eventually('the other one', () => requests(work).length === 2 && !requests(work).join().includes('draft'));
    expect(requests(work).sort()).toEqual([
      'open: Docs gap: Invoice export is blocked',
      'open: Docs gap: Locked out by a password reset',
    ]);
    expect(records(work)).toHaveLength(6);
    // Conversations that were received twice were stored once.
    expect(records(work).map(({ repeats }) => repeats)).toEqual([0, 0, 0, 0, 0, 0]);
    expect(records(work)[0]?.content.parts[0]?.body).toMatch(/^\*\*Customer:\*\*\n\n.*\[EMAIL_1\]\)\n\n\*\*Team:\*\*/s);
    // One probe per process, shared by all callers.
    const { byOperation } = work.emulator.requests;
    expect(byOperation).toMatchObject({ listConversationClusters: 2, createChangeRequest: 2 });
    expect(byOperation).not.toHaveProperty('ingestConversations');
    // Merged: muted by the daemon; unmuted by a person through the daemon.
    const [{ id, space } = { id: '', space: '' }] = work.emulator.state().changeRequests ?? [];
    work.emulator.writeContent(space, { pages: [{ title: 'Invoice export' }] }, { changeRequest: id });
    const merge = `${work.emulator.url}/v1/spaces/${space}/change-requests/${id}/merge`;
    await fetch(merge, { method: 'POST', headers: { Authorization: `Bearer ${work.emulator.token}` } });
    const { cluster } = (await again.run.waitForLog('muted after the merge')) as { cluster?: string };
    const config = work.configure(settings);
    const unmuted = await work.inside(['clusters', 'unmute', cluster ?? '', '--config', config]);
    expect(unmuted.stdout).toContain('is now unmuted');
    const listed = await work.inside(['clusters', 'list', '--config', config]);
    expect(listed.stdout).toMatch(/Invoice export is blocked\n {2}high, 3 issues, 3 conversations\n {2}not opened: /);
    const own = '{organization="org_acme"}';
    await again.untilMetric(`octavo_clusters_supported${own}`, 1);
    expect(await again.metric(`octavo_clusters_from_topics${own}`)).toBe(1);
    expect(await again.metric(`octavo_conversations_as_context_records${own}`)).toBe(1);
    expect(again.run.logged('issue cluster run completed').filter(({ source }) => source === 'topics')).not.toEqual([]);
    await again.run.stop();
    const metrics = JSON.stringify(work.emulator.state());
    const files = readdirSync(join(work.folder, 'state')).map((file) => join(work.folder, 'state', file));
    const kept = files
      .filter((file) => file.includes('octavo.db'))
      .map((file) => readFileSync(file).toString('latin1'));
    for (const text of [metrics, daemon.run.stderr, again.run.stderr, ...kept]) {
      expect(text).not.toContain(EMAIL);
    }
  },
  120_000,
);
