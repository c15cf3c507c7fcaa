// Sender with several batches in flight, whose answers arrive in any order, and which is killed at any time.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Destination } from '../../src/conversations/destination.ts';
import type { Conversation } from '../../src/conversations/model/ticket.ts';
import { ConversationSender } from '../../src/conversations/sender.ts';
import { WakeUpSignal } from '../../src/core/clock.ts';
import { AuthError, CancelledError, RejectedError, TransientError } from '../../src/core/errors.ts';
import { openMemoryStore } from '../../src/store/memory.ts';
import type { Outbox } from '../../src/store/outbox/outbox.ts';
import type { OutgoingBatch } from '../../src/store/outbox/tables.ts';
import { createVirtualClock } from '../queue/virtual-clock.ts';
import { countCases } from '../support/campaign.ts';
import { CrashingOutbox, type OutboxDeath } from '../support/crashing-outbox.ts';

const MINUTE = 60_000;
const MAX_IN_FLIGHT = 4;

type Ending = 'taken' | 'taken-lost' | 'lost' | 'not-sent' | 'bad-content' | 'refused';
type Step =
  | { readonly do: 'put'; readonly keys: readonly string[] }
  | { readonly do: 'end'; readonly place: number; readonly ending: Ending }
  | { readonly do: 'wait'; readonly seconds: number }
  /** Ends the process now, or at a write; `taken`: the platform accepts the requests in flight nevertheless. */
  | { readonly do: 'kill'; readonly taken: boolean }
  | { readonly do: 'die'; readonly death: OutboxDeath; readonly taken: boolean }
  | { readonly do: 'stop'; readonly milliseconds: number };

interface Request {
  readonly items: readonly string[];
  readonly end: (ending: Ending) => void;
}

const ERRORS: Partial<Record<Ending, () => Error>> = {
  'taken-lost': () => new TransientError('no answer', true),
  lost: () => new TransientError('no answer', true),
  'not-sent': () => new TransientError('no connection', false),
  'bad-content': () => new RejectedError('bad', 400),
  refused: () => new AuthError('no', 401),
};

/** Platform, outbox, and the sender between them. An item is a key with its version, such as `a:3`. */
class World {
  readonly clock = createVirtualClock();
  readonly #stored: Outbox;
  readonly #versions = new Map<string, number>();
  /** Versions on the platform. */
  readonly #contents = new Map<string, number>();
  readonly #recorded = new Set<string>();
  readonly #work = new WakeUpSignal();
  #requests: Request[] = [];
  #crashing = new CrashingOutbox({} as Outbox, () => undefined);
  #sender: ConversationSender | null = null;
  mostInFlight = 0;
  /** The platform accepts the requests in flight when the process dies at a write. */
  #takesAtDeath = false;

