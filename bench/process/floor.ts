// The least that any client needs for the same requests: bare undici over a Pool, and nothing else.
//   node floor.js <url> <token> <organization> <parallel> create <n> | list | members
import { Pool } from 'undici';

const [url = '', token = '', organization = '', parallel = '10', what = 'list', amount = '0'] = process.argv.slice(2);
const concurrency = Number(parallel);
const teams = `/v1/orgs/${organization}/teams`;
const pool = new Pool(url, { connections: concurrency });
const headers = { authorization: `Bearer ${token}`, accept: 'application/json' };
const withBody = { ...headers, 'content-type': 'application/json' };

interface Item {
  readonly id: string;
  readonly user?: { readonly email: string };
}

interface Page {
  readonly items: readonly Item[];
  readonly next?: { readonly page: string } | undefined;
}

async function call(method: 'GET' | 'PUT', path: string, body?: unknown): Promise<unknown> {
  const answer = await pool.request({
    method,
    path,
    headers: body === undefined ? headers : withBody,
    body: body === undefined ? null : JSON.stringify(body),
  });
  const text = await answer.body.text();
  if (answer.statusCode >= 300) {
    throw new Error(`${method} ${path}: ${answer.statusCode} ${text}`);
  }
  return text === '' ? null : JSON.parse(text);
}

async function list(path: string): Promise<readonly Item[]> {
  const items: Item[] = [];
  let page: string | undefined;
  do {
    const answer = (await call('GET', `${path}?limit=1000${page === undefined ? '' : `&page=${page}`}`)) as Page;
    items.push(...answer.items);
    page = answer.next?.page;
  } while (page !== undefined);
  return items;
}

async function forEach<T>(items: Iterable<T>, work: (item: T) => Promise<unknown>): Promise<void> {
  const queue = items[Symbol.iterator]();
  const worker = async () => {
    for (let next = queue.next(); next.done !== true; next = queue.next()) {
      await work(next.value);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
}

const found = await list(teams);
if (what === 'create') {
  // `<n>` or `<n>+<people>`: n teams, with the given number of members each.
  const [count = 0, people = 0] = amount.split('+').map(Number);
  const known = people === 0 ? [] : await list(`/v1/orgs/${organization}/members`);
  const byEmail = new Map(known.map(({ id, user }) => [user?.email, id]));
  const numbers = Array.from({ length: count }, (_, index) => index);
  await forEach(numbers, (number) => {
    const members = Array.from({ length: people }, (_, index) =>
      byEmail.get(`person-${(number + index) % 50}@bench.example`),
    );
    const body = { title: `Team ${number}`, ...(people === 0 ? {} : { members }) };
    return call('PUT', teams, body);
  });
} else if (what === 'members') {
  await forEach(found, ({ id }) => list(`${teams}/${id}/members`));
}
await pool.close();
