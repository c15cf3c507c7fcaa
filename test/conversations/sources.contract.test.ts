/* The contract of all sources: how they list, keep up with edits, survive faults, and read webhooks. */
import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Batch, PollingSource, Webhook } from '../../src/conversations/model/source.ts';
import type { SourceRecord } from '../../src/conversations/model/ticket.ts';
import { freshdeskWebhook } from '../../src/conversations/sources/freshdesk.ts';
import { githubWebhook } from '../../src/conversations/sources/github.ts';
import { intercomWebhook } from '../../src/conversations/sources/intercom.ts';
import { standardWebhook } from '../../src/conversations/sources/own-format.ts';
import { zendeskWebhook } from '../../src/conversations/sources/zendesk.ts';
import { AuthError, RateLimitedError, TransientError } from '../../src/core/errors.ts';
import type { Json } from '../../src/core/json.ts';
import { createSocketClock, type Fault, oncePerPath } from '../support/fake-provider.ts';
import {
  collectBatches,
  cursorOf,
  DAY,
  foundOf,
  HOUR,
  keyOfFound,
  MINUTE,
  type SocketClock,
  START,
  ticketsOf,
} from '../support/polls.ts';
import { type Desk, type DeskTicket, PRIVATE, PROVIDERS } from '../support/provider-desks.ts';

