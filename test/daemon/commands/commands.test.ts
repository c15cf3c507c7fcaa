/** Commands between a replica that is asked and the owner of the organization. */
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { LeaseLostError, RefusedPlanError, TransientError } from '../../../src/core/errors.ts';
import { EventBus } from '../../../src/core/event-bus.ts';
import type { JsonObject } from '../../../src/core/json.ts';
import { openCommandSender } from '../../../src/daemon/command-sender.ts';
import { CommandRunner } from '../../../src/daemon/commands.ts';
import type { ManagedOrganization } from '../../../src/daemon/organization/managed-organization.ts';
import type { RequestHandlers } from '../../../src/server/requests.ts';
import { type CommandTable, openCommands } from '../../../src/store/commands.ts';
import type { AuditEntry } from '../../../src/store/history.ts';
import type { FleetSignal, FleetSignals } from '../../../src/store/leases.ts';
import type { PlanDecision } from '../../../src/store/record.ts';
import { COMMAND_LAYOUT } from '../../../src/store/sql/schema-migrations.ts';
import { SqliteDatabase } from '../../../src/store/sqlite.ts';
import type { Store } from '../../../src/store/store.ts';
import type { OrganizationOwner } from '../../../src/web/model/page.ts';
import { createVirtualClock } from '../../queue/virtual-clock.ts';

const ANA = { name: 'ana@acme.example', method: 'oidc' } as const;
const APPROVE = { subcommand: 'approve', checksum: 'sha256:1', reason: '' };

/** Messages that arrive at once, unless they are lost. */
class Bus implements FleetSignals {
  readonly isConnected = true;
  isDeaf = false;
  readonly #listeners = new Set<(signal: FleetSignal) => void>();

  async send(signal: FleetSignal): Promise<void> {
    for (const listener of this.isDeaf ? [] : this.#listeners) {
      listener(signal);
    }
  }

  listen(listener: (signal: FleetSignal) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }
}

interface Owner {
  /** Requests that were carried out, in order. */
  readonly done: string[];
  readonly runner: CommandRunner;
  stop(): void;
}

/** A table with one replica that asks, and owners that come and go. */
function openFleet() {
  const sqlite = new DatabaseSync(':memory:');
  sqlite.exec(COMMAND_LAYOUT);
  const table = openCommands(new SqliteDatabase(sqlite, 'memory'));
  const clock = createVirtualClock();
  const bus = new Bus();
  const stopping = new AbortController();
  const audit: Partial<AuditEntry>[] = [];
  const decisions: PlanDecision[] = [];
  let owner: OrganizationOwner = { kind: 'replica', id: 'r-1', address: 'host-1 42' };
  const context = { clock, log: { debug: () => undefined, warn: () => undefined }, events: new EventBus() };
  const asking = { ...context, store: { commands: () => table }, stopping: stopping.signal };
  const sender = openCommandSender(asking as never, bus, () => owner);
  const start = (
    epoch: number,
    act: (request: JsonObject) => Promise<JsonObject>,
    { lastEnd = {}, commands = table }: { lastEnd?: object | null; commands?: CommandTable } = {},
  ): Owner => {
    const done: string[] = [];
    const handle = async (_by: unknown, _organization: unknown, request: object) => {
      done.push((request as { subcommand: string }).subcommand);
      return act(request as JsonObject);
    };
    const actions = { act: handle, conversations: handle, clusters: handle } as unknown as RequestHandlers;
    const lease = { name: 'organization/acme', epoch, lost: new AbortController().signal, left: () => 60_000 };
    const reconciliation = { reconciler: { lastEnd }, fetchNow: () => done.push('fetch') };
    const conversations = { wake: () => done.push('wake') };
    const config = { approvals: { count: 2, notAuthor: false } };
    const managed = { id: 'acme', config, lease, reconciliation, conversations } as unknown as ManagedOrganization;
    const store = {
      commands: () => commands,
      fenced: () => ({ commands: () => commands }),
      history: () => ({ audit: async () => audit }),
      organization: () => ({ decisions: async () => decisions }),
    } as unknown as Store;
    const find = (id: string) => (id === 'acme' ? managed : undefined);
    const ending = new AbortController();
    const runner = new CommandRunner({ ...context, store, stopping: ending.signal } as never, bus, { find }, actions);
    void runner.run();
    return { done, runner, stop: () => ending.abort() };
  };
  return {
    ...{ sqlite, table, clock, bus, stopping, audit, decisions, sender, start },
    setOwner: (next: OrganizationOwner) => {
      owner = next;
    },
    approve: () => sender.send('acme', 'act', APPROVE, ANA),
  };
}

