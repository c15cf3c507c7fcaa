import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Ingestion } from '../../src/conversations/ingestion.ts';
import { openMemoryStore } from '../../src/store/memory.ts';
import type { Outbox } from '../../src/store/outbox/outbox.ts';
import { openSqliteStore } from '../../src/store/sqlite.ts';
import type { Store } from '../../src/store/store.ts';
import { createVirtualClock } from '../queue/virtual-clock.ts';
import { countCases } from '../support/campaign.ts';
import { type Accepted, ConversationSink, type SinkFault } from '../support/conversation-sink.ts';
import { CrashingOutbox, type OutboxDeath } from '../support/crashing-outbox.ts';
import { createIngestion, Helpdesk, SECRET, type TicketState, testWebhook } from '../support/helpdesk.ts';

/*
 * Edits, webhook hints, kills and lost answers in any order: in the end the platform has exactly the newest redacted
 * content of every solved ticket, each version was sent once unless its answer was lost, and nothing private is
 * anywhere.
 */

const MINUTE = 60_000;
const QUIET = 10 * MINUTE;
/** The campaign dies before and after every write; a sample at every STRIDE-th. */
const STRIDE = countCases({ sample: 9, ci: 3, full: 1 });

type Step =
  | { readonly do: 'edit'; readonly id: string; readonly state: TicketState }
  | { readonly do: 'hint'; readonly id: string; readonly delivery: string }
  | { readonly do: 'wait'; readonly minutes: number }
  | { readonly do: 'fault'; readonly fault: SinkFault; readonly times: number }
  | { readonly do: 'resync' }
  | { readonly do: 'die'; readonly death: OutboxDeath }
  /** A restart without preparation. */
  | { readonly do: 'kill' };

/** A helpdesk, a platform, a state, and the process between them, which is restarted whenever it has died. */
class World {
  readonly clock = createVirtualClock();
  readonly desk: Helpdesk;
  readonly sink = new ConversationSink();
  readonly reportedEvents: unknown[] = [];
  readonly #store: Store;
  #crashing: CrashingOutbox | null = null;
  #ingestion: Ingestion | null = null;
  #faults: SinkFault[] = [];
  readonly #recorded = new Set<Accepted>();
  /** Writes until the final phase. */
  writes = 0;
  deaths = 0;

  constructor(store: Store, listsDeleted = true) {
    this.#store = store;
    this.desk = new Helpdesk({ listsDeleted });
    this.sink.fault = () => this.#faults.shift() ?? null;
    this.start();
  }

  get outbox(): Outbox {
    return this.#store.outbox('org_1', { items: 6, bytes: 1e6 });
  }

