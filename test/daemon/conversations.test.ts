/** Conversations of a daemon: drop folders, webhooks, pushed files and dead letters. */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import { expect, test } from 'vitest';
import { eventually } from '../support/octavo-process.ts';
import { openWorkspace, type Workspace } from '../support/workspace.ts';
import { readMetrics, startDaemon, startDaemonProcess, teams } from './daemon-process.ts';

const KEY = Buffer.from('a key for the tests of webhooks!').toString('base64');
const EMAIL = 'kim.customer@shop.example';

const ticket = (id: string, body = `The export fails, please write to ${EMAIL}`) => ({
  id,
  subject: 'Export fails',
  parts: [
    { type: 'message', role: 'user', body },
    { type: 'message', role: 'team-member', body: 'We look into it.' },
  ],
});

const sent = (work: Workspace) =>
  (work.emulator.state().conversations ?? []).map(({ externalId, content }) => ({ id: externalId, content }));

/** A workspace whose daemon receives conversations from a folder and a webhook. */
async function withSources(): Promise<{ work: Workspace; drop: string; settings: object }> {
  const work = await openWorkspace({ processing: { openapi: 0, translation: 0, conversations: 0 } });
  work.repository.commit('One', { 'teams.yaml': teams('A') });
  const drop = join(work.folder, 'drop');
  mkdirSync(drop);
  const sources = [
    { name: 'drop', pollInterval: '5s', folder: { path: drop, rejectDirectory: work.folder } },
    { name: 'forms', webhook: { secrets: [`whsec_${KEY}`] } },
  ];
  return { work, drop, settings: { organization: { conversations: { sources, settleDelay: '0s' } } } };
}

test('sends files of a drop folder once and redacted, and moves them to processed', async () => {
  const { work, drop, settings } = await withSources();
  await using _work = work;
  await startDaemon(work, settings);
  writeFileSync(
    join(drop, 'tickets.ndjson'),
    `${JSON.stringify(ticket('1'))}\n{ "half":\n${JSON.stringify(ticket('2'))}\n`,
  );
  await eventually('two conversations', () => sent(work).length === 2);
  await eventually('the file to be put away', () => existsSync(join(drop, 'processed', 'tickets.ndjson')));
  expect(JSON.stringify(sent(work))).not.toContain(EMAIL);
  expect(sent(work)[0]?.content.parts[0]?.body).toContain('[EMAIL_1]');
  const rejects = readFileSync(join(work.folder, 'tickets.ndjson.rejects.ndjson'), 'utf8');
  expect(JSON.parse(rejects)).toMatchObject({ line: 2 });
  // The same file again: nothing is sent again.
  const requests = () => work.emulator.requests.byOperation.ingestConversations ?? 0;
  const before = requests();
  writeFileSync(join(drop, 'again.ndjson'), `${JSON.stringify(ticket('1'))}\n${JSON.stringify(ticket('3'))}\n`);
  await eventually('the third', () => sent(work).length === 3);
  expect(requests()).toBe(before + 1);
  const conversations = work.emulator.state().conversations ?? [];
  expect(conversations.map(({ repeats }) => repeats)).toEqual([0, 0, 0]);
  const { code, stdout } = await work.inside([
    ...['conversations', 'status', '--config', join(work.folder, 'config.yaml')],
  ]);
  expect(code).toBe(0);
  expect(stdout).toMatch(/^SOURCE +POLLED +FOUND +WAITING +SINCE +SENDING +SKIPPED +REJECTED +DEAD$/m);
  expect(stdout).toMatch(/^drop +\d+s +5 +0 +- +0 +0 +1 +0$/m);
  expect(stdout).toContain('Sender: nothing to send');
});

