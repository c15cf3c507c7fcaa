/** Health, readiness and metrics over HTTP. */
import { afterEach, describe, expect, test } from 'vitest';
import { createMetrics } from '../../src/server/metrics.ts';
import { createServer, type Server } from '../../src/server/server.ts';

const servers: Server[] = [];
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

function serve(ready: string[] = []) {
  const { registry } = createMetrics();
  const server = createServer({ registry, ready: () => ready });
  servers.push(server);
  return server;
}

describe('the server', () => {
  test('is healthy at once, ready when no reason is left to wait, and returns metrics as text', async () => {
    const waiting = ['org_1: the first sync was not tried yet'];
    const { app } = serve(waiting);
    expect((await app.inject('/healthz')).json()).toEqual({ healthy: true, reasons: [] });
    const before = await app.inject('/readyz');
    expect(before.statusCode).toBe(503);
    expect(before.json()).toEqual({ ready: false, reasons: ['org_1: the first sync was not tried yet'] });
    waiting.pop();
    expect((await app.inject('/readyz')).statusCode).toBe(200);
    const metrics = await app.inject('/metrics');
    expect(metrics.headers['content-type']).toContain('text/plain; version=0.0.4');
    expect(metrics.body).toContain('octavo_process_cpu_seconds_total');
  });

  test('refuses other requests without naming the server or its version', async () => {
    const { app } = serve();
    for (const [method, url] of [
      ['GET', '/'],
      ['POST', '/healthz'],
      ['GET', '/%ff'],
      ['GET', '/../etc/passwd'],
    ] as const) {
      const answer = await app.inject({ method, url });
      expect([400, 404]).toContain(answer.statusCode);
      expect(JSON.stringify([answer.headers, answer.body])).not.toMatch(/fastify|node|octavo|version/i);
    }
  });
});