describe.each(PROVIDERS)('$name', ({ name, list, delay, isByUpdate, open }) => {
  let clock: SocketClock;
  let desk: Desk;
  let source: PollingSource;

  async function start(options?: Parameters<typeof open>[1]) {
    clock = createSocketClock(START);
    desk = await open(clock, options);
    source = desk.connect();
  }
  async function close() {
    await clock.run(source.close());
    await desk.fake[Symbol.asyncDispose]();
    clock[Symbol.dispose]();
  }
  async function restart(options?: Parameters<typeof open>[1]) {
    await close();
    await start(options);
  }
  async function reconnect(settings = {}) {
    await clock.run(source.close());
    source = desk.connect(settings);
  }
  beforeEach(() => start());
  afterEach(close);

  /** Polls when all edits are listed; `most`: batches after which the process is killed. */
  async function poll(cursor: Json = null, most = Number.POSITIVE_INFINITY, batches: Batch[] = []) {
    await clock.advance(delay);
    return clock.run(collectBatches(source, { cursor, since: START - 30 * DAY, most }, batches));
  }
  function solved(text = 'How do I export?'): DeskTicket {
    const ticket = desk.add(text);
    ticket.edits.answer('Under Settings.');
    ticket.edits.solve('');
    return ticket;
  }
  const many = (count: number) => Array.from({ length: count }, (_, index) => solved(`Ticket ${index}`));
  const fetchOne = (id: string) => clock.run(source.fetch(id, new AbortController().signal));
  const keysOf = (batches: readonly Batch[]) => new Set(foundOf(batches).map(keyOfFound));
  const newest = (batches: readonly Batch[], key: string) =>
    foundOf(batches).findLast((found) => keyOfFound(found) === key);
  /** The requests for the messages of a ticket get this fault. */
  const failFor = ({ path }: DeskTicket, fault: Fault) => {
    desk.fake.fault = (request) => (request.path === path ? fault : null);
  };

  describe('lists', () => {
    test('solved tickets with all their messages, in order', async () => {
      const long = desk.add('message 0');
      for (let index = 1; index < 250; index += 1) {
        await clock.advance(1000);
        long.edits[index % 2 === 0 ? 'ask' : 'answer'](`message ${index}`);
      }
      long.edits.solve('');
      const open = desk.add('Hello?');
      const batches = await poll();
      expect(newest(batches, long.key)).toEqual(long.expected());
      expect(ticketsOf(batches)[0]?.parts).toHaveLength(250);
      expect(newest(batches, open.key)).toEqual({ kind: 'skipped', key: open.key, reason: 'open' });
    });

    test('a ticket again that is reopened, and again when it is solved', async () => {
      const ticket = solved();
      const batches = await poll();
      for (const edit of ['reopen', 'ask', 'solve'] as const) {
        await clock.advance(2 * HOUR);
        ticket.edits[edit]('It is broken again.');
        batches.push(...(await poll(cursorOf(batches))));
        expect(newest(batches, ticket.key)).toEqual(ticket.expected());
      }
    });

    test.each([0, 1000])('every ticket although some move while it reads; %i ms between them', async (between) => {
      await restart({ page: 5 });
      const tickets: DeskTicket[] = [];
      for (let index = 0; index < 23; index += 1) {
        tickets.push(solved(`Ticket ${index}`));
        await clock.advance(between);
      }
      // After each page that was read, a ticket of it moves to the end, so that the others move up.
      let pages = 0;
      desk.fake.meanwhile = ({ path }) => {
        if (list.test(path)) {
          pages += 1;
          tickets[pages > 1 && pages < 6 ? pages - 2 : -1]?.edits.ask('One thing more.');
        }
      };
      await clock.advance(HOUR);
      const batches = await poll();
      expect(pages).toBeGreaterThan(4);
      expect(keysOf(batches)).toEqual(new Set(tickets.map(({ key }) => key)));
      batches.push(...(await poll(cursorOf(batches))));
      for (const ticket of tickets) {
        expect(newest(batches, ticket.key)).toEqual(ticket.expected());
      }
    });

    test.each([10, 100])('all other tickets in a new process after a kill; pages of %i', async (page) => {
      await restart({ page });
      const tickets = many(45);
      await clock.advance(HOUR);
      const batches = await poll(null, 1);
      expect(keysOf(batches).size).toBeLessThanOrEqual(page);
      await reconnect();
      batches.push(...(await poll(cursorOf(batches))));
      expect(keysOf(batches)).toEqual(new Set(tickets.map(({ key }) => key)));
    });

    test('everything again with a cursor that is of another account or has expired', async () => {
      await restart({ page: 2 });
      const tickets = many(4);
      await clock.advance(DAY);
      const times = { at: 2e9, bookmark: 2e9, from: 2e9, until: 2e9, since: '2033-01-01T00:00:00Z', batch: 1 };
      const foreign = { account: 'other', cursor: 'b3RoZXI=', after: null, floor: times.since, ...times };
      expect(keysOf(await poll(foreign)).size).toBe(4);
      const killed = await poll(null, 1);
      desk.expire();
      const all = [...killed, ...(await poll(cursorOf(killed)))];
      expect(keysOf(all)).toEqual(new Set(tickets.map(({ key }) => key)));
    });

    test('a ticket as gone that is deleted while it is read', async () => {
      const [deleted, kept] = many(2) as [DeskTicket, DeskTicket];
      desk.fake.meanwhile = ({ path }) => path === deleted.path && deleted.edits.remove('');
      const batches = await poll();
      expect(newest(batches, deleted.key)).toEqual({ kind: 'gone', key: deleted.key });
      expect(newest(batches, kept.key)).toEqual(kept.expected());
    });

    test.skipIf(!isByUpdate)('an unchanged ticket once it was stored, and again if it was not', async () => {
      const ticket = solved();
      const requests = () => desk.fake.count(/\/(?:comments|conversations)$/);
      const first = await poll();
      // A second edit within the second of the first.
      ticket.edits.ask('And one thing more.');
      const second = await poll(cursorOf(first));
      expect(newest(second, ticket.key)).toEqual(ticket.expected());
      await clock.advance(20 * MINUTE);
      const third = await poll(cursorOf(second));
      expect(requests()).toBe(3);
      expect(foundOf(await poll(cursorOf(third)))).toEqual([]);
      expect(requests()).toBe(3);
      expect(keysOf(await poll(cursorOf(second)))).toEqual(new Set([ticket.key]));
    });
  });

  describe('after a failure', () => {
    test('returns a page that could not be read completely with the next poll', async () => {
      await restart({ page: 2 });
      const tickets = many(4);
      failFor(tickets[3] as DeskTicket, 503);
      const batches: Batch[] = [];
      await expect(poll(null, 9, batches)).rejects.toThrow(TransientError);
      expect(keysOf(batches)).not.toContain(tickets[3]?.key);
      desk.fake.fault = () => null;
      batches.push(...(await poll(cursorOf(batches))));
      expect(keysOf(batches)).toEqual(new Set(tickets.map(({ key }) => key)));
    });

    test('rejects a ticket that is invalid or refused, and reads the others', async () => {
      const [invalid, refused, good] = many(3) as [DeskTicket, DeskTicket, DeskTicket];
      invalid.damage();
      failFor(refused, 422);
      const found = foundOf(await poll());
      expect(found).toHaveLength(3);
      expect(found).toContainEqual({
        kind: 'rejected',
        place: invalid.key,
        reason: expect.stringMatching(/^not as documented: (?:subject|title)$/),
      });
      expect(found).toContainEqual({
        kind: 'rejected',
        place: refused.key,
        // Quotes neither the path nor the answer.
        reason: expect.stringMatching(/^\w+: [a-z ]+: status 422$/),
      });
      expect(found).toContainEqual(good.expected());
    });

    test.each([500, 502, 409, 429, 'truncated', 'dropped', 'html'] as const)('retries a %s', async (fault) => {
      const ticket = solved();
      desk.fake.fault = oncePerPath(fault);
      expect(foundOf(await poll())).toEqual([ticket.expected()]);
    });

    // GitHub's window is an hour, which is longer than any request may wait.
    test.skipIf(name === 'GitHub')('waits at the rate limit, and reads everything', async () => {
      await restart({ limit: 20, page: 20 });
      many(50);
      expect(keysOf(await poll()).size).toBe(50);
      expect(desk.fake.requests.filter(({ status }) => status === 429).length).toBeLessThan(4);
    });

    test('of the token ends the poll at once, without revealing it', async () => {
      solved();
      await reconnect({ token: 'Wr0ng-token' });
      const error: unknown = await poll().catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(AuthError);
      expect(desk.fake.requests).toHaveLength(1);
      expect(`${(error as Error).stack} ${JSON.stringify(error)} ${(error as Error).cause}`).not.toMatch(
        /Wr0ng|V3IwbmctdG9rZW4|cjBuZy10b2tlb/,
      );
    });

    test('by an abort ends the poll', async () => {
      const ticket = solved();
      await clock.advance(delay);
      const stop = new AbortController();
      desk.fake.meanwhile = ({ path }) => path === ticket.path && stop.abort();
      const polled = Array.fromAsync(source.poll({ cursor: null, since: START - DAY, signal: stop.signal }));
      await expect(clock.run(polled)).rejects.toThrow('cancelled');
    });
  });

  test('fetches one ticket by its id', async () => {
    const ticket = solved();
    const [polled] = foundOf(await poll());
    expect(await fetchOne(ticket.id)).toEqual(polled);
    ticket.edits.reopen('');
    expect(await fetchOne(ticket.id)).toEqual({ kind: 'skipped', key: ticket.key, reason: 'open' });
    ticket.edits.remove('');
    expect(await fetchOne(ticket.id)).toEqual({ kind: 'gone', key: ticket.key });
    const requests = desk.fake.requests.length;
    for (const id of ['../users/1', 'deleted', '']) {
      expect(await fetchOne(id)).toMatchObject({ kind: 'rejected' });
    }
    expect(desk.fake.requests).toHaveLength(requests);
  });
});

