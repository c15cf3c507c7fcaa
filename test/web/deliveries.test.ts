/** Rights and forms of deliveries on the web page. */
import { expect, test } from 'vitest';
import { openMemoryStore } from '../../src/store/memory.ts';
import type { Backend } from '../../src/web/model/page.ts';
import { openPageApp, tokenEntry } from './page-app.ts';
import { type Asked, addNotifications, NOW, someDelivery, someHandlers, someNotifications } from './some-backend.ts';

const UI = {
  tokens: [tokenEntry('ana', 'ana-token'), tokenEntry('ben', 'ben-token'), tokenEntry('cy', 'cy-token')],
  roles: [
    { role: 'operator', people: ['ana'] },
    { role: 'operator', people: ['ben'], organizations: ['acme'] },
    { role: 'viewer', people: ['ben', 'cy'] },
  ],
};
const EVENT = { action: 'delivery-retry', channel: 'ops' };

/** Opens pages with a message to the channel "ops" that was given up. */
async function openApp() {
  const asked: Asked[] = [];
  const notifications = openMemoryStore().notifications();
  const given = { kind: 'event', about: ['e1'], createdAt: NOW } as const;
  await addNotifications(notifications, NOW, [], [someDelivery('d1', given)]);
  await notifications.begin('ops', NOW);
  const failed = { result: 'failed', mayHaveArrived: false, reason: 'no such room', at: NOW } as const;
  await notifications.end('d1', failed, { reporter: 'channel/ops', facts: [] });
  const page = await openPageApp({
    ui: UI,
    organizations: ['acme', 'beta'],
    handlers: someHandlers(asked, { events: 1 }),
    backend: (backend: Backend) => ({
      ...backend,
      notifications: someNotifications(notifications, ['ops', 'mail']),
    }),
  });
  const as = (person: string, accept: string) => ({ authorization: `Bearer ${person}-token`, accept });
  const post = (person: string, fields: Readonly<Record<string, string>>, accept = 'application/json') =>
    page.post('/deliveries', fields, as(person, accept));
  const get = async (person: string, url = '/deliveries') => (await page.get(url, as(person, 'text/html'))).body;
  return { asked, post, get, [Symbol.asyncDispose]: () => page.server.close() };
}

test('an operator of every organization sends events again, once for two clicks', async () => {
  await using app = await openApp();
  const { asked, post } = app;
  const answers = [await post('ana', EVENT), await post('ana', EVENT)];
  expect(answers.map(({ statusCode }) => statusCode)).toEqual([200, 200]);
  expect(answers[0]?.json()).toEqual({ events: 1 });
  expect(asked).toEqual([['deliveries', null, { subcommand: 'retry', channel: 'ops' }]]);
  await post('ana', { action: 'delivery-retry' });
  expect(asked.at(-1)).toEqual(['deliveries', null, { subcommand: 'retry', channel: null }]);
});

test('others may not, and nothing is sent', async () => {
  await using app = await openApp();
  const { asked, post } = app;
  for (const person of ['ben', 'cy']) {
    expect((await post(person, EVENT)).statusCode).toBe(403);
  }
  expect((await post('nobody', EVENT)).statusCode).toBe(401);
  expect((await post('ana', { action: 'other' })).statusCode).toBe(422);
  expect((await post('ana', { ...EVENT, channel: 'x'.repeat(200) })).statusCode).toBe(422);
  expect(asked).toEqual([]);
});

test('the button is there for the channels that gave something up, and for those who may use it', async () => {
  await using app = await openApp();
  const { get, post } = app;
  const text = await get('ana');
  expect(text.match(/<button aria-label="Send events again: [^"]*">/g)).toEqual([
    '<button aria-label="Send events again: ops">',
  ]);
  expect(await get('ben')).not.toContain('Send events again');
  const answer = await post('ana', EVENT, 'text/html');
  expect([answer.statusCode, answer.headers.location]).toEqual([303, '/deliveries?done=delivery-retry']);
  expect(await get('ana', '/deliveries?done=delivery-retry')).toContain('Messages that were given up are sent again.');
});
