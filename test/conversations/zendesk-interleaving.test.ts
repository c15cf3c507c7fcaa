import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Found, Part } from '../../src/conversations/ticket.ts';
import { openZendesk } from '../../src/conversations/zendesk/zendesk.ts';
import { TransientError } from '../../src/core/errors.ts';
import type { Json } from '../../src/core/json.ts';
import { openMemoryStore } from '../../src/store/memory.ts';
import { createSocketClock, type Malady } from '../support/fake-provider.ts';
import { type FakeTicket, type FakeUser, FakeZendesk } from '../support/fake-zendesk.ts';

const START = Date.parse('2026-03-01T12:00:00Z');

/** What somebody does in the helpdesk, to a ticket drawn by number. */
const edit = fc.record({
  kind: fc.constant('edit' as const),
  ticket: fc.nat(8),
  what: fc.constantFrom('create', 'ask', 'answer', 'note', 'solve', 'reopen', 'close', 'merge', 'delete', 'purge'),
});

const step = fc.oneof(
  { weight: 6, arbitrary: edit },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('wait' as const), seconds: fc.integer({ min: 0, max: 100 }) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('poll' as const),
      /** Batches until whoever polls is killed. */
      batches: fc.integer({ min: 1, max: 6 }),
      /** What happens between its requests, one at each. */
      meanwhile: fc.array(fc.option(edit, { freq: 2 }), { maxLength: 6 }),
      maladies: fc.array(
        fc.option(fc.constantFrom<Malady>(500, 503, 429, 'truncated', 'dropped', 'html'), { freq: 3 }),
        { maxLength: 5 },
      ),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('expire' as const) }) },
);

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

  /** What must be known of a ticket in the end; null: nothing can be. */
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

test('whatever is edited, killed or broken meanwhile, the newest version of every ticket comes, and nothing private', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (steps) => {
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
      let cursor: Json = null;
      const found: Found[] = [];
      const poll = async (batches: number) => {
        let left = batches;
        for await (const batch of source.poll({ cursor, since: START, signal: new AbortController().signal })) {
          // Killed before the last batch is durable.
          if (left-- === 0) {
            return;
          }
          found.push(...batch.found);
          cursor = structuredClone(batch.cursor);
        }
      };
      try {
        for (const one of steps) {
          if (one.kind === 'edit') {
            helpdesk.do(one);
          } else if (one.kind === 'wait') {
            await clock.advance(one.seconds * 1000);
          } else if (one.kind === 'expire') {
            fake.expireCursors();
          } else {
            const meanwhile = [...one.meanwhile];
            const maladies = [...one.maladies];
            fake.meanwhile = () => {
              const next = meanwhile.shift();
              if (next != null) {
                helpdesk.do(next);
              }
            };
            fake.malady = () => maladies.shift() ?? null;
            // More trouble than is gone through ends a poll; the next one goes on from the cursor.
            await clock.run(poll(one.batches)).catch((error: unknown) => expect(error).toBeInstanceOf(TransientError));
          }
        }
        fake.meanwhile = () => undefined;
        fake.malady = () => null;
        await clock.advance(61_000);
        await clock.run(poll(Number.POSITIVE_INFINITY));
      } finally {
        await clock.run(source.close());
      }
      expect(JSON.stringify(found)).not.toContain('PRIVATE');
      for (const ticket of helpdesk.all) {
        const expected = helpdesk.expected(ticket);
        if (expected !== null) {
          const key = `zendesk/acme/${ticket.id}`;
          expect(found.findLast((one) => ('key' in one ? one.key : ticketKey(one)) === key)).toEqual(expected);
        }
      }
    }),
    { numRuns: 100 },
  );
});

function ticketKey(found: Found): string | null {
  return found.kind === 'ticket' ? found.ticket.key : null;
}
