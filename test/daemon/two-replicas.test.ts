/** Two daemons on one PostgreSQL database: pages, actions, webhooks and changes at the one that is not the owner. */
import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import { shortApproval } from '../../src/plan/render/words.ts';
import { FakeGitHubPull, STRANGER } from '../support/fake-forge.ts';
import { eventually } from '../support/octavo-process.ts';
import { hasPostgres } from '../support/postgres.ts';
import { COMMENTS, PUSHES } from '../support/push-deliveries.ts';
import { shareCluster } from '../support/shared-cluster.ts';
import { TcpProxy } from '../support/tcp-proxy.ts';
import { openWorkspace, type Workspace } from '../support/workspace.ts';
import type { PageDaemon } from '../web/page-daemon.ts';
import { startReplica } from './fleet/replica.ts';

const UI = {
  tokens: [{ name: 'ana@acme.example', sha256: createHash('sha256').update('secret-of-ana').digest('hex') }],
  roles: [{ role: 'approver', people: ['ana@acme.example'] }],
};
const TWO = 'collections:\n  a: { title: A }\n  b: { title: B }\n';
const ONE = 'collections:\n  a: { title: A }\n';

const cluster = shareCluster();

const SECRET = 'a secret of more than 16 characters';
const FORGE = { type: 'github', repository: 'acme/docs', webhookSecret: SECRET };
/** Milliseconds between two checks for commands. */
const CHECKS = 5000;
/** Clock without the regular checks for commands: those that are carried out were announced by a message. */
const NO_CHECKS = {
  ...systemClock,
  sleep: (milliseconds: number, signal?: AbortSignal) =>
    systemClock.sleep(milliseconds === CHECKS ? 3_600_000 : milliseconds, signal),
};

const isOwner = ({ daemon }: PageDaemon) => daemon.organizations.length === 1;

/** Starts two replicas. The first one has the organization, with a plan that waits for approval. */
async function startTwo(work: Workspace, stores: readonly [string, string]) {
  work.repository.commit('Two', { 'a.yaml': TWO });
  const owner = await startReplica(work, 'one', stores[0], 6, { ui: UI });
  await eventually('the owner', () => isOwner(owner));
  await owner.daemon.organizations[0]?.idle();
  const other = await startReplica(work, 'two', stores[1], 6, { ui: UI });
  work.repository.commit('One', { 'a.yaml': ONE });
  await owner.daemon.organizations[0]?.trigger('manual');
  expect(isOwner(other)).toBe(false);
  return { owner, other };
}

/** Starts two replicas on a new database, and stops both when disposed. */
async function startBoth(work: Workspace) {
  const store = await cluster().createDatabase();
  const { owner, other } = await startTwo(work, [store, store]);
  const both = new AsyncDisposableStack();
  both.use(owner);
  both.use(other);
  return { owner, other, [Symbol.asyncDispose]: () => both.disposeAsync() };
}

async function load(page: PageDaemon, path: string) {
  const response = await page.get(path, { authorization: 'Bearer secret-of-ana', accept: 'application/json' });
  expect(response.status).toBe(200);
  return (await response.json()) as Record<string, unknown>;
}

async function send(page: PageDaemon, fields: Readonly<Record<string, string>>) {
  const response = await fetch(`${page.url}/o/org_acme/actions`, {
    method: 'POST',
    headers: {
      authorization: 'Bearer secret-of-ana',
      accept: 'application/json',
      'content-type': 'application/json',
    },
    body: JSON.stringify(fields),
  });
  return { status: response.status, answer: (await response.json()) as Record<string, unknown> };
}

/** Returns the lines of a daemon's metrics that are about the organization or its queue. */
async function exported({ daemon }: PageDaemon): Promise<readonly string[]> {
  const text = await (await fetch(`${daemon.address}/metrics`)).text();
  return text.split('\n').filter((line) => line.includes('="org_acme"'));
}

function heldChecksum(page: PageDaemon): string {
  const plan = page.daemon.organizations[0]?.lastPlan;
  return plan?.heldChecksum ?? plan?.checksum ?? '';
}

