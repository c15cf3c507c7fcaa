import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Part } from '../../src/conversations/model/ticket.ts';
import { openIntercom } from '../../src/conversations/sources/intercom.ts';
import { type FakeAuthor, type FakeConversation, FakeIntercom } from '../support/fake-intercom.ts';
import { createSocketClock } from '../support/fake-provider.ts';
import { interleavedSteps, playInterleaved } from '../support/interleaving.ts';
import { keyOfFound } from '../support/polls.ts';

const START = Date.parse('2026-03-01T12:00:00Z');
const MINUTE = 60_000;
/** Delay of the search index, in seconds: polls look back further. */
const INDEXING = 240;

const edit = fc.record({
  kind: fc.constant('edit' as const),
  conversation: fc.nat(8),
  what: fc.constantFrom('create', 'ask', 'answer', 'machine', 'note', 'redact', 'close', 'reopen', 'delete'),
});

type Edit = typeof edit extends fc.Arbitrary<infer T> ? T : never;

class Helpdesk {
  readonly fake: FakeIntercom;
  readonly all: FakeConversation[] = [];
  readonly #customer: FakeAuthor;
  readonly #admin: FakeAuthor;
  readonly #machine: FakeAuthor;
  #texts = 0;

  constructor(fake: FakeIntercom) {
    this.fake = fake;
    this.#customer = fake.author('user', 'Cora');
    this.#admin = fake.author('admin', 'Abe');
    this.#machine = fake.author('bot', 'Fin', { from_ai_agent: true });
  }

  do({ conversation: number, what }: Edit): void {
    const conversation = this.all[number % Math.max(1, this.all.length)];
    const text = `${what} ${this.#texts++}`;
    if (what === 'create' || conversation === undefined) {
      this.all.push(this.fake.begin(this.#customer, text));
    } else if (conversation.deletedAt === null) {
      this.#change(conversation, what, text);
    }
  }

  #change(conversation: FakeConversation, what: Exclude<Edit['what'], 'create'>, text: string): void {
    const { fake } = this;
    const changes = {
      ask: () => fake.add(conversation, this.#customer, text),
      answer: () => fake.add(conversation, this.#admin, text),
      machine: () => fake.add(conversation, this.#machine, text),
      note: () => fake.add(conversation, this.#admin, `PRIVATE ${text}`, { part_type: 'note' }),
      redact: () => fake.add(conversation, this.#customer, `PRIVATE ${text}`, { redacted: true }),
      close: () => fake.close(conversation),
      reopen: () => fake.edit(conversation, { state: 'open' }),
      delete: () => fake.remove(conversation),
    };
    changes[what]();
  }

  /** Expected final result for a conversation. */
  expected(conversation: FakeConversation): object {
    const key = `intercom/ab12cd/${conversation.id}`;
    if (conversation.deletedAt !== null) {
      return { kind: 'gone', key };
    }
    if (conversation.state !== 'closed') {
      return { kind: 'skipped', key, reason: 'open' };
    }
    const roles = { user: 'user', admin: 'team-member', bot: 'assistant' } as const;
    const parts: Part[] = conversation.parts
      .filter((part) => part.part_type === 'comment' && !part.redacted)
      .map((part) => ({ role: roles[part.author.type as keyof typeof roles], body: part.body ?? '' }));
    const first = { role: 'user', body: conversation.source.body };
    return { kind: 'ticket', ticket: expect.objectContaining({ key, parts: [first, ...parts] }) };
  }
}

test('sends the latest version of every conversation despite edits, kills and faults, and nothing private', async () => {
  await fc.assert(
    fc.asyncProperty(interleavedSteps(edit, 200), fc.boolean(), async (steps, inclusive) => {
      using clock = createSocketClock(START);
      await using fake = await new FakeIntercom({ clock, page: 3, inclusive, indexing: INDEXING }).listen();
      const helpdesk = new Helpdesk(fake);
      const source = openIntercom({
        name: 'chat',
        appId: 'ab12cd',
        token: FakeIntercom.token,
        region: 'us',
        lookback: 5 * MINUTE,
        baseUrl: fake.url,
        userAgent: 'octavo/0',
        clock,
        random: () => 0.5,
      });
      const found = await playInterleaved(
        {
          // Everything is indexed by then, and still within the lookback.
          ...{ clock, fake, source, since: START, settling: INDEXING * 1000 + 1000 },
          apply: (one) => helpdesk.do(one),
          expire: () => fake.expirePositions(),
        },
        steps,
      );
      expect(JSON.stringify(found)).not.toContain('PRIVATE');
      for (const conversation of helpdesk.all) {
        const key = `intercom/ab12cd/${conversation.id}`;
        const last = found.findLast((one) => keyOfFound(one) === key);
        expect(last).toEqual(helpdesk.expected(conversation));
      }
    }),
    { numRuns: 100 },
  );
});
