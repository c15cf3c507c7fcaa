import type { IncomingMessage } from 'node:http';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { serveLocally, textOf } from '../support/local-server.ts';
import { openWorkspace, type Workspace } from '../support/workspace.ts';

/** Platform that changes strings before it stores them. */
async function normalizing(platform: string, change: (name: string, value: string) => string) {
  const server = await serveLocally(async (incoming: IncomingMessage, outgoing) => {
    const sent = await textOf(incoming);
    const body =
      sent === ''
        ? null
        : JSON.stringify(
            Object.fromEntries(
              Object.entries(JSON.parse(sent) as object).map(([name, value]) => [
                name,
                typeof value === 'string' ? change(name, value) : value,
              ]),
            ),
          );
    const answer = await fetch(new URL(incoming.url ?? '/', platform), {
      method: incoming.method ?? 'GET',
      headers: { authorization: incoming.headers.authorization ?? '', 'content-type': 'application/json' },
      body,
    });
    outgoing.writeHead(answer.status, { 'content-type': 'application/json' });
    outgoing.end(await answer.text());
  });
  return server;
}

describe('values that the platform stores differently', () => {
  let work: Workspace;
  beforeEach(async () => {
    work = await openWorkspace();
  });
  afterEach(() => work[Symbol.asyncDispose]());

  async function apply(manifest: string, change: (name: string, value: string) => string, ...args: string[]) {
    const platform = await normalizing(work.emulator.url, change);
    try {
      work.repository.write('all.yaml', manifest);
      return await work.inside(['apply', '.', '--yes', ...args], { OCTAVO_BASE_URL: platform.url });
    } finally {
      await platform.stop();
    }
  }
  const NOTE =
    'the platform stored "one" instead of "one\\n" for description; write it like this, or every plan will update it again';
  const MANIFEST = 'collections: { c: { title: C, description: "one\\n" } }\nteams: { t: { title: T } }\n';
  const trimmed = (_name: string, value: string) => value.trim();

  test('are noted once in the text', async () => {
    const { code, stderr } = await apply(MANIFEST, trimmed);
    expect(code).toBe(0);
    expect(stderr.split('\n').filter((line) => line.startsWith('note'))).toEqual([`note     collection/c: ${NOTE}`]);
  });

  test('are noted in JSON, for creations and updates', async () => {
    for (const description of ['one\\n', 'two\\n']) {
      const { stdout } = await apply(MANIFEST.replace('one\\n', description), trimmed, '--format', 'json');
      const { results } = JSON.parse(stdout) as { results: { address: string; note?: string }[] };
      expect(results.find(({ address }) => address === 'collection/c')?.note).toBe(
        NOTE.replaceAll('one', description.slice(0, 3)),
      );
    }
  });

  test('are not noted where nothing differs', async () => {
    const { stdout } = await apply(MANIFEST, (_name, value) => value, '--format', 'json');
    expect(stdout).not.toContain('"note"');
  });

  test('are shortened, and printed as text', async () => {
    const { stderr } = await apply(MANIFEST, (name, value) =>
      name === 'description' ? `\u001b[31m${'é'.repeat(90)}` : value,
    );
    expect(stderr).toMatch(/the platform stored "\\u001b\[31mé+" instead of/);
    const { stderr: long } = await apply('teams: { u: { title: U } }', (_name, value) =>
      value === 'U' ? 'x'.repeat(64) : value,
    );
    expect(long).toContain(`stored "${'x'.repeat(64)}" instead of "U" for title`);
  });

  test('are logged by a daemon', async () => {
    const platform = await normalizing(work.emulator.url, trimmed);
    try {
      work.repository.commit('All', { 'all.yaml': MANIFEST });
      const config = work.configure({
        top: { platform: { baseUrl: platform.url, token: work.emulator.token } },
      });
      const { stdout, stderr } = await work.inside(['run', '--once', '--config', config]);
      expect((stdout + stderr).split('\n').filter((line) => line.includes(JSON.stringify(NOTE)))).toHaveLength(1);
    } finally {
      await platform.stop();
    }
  });
});
