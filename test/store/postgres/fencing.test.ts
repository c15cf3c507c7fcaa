// Every method of the store that writes, under a lease that is held, and under one that is lost.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { systemClock } from '../../../src/core/clock.ts';
import { LeaseLostError } from '../../../src/core/errors.ts';
import type { CommandTable } from '../../../src/store/commands.ts';
import type { CommitStatusTable } from '../../../src/store/commit-statuses.ts';
import type { History } from '../../../src/store/history.ts';
import type { Fact, Notifications } from '../../../src/store/notifications.ts';
import type { OrganizationStates } from '../../../src/store/organization-states.ts';
import type { Outbox } from '../../../src/store/outbox/outbox.ts';
import { openPostgresStore } from '../../../src/store/postgres/store.ts';
import type { Note, OrganizationRecord } from '../../../src/store/record.ts';
import type { Sessions } from '../../../src/store/sessions.ts';
import type { Store } from '../../../src/store/store.ts';
import { hasPostgres, type PostgresCluster, startPostgres } from '../../support/postgres.ts';

/** Methods of a part of the store: those that only read, and a call for each that writes. A new method is missed here. */
type Calls<Part> = { readonly [Name in keyof Part]: 'reads' | ((part: Part) => Promise<unknown>) };

const by = { name: 'ana', method: 'socket' } as const;
const fact: Fact = {
  ...{ code: 'platform-failing', scope: { organization: 'acme', token: null, platform: null }, subject: '', since: 1 },
  ...{ summary: 's', details: [], path: null },
};
const event = { id: 'e1', code: 'plan-decided', organization: 'acme', at: 1, by, data: {} };

const record: Calls<OrganizationRecord> = {
  read: 'reads',
  put: (part) => part.put([{ address: 'a/b', kind: 'a', id: null, fields: {}, protect: false, metadata: {} }]),
  remove: (part) => part.remove(['x/y']),
  moveHead: (part) => part.moveHead({ commit: 'c2', at: 2 }, ['p']),
  decisions: 'reads',
  decide: (part) => part.decide({ checksum: 'p2', verdict: 'approved', by, reason: '', at: 1 }),
};
const note: Calls<Note> = { read: 'reads', write: (part) => part.write({ a: 2 }) };
const history: Calls<History> = {
  addPass: (part) =>
    part.addPass({
      ...{ trigger: 't', commit: 'c', subject: 's', author: null, outcome: 'done', checksum: null, counts: {} },
      ...{ reads: 1, writes: 1, refused: 0, milliseconds: 1, error: null, endedAt: 1, changes: [], plan: null },
    }),
  passes: 'reads',
  pass: 'reads',
  passOfPlan: 'reads',
  changesOf: 'reads',
  addAudit: (part) =>
    part.addAudit({ at: 1, actor: by, action: 'pause', subject: '', reason: '', outcome: 'done', detail: '' }),
  audit: 'reads',
  pauses: 'reads',
  pause: (part) => part.pause({ address: 'a', reason: '', by, since: 1, until: null }),
  resume: (part) => part.resume('paused'),
};
const statuses: Calls<CommitStatusTable> = {
  list: 'reads',
  put: (part) =>
    part.put([
      {
        ...{ commit: 'c', context: 'x', sent: null, applied: 0, total: null, deployment: null, changedAt: 1 },
        wanted: { state: 'pending', description: '', url: null },
      },
    ]),
};
const sessions: Calls<Sessions> = {
  get: 'reads',
  list: 'reads',
  put: (part) => part.put({ id: 's2', data: {}, expiresAt: 10 }, 1),
  update: (part) => part.update('s', { a: 1 }),
  remove: (part) => part.remove('s'),
};
const notifications: Calls<Notifications> = {
  report: (part) => part.report({ reporter: 'r2', facts: [fact] }),
  retainReporters: (part) => part.retainReporters(['other']),
  addEvents: (part) => part.addEvents([event as never]),
  advance: (part) =>
    part.advance(1, () => ({ conditions: [], removed: [], created: [], cancelled: [], notified: [], events: [] })),
  begin: (part) => part.begin('channel', 1),
  cancelAttempts: (part) => part.cancelAttempts('channel', 1),
  end: (part) => part.end('d', { result: 'sent', receipt: null, at: 1 }, { reporter: 'c', facts: [fact] }),
  dueAt: 'reads',
  recover: (part) => part.recover(1),
  retryEvents: (part) => part.retryEvents(null),
  conditions: 'reads',
  facts: 'reads',
  deliveries: 'reads',
  lastSent: 'reads',
};
const commands: Calls<CommandTable> = {
  add: (part) => part.add({ organization: 'acme', kind: 'push', request: {}, by, at: 1 }, false),
  open: 'reads',
  begin: (part) => part.begin('acme', 1, 1),
  answer: (part) => part.answer('acme', 1, {}, 1),
  findAnswer: 'reads',
  removeBefore: (part) => part.removeBefore(10),
};
const states: Calls<OrganizationStates> = {
  write: (part) =>
    part.write('acme', { epoch: 1, at: 1, parts: [{ part: 'q', hash: 'h', content: '{}' }], removed: [] }),
  versions: 'reads',
  allVersions: 'reads',
  read: 'reads',
};
const deposit = (key: string) => ({
  ...{ source: 's', at: 1, counts: { polled: 1 }, cursor: { value: 2, round: 0 } },
  entries: [{ key, hash: 'h', payload: 'p', notBefore: 0, redactor: '1' } as never],
});
const outbox: Calls<Outbox> = {
  put: (part) => part.put(deposit('new')),
  position: 'reads',
  processed: 'reads',
  polled: (part) => part.polled('s', 5),
  reset: (part) => part.reset('s', 5),
  hint: (part) => part.hint('s', 'delivery', ['1'], 1),
  hints: 'reads',
  rechecks: 'reads',
  recheckAt: 'reads',
  postponeRecheck: (part) => part.postponeRecheck('s', 'k', 9),
  recover: (part) => part.recover(),
  next: (part) => part.next({ items: 1, bytes: 100, open: 5 }, 10),
  dueAt: 'reads',
  correctTimes: (part) => part.correctTimes(1),
  sent: (part) => part.sent(1, 1),
  doubt: (part) => part.doubt(1, 9),
  rest: (part) => part.rest(1, 9),
  release: (part) => part.release(1),
  split: (part) => part.split(1),
  bury: (part) => part.bury(1, 'r', 1),
  dead: 'reads',
  deadLetter: 'reads',
  retry: (part) => part.retry({}, 1),
  drop: (part) => part.drop({}),
  status: 'reads',
  outdated: 'reads',
};