test('stores signed deliveries of a webhook, and no id that is an email address is kept or shown anywhere', async () => {
  const { work, settings } = await withSources();
  await using _work = work;
  const daemon = await startDaemon(work, settings);
  const body = JSON.stringify([ticket(EMAIL), { ...ticket('2'), metadata: { attributes: { [EMAIL]: 'vip' } } }]);
  const at = new Date();
  const headers = {
    'content-type': 'application/json',
    'webhook-id': EMAIL,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': new Webhook(KEY).sign(EMAIL, at, body),
  };
  const url = `${daemon.address}/hooks/org_acme/forms`;
  expect((await fetch(url, { method: 'POST', body })).status).toBe(415);
  expect((await fetch(url, { method: 'POST', headers, body })).status).toBe(202);
  await eventually('the conversations', () => sent(work).length === 2);
  for (const outcome of ['kept', 'refused']) {
    const line = `octavo_webhook_requests_total{organization="org_acme",source="forms",outcome="${outcome}"}`;
    await daemon.untilMetric(line, 1);
  }
  const kept = ['octavo.db', 'octavo.db-wal'].map((name) => readFileSync(join(work.folder, 'state', name), 'latin1'));
  const shown = [JSON.stringify(sent(work)), await readMetrics(daemon.address), daemon.run.stderr];
  expect([...shown, ...kept].filter((text) => text.includes(EMAIL))).toEqual([]);
});

test('doctor reports a token that cannot send conversations, only if sources are configured', async () => {
  const { work, settings } = await withSources();
  await using _work = work;
  work.emulator.setFeatures({ ingestionByUsers: false });
  const asked = await work.inside(['doctor', '--config', work.configure(settings)]);
  expect(asked.stdout).toMatch(/^ +problem +Permissions +the token lacks: ingestConversations$/m);
  expect(asked.code).toBe(1);
  const without = await work.inside(['doctor', '--config', work.configure()]);
  expect(without.stdout).not.toContain('ingestConversations');
});

test('pushes files with and without a daemon, and lists refused conversations as dead letters', async () => {
  const { work, settings } = await withSources();
  await using _work = work;
  const config = work.configure(settings);
  const run = (...args: string[]) => work.inside(['conversations', ...args, '--config', config]);
  work.repository.write('pushed.json', JSON.stringify([ticket('1'), ticket('2')]));
  // Conversations that could not be sent are not reported as sent.
  work.repository.write('long.json', JSON.stringify([ticket('1'), ticket('x'.repeat(250)), ticket('\u009b2J\u001b')]));
  const long = await work.inside(['conversations', 'push', '--dry-run', 'long.json', '--config', config]);
  expect(long.stderr).toMatch(/^long\.json:1: its id.* has 260 characters.*\n2 would be sent, 1 rejected\n$/);
  expect(long.code).toBe(3);
  // An id may contain any character, and must not move the cursor of the terminal.
  expect(long.stdout.match(/[^\P{Cc}\n]/u)).toBeNull();
  expect(JSON.parse(long.stdout.split('\n')[1] ?? '').id).toBe('file/push/\u009b2J\u001b');
  const dry = await run('push', '--dry-run', 'pushed.json');
  expect(dry.code).toBe(0);
  const would = dry.stdout
    .split('\n')
    .filter(Boolean)
    .map((text) => JSON.parse(text));
  expect(would).toHaveLength(2);
  expect(dry.stdout).not.toContain(EMAIL);
  expect(sent(work)).toEqual([]);
  // The platform rejects one of the two.
  work.emulator.setFaults([
    { match: { operation: 'ingestConversations' }, fault: { kind: 'status', status: 400, message: 'No' }, times: 2 },
  ]);
  const pushed = await run('push', 'pushed.json');
  expect(pushed.stderr).toContain('refused by the platform and kept as a dead letter');
  expect(pushed.stdout).toContain('pushed.json: 2 tickets, 0 skipped, 0 rejected\n1 sent\n');
  expect(sent(work)).toHaveLength(1);
  // As the dry run showed.
  const [only] = sent(work);
  expect(would).toContainEqual({ id: only?.id, ...only?.content });
  const { deadLetters } = JSON.parse((await run('dead', 'list', '--format', 'json')).stdout);
  expect(deadLetters).toHaveLength(1);
  work.repository.write('bad.json', '[1]');
  mkdirSync(join(work.repository.directory, 'bad.json.rejects.ndjson'));
  const unwritable = await run('push', 'bad.json');
  expect(unwritable.stderr).toMatch(/^octavo: cannot write the reject file .*bad\.json\.rejects\.ndjson: EISDIR/);
  expect(unwritable.code).toBe(1);
  const [{ key }] = deadLetters;
  const shown = await run('dead', 'show', key);
  expect(shown.stdout).toContain('[EMAIL_1]');
  expect(shown.stdout).not.toContain(EMAIL);
  expect((await run('dead', 'show', 'nothing')).code).toBe(3);
  // With a daemon the same commands use its control API.
  const daemon = await startDaemonProcess(work, settings);
  expect((await run('dead', 'retry', key)).stdout).toBe('1 dead letter queued to be sent again\n');
  await eventually('the second', () => sent(work).length === 2);
  work.repository.write('more.json', JSON.stringify([ticket('1'), ticket('3')]));
  expect((await run('push', 'more.json')).stdout).toContain('the daemon sends them');
  await eventually('the third', () => sent(work).length === 3);
  expect((await run('resync', 'drop', '--since', '30d')).stdout).toContain('The next poll of drop starts from');
  // A killed daemon leaves its socket behind, and its state file unlocked.
  await daemon.run.stop('SIGKILL');
  work.repository.write('last.json', JSON.stringify([ticket('4')]));
  expect((await run('push', 'last.json')).stdout).toContain('1 sent\n');
  const unknown = await run('resync', 'other', '--since', '30d');
  expect(unknown.code).toBe(3);
  expect(unknown.stderr).toContain('source "other" not found; configured sources: drop, forms');
});