  constructor() {
    const outbox = openMemoryStore().outbox('org_1', { items: 10_000, bytes: 1e9 });
    const batches = new Map<number, OutgoingBatch>();
    this.#stored = {
      ...outbox,
      next: async (...given) => {
        const batch = await outbox.next(...given);
        if (batch !== null) {
          batches.set(batch.id, batch);
        }
        return batch;
      },
      sent: async (id, at) => {
        await outbox.sent(id, at);
        for (const { payload } of batches.get(id)?.items ?? []) {
          this.#recorded.add(itemOf(JSON.parse(payload) as Conversation));
        }
      },
    };
    this.#start();
  }

  #start(): void {
    const crashing = new CrashingOutbox(this.#stored, () => undefined);
    this.#crashing = crashing;
    const destination: Destination = {
      send: (conversations, { signal, onAttempt }) => {
        if (crashing.isDead) {
          return new Promise(() => undefined);
        }
        signal?.throwIfAborted();
        onAttempt?.();
        return this.#receive(conversations.map(itemOf), signal as AbortSignal);
      },
    };
    this.#sender = new ConversationSender({
      outbox: crashing.outbox,
      destination,
      batch: { maxConversations: 2, maxBytes: 1e6 },
      clock: this.clock,
      random: () => 0.5,
      work: this.#work,
      room: new WakeUpSignal(),
      events: {},
    });
    this.#sender.start();
  }

  #receive(items: readonly string[], signal: AbortSignal): Promise<void> {
    const keys = this.#requests.flatMap((request) => request.items).map(keyOf);
    expect(items.filter((item) => keys.includes(keyOf(item)))).toEqual([]);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const request: Request = {
      items,
      end: (ending) => {
        this.#requests = this.#requests.filter((other) => other !== request);
        if (ending.startsWith('taken')) {
          this.#take(items);
        }
        const error = ERRORS[ending]?.();
        error === undefined ? resolve() : reject(error);
      },
    };
    signal.addEventListener('abort', () => {
      this.#requests = this.#requests.filter((other) => other !== request);
      reject(new TransientError('aborted', true, { cause: new CancelledError('stopped') }));
    });
    this.#requests.push(request);
    this.mostInFlight = Math.max(this.mostInFlight, this.#requests.length);
    expect(this.#requests.length).toBeLessThanOrEqual(MAX_IN_FLIGHT);
    return promise;
  }

  #take(items: readonly string[]): void {
    for (const item of items) {
      expect([...this.#recorded]).not.toContain(item);
      expect(versionOf(item)).toBeGreaterThanOrEqual(this.#contents.get(keyOf(item)) ?? 0);
      this.#contents.set(keyOf(item), versionOf(item));
    }
  }

  async take(step: Step): Promise<void> {
    switch (step.do) {
      case 'put':
        await this.#put(step.keys);
        break;
      case 'end':
        this.#requests[step.place % Math.max(1, this.#requests.length)]?.end(step.ending);
        break;
      case 'wait':
        await this.clock.advance(step.seconds * 1000);
        break;
      case 'kill':
        await this.#revive(step.taken);
        return;
      case 'die':
        this.#takesAtDeath = step.taken;
        this.#crashing.death = { ...step.death, write: this.#crashing.writes + step.death.write };
        break;
      case 'stop':
        await this.clock.run(this.#sender?.stop(step.milliseconds) ?? Promise.resolve());
        expect(this.#requests).toEqual([]);
        this.#start();
    }
    await this.clock.settle();
    if (this.#crashing.isDead) {
      await this.#revive(this.#takesAtDeath);
    }
  }

  /** Kills the process if it runs, and starts another. */
  async #revive(taken: boolean): Promise<void> {
    this.#crashing.isDead = true;
    for (const { items } of taken ? this.#requests : []) {
      this.#take(items);
    }
    this.#requests = [];
    this.#start();
    await this.clock.settle();
  }

  async #put(keys: readonly string[]): Promise<void> {
    const entries = keys.map((key) => {
      const version = (this.#versions.get(key) ?? 0) + 1;
      this.#versions.set(key, version);
      const payload = JSON.stringify({ id: key, subject: String(version), parts: [] });
      return { kind: 'content', key, hash: `${version}`, redactor: '1', payload, notBefore: null } as const;
    });
    await this.#stored.put({ source: 'desk', at: this.clock.now(), entries, counts: {} });
    this.#work.notify();
  }

  /** Nothing fails any more: the platform has the newest version of everything, and the outbox is empty. */
  async end(): Promise<void> {
    this.#crashing.death = null;
    for (let round = 0; round < 60; round += 1) {
      for (const request of [...this.#requests]) {
        request.end('taken');
        await this.clock.settle();
      }
      this.#sender?.resume();
      await this.clock.advance(round % 5 === 0 ? 11 * MINUTE : 1000);
      await this.#stored.retry({}, this.clock.now());
    }
    const { stored, sources } = await this.#stored.status();
    expect({ items: stored.items, sources: sources.map(({ inDoubt }) => inDoubt) }).toEqual({
      items: 0,
      sources: sources.map(() => 0),
    });
    expect(this.#contents).toEqual(this.#versions);
    expect(this.#sender?.inFlight).toBe(0);
  }
}

const itemOf = ({ id, subject }: Conversation) => `${id}:${subject}`;
const keyOf = (item: string) => item.split(':')[0] ?? '';
const versionOf = (item: string) => Number(item.split(':')[1]);

const key = fc.constantFrom(...'abcdefghij');
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('put' as const),
      keys: fc.uniqueArray(key, { minLength: 1, maxLength: 8 }),
    }),
  },
  {
    weight: 10,
    arbitrary: fc.record({
      do: fc.constant('end' as const),
      place: fc.nat(3),
      ending: fc.oneof(
        { weight: 6, arbitrary: fc.constant<Ending>('taken') },
        { weight: 3, arbitrary: fc.constantFrom<Ending>('taken-lost', 'lost', 'not-sent', 'bad-content', 'refused') },
      ),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('wait' as const), seconds: fc.integer({ min: 0, max: 700 }) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('kill' as const), taken: fc.boolean() }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('die' as const),
      death: fc.record({ write: fc.integer({ min: 1, max: 8 }), when: fc.constantFrom('before', 'after') }),
      taken: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('stop' as const), milliseconds: fc.constantFrom(0, 5000) }) },
);

async function play(steps: readonly Step[]): Promise<World> {
  const world = new World();
  for (const one of steps) {
    await world.take(one);
  }
  await world.end();
  return world;
}

test('sends the newest version of everything, in order and never twice, whatever ends first', async () => {
  let most = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 60 }), async (steps) => {
      most = Math.max(most, (await play(steps)).mostInFlight);
    }),
    { numRuns: countCases({ sample: 50, ci: 150, full: 5000 }) },
  );
  expect(most).toBe(MAX_IN_FLIGHT);
});