type Step =
  | { readonly kind: 'add' }
  /** The ticket and its edit are chosen by number. */
  | { readonly kind: 'edit'; readonly ticket: number; readonly edit: number }
  | { readonly kind: 'wait'; readonly milliseconds: number }
  | { readonly kind: 'expire' | 'restart' }
  | {
      readonly kind: 'poll';
      /** Batches until the polling process is killed. */
      readonly batches: number;
      /** Edits between its requests, one before each. */
      readonly meanwhile: readonly (Step | null)[];
      readonly faults: readonly (Fault | null)[];
    };

const add = fc.constant<Step>({ kind: 'add' });
const edit = fc.record({ kind: fc.constant('edit' as const), ticket: fc.nat(20), edit: fc.nat(99) });
const change = fc.oneof({ weight: 1, arbitrary: add }, { weight: 4, arbitrary: edit });
const faults = fc.constantFrom<Fault>(500, 503, 429, 'truncated', 'dropped', 'html');
const milliseconds = fc.oneof(fc.nat(1500), fc.nat(200_000), fc.nat(3 * HOUR));
const step = fc.oneof<fc.WeightedArbitrary<Step>[]>(
  { weight: 7, arbitrary: change },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('wait' as const), milliseconds }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('poll' as const),
      batches: fc.integer({ min: 1, max: 6 }),
      meanwhile: fc.array(fc.option(change, { freq: 2 }), { maxLength: 6 }),
      faults: fc.array(fc.option(faults, { freq: 3 }), { maxLength: 5 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('expire' as const, 'restart' as const) }) },
);

