/**
 * Puts redacted conversations into a durable outbox, one by one and in batches, and redacts tickets. Prints the CPU time of
 * each: `node outbox.js <folder> <count>`.
 */
import { join } from 'node:path';
import type { Ticket } from '../../src/conversations/model/ticket.ts';
import { createConversationRedactor } from '../../src/conversations/redact/redactor.ts';
import { openSqliteStore } from '../../src/store/sqlite.ts';

const [folder = '.', argument = '5000'] = process.argv.slice(2);
const count = Number(argument);
const LIMIT = { items: 1e9, bytes: 1e12 };
const BATCH = 100;

const payload = (id: string) =>
  JSON.stringify({ id, parts: [{ type: 'message', role: 'user', body: 'The export fails. '.repeat(40) }] });

function ticket(index: number): Ticket {
  return {
    key: `bench/acme/${index}`,
    subject: `Export ${index} fails`,
    createdAt: '2026-06-01T00:00:00Z',
    settledAt: null,
    url: null,
    attributes: {},
    parts: [
      { role: 'user', body: `Since ${index} the export fails, write to kim${index}@shop.example. `.repeat(10) },
      { role: 'team-member', body: 'We look into it, and ask for the version and the time. '.repeat(6) },
    ],
    people: [{ names: ['Kim Customer'], emails: [`kim${index}@shop.example`] }],
    completeness: null,
  };
}

/** Returns the CPU time per conversation in microseconds. */
async function storeCost(name: string, batch: number): Promise<number> {
  const store = openSqliteStore(join(folder, `${name}.db`));
  const outbox = store.outbox('org_bench', LIMIT);
  const started = process.cpuUsage();
  for (let from = 0; from < count; from += batch) {
    const entries = Array.from({ length: Math.min(batch, count - from) }, (_, index) => {
      const key = `bench/acme/${from + index}`;
      return { kind: 'content', key, hash: key, redactor: '1', payload: payload(key), notBefore: null } as const;
    });
    await outbox.put({ source: 'bench', at: 0, entries, counts: { found: entries.length } });
  }
  const cost = costSince(started);
  await store.close();
  return cost;
}

function redactionCost(): number {
  const redactor = createConversationRedactor();
  const started = process.cpuUsage();
  for (let index = 0; index < count; index += 1) {
    redactor.redact(ticket(index));
  }
  return costSince(started);
}

function costSince(started: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(started);
  return (user + system) / count;
}

const figures = {
  single: await storeCost('single', 1),
  batched: await storeCost('batched', BATCH),
  redacted: redactionCost(),
};
process.stdout.write(JSON.stringify(figures));
