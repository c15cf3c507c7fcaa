/**
 * Fake of Kong's admin API, for decK: `node kong.js <latency in milliseconds>`. It has nothing, accepts everything, and
 * prints its address.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';

const LATENCY = Number(process.argv[2]);
const ABOUT = { version: '2.0.0', configuration: { database: 'postgres' } };

function answer(method: string, path: string, body: string): unknown {
  if (method === 'PUT') {
    return { id: path.slice(path.lastIndexOf('/') + 1), ...(JSON.parse(body) as object) };
  }
  return path === '/' ? ABOUT : { data: [], next: null };
}

const server = createServer(async (request, response) => {
  const body = await text(request);
  await sleep(LATENCY);
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify(answer(request.method ?? '', request.url ?? '', body)));
});

server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}\n`);
});