/** Runs the steps, and polls once more undisturbed. */
async function play(clock: SocketClock, desk: Desk, delay: number, steps: readonly Step[]) {
  const tickets = ['a', 'b', 'c', 'd'].map((text) => desk.add(text));
  const removed = new Set<DeskTicket>();
  /** Records that became durable, and everything that was ever returned. */
  const durable: SourceRecord[] = [];
  const returned: SourceRecord[] = [];
  let source = desk.connect();
  let cursor: Json = null;
  let words = 0;

  const apply = (one: Step | null) => {
    words += 1;
    if (one?.kind === 'add') {
      tickets.push(desk.add(`text ${words}`));
    }
    const ticket = one?.kind === 'edit' ? tickets[one.ticket % tickets.length] : undefined;
    if (one?.kind === 'edit' && ticket !== undefined && !removed.has(ticket)) {
      const edits = Object.entries(ticket.edits);
      const [name, act] = edits[one.edit % edits.length] as (typeof edits)[0];
      act(`text ${words}`);
      if (name === 'remove') {
        removed.add(ticket);
      }
    }
  };
  const poll = async (batches: number) => {
    let left = batches;
    for await (const batch of source.poll({ cursor, since: START - DAY, signal: new AbortController().signal })) {
      returned.push(...batch.found);
      // Killed before the last batch is durable.
      if (left-- === 0) {
        return;
      }
      durable.push(...batch.found);
      cursor = structuredClone(batch.cursor);
    }
  };

  for (const one of steps) {
    if (one.kind === 'wait') {
      await clock.advance(one.milliseconds);
    } else if (one.kind === 'expire') {
      desk.expire();
    } else if (one.kind === 'restart') {
      await clock.run(source.close());
      source = desk.connect();
    } else if (one.kind === 'poll') {
      const [meanwhile, failures] = [[...one.meanwhile], [...one.faults]];
      desk.fake.meanwhile = () => apply(meanwhile.shift() ?? null);
      desk.fake.fault = () => failures.shift() ?? null;
      // A poll ends after too many faults; the next one continues from the cursor.
      const error = await clock.run(poll(one.batches)).catch((reason: unknown) => reason);
      expect(error === undefined || error instanceof TransientError || error instanceof RateLimitedError).toBe(true);
    } else {
      apply(one);
    }
  }
  desk.fake.meanwhile = () => {};
  desk.fake.fault = () => null;
  await clock.advance(delay);
  await clock.run(poll(Number.POSITIVE_INFINITY));
  await clock.run(source.close());
  return { tickets, durable, returned };
}

test.each(PROVIDERS)(
  '$name returns the latest version of every ticket despite edits, kills and faults, and nothing private',
  async ({ open, delay }) => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (steps) => {
        using clock = createSocketClock(START);
        const desk = await open(clock, { page: 3 });
        await using _fake = desk.fake;
        const { tickets, durable, returned } = await play(clock, desk, delay, steps);
        expect(JSON.stringify(returned)).not.toContain(PRIVATE);
        for (const ticket of tickets) {
          const expected = ticket.expected();
          if (expected !== null) {
            expect(durable.findLast((one) => keyOfFound(one) === ticket.key)).toEqual(expected);
          }
        }
      }),
      { numRuns: 80 },
    );
  },
);

const SECRET = 'dGhpc19zZWNyZXRfaXNfZm9yX3Rlc3Rpbmc=';
const hmac = (
  algorithm: string,
  encoding: 'hex' | 'base64',
  secret: string | Uint8Array,
  ...signed: (string | Uint8Array)[]
) => {
  const digest = createHmac(algorithm, secret);
  for (const part of signed) {
    digest.update(part);
  }
  return digest.digest(encoding);
};
const AT = new Date(START).toISOString();

const ISSUE = { repository: { full_name: 'acme/product' }, issue: { number: 12, node_id: 'I_kwDO12' } };

interface WebhookCase {
  readonly name: string;
  readonly webhook: Webhook;
  readonly body: object;
  /** Headers that prove that a body is genuine. */
  readonly proof: (body: Uint8Array, secret?: string) => Readonly<Record<string, string>>;
  readonly others?: Readonly<Record<string, string>>;
  readonly result: object;
  /** Other bodies, the tickets that they name, and headers that they have. */
  readonly events: readonly (readonly [
    body: object,
    ids: readonly string[],
    headers?: Readonly<Record<string, string>>,
  ])[];
  /** True if it is signed with a time. */
  readonly isTimed?: boolean;
  /** Valid JSON that names no ticket. */
  readonly nameless: readonly string[];
}

