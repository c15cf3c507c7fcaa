import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { finished } from 'node:stream/promises';
import { readTickets } from '../src/conversations/sources/files/read-tickets.ts';

/**
 * Reads a generated NDJSON file of N gigabytes (2 by default) and prints the memory that it used:
 * `node bench/ingest-memory.ts [GIGABYTES]`. The goal is less than 200 MB for any size.
 */
const [argument = '2', writeTo] = process.argv.slice(2);
await (writeTo === undefined ? measure(Number(argument)) : write(writeTo, Number(argument) * 1e9));

async function measure(gigabytes: number): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'octavo-ingest-'));
  const path = join(folder, 'tickets.ndjson');
  try {
    // Another process writes the file, so that the peak is that of reading it.
    spawnSync(process.execPath, [import.meta.filename, String(gigabytes), path], { stdio: 'inherit' });
    const started = performance.now();
    let tickets = 0;
    for await (const { found } of readTickets(path, { account: 'bench' })) {
      tickets += found.kind === 'ticket' ? 1 : 0;
    }
    const seconds = (performance.now() - started) / 1000;
    const { size } = await stat(path);
    const figures = {
      gigabytes: round(size / 1e9),
      tickets,
      seconds: round(seconds),
      ticketsPerSecond: Math.round(tickets / seconds),
      megabytesPerSecond: Math.round(size / 1e6 / seconds),
      peakRssMegabytes: Math.round((process.resourceUsage().maxRSS * 1024) / 1e6),
    };
    process.stdout.write(`${JSON.stringify(figures)}\n`);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
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
