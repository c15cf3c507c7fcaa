/** Commands that ask a daemon of an older version, which does not report its version. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openWorkspace } from '../support/workspace.ts';

/** Answers every request with an object, as a daemon without a version does. */
function answerAll(socket: string, answer: object): Promise<Server> {
  const server = createServer((_request, response) => {
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(answer));
  });
  return new Promise((done) => server.listen(socket, () => done(server)));
}

const COMMANDS: readonly (readonly string[])[] = [
  ['status'],
  ['status', '--format', 'json'],
  ['status', '--organization', 'org_acme'],
  ['audit'],
  ['history'],
  ['conditions'],
  ['fleet', 'status'],
  ['sessions', 'list'],
  ['sessions', 'end', '--user', 'ana@acme.example'],
  ['notify', 'retry'],
  ['approve', 'sha256:1'],
  ['reject', 'sha256:1'],
  ['pause', '--reason', 'x'],
  ['resume'],
  ['reconcile'],
  ['conversations', 'status'],
  ['conversations', 'dead', 'list'],
  ['conversations', 'dead', 'show', 'k'],
  ['conversations', 'dead', 'retry', 'k'],
  ['conversations', 'dead', 'drop', 'k'],
  ['conversations', 'push', 'tickets.ndjson'],
  ['clusters', 'list'],
  ['clusters', 'open', 'c'],
  ['clusters', 'mute', 'c'],
];

test('commands report a daemon of another version, and what to do', async () => {
  await using work = await openWorkspace();
  work.configure();
  const state = join(work.folder, 'state');
  mkdirSync(state, { recursive: true });
  writeFileSync(join(work.folder, 'tickets.ndjson'), '');
  const server = await answerAll(join(state, 'octavo.db.sock'), { version: 'of before' });
  try {
    for (const command of COMMANDS) {
      const { code, stdout, stderr } = await work.inside([...command, '--config', 'config.yaml'], {}, '..');
      expect([command, code]).toEqual([command, 3]);
      // With --format json, the error is JSON.
      expect(`${stdout}${stderr}`, command.join(' ')).toMatch(
        /the daemon on \S+octavo\.db\.sock answered in an unknown form; the daemon does not report its version, and this command \S+: use the octavo command of the same version, or upgrade and restart the daemon/,
      );
    }
  } finally {
    server.close();
  }
});
