import { afterEach, describe, expect, test } from 'vitest';
import { createMetrics } from '../../src/server/metrics.ts';
import { createServer, type Server } from '../../src/server/server.ts';

const servers: Server[] = [];
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

function serve(health: string[] = [], ready: string[] = []) {
  const { registry } = createMetrics();
  const server = createServer({ registry, health: () => health, ready: () => ready });
  servers.push(server);
  return server;
}

describe('the server', () => {
  test('is healthy at once, and ready when no reason is left to wait', async () => {
    const waiting = ['org_1: the first sync was not tried yet'];
    const { app } = serve([], waiting);
    expect((await app.inject('/healthz')).json()).toEqual({ healthy: true, reasons: [] });
    const before = await app.inject('/readyz');
    expect(before.statusCode).toBe(503);
    expect(before.json()).toEqual({ ready: false, reasons: ['org_1: the first sync was not tried yet'] });
    waiting.pop();
    expect((await app.inject('/readyz')).statusCode).toBe(200);
  });

  test('responds 503 to a health check with reasons', async () => {
    expect((await serve(['the loop stands still']).app.inject('/healthz')).statusCode).toBe(503);
  });

  test('returns metrics as text', async () => {
    const answer = await serve().app.inject('/metrics');
    expect(answer.headers['content-type']).toContain('text/plain; version=0.0.4');
    expect(answer.body).toContain('octavo_process_cpu_seconds_total');
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

  test('does not reveal the message of an internal error', async () => {
    const server = createServer({
      registry: { contentType: 'text/plain', metrics: () => Promise.reject(new Error('the secret reason')) },
      health: () => [],
      ready: () => [],
    });
    const answer = await server.app.inject('/metrics');
    expect(answer.statusCode).toBe(500);
    expect(answer.body).toBe('{"error":"internal error"}');
  });
});