test('both sides check regularly if messages are lost', async () => {
  const { approve, start, clock, bus } = openFleet();
  bus.isDeaf = true;
  start(1, async () => ({ isComplete: true }));
  await clock.advance(1000);
  const from = clock.now();
  expect(await clock.run(approve())).toEqual({ isComplete: true });
  expect(clock.now() - from).toBeLessThanOrEqual(10_000);
});

test('after 30 seconds it tells who has the organization, or that nobody has', async () => {
  const { approve, clock, setOwner } = openFleet();
  const asked = approve();
  asked.catch(() => undefined);
  await clock.advance(31_000);
  await expect(asked).rejects.toThrow(
    'replica r-1 (host-1 42) has organization acme and did not answer within 30 seconds; the command may still be carried out; check the audit before you repeat it',
  );
  await expect(asked).rejects.toMatchObject({ constructor: TransientError, maybeDone: true });
  setOwner({ kind: 'none', since: clock.now() - 90_000 });
  const again = approve();
  again.catch(() => undefined);
  await clock.advance(31_000);
  await expect(again).rejects.toThrow('no replica has had organization acme for 2 minutes');
});

test('commands of one kind are carried out in order, one at a time; other kinds do not wait for them', async () => {
  const { sender, start, clock } = openFleet();
  let release: () => void = () => undefined;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const { done } = start(1, async ({ subcommand }) => {
    await (subcommand === 'approve' ? held : null);
    return {};
  });
  const first = sender.send('acme', 'act', APPROVE, ANA);
  const second = sender.send('acme', 'act', { subcommand: 'reconcile' }, ANA);
  expect(await clock.run(sender.send('acme', 'conversations', { subcommand: 'status' }, ANA))).toEqual({});
  expect(done).toEqual(['approve', 'status']);
  release();
  await clock.run(Promise.all([first, second]));
  expect(done).toEqual(['approve', 'status', 'reconcile']);
});

test('a decision waits until the owner has a plan', async () => {
  const { approve, start, clock } = openFleet();
  const waiting = start(1, async () => ({}), { lastEnd: null });
  const asked = approve();
  await clock.advance(6000);
  expect(waiting.done).toEqual([]);
  waiting.stop();
  const { done } = start(2, async () => ({}));
  await clock.run(asked);
  expect(done).toEqual(['approve']);
});

test('the next owner carries out what an owner has begun and not answered', async () => {
  const { approve, start, clock, table } = openFleet();
  const lost: CommandTable = {
    ...table,
    answer: () => Promise.reject(new LeaseLostError('organization/acme')),
  };
  const first = start(1, async () => ({}), { commands: lost });
  const asked = approve();
  await clock.advance(1000);
  expect(first.done).toEqual(['approve']);
  first.stop();
  const second = start(2, async () => ({ isComplete: true }));
  expect(await clock.run(asked)).toEqual({ isComplete: true });
  expect(second.done).toEqual(['approve']);
});

test.each([
  ['it was applied', [], true],
  [
    'more people have to approve it',
    [{ checksum: 'sha256:1', verdict: 'approved', by: ANA, reason: '', at: 0 }],
    false,
  ],
] as const)(
  'an approval that the last owner carried out has succeeded, although the plan is gone: %s',
  async (_, left, isComplete) => {
    const { approve, start, clock, table, audit, decisions } = openFleet();
    decisions.push(...left);
    const lost: CommandTable = { ...table, answer: () => Promise.reject(new LeaseLostError('organization/acme')) };
    const first = start(1, async () => ({}), { commands: lost });
    const asked = approve();
    await clock.advance(1000);
    first.stop();
    audit.push({ action: 'approve', subject: 'sha256:1', outcome: 'done', at: clock.now(), actor: ANA });
    start(2, () => Promise.reject(new RefusedPlanError('no held plan')));
    expect(await clock.run(asked)).toMatchObject({ checksum: 'sha256:1', approved: [], isComplete, repeated: true });
  },
);