/** Parts of the store, each with its calls. */
const parts: { readonly [Name in keyof Store]: null | ((store: Store) => readonly [part: unknown, calls: object]) } = {
  organization: (store) => [store.organization('acme'), record],
  note: (store) => [store.note('t'), note],
  history: (store) => [store.history('acme'), history],
  commitStatuses: (store) => [store.commitStatuses('acme'), statuses],
  sessions: (store) => [store.sessions(), sessions],
  notifications: (store) => [store.notifications(), notifications],
  commands: (store) => [store.commands(), commands],
  organizationStates: (store) => [store.organizationStates(), states],
  outbox: (store) => [store.outbox('acme', { items: 100, bytes: 100_000 } as never), outbox],
  fenced: null,
  fleet: null,
  close: null,
};

const cases = Object.entries(parts).flatMap(([name, open]) =>
  open === null
    ? []
    : Object.entries(open({ ...stubs() } as never)[1]).flatMap(([method, call]) =>
        call === 'reads' ? [] : [[name, method, open, call as (part: unknown) => Promise<unknown>] as const],
      ),
);

/** Store without content, from which only the calls are taken. */
function stubs(): Record<string, () => unknown> {
  return Object.fromEntries(Object.keys(parts).map((name) => [name, () => ({})]));
}

let cluster: PostgresCluster;
let store: Store;
let database: string;
beforeAll(async () => {
  if (!hasPostgres) {
    return;
  }
  cluster = await startPostgres();
  const url = await cluster.createDatabase();
  database = new URL(url).pathname.slice(1);
  store = await openPostgresStore({ url, pool: 3 }, systemClock, Math.random);
  const leases = store.fleet()?.leases;
  const self = { id: 'a', version: '1', address: 'host', weight: 1, isDraining: false };
  await leases?.define(['organization/acme']);
  await leases?.renew(self, 600_000);
  await leases?.claim('a', ['organization/acme'], 1);
}, 60_000);
afterAll(async () => {
  await store?.close();
  await cluster?.stop();
});

/** Returns the content of all tables. */
async function dump(): Promise<string> {
  const [row] = await cluster.query("SELECT schema_to_xml('octavo', true, false, '')::text AS content", database);
  return String(row?.content);
}

describe.runIf(hasPostgres)('a write under a lease', () => {
  test.each(cases)('%s.%s changes nothing once the lease is lost', async (_, __, open, call) => {
    const [part] = open(store.fenced({ name: 'organization/acme', epoch: 0 }));
    const before = await dump();
    await expect(call(part)).rejects.toThrow(LeaseLostError);
    expect(await dump()).toBe(before);
  });

  test.each(cases)('%s.%s is possible while the lease is held', async (_, __, open, call) => {
    const [part] = open(store.fenced({ name: 'organization/acme', epoch: 1 }));
    await call(part);
  });
});
