/** Commands that preview notifications and test channels. */

import { Webhook } from 'standardwebhooks';
import { expect, test } from 'vitest';
import { CONDITION_CODES, EVENT_CODES } from '../../src/core/condition-codes.ts';
import { serveLocally, textOf } from '../support/local-server.ts';
import { openWorkspace, type Workspace } from '../support/workspace.ts';

const SECRET = `whsec_${Buffer.alloc(32, 9).toString('base64')}`;

/** Receiver of webhooks: keeps the bodies whose signature is valid, and answers with `status`. */
async function startReceiver(status = 200) {
  const received: { readonly id: string; readonly body: { readonly thread: string; readonly data: object } }[] = [];
  const server = await serveLocally(async (request, response) => {
    const headers = request.headers as Record<string, string>;
    const body = await textOf(request);
    if (headers['webhook-id'] !== undefined) {
      new Webhook(SECRET).verify(body, headers);
    }
    received.push({ id: headers['webhook-id'] ?? '', body: JSON.parse(body) });
    response.writeHead(status).end();
  });
  return { received, url: server.url, [Symbol.asyncDispose]: () => server.stop() };
}

function configure(work: Workspace, url: string, more: object = {}): void {
  const channels = {
    bot: { webhook: { url: `${url}/in/canary`, secret: SECRET } },
    pager: { pagerduty: { routingKey: 'canary-key', url } },
    team: { slack: { token: 'xoxb-canary', channel: 'C012' } },
    simple: { slackWebhook: { url: 'https://hooks.slack.com/services/T0/B0/canary' } },
    support: { teams: { url: 'https://prod.example/workflows/canary' } },
    leads: { mail: { server: 'smtps://mail.example', from: 'octavo@acme.example', to: ['leads@acme.example'] } },
  };
  const routes = [{ channels: Object.keys(channels) }];
  const ui = { publicUrl: 'https://octavo.acme.example' };
  work.configure({ top: { ui, notifications: { channels, routes, ...more } } });
}

const notify = (work: Workspace, ...args: string[]) =>
  work.inside(['notify', ...args, '--config', 'config.yaml'], {}, '..');

test('preview prints the message of every code, without sending any', async () => {
  await using work = await openWorkspace();
  await using receiver = await startReceiver();
  configure(work, receiver.url);
  const { code, stdout } = await notify(work, 'preview');
  expect(code).toBe(0);
  expect(stdout.match(/^--- .+$/gm)).toEqual([...CONDITION_CODES, ...EVENT_CODES].map((each) => `--- ${each}`));
  expect(stdout).toMatch(
    /--- drift\nThe platform was changed manually: org_acme\n\n- org_acme: 1 resource was changed .* \(since .* UTC\)\n {4}team\/docs: title\n {4}https:\/\/octavo\.acme\.example\/o\/org_acme\n/,
  );
  expect(receiver.received).toEqual([]);
});

test('preview uses own templates', async () => {
  await using work = await openWorkspace();
  configure(work, 'http://127.0.0.1:9', { templates: { drift: 'Look at {{url}}, {{organization}}' } });
  const { stdout } = await notify(work, 'preview', 'drift');
  expect(stdout).toContain('- org_acme: Look at https://octavo.acme.example/o/org_acme, org_acme (since ');
});

test.each([
  [
    'bot',
    { type: 'octavo.notification/1', data: { code: 'drift', title: 'The platform was changed manually: org_acme' } },
  ],
  ['pager', { event_action: 'trigger', payload: { class: 'drift' } }],
  ['team', { text: 'The platform was changed manually: org_acme' }],
  ['simple', { text: 'The platform was changed manually: org_acme' }],
  ['support', { type: 'message', attachments: [{ contentType: 'application/vnd.microsoft.card.adaptive' }] }],
  ['leads', { subject: 'The platform was changed manually: org_acme' }],
])('preview shows the body that %s sends, without secrets', async (channel, body) => {
  await using work = await openWorkspace();
  configure(work, 'http://127.0.0.1:9');
  const { code, stdout } = await notify(work, 'preview', 'drift', '--channel', channel, '--format', 'json');
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject([{ code: 'drift', body }]);
  expect(stdout).not.toContain('canary');
});

