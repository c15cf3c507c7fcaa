import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Part } from '../../src/conversations/model/ticket.ts';
import { openZendesk } from '../../src/conversations/sources/zendesk.ts';
import { openMemoryStore } from '../../src/store/memory.ts';
import { createSocketClock } from '../support/fake-provider.ts';
import { type FakeTicket, type FakeUser, FakeZendesk } from '../support/fake-zendesk.ts';
import { interleavedSteps, playInterleaved } from '../support/interleaving.ts';
import { keyOfFound } from '../support/polls.ts';

const START = Date.parse('2026-03-01T12:00:00Z');

/** Edit of a ticket in the helpdesk; the ticket is chosen by number. */
const edit = fc.record({
  kind: fc.constant('edit' as const),
  ticket: fc.nat(8),
  what: fc.constantFrom('create', 'ask', 'answer', 'note', 'solve', 'reopen', 'close', 'merge', 'delete', 'purge'),
});

type Edit = typeof edit extends fc.Arbitrary<infer T> ? T : never;

class Helpdesk {
  readonly fake: FakeZendesk;
  readonly all: FakeTicket[] = [];
  readonly #customer: FakeUser;
  readonly #agent: FakeUser;
  #texts = 0;

  constructor(fake: FakeZendesk) {
    this.fake = fake;
    this.#customer = fake.addUser('end-user', 'Cora', 'cora@customer.example');
    this.#agent = fake.addUser('agent', 'Abe', 'abe@acme.example');
  }

  do({ ticket: number, what }: Edit): void {
    const ticket = this.all[number % Math.max(1, this.all.length)];
    const text = `${what} ${this.#texts++}`;
    if (what === 'create' || ticket === undefined) {
      this.all.push(this.fake.addTicket(this.#customer, text, text));
    } else if (ticket.status !== 'deleted' && !ticket.purged) {
      this.#change(ticket, what, text);
    }
  }

  #change(ticket: FakeTicket, what: Exclude<Edit['what'], 'create'>, text: string): void {
    const { fake } = this;
    const changes = {
      ask: () => fake.comment(ticket, this.#customer, text),
      answer: () => fake.comment(ticket, this.#agent, text),
      note: () => fake.comment(ticket, this.#agent, `PRIVATE ${text}`, false),
      solve: () => fake.solve(ticket),
      reopen: () => fake.edit(ticket, { status: 'open' }),
      close: () => fake.systemEdit(ticket, { status: 'closed' }),
      merge: () => fake.merge(ticket),
      delete: () => fake.remove(ticket),
      purge: () => fake.edit(ticket, { purged: true }),
    };
    changes[what]();
  }

  /** Expected final result for a ticket; null: undefined. */
  expected(ticket: FakeTicket): object | null {
    const key = `zendesk/acme/${ticket.id}`;
    if (ticket.purged) {
      return null;
    }
    if (ticket.status === 'deleted') {
      return { kind: 'gone', key };
    }
    if (ticket.status !== 'solved' && ticket.status !== 'closed') {
      return { kind: 'skipped', key, reason: 'open' };
    }
    if (ticket.tags.includes('closed_by_merge')) {
      return { kind: 'skipped', key, reason: 'merged' };
    }
    const parts: Part[] = ticket.comments
      .filter((comment) => comment.public)
      .map((comment) => ({
        role: comment.author_id === this.#customer.id ? 'user' : 'team-member',
        body: comment.plain_body ?? '',
      }));
    return { kind: 'ticket', ticket: expect.objectContaining({ key, parts }) };
  }
}

test('sends the latest version of every ticket despite edits, kills and faults, and nothing private', async () => {
  await fc.assert(
    fc.asyncProperty(interleavedSteps(edit, 100), async (steps) => {
      using clock = createSocketClock(START);
      await using fake = await new FakeZendesk({ clock, page: 3, exportLimit: 1000 }).listen();
      const helpdesk = new Helpdesk(fake);
      const source = openZendesk({
        name: 'support',
        subdomain: 'acme',
        token: FakeZendesk.token,
        note: openMemoryStore().note('tokens'),
        baseUrl: fake.url,
        userAgent: 'octavo/0',
        clock,
        random: () => 0.5,
      });
      const found = await playInterleaved(
        {
          ...{ clock, fake, source, since: START, settling: 61_000 },
          apply: (one) => helpdesk.do(one),
          expire: () => fake.expireCursors(),
        },
        steps,
      );
      expect(JSON.stringify(found)).not.toContain('PRIVATE');
      for (const ticket of helpdesk.all) {
        const expected = helpdesk.expected(ticket);
        if (expected !== null) {
          const key = `zendesk/acme/${ticket.id}`;
          expect(found.findLast((one) => keyOfFound(one) === key)).toEqual(expected);
        }
      }
    }),
    { numRuns: 100 },
  );
});
