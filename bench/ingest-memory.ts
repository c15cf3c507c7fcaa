import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { finished } from 'node:stream/promises';
import { readTickets } from '../src/conversations/files/read-tickets.ts';

/**
 * Reads a generated NDJSON of so many gigabytes (2 by default) and says how much memory that took:
 * `node bench/ingest-memory.ts [GIGABYTES]`. The goal is under 200 MB, whatever the size.
 */
const gigabytes = Number(process.argv[2] ?? 2);
const folder = await mkdtemp(join(tmpdir(), 'octavo-ingest-'));
const path = join(folder, 'tickets.ndjson');

try {
  await write(path, gigabytes * 1e9);
  const { size } = await stat(path);
  const started = performance.now();
  let tickets = 0;
  let highest = 0;
  for await (const { found } of readTickets(path, { account: 'bench' })) {
    tickets += found.kind === 'ticket' ? 1 : 0;
    if (tickets % 10_000 === 0) {
      highest = Math.max(highest, process.memoryUsage.rss());
    }
  }
  const seconds = (performance.now() - started) / 1000;
  const figures = {
    gigabytes: round(size / 1e9),
    tickets,
    seconds: round(seconds),
    ticketsPerSecond: Math.round(tickets / seconds),
    megabytesPerSecond: Math.round(size / 1e6 / seconds),
    highestRssMegabytes: Math.round(highest / 1e6),
    // Of the whole process, writing the file included.
    peakRssMegabytes: Math.round((process.resourceUsage().maxRSS * 1024) / 1e6),
  };
  process.stdout.write(`${JSON.stringify(figures)}\n`);
} finally {
  await rm(folder, { recursive: true, force: true });
}

async function write(to: string, bytes: number): Promise<void> {
  const stream = createWriteStream(to);
  const body = 'The export stops at the second page, and the button does nothing. '.repeat(12);
  let written = 0;
  for (let id = 0; written < bytes; ) {
    const lines: string[] = [];
    for (let line = 0; line < 200; line++, id++) {
      const parts = ['user', 'team-member', 'user'].map((role) => ({ type: 'message', role, body: `${id} ${body}` }));
      lines.push(`${JSON.stringify({ id: String(id), subject: `Export ${id}`, parts })}\n`);
    }
    const block = lines.join('');
    written += block.length;
    if (!stream.write(block)) {
      await once(stream, 'drain');
    }
  }
  stream.end();
  await finished(stream);
}

function round(number: number): number {
  return Math.round(number * 100) / 100;
}