const WEBHOOKS: readonly WebhookCase[] = [
  {
    name: 'Zendesk',
    webhook: zendeskWebhook({ name: 'support', secret: SECRET }),
    body: { type: 'zen:event-type:ticket.status_changed', detail: { id: '35436', status: 'SOLVED' } },
    proof: (body, secret = SECRET) => ({
      'x-zendesk-webhook-signature': hmac('sha256', 'base64', secret, AT, body),
      'x-zendesk-webhook-signature-timestamp': AT,
    }),
    others: { 'x-zendesk-webhook-invocation-id': 'delivery-1' },
    result: { kind: 'hints', delivery: 'delivery-1', ids: ['35436'] },
    events: [
      [{ type: 'zen:event-type:user.active_changed', detail: { id: '35436' } }, []],
      [{ type: 'zen:event-type:ticket.created' }, []],
    ],
    isTimed: true,
    nameless: ['[1]', '{}', '{"type":"zen:event-type:ticket.x","detail":{"id":"../1"}}'],
  },
  {
    name: 'Intercom',
    webhook: intercomWebhook({ name: 'support', secret: SECRET }),
    body: { topic: 'conversation.admin.closed', id: 'notif_8', data: { item: { type: 'conversation', id: '215468' } } },
    proof: (body, secret = SECRET) => ({ 'x-hub-signature': `sha1=${hmac('sha1', 'hex', secret, body)}` }),
    result: { kind: 'hints', delivery: 'notif_8', ids: ['215468'] },
    events: [
      [{ topic: 'conversation.admin.closed', data: { item: { type: 'conversation', id: 215468 } } }, ['215468']],
      [{ topic: 'ping', id: null, data: { item: { type: 'ping', message: 'hi' } } }, []],
      [{ topic: 'contact.created', data: { item: { type: 'conversation', id: '1' } } }, []],
      [{ topic: 'conversation.admin.closed', data: { item: { type: 'tag', id: '1' } } }, []],
    ],
    nameless: [
      '{}',
      '{"topic":"conversation.admin.closed"}',
      '{"topic":"conversation.admin.closed","data":{"item":{"id":"../1"}}}',
    ],
  },
  {
    name: 'Freshdesk',
    webhook: freshdeskWebhook({ name: 'support', header: 'X-Octavo-Secret', secret: SECRET }),
    body: { freshdesk_webhook: { ticket_id: 7 } },
    proof: (_, secret = SECRET) => ({ 'x-octavo-secret': secret }),
    result: { kind: 'hints', delivery: null, ids: ['7'] },
    events: [{ ticket_id: 7 }, { ticket_id: '7' }, { ticket: { id: 7 } }].map((body) => [body, ['7']] as const),
    nameless: ['[]', '{"ticket_id":"../7"}', '{"ticket_id":-1}', '"7"'],
  },
  {
    name: 'GitHub',
    webhook: githubWebhook({ name: 'support', secret: SECRET, repositories: ['Acme/Product'] }),
    body: ISSUE,
    proof: (body, secret = SECRET) => ({ 'x-hub-signature-256': `sha256=${hmac('sha256', 'hex', secret, body)}` }),
    others: { 'x-github-event': 'issues', 'x-github-delivery': 'delivery-1' },
    result: { kind: 'hints', delivery: 'delivery-1', ids: ['Acme/Product#12:I_kwDO12'] },
    events: [
      [{ ...ISSUE, action: 'transferred' }, ['Acme/Product#12:I_kwDO12']],
      [{ ...ISSUE, comment: {} }, ['Acme/Product#12:I_kwDO12'], { 'x-github-event': 'issue_comment' }],
      [{ zen: 'Keep it logically awesome.' }, [], { 'x-github-event': 'ping' }],
      [ISSUE, [], { 'x-github-event': 'star' }],
      [{ ...ISSUE, issue: { ...ISSUE.issue, pull_request: {} } }, []],
      [{ ...ISSUE, repository: { full_name: 'other/product' } }, []],
    ],
    nameless: ['[]', '{"action":"closed"}'],
  },
  {
    name: 'the own format',
    webhook: standardWebhook({ name: 'support', secrets: [`whsec_${SECRET}`] }),
    body: { id: '17', parts: [{ type: 'message', role: 'user', body: 'How?' }] },
    proof: (body, secret = SECRET) => ({
      'webhook-id': 'msg_1',
      'webhook-timestamp': String(START / 1000),
      'webhook-signature': `v1,${hmac('sha256', 'base64', Buffer.from(secret, 'base64'), `msg_1.${START / 1000}.`, body)}`,
    }),
    result: { kind: 'found', delivery: 'msg_1', found: [expect.objectContaining({ kind: 'ticket' })] },
    events: [],
    isTimed: true,
    nameless: ['"text"', '7', 'null', 'true', '{"parts":[]}'],
  },
];

