import fc from 'fast-check';
import { expect, test } from 'vitest';
import { openFreshdesk } from '../../src/conversations/sources/freshdesk.ts';
import { FakeFreshdesk, type FakeFreshdeskTicket } from '../support/fake-freshdesk.ts';
import { createSocketClock } from '../support/fake-provider.ts';
import { PolledRounds, pauses, roundsOf } from '../support/poll-rounds.ts';

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
  /** Milliseconds before the edit. */
  readonly after: number;
}

const edit = fc.record<Edit>({
  kind: fc.constantFrom(...EDITS),
  ticket: fc.nat(30),
  after: pauses,
});
class World {
  readonly clock = createSocketClock(START);
  readonly desk = new FakeFreshdesk({ clock: this.clock, page: 3, limit: 100_000, listLimit: 100_000 });
  readonly customer = this.desk.addPerson('contacts', 'Cora Customer', 'cora@customer.example');
  readonly agent = this.desk.addPerson('agents', 'Abe Agent', 'abe@acme.example');
  readonly polled = new PolledRounds(this.clock, START - 86_400_000, () => this.#open());
  #words = 0;

  #open() {
    return openFreshdesk({
      name: 'support',
      domain: 'acme',
      token: FakeFreshdesk.token,
      // Practically none: a lookback would repair what a poll misses.
      lookback: 1,
      baseUrl: this.desk.url,
      userAgent: 'octavo/0',
      clock: this.clock,
      random: () => 0.5,
    });
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
}

function wordsOf({ text, messages }: FakeFreshdeskTicket): string[] {
  return [text, ...messages.filter((one) => !one.private).map((one) => one.body_text)];
}

test('sends the latest version of every settled ticket despite edits and kills, and nothing private', async () => {
  await fc.assert(
    fc.asyncProperty(roundsOf(edit), async (rounds) => {
      const world = new World();
      await world.desk.listen();
      try {
        await world.polled.play(world.desk, rounds, (one) => world.apply(one));
        for (const ticket of world.desk.tickets.filter(({ spam, deleted }) => !spam && !deleted)) {
          const found = world.polled.kept.get(`freshdesk/acme/${ticket.id}`);
          if (ticket.status >= 4) {
            expect(found?.kind === 'ticket' ? found.ticket.parts.map(({ body }) => body) : found).toEqual(
              wordsOf(ticket),
            );
          } else {
            expect(found).toMatchObject({ kind: 'skipped', reason: 'open' });
          }
        }
        expect(JSON.stringify(world.polled.came)).not.toContain('hush');
      } finally {
        await world.polled.close();
        await world.desk[Symbol.asyncDispose]();
        world.clock[Symbol.dispose]();
      }
    }),
    { numRuns: 60 },
  );
});
