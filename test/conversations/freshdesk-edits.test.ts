import fc from 'fast-check';
import { expect, test } from 'vitest';
import { openFreshdesk } from '../../src/conversations/freshdesk/freshdesk.ts';
import type { Found } from '../../src/conversations/ticket.ts';
import type { Json } from '../../src/core/json.ts';
import { FakeFreshdesk, type FakeFreshdeskTicket } from '../support/fake-freshdesk.ts';
import { createSocketClock } from '../support/fake-provider.ts';

const START = Date.parse('2026-03-01T12:00:00Z');
const EDITS = [
  'new',
  'resolved',
  'reply',
  'answer',
  'note',
  'resolve',
  'close',
  'reopen',
  'spam',
  'delete',
  'destroy',
] as const;
type EditKind = (typeof EDITS)[number];

interface Edit {
  readonly kind: EditKind;
  readonly ticket: number;
  /** Milliseconds that pass before it. */
  readonly after: number;
}

/** Edits, some of them while the pages are read, and then a poll that dies after so many batches; null: it does not. */
interface Round {
  readonly before: readonly Edit[];
  readonly during: readonly Edit[];
  readonly dies: number | null;
  /** Whether a new process goes on. */
  readonly restarts: boolean;
}

const edit = fc.record<Edit>({
  kind: fc.constantFrom(...EDITS),
  ticket: fc.nat(30),
  after: fc.oneof({ weight: 4, arbitrary: fc.nat(1500) }, { weight: 1, arbitrary: fc.nat(3 * 3_600_000) }),
});
const round = fc.record<Round>({
  before: fc.array(edit, { maxLength: 12 }),
  during: fc.array(edit, { maxLength: 6 }),
  dies: fc.option(fc.nat(3)),
  restarts: fc.boolean(),
});

class World {
  readonly clock = createSocketClock(START);
  readonly desk = new FakeFreshdesk({ clock: this.clock, page: 3, limit: 100_000, listLimit: 100_000 });
  readonly customer = this.desk.addPerson('contacts', 'Cora Customer', 'cora@customer.example');
  readonly agent = this.desk.addPerson('agents', 'Abe Agent', 'abe@acme.example');
  /** What is durable: the newest of each ticket, and where the next poll begins. */
  readonly kept = new Map<string, Found>();
  /** Everything that ever came, durable or not. */
  readonly came: Found[] = [];
  #cursor: Json = null;
  #source = this.#open();
  #words = 0;

  #open() {
    const { clock } = this;
    return { clock, opened: null as ReturnType<typeof openFreshdesk> | null };
  }

  get source() {
    this.#source.opened ??= openFreshdesk({
      name: 'support',
      domain: 'acme',
      token: FakeFreshdesk.token,
      // None to speak of: it would heal what a poll misses.
      lookback: 1,
      baseUrl: this.desk.url,
      userAgent: 'octavo/0',
      clock: this.clock,
      random: () => 0.5,
    });
    return this.#source.opened;
  }

  async restart(): Promise<void> {
    await this.clock.run(this.source.close());
    this.#source = this.#open();
  }

  apply({ kind, ticket: index }: Edit): void {
    const { desk, customer, agent } = this;
    this.#words += 1;
    const ticket = desk.tickets[index % Math.max(1, desk.tickets.length)];
    if (kind === 'new' || kind === 'resolved' || ticket === undefined) {
      desk.addTicket(customer, `text ${this.#words}`, kind === 'resolved' ? { status: 4 } : {});
      return;
    }
    const acts: Record<Exclude<EditKind, 'new' | 'resolved'>, () => unknown> = {
      reply: () => desk.message(ticket, customer, `text ${this.#words}`),
      answer: () => desk.message(ticket, agent, `text ${this.#words}`),
      note: () => desk.message(ticket, agent, `hush ${this.#words}`, { private: true }),
      resolve: () => desk.setStatus(ticket, 4),
      close: () => desk.setStatus(ticket, 5),
      reopen: () => desk.setStatus(ticket, 2),
      spam: () => {
        ticket.spam = true;
        desk.touch(ticket);
      },
      delete: () => {
        ticket.deleted = true;
        desk.touch(ticket);
      },
      destroy: () => desk.destroy(ticket),
    };
    acts[kind]();
  }

  /** Polls; what is not kept before it dies is lost. */
  async poll(dies: number | null): Promise<void> {
    let batches = 0;
    for await (const { found, cursor } of this.source.poll({
      cursor: this.#cursor,
      since: START - 86_400_000,
      signal: new AbortController().signal,
    })) {
      this.came.push(...found);
      if (batches === dies) {
        return;
      }
      batches += 1;
      for (const one of found) {
        if (one.kind !== 'rejected') {
          this.kept.set(one.kind === 'ticket' ? one.ticket.key : one.key, one);
        }
      }
      this.#cursor = JSON.parse(JSON.stringify(cursor)) as Json;
    }
  }
}

function wordsOf({ text, messages }: FakeFreshdeskTicket): string[] {
  return [text, ...messages.filter((one) => !one.private).map((one) => one.body_text)];
}

test('whatever is edited and whoever dies, the newest of every settled ticket comes, and never what is private', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(round, { minLength: 1, maxLength: 5 }), async (rounds) => {
      const world = new World();
      await world.desk.listen();
      try {
        for (const { before, during, dies, restarts } of rounds) {
          for (const one of before) {
            await world.clock.advance(one.after);
            world.apply(one);
          }
          const waiting = [...during];
          world.desk.meanwhile = () => {
            const next = waiting.shift();
            if (next !== undefined) {
              world.apply(next);
            }
          };
          await world.clock.run(world.poll(dies));
          world.desk.meanwhile = () => undefined;
          if (restarts) {
            await world.restart();
          }
        }
        await world.clock.run(world.poll(null));
        for (const ticket of world.desk.tickets.filter(({ spam, deleted }) => !spam && !deleted)) {
          const found = world.kept.get(`freshdesk/acme/${ticket.id}`);
          if (ticket.status >= 4) {
            expect(found?.kind === 'ticket' ? found.ticket.parts.map(({ body }) => body) : found).toEqual(
              wordsOf(ticket),
            );
          } else {
            expect(found).toMatchObject({ kind: 'skipped', reason: 'open' });
          }
        }
        expect(JSON.stringify(world.came)).not.toContain('hush');
      } finally {
        await world.clock.run(world.source.close());
        await world.desk[Symbol.asyncDispose]();
        world.clock[Symbol.dispose]();
      }
    }),
    { numRuns: 60 },
  );
});