describe.each(WEBHOOKS)('a webhook of $name', (given) => {
  const { webhook, body, proof, others, result, events, isTimed = false, nameless } = given;
  const bytes = Buffer.from(JSON.stringify(body));
  function deliver(
    content: Uint8Array,
    headers: Record<string, string | string[] | undefined> = proof(content),
    receivedAt = START + 2000,
  ) {
    const type = { 'content-type': 'application/json; charset=utf-8' };
    return webhook.read({ headers: { ...type, ...others, ...headers }, body: content, receivedAt });
  }

  test('names what changed', () => {
    expect(deliver(bytes)).toEqual(result);
    for (const [event, ids, headers] of events) {
      const content = Buffer.from(JSON.stringify(event));
      expect(deliver(content, { ...proof(content), ...headers })).toMatchObject({ kind: 'hints', ids });
    }
  });

  test.runIf(isTimed)('is refused more than five minutes before or after its signature', () => {
    for (const late of [-300_001, -300_000, 300_000, 300_001]) {
      const { kind } = deliver(bytes, proof(bytes), START + late);
      expect([late, kind]).toEqual([late, Math.abs(late) > 300_000 ? 'refused' : (result as { kind: string }).kind]);
    }
  });

  test('is refused without its proof, or with that of another secret', () => {
    const good = proof(bytes);
    const wrong = Object.entries(good).flatMap(([header, value]) =>
      [undefined, '', value.slice(0, -2), `${value}A`, [value, value]].map((other) => ({ ...good, [header]: other })),
    );
    for (const headers of [{}, proof(bytes, 'other'), ...wrong]) {
      const answer = deliver(bytes, headers);
      expect(answer).toMatchObject({ kind: 'refused', status: 401 });
      expect(JSON.stringify(answer)).not.toContain(SECRET);
    }
  });

  test('is refused if one byte of the body was changed', () => {
    const changed = Buffer.from(bytes);
    changed[bytes.length - 2] = 0x20;
    const isSigned = JSON.stringify(proof(changed)) !== JSON.stringify(proof(bytes));
    expect(deliver(changed, proof(bytes))).toMatchObject({ status: isSigned ? 401 : 400 });
  });

  test.each(['text/plain', 'application/jsonp', 'application/x-www-form-urlencoded', undefined])(
    'of content type %s is refused',
    (type) => {
      expect(deliver(bytes, { ...proof(bytes), 'content-type': type })).toMatchObject({ kind: 'refused', status: 415 });
    },
  );

  test('is refused if the body is not JSON or names no ticket, after its proof is checked', () => {
    const broken = [bytes.subarray(0, 10), Buffer.from([0x22, 0xff, 0x22]), Buffer.alloc(0)];
    for (const content of [...broken, ...nameless.map((text) => Buffer.from(text))]) {
      expect(deliver(content)).toMatchObject({ kind: 'refused', status: 400 });
      expect(deliver(content, proof(content, 'other'))).toMatchObject({ kind: 'refused', status: 401 });
    }
  });
});

test('a webhook of Zendesk with an invalid timestamp is refused, even if it is signed', () => {
  const body = Buffer.from('{"type":"zen:event-type:ticket.created","detail":{"id":"1"}}');
  const headers = {
    'content-type': 'application/json',
    'x-zendesk-webhook-signature': hmac('sha256', 'base64', SECRET, 'yesterday', body),
    'x-zendesk-webhook-signature-timestamp': 'yesterday',
  };
  const webhook = zendeskWebhook({ name: 'support', secret: SECRET });
  expect(webhook.read({ headers, body, receivedAt: START })).toMatchObject({ status: 401 });
});