  start(death: OutboxDeath | null = null): void {
    const { clock, sink } = this;
    const crashing = new CrashingOutbox(this.#watch(this.outbox), () => this.#died());
    crashing.death = death;
    const recordEvent = (event: unknown) => this.reportedEvents.push(event);
    this.#crashing = crashing;
    const polling = this.desk.source('desk', () => clock.sleep(200));
    this.#ingestion = createIngestion({
      sources: [{ name: 'desk', polling, webhook: testWebhook(), every: 5 * MINUTE, since: 1e9 }],
      outbox: crashing.outbox,
      writer: sink.write(clock, () => crashing.isDead),
      settleDelay: QUIET,
      batch: { maxConversations: 3, maxBytes: 1e6 },
      clock,
      events: {
        onIntake: recordEvent,
        onRejected: recordEvent,
        onShortfall: recordEvent,
        onPollEnd: recordEvent,
        onDoubt: recordEvent,
        onRefused: recordEvent,
      },
    });
    this.#ingestion.start();
  }

  #died(): void {
    this.deaths += 1;
    // The platform has answered, but nobody records the answers of several batches in flight.
    for (const accepted of this.sink.accepted) {
      accepted.lost ||= !this.#recorded.has(accepted);
    }
  }

  /** Remembers which accepted bodies are recorded as sent. */
  #watch(outbox: Outbox): Outbox {
    const batches = new Map<number, string>();
    return {
      ...outbox,
      next: async (...given) => {
        const batch = await outbox.next(...given);
        if (batch !== null) {
          batches.set(batch.id, batch.items.map(({ key }) => key).join());
        }
        return batch;
      },
      sent: async (batch, at) => {
        await outbox.sent(batch, at);
        const isOfBatch = ({ conversations }: Accepted) =>
          conversations.map(({ id }) => id).join() === batches.get(batch);
        const accepted = this.sink.accepted.findLast(isOfBatch);
        if (accepted !== undefined) {
          this.#recorded.add(accepted);
        }
      },
    };
  }

  /** The dead process stops; another takes its place. */
  async revive(death: OutboxDeath | null = null): Promise<void> {
    const { isDead = true, writes = 0 } = this.#crashing ?? {};
    if (!isDead) {
      return;
    }
    this.writes += writes;
    await this.clock.run(this.#ingestion?.stop(0) ?? Promise.resolve());
    this.start(death);
  }

  async take(step: Step): Promise<void> {
    const { clock, desk } = this;
    switch (step.do) {
      case 'edit':
        desk.edit(step.id, step.state, clock.now());
        return;
      case 'hint': {
        const body = Buffer.from(JSON.stringify({ kind: 'hints', delivery: step.delivery, ids: [step.id] }));
        await clock.run(this.#deliver(body));
        break;
      }
      case 'wait':
        await clock.advance(step.minutes * MINUTE);
        break;
      case 'fault':
        this.#faults.push(...Array.from({ length: step.times }, () => step.fault));
        return;
      case 'resync':
        await clock.run(this.#ingestion?.resync('desk', 0).catch(() => undefined) ?? Promise.resolve());
        break;
      case 'die':
        if (this.#crashing !== null) {
          const { write, when } = step.death;
          this.#crashing.death = { write: this.#crashing.writes + write, when };
        }
        return;
      case 'kill':
        if (this.#crashing !== null) {
          this.#crashing.isDead = true;
        }
    }
    await this.revive();
  }

  async #deliver(body: Uint8Array): Promise<void> {
    try {
      await this.#ingestion?.deliver('desk', { headers: {}, body, receivedAt: this.clock.now() });
    } catch {
      // The process died during the request, and its caller received no answer.
    }
  }

  /** Final phase: nothing fails any more; checks the result. */
  async end(): Promise<void> {
    const { clock, desk, sink } = this;
    this.#faults = [];
    if (this.#crashing !== null) {
      this.#crashing.death = null;
    }
    await clock.settle();
    await this.revive();
    this.writes += this.#crashing?.writes ?? 0;
    this.#ingestion?.sender?.resume();
    // One poll, and everything in flight has finished.
    await clock.advance(6 * MINUTE);
    const tried = new Set(sink.attempts.map(({ body }) => body));
    const before = sink.accepted.length;
    await clock.advance(14 * MINUTE);
    // An incorrect rejection is corrected manually.
    await this.#ingestion?.retry({});
    await clock.advance(20 * MINUTE);
    const status = await this.#ingestion?.status();
    expect(status?.sources[0]).toMatchObject({ waiting: 0, sending: 0, deadLetters: 0, hints: 0, error: null });
    const contents = new Map([...sink.contents].map(([id, { parts }]) => [id, parts[0]?.body]));
    for (const [id, words] of desk.expected()) {
      expect(contents.get(id)).toBe(words);
    }
    // Tickets that have become ineligible while they waited are not sent.
    for (const { body, conversations } of sink.accepted.slice(before)) {
      for (const { id, parts } of tried.has(body) ? [] : conversations) {
        expect(parts[0]?.body).toBe(desk.expected().get(id));
      }
    }
    expect(sink.needless().join('\n')).toBe('');
    expect(JSON.stringify([sink.attempts, this.reportedEvents, status])).not.toMatch(SECRET);
    await clock.run(this.#ingestion?.stop(0) ?? Promise.resolve());
  }
}

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'octavo-ingest-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const edit = (id: string, state: TicketState): Step => ({ do: 'edit', id, state });
const hint = (id: string, delivery: string): Step => ({ do: 'hint', id, delivery });
const wait = (minutes: number): Step => ({ do: 'wait', minutes });
const fault = (of: SinkFault, times = 1): Step => ({ do: 'fault', fault: of, times });

/** A script with every kind of step. */
const SCRIPT: readonly Step[] = [
  ...['1', '2', '3', '4', '5', '6', '7', '8'].map((id) => edit(id, 'solved')),
  edit('2', 'private'),
  wait(6),
  // Early: a resync would repair what is lost after it.
  { do: 'resync' },
  edit('7', 'deleted'),
  edit('8', 'spam'),
  edit('3', 'open'),
  hint('3', 'd1'),
  hint('3', 'd1'),
  fault('drop-after'),
  wait(8),
  edit('1', 'solved'),
  edit('3', 'solved'),
  hint('1', 'd2'),
  fault(413),
  wait(15),
  edit('4', 'deleted'),
  edit('5', 'solved'),
  fault('drop-before', 2),
  wait(20),
  edit('6', 'spam'),
  fault(500),
  wait(3),
];

interface Playing {
  readonly death?: OutboxDeath;
  /** True if the helpdesk's list includes deleted tickets and spam. */
  readonly listsDeleted: boolean;
}

async function play(script: readonly Step[], store: Store, { death, listsDeleted }: Playing): Promise<World> {
  const world = new World(store, listsDeleted);
  if (death !== undefined) {
    await world.take({ do: 'die', death });
  }
  for (const step of script) {
    await world.take(step);
  }
  await world.end();
  return world;
}

test.each([true, false])(
  'converges after a crash at any write, with a source that reports deletions: %s',
  async (listsDeleted) => {
    const undisturbed = await play(SCRIPT, openMemoryStore(), { listsDeleted });
    expect(undisturbed.writes).toBeGreaterThan(40);
    const wrong: string[] = [];
    let died = 0;
    let deaths = 0;
    let place = 0;
    for (let write = 1; write <= undisturbed.writes; write += 1) {
      for (const when of ['before', 'after'] as const) {
        place += 1;
        if (place % STRIDE !== 0) {
          continue;
        }
        deaths += 1;
        try {
          const world = await play(SCRIPT, openMemoryStore(), { listsDeleted, death: { write, when } });
          died += world.deaths;
          if (!listsDeleted) {
            // Tickets that were deleted or spam by the end of their settle delay were never sent, not even temporarily.
            expect([...world.sink.contents.keys()].filter((key) => /[78]$/.test(key))).toEqual([]);
          }
        } catch (error) {
          wrong.push(`${when} write ${write}: ${(error as Error).message}`);
        }
      }
    }
    expect(wrong.slice(0, 5).join('\n\n')).toBe('');
    expect(died).toBeGreaterThan(0.9 * deaths);
  },
  300_000,
);

const id = fc.constantFrom('1', '2', '3', '4', '5');
const state = fc.oneof(
  { weight: 3, arbitrary: fc.constant('solved' as const) },
  { weight: 2, arbitrary: fc.constantFrom<TicketState>('open', 'private', 'spam', 'deleted') },
);
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant('edit' as const), id, state }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('wait' as const), minutes: fc.integer({ min: 0, max: 25 }) }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('hint' as const), id, delivery: fc.constantFrom('d1', 'd2', 'd3', 'd4') }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('fault' as const),
      fault: fc.constantFrom<SinkFault>('drop-before', 'drop-after', 400, 413, 422, 429, 500, 503, 401, 403, 404),
      times: fc.integer({ min: 1, max: 3 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('die' as const),
      death: fc.record({ write: fc.integer({ min: 1, max: 12 }), when: fc.constantFrom('before', 'after') }),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ do: 'resync' as const }) },
  { weight: 1, arbitrary: fc.constant({ do: 'kill' as const }) },
);

test('converges after any edits, hints, faults and crashes', async () => {
  const numRuns = countCases({ sample: 30, ci: 100, full: 1000 });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), fc.boolean(), async (script, listsDeleted) => {
      await play(script, openMemoryStore(), { listsDeleted });
    }),
    { numRuns },
  );
}, 300_000);

test('writes nothing private to the state file', async () => {
  const store = openSqliteStore(join(folder, 'octavo.db'));
  const world = await play(SCRIPT.slice(0, -1), store, { listsDeleted: true });
  expect(world.desk.log.length).toBeGreaterThan(10);
  const bytes = () =>
    readdirSync(folder)
      .map((file) => readFileSync(join(folder, file)).toString('latin1'))
      .join('');
  expect(bytes()).toContain('[SECRET]');
  expect(bytes()).not.toMatch(SECRET);
  await store.close();
  expect(bytes()).not.toMatch(SECRET);
});
