/**
 * Creations under a limit, over HTTP, compared with a plain p-queue that knows the limit and a client that only retries.
 * Part of the bench, and alone:
 *
 *   node bench/rate-limit.ts
 */
import { rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Case } from './cases.ts';
import { Figures, HEADING, line } from './figures.ts';
import { LATENCY, type Platform, startPlatform } from './platform.ts';
import { type Client, CONCURRENCY, type Limit, limitedQueue, octavo, retryOnly } from './rate-clients.ts';
import { buildStage } from './stage.ts';

const CALLS = 400;
/** Position in the window at which each client starts, so that they can be compared. */
const PHASE = 0.3;

const CLIENTS: Readonly<Record<string, Client>> = {
  octavo,
  'p-queue (with the limit)': limitedQueue,
  'retries only': retryOnly,
};

export const RATE_CASES: readonly Case[] = [
  creations({ kind: 'fixed', limit: 60, window: 2000 }, 1.05),
  creations({ kind: 'fixed', limit: 200, window: 10_000 }, 1.05),
  creations({ kind: 'first-call', limit: 60, window: 2000 }, 1.15),
];

/** Goal 6, with every client under the same limit on the same platform. */
function creations(limit: Limit, goal: number): Case {
  const seconds = limit.window / 1000;
  const windows = limit.kind === 'fixed' ? 'by the clock' : 'from a call on';
  const name = `${CALLS} creations, ${limit.limit} in ${seconds} s ${windows}`;
  return {
    name,
    async measure(stage) {
      const figures = new Figures(name);
      const platform = await startPlatform(stage);
      for (const [who, client] of Object.entries(CLIENTS)) {
        const { ratio, refused } = await run(platform, limit, who, client);
        const isOurs = client === octavo;
        figures.add(`x floor, ${who}`, ratio, 'x', isOurs ? goal : null);
        figures.add(`refused (429), ${who}`, refused, 'requests', isOurs ? CALLS / 100 : null);
      }
      await platform.stop();
      return figures.list;
    },
  };
}

async function run(platform: Platform, limit: Limit, who: string, client: Client) {
  await sleep(limit.window - ((Date.now() - PHASE * limit.window) % limit.window));
  // This also forgets what was counted.
  await platform.limit({ all: limit });
  await platform.reset();
  const titles = Array.from({ length: CALLS }, (_, index) => `${who} ${index}`);
  await client(platform, titles, limit);
  const { entries } = await platform.requests();
  const done = entries.filter(({ status }) => status !== 429);
  const [first, last] = [entries[0]?.at ?? 0, done.at(-1)?.at ?? 0];
  return { ratio: (last + LATENCY - first) / leastOf(limit, first), refused: entries.length - done.length };
}

/** The earliest the last answer could be there, from the first call on: the last window has to open, and be filled. */
function leastOf({ kind, limit, window }: Limit, first: number): number {
  const windows = Math.ceil(CALLS / limit);
  const opened = kind === 'fixed' ? Math.floor(first / window) * window : first;
  const rounds = Math.ceil((CALLS - (windows - 1) * limit) / CONCURRENCY);
  return opened + (windows - 1) * window + rounds * LATENCY - first;
}

if (import.meta.main) {
  const stage = buildStage();
  process.stdout.write(HEADING);
  try {
    for (const each of RATE_CASES) {
      for (const figure of await each.measure(stage, 1)) {
        process.stdout.write(line(figure));
      }
    }
  } finally {
    rmSync(stage.folder, { recursive: true, force: true });
  }
}
