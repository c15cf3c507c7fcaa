/** Rights and forms of silences on the web page. */
import { expect, test } from 'vitest';
import { openMemoryStore } from '../../src/store/memory.ts';
import type { Backend } from '../../src/views/model/backend.ts';
import { type Asked, NOW, someBackend, someOrganization } from '../views/some-backend.ts';
import { someNotifications } from '../views/some-notifications.ts';
import { openPageApp, tokenEntry } from './page-app.ts';

const UI = {
  tokens: [tokenEntry('ana', 'ana-token'), tokenEntry('ben', 'ben-token')],
  roles: [
    { role: 'operator', people: ['ana'] },
    { role: 'operator', people: ['ben'], organizations: ['acme'] },
  ],
};

async function openApp() {
  const asked: Asked[] = [];
  const notifications = openMemoryStore().notifications();
  const all = { code: null, organization: null, reason: 'x', by: { name: 'ana', method: 'token' } } as const;
  await notifications.silence('of-all', { ...all, since: NOW - 1, until: NOW + 3_600_000 });
  const page = await openPageApp({
    ui: UI,
    organizations: ['acme', 'beta'],
    backend: (backend: Backend) => ({
      ...backend,
      notifications: someNotifications(notifications),
      actions: someBackend([someOrganization('acme')], { asked }).actions,
    }),
  });
  const headers = (person: string) => ({ authorization: `Bearer ${person}-token`, accept: 'application/json' });
  const post = async (person: string, payload: Readonly<Record<string, string>>) =>
    (await page.server.app.inject({ method: 'POST', url: '/silences', headers: headers(person), payload })).statusCode;
  const get = async (person: string) =>
    (await page.server.app.inject({ url: '/silences', headers: headers(person) })).json();
  return { page, asked, post, get };
}

test('an operator of one organization silences it, and neither others nor all of them', async () => {
  const { page, asked, post } = await openApp();
  await using _page = page;
  const silence = { action: 'silence', reason: 'known', for: '1h' };
  expect(await post('ben', { ...silence, organization: 'acme', code: 'drift' })).toBe(200);
  expect(await post('ben', { ...silence, organization: 'beta' })).toBe(403);
  expect(await post('ben', { ...silence, organization: '' })).toBe(403);
  expect(await post('ben', { action: 'silence-end', id: 'of-all' })).toBe(403);
  expect(asked).toEqual([
    [
      'silences',
      null,
      { subcommand: 'add', code: 'drift', organization: 'acme', reason: 'known', until: NOW + 3_600_000 },
    ],
  ]);
});

test('an operator of every organization ends a silence of all of them, once for two clicks', async () => {
  const { page, asked, post } = await openApp();
  await using _page = page;
  expect(await post('ana', { action: 'silence-end', id: 'of-all' })).toBe(200);
  expect(await post('ana', { action: 'silence-end', id: 'of-all' })).toBe(200);
  expect(asked).toEqual([['silences', null, { subcommand: 'end', id: 'of-all' }]]);
});

test.each([
  [{ action: 'silence', organization: 'acme' }],
  [{ action: 'silence', organization: 'acme', reason: 'x', code: 'nothing' }],
  [{ action: 'silence', organization: 'acme', reason: 'x', for: 'long' }],
  [{ action: 'silence-end', id: 'unknown' }],
  [{ action: 'other' }],
])('refuses %o', async (fields) => {
  const { page, asked, post } = await openApp();
  await using _page = page;
  expect(await post('ana', fields)).toBe(422);
  expect(asked).toEqual([]);
});

test('the form offers the organizations that the person may silence', async () => {
  const { page, get } = await openApp();
  await using _page = page;
  expect(await get('ben')).toMatchObject({ operated: ['acme'], operatesAll: false, organizations: ['acme'] });
  expect(await get('ana')).toMatchObject({ operated: ['acme', 'beta'], operatesAll: true });
});
