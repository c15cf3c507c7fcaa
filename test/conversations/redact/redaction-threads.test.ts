/** Redaction on worker threads: equal results, order, and threads that end. */
import { EventEmitter } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { afterEach, describe, expect, test } from 'vitest';
import { ThreadHandle } from '../../../src/conversations/model/thread-handle.ts';
import type { Ticket } from '../../../src/conversations/model/ticket.ts';
import { RedactionThreads, startThread } from '../../../src/conversations/redact/redaction-threads.ts';
import { type RedactionResult, redactOrFail } from '../../../src/conversations/redact/redaction-work.ts';
import { createConversationRedactor } from '../../../src/conversations/redact/redactor.ts';
import { type Clock, systemClock } from '../../../src/core/clock.ts';
import { CancelledError } from '../../../src/core/errors.ts';
import { createVirtualClock } from '../../queue/virtual-clock.ts';
import { countCases } from '../../support/campaign.ts';

/** Tickets of 1 MB at once in one thread: each takes seconds. */
const DENSE = countCases({ sample: 1, ci: 2, full: 8 });

const redactor = createConversationRedactor();
const opened: RedactionThreads[] = [];
const started: Worker[] = [];

afterEach(async () => {
  await Promise.all(opened.splice(0).map((threads) => threads.close()));
  started.length = 0;
  unavailable.length = 0;
});

const unavailable: string[] = [];

function open(threads: number, start = startThread, clock: Clock = systemClock): RedactionThreads {
  const count: typeof startThread = (...given) => {
    const worker = start(...given);
    started.push(worker);
    return worker;
  };
  const onUnavailable = ({ reason }: { readonly reason: string }) => void unavailable.push(reason);
  const made = new RedactionThreads({ redaction: {}, threads, clock, onUnavailable, start: count });
  opened.push(made);
  return made;
}

function ticket(index: number, body: string): Ticket {
  return {
    key: `file/push/${index}`,
    subject: `Order ${index}`,
    createdAt: null,
    settledAt: null,
    url: null,
    attributes: {},
    parts: [{ role: 'user', body }],
    people: [{ names: [`Kim Sample${index}`], emails: [] }],
    completeness: null,
  };
}

/** Text for all threads. */
function many(count = 60): Ticket[] {
  const filler = 'The export fails, and nothing is in the log. '.repeat(150);
  return Array.from({ length: count }, (_, index) =>
    ticket(index, `I am Kim Sample${index}, kim${index}@shop.example. ${filler}`),
  );
}

/** Thread that ends when a ticket has the word, and otherwise returns its subject unredacted. */
function fragile(word: string): Worker {
  const source = `
    const { parentPort } = require('node:worker_threads');
    parentPort.on('message', (tickets) => {
      if (JSON.stringify(tickets).includes(${JSON.stringify(word)})) process.exit(1);
      parentPort.postMessage({ answer: tickets.map(({ key, subject }) => ({ conversation: { id: key, subject, parts: [] }, counts: {} })) });
    });
    parentPort.postMessage({ ready: true });`;
  return new Worker(source, { eval: true });
}

/** Thread that never answers. */
function silent(): Worker {
  const source = 'require("node:worker_threads").parentPort.on("message", () => {}).postMessage({ ready: true })';
  return new Worker(source, { eval: true });
}

/** Thread that redacts a message only when the test lets it. */
class SlowWorker extends EventEmitter {
  readonly messages: (readonly Ticket[])[] = [];

  postMessage(tickets: readonly Ticket[]): void {
    this.messages.push(tickets);
  }

  answer(): void {
    const tickets = this.messages.shift() ?? [];
    this.emit('message', { answer: tickets.map((each) => redactOrFail(redactor, each)) });
  }

  ref(): void {}

  unref(): void {}

  async terminate(): Promise<void> {
    this.emit('exit', 1);
  }
}