test('a decision by the first digits of a checksum is found in the audit, which has the whole one', async () => {
  const { sender, start, clock, table, audit } = openFleet();
  const lost: CommandTable = { ...table, answer: () => Promise.reject(new LeaseLostError('organization/acme')) };
  const first = start(1, async () => ({}), { commands: lost });
  const asked = sender.send('acme', 'act', { subcommand: 'approve', checksum: '1cefed34', reason: '' }, ANA);
  await clock.advance(1000);
  first.stop();
  const whole = `sha256:${'1cefed34'.padEnd(64, '0')}`;
  audit.push({ action: 'approve', subject: whole, outcome: 'done', at: clock.now(), actor: ANA });
  start(2, () => Promise.reject(new RefusedPlanError('no held plan')));
  expect(await clock.run(asked)).toMatchObject({ checksum: whole, isComplete: true, repeated: true });
});

test('an answer that could not be stored is stored later, and the command is not carried out again', async () => {
  const { approve, start, clock, table } = openFleet();
  let failures = 1;
  const flaky: CommandTable = {
    ...table,
    answer: (...given) => {
      failures -= 1;
      return failures >= 0 ? Promise.reject(new Error('reset')) : table.answer(...given);
    },
  };
  const { done } = start(1, async () => ({ isComplete: true }), { commands: flaky });
  expect(await clock.run(approve())).toEqual({ isComplete: true });
  expect(done).toEqual(['approve']);
});

test('the owner learns of pushes and hints, which nobody waits for, once until it begins', async () => {
  const { sender, start, clock, table } = openFleet();
  await Promise.all([sender.notify('acme', 'push'), sender.notify('acme', 'push'), sender.notify('acme', 'hints')]);
  expect(await table.open()).toHaveLength(2);
  const { done } = start(1, async () => ({}));
  await clock.advance(1000);
  expect(done.toSorted()).toEqual(['fetch', 'wake']);
  expect(await table.open()).toEqual([]);
});

test('commands are removed after a day, and not carried out any more', async () => {
  const { sender, start, clock, table } = openFleet();
  await sender.notify('acme', 'push');
  await clock.advance(25 * 3_600_000);
  const { done } = start(1, async () => ({}));
  await clock.advance(6000);
  expect(await table.open()).toEqual([]);
  expect(done).toEqual([]);
});

test('commands of another version or another program are refused, and the next ones are carried out', async () => {
  const { sqlite, sender, start, clock, approve } = openFleet();
  const asked = (kind: 'push' | 'conversations') => {
    const answer = sender.send('acme', kind, {}, ANA);
    answer.catch(() => undefined);
    return answer;
  };
  const newer = asked('push');
  await clock.advance(1);
  sqlite.exec("UPDATE command SET kind = 'rotate'");
  const foreign: Promise<JsonObject>[] = [];
  for (const request of ['null', '[]', '7', 'nonsense']) {
    foreign.push(asked('conversations'));
    await clock.advance(1);
    sqlite.prepare("UPDATE command SET kind = 'act', request = ? WHERE kind = 'conversations'").run(request);
  }
  const { done } = start(1, async ({ checksum }) => ({ checksum: checksum as string }));
  expect(await clock.run(approve())).toEqual({ checksum: 'sha256:1' });
  expect(done).toEqual(['approve']);
  await expect(newer).rejects.toThrow('does not support the command "rotate"; upgrade all replicas to one version');
  expect(foreign).toHaveLength(4);
  for (const answer of foreign) {
    await expect(answer).rejects.toThrow('is not a JSON object');
  }
  const unknown = asked('conversations');
  await clock.advance(6000);
  await expect(unknown).rejects.toThrow(/^the replica .* does not support the request \(subcommand: .*\); upgrade/);
});