describe.skipIf(!hasPostgres)('a replica that is not the owner', () => {
  test('shows the same organization, and carries out what people ask there', async () => {
    await using work = await openWorkspace();
    await using fleet = await startBoth(work);
    const { owner, other } = fleet;
    const state = async () => (await load(other, '/o/org_acme')).state;
    await eventually('a held plan', async () => (await state()) === 'held');
    expect(await load(other, '/replicas')).toMatchObject({
      ...{ isFleet: true, unowned: [], database: { state: 'working' } },
      replicas: [{ state: 'working' }, { state: 'working' }],
    });
    const status = await work.inside(['fleet', 'status', '--config', `${work.folder}/two.yaml`]);
    expect(status).toMatchObject({ code: 0 });
    expect(status.stdout).toMatch(
      /^2 replicas, and every organization has an owner\n(.*\n)?.* working 1 organization weight 1 /,
    );
    const checksum = heldChecksum(owner);
    const [there, here] = await Promise.all([load(other, '/o/org_acme'), load(owner, '/o/org_acme')]);
    const { freshness: _there, ...restThere } = there;
    const { freshness: _here, ...restHere } = here;
    expect(restThere).toEqual(restHere);
    expect(await load(other, `/o/org_acme/plans/${checksum}`)).toMatchObject({ isCurrent: true });

    expect(await send(other, { action: 'approve', checksum: 'sha256:unknown', reason: '' })).toMatchObject({
      status: 409,
    });
    expect(await send(other, { action: 'resume', address: 'collection/a', reason: '' })).toMatchObject({
      status: 422,
      answer: { error: 'collection/a is not paused' },
    });
    expect(await send(other, { action: 'approve', checksum, reason: 'looks right' })).toMatchObject({
      status: 200,
      answer: { organization: 'org_acme', checksum, approved: ['collection/b'], isComplete: true },
    });
    await eventually('the end of the pass', async () => (await state()) === 'in-sync');
    expect(work.emulator.requests.count('deleteCollection')).toBe(1);
    const { entries } = (await load(other, '/o/org_acme/audit')) as { entries: readonly { action: string }[] };
    expect(entries.map(({ action }) => action)).toEqual(['approve', 'resume']);
  });

  test('says what becomes of an approval that was clicked there, until it is applied', async () => {
    await using work = await openWorkspace();
    await using fleet = await startBoth(work);
    const { owner, other } = fleet;
    const keys = Array.from({ length: 113 }, (_, index) => `k${index}`);
    const many = `${TWO}${keys.map((key) => `  ${key}: { title: ${key} }\n`).join('')}`;
    work.repository.commit('Many', { 'a.yaml': many });
    await owner.daemon.organizations[0]?.trigger('manual');
    await owner.daemon.organizations[0]?.idle();
    work.repository.commit('Two again', { 'a.yaml': TWO });
    await owner.daemon.organizations[0]?.trigger('manual');
    const authorization = 'Bearer secret-of-ana';
    const text = async (path: string) =>
      (await (await other.get(path, { authorization })).text()).replaceAll(/\s+/g, ' ');
    await eventually('a held plan', async () => (await text('/o/org_acme')).includes('113 changes wait for approval'));
    const page = await text('/o/org_acme');
    const [, path = ''] = /href="(\/o\/org_acme\/plans\/[^"]*)"/.exec(page) ?? [];
    const fields = [...page.matchAll(/<input type="hidden" name="(\w+)" value="([^"]*)">/g)];
    const form = Object.fromEntries(fields.map(([, name, value]) => [name, value]));
    work.emulator.setLatency(400);
    const sent = await other.post(
      '/o/org_acme/actions',
      { ...form, action: 'approve', reason: 'they are empty', back: path },
      { authorization },
    );
    expect([sent.status, sent.headers.get('location')]).toEqual([303, `${path}?done=approve`]);
    expect(await text(`${path}?done=approve`)).toContain('Approved.');
    const seen: string[] = [];
    await eventually(
      'the end',
      async () => {
        const [state = 'nothing'] =
          /Applying, \d+ of 113|Approved: 113 changes wait for the next run|wait for approval|class="state ok">applied/.exec(
            await text(path),
          ) ?? [];
        if (seen.at(-1) !== state) {
          seen.push(state);
        }
        return state.endsWith('applied');
      },
      60,
    );
    const reached = seen.flatMap((state) => {
      const [, number] = /Applying, (\d+) of/.exec(state) ?? [];
      return number === undefined ? [] : [Number(number)];
    });
    expect(reached.length).toBeGreaterThan(1);
    expect(reached).toEqual(reached.toSorted((a, b) => a - b));
    expect(seen.filter((state) => !state.startsWith('Applying'))).toEqual([
      'Approved: 113 changes wait for the next run',
      'class="state ok">applied',
    ]);
    work.emulator.setLatency(0);
    await eventually('the overview', async () => (await text('/o/org_acme')).includes('In sync'));
    expect(work.emulator.requests.count('deleteCollection')).toBe(113);
    expect(isOwner(other)).toBe(false);
  });

  test('takes the first digits of a checksum that a person typed there', async () => {
    await using work = await openWorkspace();
    await using fleet = await startBoth(work);
    const { owner, other } = fleet;
    await eventually('a held plan', async () => (await load(other, '/o/org_acme')).state === 'held');
    const prefix = shortApproval(heldChecksum(owner));
    expect(prefix).toMatch(/^[0-9a-f]{8}$/);
    const approve = (digits: string) =>
      work.inside(['approve', digits, '--reason', 'looks right', '--config', `${work.folder}/two.yaml`]);
    const wrong = await approve(prefix === '00000000' ? '11111111' : '00000000');
    expect(wrong.code).not.toBe(0);
    expect(work.emulator.requests.count('deleteCollection')).toBe(0);
    expect(await approve(prefix)).toMatchObject({ code: 0 });
    await eventually('the deletion', () => work.emulator.requests.count('deleteCollection') === 1);
    const { entries } = (await load(other, '/o/org_acme/audit')) as { entries: readonly { subject: string }[] };
    // The audit has the whole checksum.
    expect(entries[0]?.subject).toMatch(new RegExp(`^sha256:${prefix}[0-9a-f]{56}$`));
    expect(isOwner(other)).toBe(false);
  });

  test('knows people who signed in at another replica, and takes their forms', async () => {
    await using work = await openWorkspace();
    await using fleet = await startBoth(work);
    const { owner, other } = fleet;
    const signedIn = await owner.post('/sign-in', { token: 'secret-of-ana' });
    const cookie = String(signedIn.headers.get('set-cookie')).split(';', 1)[0] ?? '';
    expect((await other.get('/o/org_acme', { cookie })).status).toBe(200);
    const sent = await other.post(
      '/o/org_acme/actions',
      { action: 'pause', reason: 'a freeze', for: '1h' },
      { cookie },
    );
    expect(sent.status).toBe(303);
    expect(await load(owner, '/o/org_acme')).toMatchObject({
      pauses: [{ by: 'ana@acme.example', reason: 'a freeze' }],
    });
    await other.post('/sign-out', {}, { cookie });
    expect((await owner.get('/o/org_acme', { cookie })).status).toBe(303);
  });

  test('tells its browsers of a pass of the owner', async () => {
    await using work = await openWorkspace();
    await using fleet = await startBoth(work);
    const { owner, other } = fleet;
    const response = await other.get('/events', { authorization: 'Bearer secret-of-ana' });
    const reader = response.body?.getReader();
    await owner.daemon.organizations[0]?.trigger('manual');
    let text = '';
    while (!text.includes('"organization/org_acme"')) {
      const { done, value } = (await reader?.read()) ?? { done: true, value: undefined };
      expect(done).toBe(false);
      text += Buffer.from(value ?? []).toString('utf8');
    }
    await reader?.cancel();
  });

  test('answers an approval itself, and exports the metrics, if the owner has gone before it could', async () => {
    await using work = await openWorkspace();
    const store = await cluster().createDatabase();
    await using proxy = await TcpProxy.open({ port: cluster().port });
    const throughProxy = store.replace(`:${cluster().port}/`, `:${proxy.port}/`);
    const { owner, other } = await startTwo(work, [throughProxy, store]);
    await using _other = other;
    await eventually('a held plan', async () => (await load(other, '/o/org_acme')).state === 'held');
    const checksum = heldChecksum(owner);
    expect(await exported(owner)).toContain('octavo_source_ready{organization="org_acme"} 1');
    expect(await exported(other)).toEqual([]);
    // The owner cannot renew its lease from now on.
    proxy.stall();
    const answer = send(other, { action: 'approve', checksum, reason: '' });
    await eventually('the next owner', () => isOwner(other), 30);
    expect(await exported(owner)).toEqual([]);
    expect(await answer).toMatchObject({ status: 200, answer: { checksum, isComplete: true } });
    await eventually('the deletion', () => work.emulator.requests.count('deleteCollection') === 1);
    await eventually('the metrics', async () => (await exported(other)).length > 0);
    proxy.pass();
    await owner.daemon.stop();
  });

  test('passes the webhook of a push on, and the owner fetches at once, once for each delivery', async () => {
    await using work = await openWorkspace();
    const store = await cluster().createDatabase();
    work.repository.commit('One', { 'a.yaml': ONE });
    const settings = { organization: { forge: FORGE }, clock: NO_CHECKS, ui: UI };
    await using owner = await startReplica(work, 'one', store, 6, settings);
    await eventually('the owner', () => isOwner(owner));
    await owner.daemon.organizations[0]?.idle();
    await using other = await startReplica(work, 'two', store, 6, settings);
    expect(isOwner(other)).toBe(false);
    const created = () => work.emulator.requests.count('createCollection');
    await eventually('the first collection', () => created() === 1);
    const deliver = async (page: PageDaemon, id: string, secret = SECRET) => {
      const { headers, body } = PUSHES.github({ secret, id });
      const url = `${page.daemon.address}/hooks/org_acme`;
      return (await fetch(url, { method: 'POST', headers, body: new Uint8Array(body) })).status;
    };
    work.repository.commit('Two', { 'a.yaml': TWO });
    expect(await deliver(other, 'first', 'another secret of many characters')).toBe(401);
    expect(await deliver(other, 'first')).toBe(202);
    await eventually('the second collection', () => created() === 2, 60);
    await owner.daemon.organizations[0]?.idle();
    // A repetition is recognized by each of them, also with a new commit.
    work.repository.commit('Three', { 'a.yaml': `${TWO}  c: { title: C }\n` });
    expect([await deliver(other, 'first'), await deliver(owner, 'first')]).toEqual([200, 200]);
    await owner.daemon.organizations[0]?.idle();
    expect(created()).toBe(2);
    expect(await deliver(other, 'second')).toBe(202);
    await eventually('the third collection', () => created() === 3, 60);
    expect(isOwner(other)).toBe(false);
  });

  test('passes the comment of a person on, and the owner answers it', async () => {
    await using work = await openWorkspace();
    await using fake = await new FakeGitHubPull().listen();
    const store = await cluster().createDatabase();
    work.repository.commit('One', { 'a.yaml': ONE });
    const access = { apiUrl: fake.apiUrl, token: FakeGitHubPull.token, approveByComment: {} };
    const settings = { organization: { forge: { ...FORGE, ...access } }, clock: NO_CHECKS, ui: UI };
    await using owner = await startReplica(work, 'one', store, 6, settings);
    await eventually('the owner', () => isOwner(owner));
    await using other = await startReplica(work, 'two', store, 6, settings);
    const text = 'octavo approve';
    const { id: comment } = fake.comment(STRANGER, text);
    const { headers, body } = COMMENTS.github({ secret: SECRET, comment, text });
    const url = `${other.daemon.address}/hooks/org_acme`;
    const { status } = await fetch(url, { method: 'POST', headers, body: new Uint8Array(body) });
    expect([status, isOwner(other)]).toEqual([202, false]);
    await eventually('the answer', () => fake.own.length === 1);
    expect(fake.own[0]?.body).toBe(
      'Not approved, `somebody`:\n\n- approving needs the permission `maintain` in this repository',
    );
    expect(fake.requests.filter((each) => !each.includes('/statuses/'))).toHaveLength(3);
  });
});
