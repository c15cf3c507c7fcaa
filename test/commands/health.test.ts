import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { serveLocally } from '../support/local-server.ts';
import { openWorkspace, type Workspace } from '../support/workspace.ts';

/** A daemon's HTTP server that answers with a status. */
async function openDoor(status: number, reasons: readonly string[]) {
  const paths: string[] = [];
  const server = await serveLocally((request, response) => {
    paths.push(request.url ?? '');
    response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify({ reasons }));
  });
  return { port: new URL(server.url).port, paths, [Symbol.asyncDispose]: () => server.stop() };
}

/** Runs the health check with a configuration whose secrets are missing, as in a container's health check. */
function health(work: Workspace, listen: string, ...flags: string[]) {
  const file = join(work.folder, 'daemon.yaml');
  const text = `platform: { baseUrl: "https://api.example", token: "\${env:NOT_THERE}" }
organizations: [{ id: org_1, source: { directory: /manifests }, token: "\${file:/not/there}" }]
server: { listen: "${listen}" }
`;
  writeFileSync(file, text);
  return work.inside(['health', ...flags, '--config', file]);
}

describe('octavo health', () => {
  test('exits 0 for a healthy daemon, without reading a secret', async () => {
    await using work = await openWorkspace();
    await using door = await openDoor(200, []);
    expect(await health(work, `127.0.0.1:${door.port}`)).toMatchObject({ code: 0, stdout: '200\n', stderr: '' });
    expect(door.paths).toEqual(['/healthz']);
  });

  test('uses the loopback address for a daemon that listens on all addresses', async () => {
    await using work = await openWorkspace();
    await using door = await openDoor(200, []);
    expect(await health(work, `0.0.0.0:${door.port}`, '--ready')).toMatchObject({ code: 0 });
    expect(door.paths).toEqual(['/readyz']);
  });

  test('exits 1 with the reasons of a daemon that is not healthy', async () => {
    await using work = await openWorkspace();
    await using door = await openDoor(503, ['the state file cannot be written']);
    const ended = await health(work, `127.0.0.1:${door.port}`);
    expect(ended).toMatchObject({ code: 1, stdout: '503: the state file cannot be written\n' });
  });

  test('exits 1 without a response, and 3 for an unknown port', async () => {
    await using work = await openWorkspace();
    const door = await openDoor(200, []);
    await door[Symbol.asyncDispose]();
    const ended = await health(work, `127.0.0.1:${door.port}`);
    expect(ended).toMatchObject({ code: 1, stderr: expect.stringMatching(/^no response from http:\/\/127\.0\.0\.1:/) });
    expect(await health(work, '127.0.0.1:0')).toMatchObject({ code: 3, stderr: expect.stringContaining('port 0') });
  });
});
