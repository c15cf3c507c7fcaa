// Counts what one request allocates, because that decides its CPU time and memory.

import { createHook } from 'node:async_hooks';
import { expect, test } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import { openWriter } from '../../src/platform/client.ts';
import { openConnection } from '../../src/platform/connection.ts';
import { operations } from '../../src/platform/operations/index.ts';
import { serveLocally } from '../support/local-server.ts';

const WRITES = 100;

/** Promises per request, from the call to its response: a layer that adds its own raises this for every request. */
const MAX_PROMISES = 13;

test('a write creates few promises and no stream of its own', async () => {
  const server = await serveLocally((request, response) => {
    request.resume();
    request.on('end', () => response.setHeader('content-type', 'application/json').end('{"id":"t1","title":"a"}'));
  });
  const connection = openConnection({
    baseUrl: server.url,
    token: 'token',
    userAgent: 'octavo/test',
    concurrency: 10,
    clock: systemClock,
    random: () => 0.5,
  });
  const writer = openWriter(connection, { organization: 'org', priority: 'apply' });
  const send = () => writer.send(operations.createTeam, { body: { title: 'a' } });
  await Promise.all(Array.from({ length: 20 }, send));

  const created = new Map<string, number>();
  const hook = createHook({
    init: (_, type) => created.set(type, (created.get(type) ?? 0) + 1),
  }).enable();
  await Promise.all(Array.from({ length: WRITES }, send));
  hook.disable();
  await connection.close();
  await server.stop();

  expect((created.get('PROMISE') ?? 0) / WRITES).toBeLessThanOrEqual(MAX_PROMISES);
  expect(created.get('UNDICI_REQUEST') ?? 0).toBe(0);
});
