import { setTimeout as sleep } from 'node:timers/promises';
import PQueue from 'p-queue';
import { Pool } from 'undici';
import { systemClock } from '../src/core/clock.ts';
import { openWriter } from '../src/platform/client.ts';
import { openConnection } from '../src/platform/connection.ts';
import { operations } from '../src/platform/operations/index.ts';
import type { Platform } from './platform.ts';

/** A limit: calls per number of milliseconds. */
export interface Limit {
  readonly kind: 'fixed' | 'first-call';
  readonly limit: number;
  readonly window: number;
}

/** Requests in flight at most, for every client. */
export const CONCURRENCY = 20;

/** Creates a team for every title, and ends when all exist. */
export type Client = (platform: Platform, titles: readonly string[], limit: Limit) => Promise<void>;

/** Octavo's own client, which does not know the limit. */
export const octavo: Client = async (platform, titles) => {
  const connection = openConnection({
    baseUrl: platform.url,
    token: platform.token,
    userAgent: 'octavo-bench',
    concurrency: CONCURRENCY,
    clock: systemClock,
    random: Math.random,
  });
  const writer = openWriter(connection, { organization: platform.organization, priority: 'apply' });
  await Promise.all(titles.map((title) => writer.send(operations.createTeam, { body: { title } })));
  await connection.close();
};

/** p-queue, which knows the limit. Refused requests are sent again after a second. */
export const limitedQueue: Client = async (platform, titles, { limit, window }) => {
  const pool = new Pool(platform.url, { connections: CONCURRENCY });
  const queue = new PQueue({ concurrency: CONCURRENCY, intervalCap: limit, interval: window, strict: true });
  const create = async (title: string): Promise<void> => {
    if (!(await queue.add(() => put(pool, platform, title)))) {
      await sleep(1000);
      await create(title);
    }
  };
  await Promise.all(titles.map(create));
  await pool.close();
};

/** A client without a limiter: sends, and after a refusal waits 0.5 s, doubled each time up to 30 s, with full jitter. */
export const retryOnly: Client = async (platform, titles) => {
  const pool = new Pool(platform.url, { connections: CONCURRENCY });
  const queue = new PQueue({ concurrency: CONCURRENCY });
  const create = async (title: string): Promise<void> => {
    for (let refusals = 0; !(await put(pool, platform, title)); refusals += 1) {
      await sleep(Math.random() * Math.min(30_000, 500 * 2 ** refusals));
    }
  };
  await queue.addAll(titles.map((title) => () => create(title)));
  await pool.close();
};

/** True if the request was accepted; false for a 429. */
async function put(pool: Pool, { organization, token }: Platform, title: string): Promise<boolean> {
  const answer = await pool.request({
    method: 'PUT',
    path: `/v1/orgs/${organization}/teams`,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ title }),
  });
  await answer.body.dump();
  if (answer.statusCode >= 300 && answer.statusCode !== 429) {
    throw new Error(`a team was not created: ${answer.statusCode}`);
  }
  return answer.statusCode !== 429;
}