describe('redaction on threads', () => {
  test.each([1, 3])('gives what the redactor gives, in the same order, with %i threads', async (count) => {
    const tickets = many();
    const expected = tickets.map((each) => redactOrFail(redactor, each));
    expect(await open(count).redact(tickets)).toEqual(expected);
    expect(started).toHaveLength(count);
    expect(JSON.stringify(expected)).not.toContain('@shop.example');
  });

  test('starts one thread for one short ticket, and none for nothing', async () => {
    const threads = open(3);
    expect(await threads.redact([])).toBeNull();
    expect(started).toHaveLength(0);
    const short = ticket(1, 'I asked Kim Sample1.');
    expect(await threads.redact([short])).toEqual([redactOrFail(redactor, short)]);
    expect(started).toHaveLength(1);
  });

  test('gives a long ticket a thread of its own, wherever its text is, and the others do not wait for it', async () => {
    const long = 'a1@b.example '.repeat(90_000);
    const tickets: Ticket[] = [
      { ...ticket(1, 'a'), subject: long },
      { ...ticket(2, 'a'), attributes: { note: long } },
      { ...ticket(3, 'a'), attributes: { [long]: 'a' } },
      { ...ticket(4, 'a'), url: `https://a.example/?q=${long}` },
      { ...ticket(5, 'a'), people: [{ names: [long], emails: [] }] },
      ticket(6, long),
    ];
    const own: boolean[] = [];
    const start: typeof startThread = (_, isForLarge) => {
      own.push(isForLarge);
      return isForLarge ? silent() : fragile('hostile');
    };
    for (const each of tickets) {
      own.length = 0;
      const threads = open(1, start);
      const waiting = expect(threads.redact([each])).rejects.toThrow(CancelledError);
      expect(await threads.redact([ticket(7, 'a')])).toHaveLength(1);
      expect(own).toEqual([true, false]);
      await threads.close();
      await waiting;
    }
  });

  test('ends a thread that takes too long, and rejects only the ticket that it cannot redact', async () => {
    const clock = createVirtualClock();
    const source = `
      const { parentPort } = require('node:worker_threads');
      parentPort.on('message', (tickets) => {
        if (JSON.stringify(tickets).includes('endless')) {
          parentPort.postMessage({ ready: true, isEndless: true });
          for (;;) {}
        }
        parentPort.postMessage({ answer: tickets.map(({ key: id }) => ({ conversation: { id, parts: [] }, counts: {} })) });
      });
      parentPort.postMessage({ ready: true });`;
    const late = () => {
      const worker = new Worker(source, { eval: true });
      return worker.on('message', ({ isEndless }) => isEndless === true && void clock.advance(180_000));
    };
    const long = 'x'.repeat(20_000);
    const tickets = [ticket(0, long), ticket(1, `endless ${long}`), ticket(2, long)];
    const results = await open(1, late, clock).redact(tickets);
    expect(results?.map((result) => ('failure' in result ? result.failure : result.conversation.id))).toEqual([
      'file/push/0',
      'it takes longer than 3 minutes',
      'file/push/2',
    ]);
  });

  test('is full while 16 MB wait', async () => {
    const worker = new SlowWorker();
    const threads = open(1, () => worker as unknown as Worker);
    const tickets = Array.from({ length: 17 }, (_, index) => ticket(index, ' '.repeat(2 ** 20 - 1000)));
    const first = threads.redact(tickets.slice(0, 16));
    expect(threads.isFull).toBe(false);
    const second = threads.redact(tickets.slice(16));
    expect(threads.isFull).toBe(true);
    for (let turn = 0; turn < 1000 && threads.isFull; turn += 1) {
      worker.answer();
      await setTimeout(1);
    }
    expect(threads.isFull).toBe(false);
    const failed = Promise.all([expect(first).rejects.toThrow(CancelledError), expect(second).rejects.toThrow()]);
    await threads.close();
    await failed;
  });

  test('rejects only the ticket that ends its thread', async () => {
    const tickets = many(200);
    const hostile = tickets.findIndex((_, index) => index === 0);
    tickets[hostile] = ticket(hostile, `hostile ${'x'.repeat(1000)}`);
    const results = await open(1, () => fragile('hostile')).redact(tickets);
    expect(results?.[hostile]).toEqual({ failure: 'its thread ended, probably for lack of memory' });
    const failed = results?.filter((result) => 'failure' in result);
    expect(failed).toHaveLength(1);
    expect(results?.map((result) => ('failure' in result ? null : result.conversation.id))).toEqual(
      tickets.map(({ key }, index) => (index === hostile ? null : key)),
    );
  });

  test('threads survive tickets of 1 MB that are full of matches', async () => {
    const body = Array.from({ length: 70_000 }, (_, index) => `a${index}@b.example`)
      .join(' ')
      .slice(0, 2 ** 20);
    const tickets = Array.from({ length: DENSE }, (_, index) => ticket(index, body));
    const oneThread = new ThreadHandle<readonly Ticket[], readonly RedactionResult[]>(
      () => startThread({}, false),
      systemClock,
      180_000,
    );
    const results = await Promise.all(tickets.map(async (each) => (await oneThread.ask([each]))[0] as RedactionResult));
    expect(results.map((result) => 'counts' in result && (result.counts.email ?? 0) > 40_000)).toEqual(
      tickets.map(() => true),
    );
    expect(JSON.stringify(results)).not.toContain('@b.example');
    await oneThread.close();
  }, 600_000);

  test('continues with another thread after one was killed', async () => {
    const threads = open(1);
    await threads.redact(many());
    await started[0]?.terminate();
    const tickets = many();
    expect(await threads.redact(tickets)).toEqual(tickets.map((each) => redactOrFail(redactor, each)));
    expect(started).toHaveLength(2);
  });

  test('a thread killed while it redacts loses no ticket', async () => {
    const threads = open(1);
    const tickets = many(200);
    const results = threads.redact(tickets);
    started[0]?.once('message', () => void started[0]?.terminate());
    await started[0]?.performance.eventLoopUtilization();
    expect((await results)?.filter((result) => 'conversation' in result).length).toBe(200);
  });

  test.each([
    ['fails while it loads', () => new Worker('throw new Error("no module")', { eval: true })],
    [
      'is refused by the system',
      () => {
        throw new Error('ERR_WORKER_INIT_FAILED');
      },
    ],
  ])(
    'leaves the tickets to the main thread if a thread %s, reports it once, and tries again after a minute',
    async (_, broken) => {
      let starts = 0;
      let isBroken = true;
      let now = 0;
      const start: typeof startThread = (...given) => {
        starts += 1;
        return isBroken ? broken() : startThread(...given);
      };
      const threads = open(1, start, { ...systemClock, monotonic: () => now });
      expect(await threads.redact(many())).toBeNull();
      const before = starts;
      expect(await threads.redact(many())).toBeNull();
      expect([before > 0, starts]).toEqual([true, before]);
      expect(unavailable).toEqual([expect.stringMatching(/^the thread did not start: ./)]);
      isBroken = false;
      now = 60_000;
      expect(await threads.redact([ticket(1, 'a long text. '.repeat(5000))])).toHaveLength(1);
    },
  );

  test('ends its threads after a minute without work, and not while another call uses them', async () => {
    const clock = createVirtualClock();
    const threads = open(1, startThread, clock);
    const first = threads.redact(many());
    // The thread gets the tickets of the second call only when the first call has long ended.
    const [worker] = started as [Worker];
    const post = worker.postMessage.bind(worker);
    const held: unknown[] = [];
    worker.postMessage = (message) => {
      const isLater = (message as readonly Ticket[]).some(({ key }) => key.startsWith('file/later/'));
      isLater ? held.push(message) : post(message);
    };
    const second = threads.redact(many(600).map((each) => ({ ...each, key: each.key.replace('push', 'later') })));
    await first;
    await clock.advance(120_000);
    expect(held.length).toBeGreaterThan(0);
    for (const message of held) {
      post(message);
    }
    worker.postMessage = post;
    expect(await second).toHaveLength(600);
    expect(started).toHaveLength(1);
    const ended = new Promise((resolve) => started[0]?.once('exit', resolve));
    await clock.advance(59_999);
    expect(started[0]?.threadId).toBeGreaterThan(0);
    await clock.advance(1);
    await ended;
    expect(await threads.redact(many())).toHaveLength(60);
    expect(started).toHaveLength(2);
  });

  test('closing ends the threads and fails what waits', async () => {
    const threads = open(1, silent);
    const waiting = threads.redact(many());
    const failed = expect(waiting).rejects.toThrow(CancelledError);
    await new Promise((resolve) => started[0]?.once('online', resolve));
    await threads.close();
    await failed;
    expect(started[0]?.threadId).toBe(-1);
  });
});
