// Pipeline of a pushed file: reading, redaction and storing overlap, in order and with backpressure.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { pushFile } from '../../src/conversations/control-api.ts';
import { Intake } from '../../src/conversations/intake.ts';
import { redactOrFail } from '../../src/conversations/redact/redaction-work.ts';
import { WakeUpSignal } from '../../src/core/clock.ts';
import { StoreError } from '../../src/core/errors.ts';
import { openMemoryStore } from '../../src/store/memory.ts';
import type { Outbox } from '../../src/store/outbox/outbox.ts';
import { createVirtualClock } from '../queue/virtual-clock.ts';
import { testRedactor } from '../support/helpdesk.ts';
import { eventually } from '../support/octavo-process.ts';

/** Tickets of one deposit. */
const BATCH = 100;

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'octavo-pipeline-'));
  file = join(folder, 'tickets.ndjson');
});
afterEach(() => rmSync(folder, { recursive: true }));

function writeTickets(count: number): void {
  const parts = [{ type: 'message', role: 'user', body: 'The export fails.' }];
  const lines = Array.from({ length: count }, (_, index) => JSON.stringify({ id: `${index}`, parts }));
  writeFileSync(file, `${lines.join('\n')}\n`);
}

/** Step of the pipeline that waits for its release, batch by batch. */
class Gate {
  readonly entered: number[] = [];
  readonly #waiting: (() => void)[] = [];

  enter(batch: number): Promise<void> {
    this.entered.push(batch);
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  async release(): Promise<void> {
    await eventually('a step', () => this.#waiting.length > 0);
    this.#waiting.shift()?.();
  }
}

function open(put: (batch: number) => Promise<void>, redact: (batch: number) => Promise<void>) {
  const clock = createVirtualClock();
  const outbox = openMemoryStore().outbox('org_1', { items: 10_000, bytes: 1e9 });
  const stored: string[] = [];
  const holding: Outbox = {
    ...outbox,
    put: async (deposit) => {
      await put(stored.length / BATCH);
      stored.push(...deposit.entries.map(({ key }) => key));
      return outbox.put(deposit);
    },
  };
  const intake = new Intake({
    source: 'push',
    outbox: holding,
    redactor: testRedactor,
    threads: {
      isFull: false,
      redact: async (tickets) => {
        await redact(Number(tickets[0]?.key.split('/').at(-1)) / BATCH);
        return tickets.map((ticket) => redactOrFail(testRedactor, ticket));
      },
    },
    settleDelay: 0,
    clock,
    work: new WakeUpSignal(),
    room: new WakeUpSignal(),
    hints: new WakeUpSignal(),
    events: {},
  });
  const { signal } = new AbortController();
  const pushed = pushFile(file, { account: 'a', teamDomains: [] }, intake, signal);
  return { pushed, stored, outbox };
}

test('the next three batches are redacted while one is stored, and no further batch is read ahead', async () => {
  writeTickets(8 * BATCH);
  const [putting, redacting] = [new Gate(), new Gate()];
  const { pushed, stored } = open(
    (batch) => putting.enter(batch),
    (batch) => redacting.enter(batch),
  );
  for (let batch = 0; batch < 8; batch += 1) {
    await redacting.release();
    await eventually('storing', () => putting.entered.length === batch + 1);
    // Redaction is never idle while there is input: the next batches are in work before this one is stored.
    await eventually('redaction', () => redacting.entered.length === Math.min(8, batch + 4));
    expect(putting.entered).toEqual([...Array(batch + 1).keys()]);
    await putting.release();
  }
  expect(await pushed).toMatchObject({ records: 800, tickets: 800 });
  expect(stored).toEqual([...Array(800).keys()].map((index) => `file/a/${index}`));
});

test('batches are stored in their order, even if a later one is redacted first', async () => {
  writeTickets(3 * BATCH);
  const first = Promise.withResolvers<void>();
  const redacted: number[] = [];
  const { pushed, stored } = open(
    async () => undefined,
    async (batch) => {
      redacted.push(batch);
      await (batch === 0 ? first.promise : undefined);
    },
  );
  await eventually('redaction of all', () => redacted.length === 3);
  expect(stored).toEqual([]);
  first.resolve();
  await pushed;
  expect(redacted).toEqual([0, 1, 2]);
  expect(stored).toEqual([...Array(300).keys()].map((index) => `file/a/${index}`));
});

test('nothing is stored after a batch that cannot be stored', async () => {
  writeTickets(5 * BATCH);
  const { pushed, stored } = open(
    async (batch) => {
      if (batch === 1) {
        throw new StoreError('the disk is full');
      }
    },
    async () => undefined,
  );
  await expect(pushed).rejects.toThrow('the disk is full');
  expect(stored).toHaveLength(BATCH);
});
