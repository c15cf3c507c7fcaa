/** Requests that must not be sent any more when their connection is open at last. */

import type { ServerResponse } from 'node:http';
import { expect, test } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import { type AppError, LeaseLostError } from '../../src/core/errors.ts';
import { openTransport } from '../../src/platform/http/transport.ts';
import { serveLocally } from '../support/local-server.ts';

test('a write is refused although its lease was long enough before it waited for a connection', async () => {
  const requests: string[] = [];
  const held = Promise.withResolvers<ServerResponse>();
  const server = await serveLocally((request, response) => {
    requests.push(`${request.method} ${request.url}`);
    if (request.url === '/held') {
      held.resolve(response);
    } else {
      response.end('{}');
    }
  });
  const transport = openTransport({
    base: new URL(server.url),
    token: 'secret-token',
    userAgent: 'octavo/0.0.0',
    connections: 1,
    timeouts: { connect: 10_000, headers: 30_000, body: 30_000 },
    clock: systemClock,
  });
  let refused: AppError | null = null;
  const send = (method: 'GET' | 'POST', path: string) =>
    transport.send({ method, path, body: null, refusal: () => refused }, new AbortController().signal);
  try {
    const first = send('GET', '/held');
    const response = await held.promise;
    const write = send('POST', '/write');
    refused = new LeaseLostError('organization/acme', 'short');
    response.end('{}');
    await first;
    await expect(write).rejects.toBe(refused);
    refused = null;
    expect((await send('POST', '/next')).status).toBe(200);
    expect(requests).toEqual(['GET /held', 'POST /next']);
  } finally {
    await transport.close();
    await server.stop();
  }
});
