import { once } from 'node:events';
import { createWriteStream, mkdirSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { finished } from 'node:stream/promises';
import type { Case } from './cases.ts';
import { Figures } from './figures.ts';
import { median, runOnce } from './measure.ts';
import { LATENCY } from './platform.ts';

const CONVERSATIONS = 5000;

/** Conversations into the durable outbox, alone and in batches of 100, and through redaction. */
const OUTBOX: Case = {
  name: 'conversations: into the outbox',
  async measure(stage, runs) {
    const figures = new Figures(OUTBOX.name);
    const rates: { single: number; batched: number; redacted: number }[] = [];
    for (let run = 0; run < runs; run += 1) {
      const folder = join(stage.folder, `outbox-${run}`);
      mkdirSync(folder, { recursive: true });
      const { output } = await runOnce(stage, [stage.program('outbox'), folder, String(CONVERSATIONS)]);
      rates.push(JSON.parse(output) as (typeof rates)[number]);
    }
    figures.add('one by one', median(rates.map(({ single }) => single)), 'a second');
    figures.add('in batches of 100', median(rates.map(({ batched }) => batched)), 'a second');
    figures.add('redacted, 1 kB each', median(rates.map(({ redacted }) => redacted)), 'a second');
    return figures.list;
  },
};

/** A file of tickets, pushed: read, redacted, durable, sent and recorded, with no rate limit. */
function through(megabytes: number, bytesEach: number): Case {
  const size = megabytes >= 1000 ? `${megabytes / 1000} GB` : `${megabytes} MB`;
  const name = `conversations: push a file of ${size}`;
  return {
    name,
    async measure(stage, runs) {
      const figures = new Figures(name);
      const file = join(stage.folder, 'tickets.ndjson');
      const count = await writeTickets(file, megabytes * 1e6, bytesEach);
      const sink = await startSink();
      const walls: number[] = [];
      const peaks: number[] = [];
      for (let run = 0; run < Math.min(runs, megabytes >= 1000 ? 1 : runs); run += 1) {
        const env = {
          OCTAVO_BASE_URL: sink.url,
          OCTAVO_TOKEN: 'none',
          OCTAVO_ORGANIZATION: 'org_bench',
        };
        const args = [stage.octavo, 'conversations', 'push', file, '--account', `run${run}`];
        const { wall, peak } = await runOnce(stage, args, env);
        walls.push(wall);
        peaks.push(peak);
      }
      sink.close();
      figures.add('conversations', count, '');
      figures.add('wall', median(walls), 's');
      figures.add('rate', count / median(walls), 'a second');
      figures.add('peak', median(peaks), 'MB', 200);
      return figures.list;
    },
  };
}

/** Accepts every conversation and stores none: the embedded platform would keep all of them in memory. */
async function startSink(): Promise<{ readonly url: string; close(): void }> {
  const server = createServer((request, response) => {
    request.resume().once('end', () => {
      setTimeout(() => response.writeHead(204).end(), LATENCY);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** Answers how many tickets were written. */
async function writeTickets(path: string, bytes: number, each: number): Promise<number> {
  const out = createWriteStream(path);
  const filler = 'The export fails with an error, and nothing is in the log. '.repeat(Math.ceil(each / 59));
  let written = 0;
  let count = 0;
  for (; written < bytes; count += 1) {
    const body = `Order ${count}: write to kim${count}@shop.example. ${filler.slice(0, each)}`;
    const line = `${JSON.stringify({ id: String(count), subject: `Export ${count}`, parts: [{ type: 'message', role: 'user', body }] })}\n`;
    written += line.length;
    if (!out.write(line)) {
      await once(out, 'drain');
    }
  }
  out.end();
  await finished(out);
  return count;
}

export const INGESTION_CASES: readonly Case[] = [OUTBOX, through(5, 1000), through(2000, 64_000)];
