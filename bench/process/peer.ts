/**
 * Clients that send the same requests as Octavo and do nothing else:
 *
 *   node peer.js <http|undici|vendor> <url> <token> <organization> <parallel> create <teams>[+<members>] | list | members
 *   node peer.js <http|undici> <url> <token> <organization> <parallel> post <file>
 *
 * `http` is node:http with a keep-alive agent: the floor. `undici` is a bare pool. `vendor` is the platform's own client
 * with a limiter like p-limit, and repeats refused requests after a second.
 */
import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
// The package's index exports no types to a module of this kind.
import type { Api } from '../../node_modules/gitbook-api-0.202/dist/client.d.ts';

const [transport = '', url = '', token = '', organization = '', parallel = '', what = 'list', amount = '0'] =
  process.argv.slice(2);
const concurrency = Number(parallel);
const base = '/v1';
const teams = `/orgs/${organization}/teams`;
const headers = { authorization: `Bearer ${token}`, accept: 'application/json', 'content-type': 'application/json' };

type Call = (method: 'GET' | 'PUT' | 'POST', path: string, body?: unknown) => Promise<unknown>;

interface Item {
  readonly id: string;
  readonly user?: { readonly email: string };
}

interface Page {
  readonly items: readonly Item[];
  readonly next?: { readonly page: string } | undefined;
}

function httpCall(): Call {
  const agent = new Agent({ keepAlive: true, maxSockets: concurrency });
  return (method, path, body) =>
    new Promise((resolve, reject) => {
      const payload = body === undefined ? '' : JSON.stringify(body);
      const length = { 'content-length': Buffer.byteLength(payload) };
      const sent = request(url + base + path, { method, agent, headers: { ...headers, ...length } }, (response) => {
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (piece: string) => {
          text += piece;
        });
        response.on('end', () => resolve(parseAnswer(response.statusCode ?? 0, text)));
      });
      sent.on('error', reject).end(payload);
    });
}

async function undiciCall(): Promise<Call> {
  const { Pool } = await import('undici');
  const pool = new Pool(url, { connections: concurrency });
  return async (method, path, body) => {
    const payload = body === undefined ? null : JSON.stringify(body);
    const answer = await pool.request({ method, path: base + path, headers, body: payload });
    return parseAnswer(answer.statusCode, await answer.body.text());
  };
}

async function vendorCall(): Promise<Call> {
  const { GitBookAPI } = await import('gitbook-api-0.202');
  const client = new GitBookAPI({ authToken: token, endpoint: url }) as unknown as Api<unknown>;
  const call: Call = async (method, path, body) => {
    try {
      const json = { headers: { 'content-type': 'application/json' }, format: 'json' } as const;
      return (await client.request({ method, path, body, secure: true, ...json })).data;
    } catch (error) {
      if ((error as { code?: number }).code === 429) {
        await sleep(1000);
        return call(method, path, body);
      }
      throw error;
    }
  };
  return call;
}

function parseAnswer(status: number, text: string): unknown {
  if (status >= 300) {
    throw new Error(`status ${status}: ${text}`);
  }
  return text === '' ? null : JSON.parse(text);
}

/** Limits concurrency like p-limit: a promise for every task exists from the start. */
async function limitedAll<T>(items: readonly T[], work: (item: T) => Promise<unknown>): Promise<void> {
  const waiting: (() => void)[] = [];
  let active = 0;
  const run = async (item: T) => {
    if (active >= concurrency) {
      await new Promise<void>((resolve) => waiting.push(resolve));
    }
    active += 1;
    await work(item);
    active -= 1;
    waiting.shift()?.();
  };
  await Promise.all(items.map(run));
}

/** Minimal version of the same: a fixed number of loops that share one iterator. */
async function shareAll<T>(items: readonly T[], work: (item: T) => Promise<unknown>): Promise<void> {
  const shared = items.values();
  const loop = async () => {
    for (const item of shared) {
      await work(item);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, loop));
}

async function list(call: Call, path: string): Promise<readonly Item[]> {
  const items: Item[] = [];
  let page: string | undefined;
  do {
    const query: string = page === undefined ? '' : `&page=${page}`;
    const answer = (await call('GET', `${path}?limit=1000${query}`)) as Page;
    items.push(...answer.items);
    page = answer.next?.page;
  } while (page !== undefined);
  return items;
}

async function create(call: Call, forEach: typeof shareAll): Promise<void> {
  const [count = 0, people = 0] = amount.split('+').map(Number);
  const known = people === 0 ? [] : await list(call, `/orgs/${organization}/members`);
  const byEmail = new Map(known.map(({ id, user }) => [user?.email, id]));
  const idOf = (number: number) => byEmail.get(`person-${number % 50}@bench.example`);
  const numbers = Array.from({ length: count }, (_, index) => index);
  await forEach(numbers, (number) => {
    const members = Array.from({ length: people }, (_, index) => idOf(number + index));
    return call('PUT', teams, { title: `Team ${number}`, ...(people === 0 ? {} : { members }) });
  });
}

async function main(): Promise<void> {
  const forEach = transport === 'vendor' ? limitedAll : shareAll;
  const call = transport === 'http' ? httpCall() : await (transport === 'vendor' ? vendorCall() : undiciCall());
  if (what === 'post') {
    const lines = readFileSync(amount, 'utf8').split('\n').slice(0, -1);
    return forEach(lines, (line) => call('POST', '/', JSON.parse(line)));
  }
  const found = await list(call, teams);
  if (what === 'create') {
    await create(call, forEach);
  } else if (what === 'members') {
    await forEach(found, ({ id }) => list(call, `${teams}/${id}/members`));
  }
}

await main();
process.exit();