test('preview of a channel shows what its routes lead to', async () => {
  await using work = await openWorkspace();
  const [pager, team] = [
    { channels: ['pager', 'bot', 'simple', 'support', 'leads'], severities: ['page'] },
    { channels: ['team'], codes: ['drift', 'applied'] },
  ];
  configure(work, 'http://127.0.0.1:9', { routes: [pager, team] });
  const codesOf = async (channel: string) =>
    (await notify(work, 'preview', '--channel', channel)).stdout.match(/(?<=^--- ).+$/gm);
  expect(await codesOf('team')).toEqual(['drift', 'applied']);
  expect(await codesOf('pager')).toEqual([
    'pass-failing',
    'token-refused',
    'platform-failing',
    'stale',
    'state-file-failing',
    'unowned-organization',
  ]);
});

test('test sends a signed sample through a channel, marked as a test', async () => {
  await using work = await openWorkspace();
  await using receiver = await startReceiver();
  configure(work, receiver.url);
  const { code, stdout } = await notify(work, 'test', 'bot');
  expect(code).toBe(0);
  expect(receiver.received).toMatchObject([
    { id: expect.stringMatching(/^test-/), body: { data: { title: 'Test: Changes wait for approval: org_acme' } } },
  ]);
  expect(stdout).toMatch(
    /^Sent to bot, a webhook at 127\.0\.0\.1:\d+:\n\n {2}Test: Changes wait for approval: org_acme\n/,
  );
  expect(stdout).not.toContain('canary');
});

test('test sends the end in the same thread, on request and always to pagers', async () => {
  await using work = await openWorkspace();
  await using receiver = await startReceiver();
  configure(work, receiver.url);
  await notify(work, 'test', 'bot', 'drift', '--resolve');
  const [first, second] = receiver.received;
  expect(second?.body).toMatchObject({ thread: first?.body.thread, data: { code: 'drift', state: 'resolved' } });
  expect(second?.id).not.toBe(first?.id);
  await notify(work, 'test', 'pager', 'stale');
  expect(receiver.received.slice(2).map(({ body }) => body)).toMatchObject([
    { event_action: 'trigger', payload: { summary: 'Test: The state is out of date: org_acme' } },
    { event_action: 'resolve' },
  ]);
});

test('test sends an event, which has no end', async () => {
  await using work = await openWorkspace();
  await using receiver = await startReceiver();
  configure(work, receiver.url);
  await notify(work, 'test', 'bot', 'applied', '--resolve');
  expect(receiver.received.map(({ body }) => body.data)).toMatchObject([{ code: 'applied', state: 'event' }]);
});

test.each([
  [404, 'check the URL of the channel: it may have been deleted'],
  [502, 'the message may have arrived'],
])('test exits with 1 if the channel answers with %i, and says what to do', async (status, hint) => {
  await using work = await openWorkspace();
  await using receiver = await startReceiver(status);
  configure(work, receiver.url);
  const stderr = `octavo: channel bot: ${receiver.url} answered with ${status}; ${hint}\n`;
  expect(await notify(work, 'test', 'bot')).toEqual({ code: 1, stdout: '', stderr });
});

test('an unknown channel is refused with a suggestion', async () => {
  await using work = await openWorkspace();
  configure(work, 'http://127.0.0.1:9');
  for (const args of [
    ['test', 'bott'],
    ['preview', '--channel', 'bott'],
  ]) {
    const { code, stderr } = await notify(work, ...args);
    expect(code).toBe(3);
    expect(stderr).toContain('no channel "bott" is configured; did you mean "bot"?');
  }
});

test('commands that read no secrets accept channels whose secrets are in the environment', async () => {
  await using work = await openWorkspace();
  const variable = (name: string) => `\${env:${name}}`;
  const mail = { server: variable('SERVER'), from: variable('FROM'), to: [variable('TO')] };
  const channels = { bot: { webhook: { url: variable('URL'), secret: variable('SECRET') } }, leads: { mail } };
  const notifications = { channels, routes: [{ channels: ['bot', 'leads'] }] };
  work.configure({ top: { notifications, server: { listen: '127.0.0.1:9' } } });
  const { stderr } = await work.inside(['health', '--config', 'config.yaml'], {}, '..');
  expect(stderr).toMatch(/^no response from http:\/\/127\.0\.0\.1:9/);
});
