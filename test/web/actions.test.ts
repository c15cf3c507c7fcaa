import { expect, test } from 'vitest';
import { openWorkspace, type Workspace } from '../support/workspace.ts';
import { openPageApp, tokenEntry } from './page-app.ts';
import { type PageDaemon, startPage } from './page-daemon.ts';

const PEOPLE = ['viewer', 'operator', 'approver'];
const UI = {
  tokens: PEOPLE.map((name) => tokenEntry(`${name}@acme.example`, `${name}-token`)),
  roles: PEOPLE.map((role) => ({ role, people: [`${role}@acme.example`] })),
};
const PATH = '/o/org_acme/actions';

/** Sends an action as a program does. */
async function send(page: PageDaemon, person: string, fields: Readonly<Record<string, string>>) {
  const response = await fetch(`${page.url}${PATH}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${person}-token`,
      accept: 'application/json',
      'content-type': 'application/json',
    },
    body: JSON.stringify(fields),
  });
  return { status: response.status, answer: (await response.json()) as Record<string, unknown> };
}

/** Starts a daemon whose plan holds a deletion. */
async function holding(work: Workspace): Promise<PageDaemon> {
  work.repository.write('a.yaml', 'collections:\n  a: { title: A }\n  b: { title: B }\n');
  work.repository.commit('Two');
  const page = await startPage(work, { ui: UI });
  work.repository.write('a.yaml', 'collections:\n  a: { title: A }\n');
  work.repository.commit('One');
  await pass(page);
  return page;
}

async function pass(page: PageDaemon): Promise<void> {
  await page.daemon.organizations[0]?.trigger('manual');
}

function checksumOf(page: PageDaemon): string {
  const plan = page.daemon.organizations[0]?.lastPlan;
  return plan?.heldChecksum ?? plan?.checksum ?? '';
}

test('an approver approves the plan that the page showed, and only once', async () => {
  await using work = await openWorkspace();
  await using page = await holding(work);
  const checksum = checksumOf(page);
  const approve = { action: 'approve', checksum, reason: 'looks right' };
  expect((await send(page, 'viewer', approve)).status).toBe(403);
  expect((await send(page, 'operator', approve)).status).toBe(403);
  const twice = await Promise.all([send(page, 'approver', approve), send(page, 'approver', approve)]);
  expect(twice.map(({ status }) => status)).toEqual([200, 200]);
  await page.daemon.organizations[0]?.idle();
  expect(work.emulator.requests.count('deleteCollection')).toBe(1);
  // Sent again after the plan was applied, such as by a browser that lost the answer.
  expect((await send(page, 'approver', { ...approve, reason: 'again' })).status).toBe(200);
  expect(work.emulator.requests.count('deleteCollection')).toBe(1);
});

test('a plan that has changed is not approved: 409', async () => {
  await using work = await openWorkspace();
  await using page = await holding(work);
  const checksum = checksumOf(page);
  work.repository.write('a.yaml', 'collections: {}\n');
  work.repository.commit('None');
  await pass(page);
  expect(checksumOf(page)).not.toBe(checksum);
  for (const action of ['approve', 'reject']) {
    const { status, answer } = await send(page, 'approver', { action, checksum });
    expect(status).toBe(409);
    expect(answer.error).toContain('The plan has changed since this page was made');
    expect(answer.difference).toMatchObject({ added: [{ address: 'collection/a', action: 'delete' }] });
  }
  await page.daemon.organizations[0]?.idle();
  expect(work.emulator.requests.count('deleteCollection')).toBe(0);
});

test('operators check, pause and resume; a pause ends after four hours, or never', async () => {
  await using work = await openWorkspace();
  await using page = await startPage(work, { ui: UI });
  const pause = { action: 'pause', reason: 'migration' };
  expect((await send(page, 'viewer', pause)).status).toBe(403);
  const { status, answer } = await send(page, 'operator', pause);
  expect(status).toBe(200);
  const hours = (Date.parse(String(answer.until)) - Date.now()) / 3_600_000;
  expect(hours).toBeGreaterThan(3.9);
  expect(hours).toBeLessThanOrEqual(4);
  expect((await send(page, 'operator', { ...pause, for: 'forever' })).answer.until).toBe(null);
  expect((await send(page, 'operator', { action: 'resume' })).status).toBe(200);
  expect((await send(page, 'operator', { action: 'resume', reason: 'again' })).status).toBe(422);
  expect((await send(page, 'operator', { action: 'reconcile' })).status).toBe(200);
});

test('an action that is not valid is refused and says why', async () => {
  await using work = await openWorkspace();
  await using page = await startPage(work, { ui: UI });
  const refused: readonly (readonly [Readonly<Record<string, string>>, string])[] = [
    [{ action: 'delete-all' }, 'is not known'],
    [{}, 'is not known'],
    [{ action: 'approve' }, 'checksum: '],
    [{ action: 'pause' }, 'reason: is missing; say why'],
    [{ action: 'pause', reason: 'x', for: '-1h' }, 'is not valid'],
    [{ action: 'pause', reason: 'x', address: 'team/unknown' }, 'no manifest declares'],
    [{ action: 'dead-drop', key: 'unknown' }, 'not found'],
    [{ action: 'cluster-open' }, 'cluster: '],
    [{ action: 'cluster-mute', cluster: 'c_1', for: 'soon' }, 'is not valid'],
    [{ action: 'cluster-mute', cluster: 'c_1', reason: 'x'.repeat(501) }, 'reason: '],
  ];
  for (const [fields, message] of refused) {
    const { status, answer } = await send(page, 'approver', fields);
    expect({ status, error: answer.error }).toEqual({ status: 422, error: expect.stringContaining(message) });
  }
});

test('without sign-in, the page is read-only', async () => {
  await using page = await openPageApp({ ui: {} });
  const answer = await page.post('/o/acme/actions', { action: 'reconcile' });
  expect(answer.statusCode).toBe(403);
  expect(answer.body).toContain('<h1>Not allowed</h1>');
});
