/** Creations under a rate limit, compared with the earliest time at which the last of them could be answered. */
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { writeConfig, writeTeams } from '../manifests.ts';
import { runOnce } from '../measure.ts';
import { LATENCY, type Platform, peer, type RequestEntry, startPlatform } from '../platform.ts';
import type { Case, CaseContext } from '../runner.ts';

const WINDOW = 2000;
const LIMIT = 60;
const CALLS = 600;
/** Requests per window of another client with the same token. */
const NEIGHBOR = 20;
/** Operation that only the other client calls. */
const NEIGHBOR_OPERATION = 'getAuthenticatedUser';

type Windows = 'fixed' | 'first-call';

export const RATE_LIMIT_CASES: readonly Case[] = [
  limited('limit-aligned', 'fixed', { goal: 1.03, refused: 0 }),
  limited('limit-first-call', 'first-call', { goal: 1.15, refused: 0 }),
  limited('limit-neighbor', 'fixed', { neighbor: true, goal: 1.15, refused: CALLS / LIMIT }),
];

interface LimitedOptions {
  readonly neighbor?: boolean;
  readonly goal: number;
  readonly refused: number;
}

function limited(name: string, kind: Windows, { neighbor = false, goal, refused }: LimitedOptions): Case {
  const windows = kind === 'fixed' ? 'windows by the clock' : 'windows from the first request on';
  const share = neighbor ? LIMIT - NEIGHBOR : LIMIT;
  const calls = (CALLS * share) / LIMIT;
  return {
    name,
    title:
      `${calls} requests, ${LIMIT} per ${WINDOW / 1000} s, ${windows}` +
      `${neighbor ? `, ${NEIGHBOR} of each window used by another client` : ''}`,
    async measure(context) {
      const platform = await startPlatform(context);
      const clients = { octavo: octavo(context, platform, calls - 1), ...peers(context, platform, name, calls - 1) };
      for (const [who, client] of Object.entries(clients)) {
        await startOfWindow();
        await platform.limit({ all: { kind, limit: LIMIT, window: WINDOW } });
        await platform.reset();
        const stop = neighbor ? startNeighbor(context, platform) : () => {};
        await client();
        stop();
        const { entries } = await platform.requests();
        const own = entries.filter(({ operation }) => operation !== NEIGHBOR_OPERATION);
        const ratio = overFloor(own, kind, share);
        const isOurs = who === 'octavo';
        const prefix = isOurs ? '' : `${who}: `;
        context.record(`${prefix}time over floor`, 'time ratio', ratio, isOurs ? goal : null);
        context.record(`${prefix}refused (429)`, 'varying count', countRefused(own), isOurs ? refused : null);
        if (neighbor) {
          const accepted = entries.length - own.length - countRefused(entries) + countRefused(own);
          context.record('other client: accepted', 'varying count', accepted);
        }
      }
    },
  };
}

/** One read goes before the creations. */
function octavo(context: CaseContext, platform: Platform, count: number): () => Promise<unknown> {
  const folder = writeTeams(join(context.folder, 'teams'), count, { single: true });
  const config = writeConfig(join(context.folder, 'config.json'), platform, 10, folder);
  return () => runOnce(context, [context.installed.octavo, 'apply', folder, '--yes', '--config', config]);
}

/** One comparison is enough: the client without a limiter behaves the same under all limits. */
function peers(context: CaseContext, platform: Platform, name: string, count: number) {
  const retries = () => runOnce(context, peer(context, platform, 'vendor', 10, 'create', String(count)));
  return name === 'limit-aligned' ? { 'p-limit with retries': retries } : {};
}

/** A start at the end of a window would spend that window on planning, which does not measure the queue. */
async function startOfWindow(): Promise<void> {
  await setTimeout(WINDOW - (Date.now() % WINDOW));
}

/** Sends requests evenly with the same token until it is stopped. */
function startNeighbor({ signal }: CaseContext, { url, token }: Platform): () => void {
  const send = () =>
    void fetch(`${url}/v1/user`, { headers: { authorization: `Bearer ${token}` }, signal }).then(
      (answer) => answer.arrayBuffer(),
      () => {},
    );
  const timer = setInterval(send, WINDOW / NEIGHBOR);
  const stop = () => clearInterval(timer);
  signal.addEventListener('abort', stop);
  return stop;
}

/** Returns the time from the first request to the last answer over the least possible. */
function overFloor(entries: readonly RequestEntry[], kind: Windows, share: number): number {
  const accepted = entries.filter(({ status }) => status !== 429);
  const [first = 0, last = 0] = [entries[0]?.at, accepted.at(-1)?.at];
  const opened = kind === 'fixed' ? Math.floor(first / WINDOW) * WINDOW : first;
  const windows = Math.ceil(accepted.length / share);
  const least = opened + (windows - 1) * WINDOW + LATENCY - first;
  return (last + LATENCY - first) / least;
}

function countRefused(entries: readonly RequestEntry[]): number {
  return entries.filter(({ status }) => status === 429).length;
}
