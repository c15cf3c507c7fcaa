import { afterEach, describe, expect, test } from 'vitest';
import { ConfigError } from '../../src/core/errors.ts';
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
  test('is alive, and ready when nothing is left to wait for', async () => {
    const waiting = ['org_1: the first sync was not tried yet'];
    const { app } = serve([], waiting);
    expect((await app.inject('/healthz')).json()).toEqual({ healthy: true, reasons: [] });
    const before = await app.inject('/readyz');
    expect(before.statusCode).toBe(503);
    expect(before.json()).toEqual({ ready: false, reasons: ['org_1: the first sync was not tried yet'] });
    waiting.pop();
    expect((await app.inject('/readyz')).statusCode).toBe(200);
  });

  test('says when it should be restarted', async () => {
    expect((await serve(['the loop stands still']).app.inject('/healthz')).statusCode).toBe(503);
  });

  test('shows metrics as text', async () => {
    const answer = await serve().app.inject('/metrics');
    expect(answer.headers['content-type']).toContain('text/plain; version=0.0.4');
    expect(answer.body).toContain('octavo_process_cpu_seconds_total');
  });

  test('answers nothing else, and says nothing of itself', async () => {
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

  test('an error inside is not shown', async () => {
    const server = createServer({
      registry: { contentType: 'text/plain', metrics: () => Promise.reject(new Error('the secret reason')) },
      health: () => [],
      ready: () => [],
    });
    const answer = await server.app.inject('/metrics');
    expect(answer.statusCode).toBe(500);
    expect(answer.body).toBe('{"error":"internal error"}');
  });

  test('listens, and names an address that is taken', async () => {
    const server = serve();
    const address = await server.listen({ host: '127.0.0.1', port: 0 });
    expect((await fetch(`${address}/healthz`)).status).toBe(200);
    const port = Number(new URL(address).port);
    await expect(serve().listen({ host: '127.0.0.1', port })).rejects.toThrow(ConfigError);
  });
});