test('reports why pushed conversations wait in a daemon that sends nothing, and lists dead letters up to a limit', async () => {
  const { work } = await withSources();
  await using _work = work;
  const config = work.configure();
  const run = (...args: string[]) => work.inside(['conversations', ...args, '--config', config]);
  const push = () => run('push', 'some.json');
  work.repository.write('some.json', JSON.stringify(['1', '2', '3'].map((id) => ticket(id))));
  const dry = await startDaemon(work, {}, '--dry-run');
  const pushed = await push();
  expect(pushed.stdout).toContain('3 tickets, 0 skipped, 0 rejected\nnot sent yet: the daemon runs with --dry-run');
  expect(pushed.stdout).not.toContain('the daemon sends');
  expect(sent(work)).toEqual([]);
  await dry.run.stop();
  work.emulator.setFeatures({ conversations: false });
  const daemon = await startDaemon(work);
  await daemon.run.waitForLog('conversations wait in the outbox');
  const unsupported = await push();
  expect(unsupported.stdout).toContain('not sent yet; the daemon retries: nothing can be sent; conversations wait');
  await daemon.run.stop();
  // Waiting conversations were redacted before the settings changed.
  const earlier =
    'push: 3 waiting conversations were redacted with earlier settings; run conversations resync to redact them again';
  expect((await run('status')).stdout).not.toContain('earlier');
  work.configure({ organization: { conversations: { redact: { disabledTypes: ['phone'] } } } });
  expect((await run('status')).stdout).toContain(`\n${earlier}\n`);
  expect(JSON.parse((await run('status', '--format', 'json')).stdout).outdated).toEqual({ push: 3 });
  work.configure();
  // Each of the three is rejected separately.
  work.emulator.setFeatures({ conversations: true });
  work.emulator.setFaults([
    { match: { operation: 'ingestConversations' }, fault: { kind: 'status', status: 400, message: 'No' }, times: 9 },
  ]);
  await push();
  const some = await run('dead', 'list', '--limit', '2');
  expect(some.stdout.split('\n').filter((line) => line.startsWith('file/push/'))).toHaveLength(2);
  expect(some.stdout).toContain('\n1 more; use --limit 3 to list all\n');
  expect(JSON.parse((await run('dead', 'list', '--limit', '2', '--format', 'json')).stdout).more).toBe(1);
  expect((await run('dead', 'list')).stdout).not.toContain('more');
  expect((await run('dead', 'list', '--limit', '0')).stderr).toContain('It must be at least 1.');
});

