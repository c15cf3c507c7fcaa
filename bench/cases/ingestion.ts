/** Support conversations: the durable outbox, redaction, and a pushed file. */
import { once } from 'node:events';
import { createWriteStream, mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { finished } from 'node:stream/promises';
import { ratios } from '../figures.ts';
import { alternate, type Run, runOnce } from '../measure.ts';
import { LATENCY, type Platform, peer } from '../platform.ts';
import type { Case, CaseContext } from '../runner.ts';

const CONVERSATIONS = 5000;

/** CPU microseconds per conversation. */
interface OutboxCosts {
  readonly single: number;
  readonly batched: number;
  readonly redacted: number;
}

export const INGESTION_CASES: readonly Case[] = [
  {
    name: 'outbox',
    title: `Put ${CONVERSATIONS.toLocaleString('en-US')} conversations into the durable outbox, and redact as many of 1 kB`,
    async measure(context) {
      const measured: OutboxCosts[] = [];
      for (let run = 0; run < context.runs; run += 1) {
        const folder = join(context.folder, `outbox-${run}`);
        mkdirSync(folder);
        const { output } = await runOnce(context, [context.installed.program('outbox'), folder, String(CONVERSATIONS)]);
        measured.push(JSON.parse(output) as OutboxCosts);
      }
      const costs = (name: keyof OutboxCosts) => measured.map((each) => each[name]);
      context.record('one by one, CPU each', 'microseconds', costs('single'));
      context.record('in batches of 100, CPU each', 'microseconds', costs('batched'));
      context.record('redacted, CPU each', 'microseconds', costs('redacted'));
      context.record('batches over one by one, CPU', 'CPU ratio', ratios(costs('batched'), costs('single')));
    },
  },
  push('push-5-mb', 5, 1000),
  push('push-64-kb-tickets', 100, 64_000),
  push('push-2-gb', 2000, 64_000),
  overlap('push-overlap', 100, 64_000),
];

/** Least speed of a push on two cores over that on one core with one request in flight. */
const SPEEDUP = 1.7;

/** A file of tickets: read, redacted, stored, sent and recorded, without a rate limit. */
function push(name: string, megabytes: number, bytesEach: number): Case {
  const long = megabytes >= 1000;
  const size = long ? `${megabytes / 1000} GB` : `${megabytes} MB`;
  return {
    name,
    title: `Push a file of ${size} with tickets of ${bytesEach / 1000} kB`,
    long,
    async measure(context) {
      const file = join(context.folder, 'tickets.ndjson');
      const count = await writeTickets(file, megabytes * 1e6, bytesEach);
      const sink = await startSink(context);
      const env = { OCTAVO_BASE_URL: sink.url, OCTAVO_TOKEN: sink.token, OCTAVO_ORGANIZATION: sink.organization };
      let pushes = 0;
      const octavo = () => {
        pushes += 1;
        const args = ['conversations', 'push', file, '--account', `run-${pushes}`];
        return runOnce(context, [context.installed.octavo, ...args], { env });
      };
      const floor = () => runOnce(context, peer(context, sink, 'http', 10, 'post', file));
      const found = long ? { octavo: [await octavo()], floor: [] } : await alternate(context.runs, { octavo, floor });
      const eachMicroseconds = ({ cpu }: Run) => (1e6 * cpu) / count;
      const walls = found.octavo.map(({ wall }) => wall);
      context.record('wall', 'seconds', walls);
      context.record('CPU each', 'microseconds', found.octavo.map(eachMicroseconds));
      const peaks = found.octavo.map(({ peak }) => peak);
      context.record('peak memory', 'memory', peaks, 200);
      const cpus = (runs: readonly Run[]) => runs.map(({ cpu }) => cpu);
      context.record('wall over CPU', 'time ratio', ratios(walls, cpus(found.octavo)));
      if (!long) {
        context.record('CPU over floor', 'CPU ratio', ratios(cpus(found.octavo), cpus(found.floor)));
      }
    },
  };
}

/**
 * The same push on all cores, and on one core with one request in flight: how much redaction on threads and overlapping
 * requests save. The ratio of CPU times is a bound for that of wall times on two cores.
 */
function overlap(name: string, megabytes: number, bytesEach: number): Case {
  return {
    name,
    title: `Push a file of ${megabytes} MB on all cores, and on one core with one request in flight`,
    async measure(context) {
      const file = join(context.folder, 'tickets.ndjson');
      await writeTickets(file, megabytes * 1e6, bytesEach);
      const { url: baseUrl, token, organization: id } = await startSink(context);
      const config = (inFlight: number) => {
        const path = join(context.folder, `config-${inFlight}.json`);
        const queue = { concurrency: inFlight };
        writeFileSync(
          path,
          JSON.stringify({ platform: { baseUrl, token }, queue, organizations: [{ id, conversations: {} }] }),
        );
        return path;
      };
      const [several, one] = [config(10), config(1)];
      let pushes = 0;
      const octavo = (path: string, oneCore: boolean) => {
        pushes += 1;
        const args = ['conversations', 'push', file, '--account', `run-${pushes}`, '--config', path];
        return runOnce(context, [context.installed.octavo, ...args], { oneCore });
      };
      const found = await alternate(context.runs, {
        overlapped: () => octavo(several, false),
        single: () => octavo(one, true),
      });
      const walls = (runs: readonly Run[]) => runs.map(({ wall }) => wall);
      const cpus = (runs: readonly Run[]) => runs.map(({ cpu }) => cpu);
      const { overlapped, single } = found;
      context.record('wall, all cores', 'seconds', walls(overlapped));
      context.record('wall, one core', 'seconds', walls(single));
      context.record('wall, all cores over one', 'time ratio', ratios(walls(overlapped), walls(single)), 1 / SPEEDUP);
      context.record('CPU, all cores over one', 'CPU ratio', ratios(cpus(overlapped), cpus(single)), 2 / SPEEDUP);
    },
  };
}

/** Accepts every conversation and stores none: the embedded platform would keep all of them in memory. */
async function startSink({ signal }: CaseContext): Promise<Pick<Platform, 'url' | 'token' | 'organization'>> {
  const server = createServer((request, response) => {
    request.resume().once('end', () => {
      setTimeout(() => response.writeHead(204).end(), LATENCY);
    });
  });
  server.listen(0, '127.0.0.1');
  signal.addEventListener('abort', () => {
    server.closeAllConnections();
    server.close();
  });
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, token: 'none', organization: 'org_bench' };
}

/** Returns the number of tickets that were written. */
async function writeTickets(path: string, bytes: number, each: number): Promise<number> {
  const out = createWriteStream(path);
  const filler = 'The export fails with an error, and nothing is in the log. '.repeat(Math.ceil(each / 59));
  let written = 0;
  let count = 0;
  for (; written < bytes; count += 1) {
    const body = `Order ${count}: write to kim${count}@shop.example. ${filler.slice(0, each)}`;
    const parts = [{ type: 'message', role: 'user', body }];
    const line = `${JSON.stringify({ id: String(count), subject: `Export ${count}`, parts })}\n`;
    written += line.length;
    if (!out.write(line)) {
      await once(out, 'drain');
    }
  }
  out.end();
  await finished(out);
  return count;
}