test('a push that waits for room ends with an error when the daemon stops', async () => {
  const { work } = await withSources();
  await using _work = work;
  work.emulator.setFeatures({ conversations: false });
  const daemon = await startDaemon(work, { organization: { conversations: { outbox: { maxItems: 10 } } } });
  const tickets = Array.from({ length: 200 }, (_, index) => ticket(String(index)));
  work.repository.write('many.json', JSON.stringify(tickets));
  const pushed = work.inside(['conversations', 'push', 'many.json', '--config', join(work.folder, 'config.yaml')]);
  await daemon.run.waitForLog('outbox full; polling paused');
  expect((await daemon.run.stop()).code).toBe(0);
  const { code, stderr } = await pushed;
  expect(stderr).toBe(
    'octavo: the daemon refused: the daemon is stopping; push the rest again, unchanged conversations are not sent twice\n',
  );
  expect(code).toBe(1);
});

test('a push that exceeds the outbox sends while it reads, and fails if nothing can be sent', async () => {
  const { work } = await withSources();
  await using _work = work;
  const config = work.configure({ organization: { conversations: { outbox: { maxItems: 1 } } } });
  const push = (file: string) => work.inside(['conversations', 'push', file, '--config', config]);
  const tickets = (count: number) => JSON.stringify(Array.from({ length: count }, (_, index) => ticket(String(index))));
  work.repository.write('many.json', tickets(250));
  expect((await push('many.json')).stdout).toContain('250 sent\n');
  work.emulator.setFeatures({ conversations: false });
  work.repository.write('more.json', tickets(500));
  const stuck = await push('more.json');
  expect(stuck.stderr).toMatch(
    /^octavo: the outbox is full and nothing can be sent now: this platform has no conversations/,
  );
  expect(stuck.code).toBe(1);
});

test('run --once polls and sends once, and fails if a source cannot be read or nothing can be sent', async () => {
  const { work, drop } = await withSources();
  await using _work = work;
  const conversations = { sources: [{ name: 'drop', folder: { path: drop } }], outbox: { maxItems: 1 } };
  const config = work.configure({ organization: { conversations } });
  const tickets = Array.from({ length: 250 }, (_, index) => JSON.stringify(ticket(String(index))));
  writeFileSync(join(drop, 'tickets.ndjson'), tickets.join('\n'));
  const dry = await work.inside(['run', '--once', '--dry-run', '--config', config]);
  expect([dry.code, sent(work).length]).toEqual([0, 0]);
  work.emulator.setFeatures({ conversations: false });
  const refused = await work.inside(['run', '--once', '--config', config]);
  expect(refused.stderr).toContain('outbox full');
  expect([refused.code, sent(work).length]).toEqual([1, 0]);
  work.emulator.setFeatures({ conversations: true });
  expect((await work.inside(['run', '--once', '--config', config])).code).toBe(0);
  expect(sent(work)).toHaveLength(250);
  rmSync(drop, { recursive: true });
  const missing = await work.inside(['run', '--once', '--config', config]);
  expect(missing.stderr).toContain('cannot read the folder');
  expect(missing.code).toBe(1);
});

test('a dry run joins mail files into one conversation, and warns that no team is configured', async () => {
  await using work = await openWorkspace();
  const mail = (name: string, ...lines: string[]) =>
    work.repository.write(name, ['Date: Mon, 05 Jan 2026 10:00:00 +0000', ...lines, ''].join('\r\n'));
  mail('r.eml', 'From: bo@acme.example', 'Message-ID: <r@acme>', 'In-Reply-To: <q@x>', '', 'In the menu.');
  mail('q.eml', 'From: ana@x.example', 'Message-ID: <q@x>', '', 'How do I export?');
  const push = (...flags: string[]) => work.inside(['conversations', 'push', '--dry-run', 'r.eml', 'q.eml', ...flags]);
  const unknown = await push();
  expect(unknown).toMatchObject({ code: 0, stderr: expect.stringContaining('No team domains are set') });
  expect(unknown.stdout.trim().split('\n')).toHaveLength(1);
  const known = await push('--team-domains', 'acme.example');
  expect(known.stderr).not.toContain('No team domains');
  const roles = (JSON.parse(known.stdout) as { parts: { role: string }[] }).parts.map(({ role }) => role);
  expect(roles.toSorted()).toEqual(['team-member', 'user']);
});
