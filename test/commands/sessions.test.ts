/** Commands about sessions of the web page, with a running daemon. */
import { expect, test } from 'vitest';
import { startDaemon } from '../daemon/daemon-process.ts';
import { eventually } from '../support/octavo-process.ts';
import { openWorkspace, type Workspace } from '../support/workspace.ts';
import { tokenEntry } from '../web/page-app.ts';

const NOT_SIGNED_IN = 401;

function run(work: Workspace, ...args: string[]) {
  return work.inside([...args, '--config', 'config.yaml'], {}, '..');
}

/** Starts a daemon with a web page for two people. */
async function startPage(work: Workspace) {
  const tokens = ['ana', 'ben'].map((name) => tokenEntry(name, `${name}-token`));
  const ui = { listen: '127.0.0.1:0', tokens, roles: [{ role: 'viewer', people: ['*'] }] };
  const daemon = await startDaemon(work, { top: { ui } });
  const { address } = await daemon.run.waitForLog('web page is served');
  const send = (token: string) =>
    fetch(`${address}/sign-in`, {
      ...{ method: 'POST', redirect: 'manual', body: new URLSearchParams({ token, back: '/' }) },
      headers: { origin: String(address) },
    });
  return {
    daemon,
    send,
    /** Signs in. Returns a function that opens a page and returns the status. */
    signIn: async (name: string) => {
      const [cookie = ''] = (await send(`${name}-token`)).headers.getSetCookie().map((each) => each.split(';')[0]);
      return async () => (await fetch(`${address}/audit`, { headers: { cookie, accept: 'application/json' } })).status;
    },
  };
}

test('sessions are listed without secrets, and ended for one person or everybody', async () => {
  await using work = await openWorkspace();
  const { signIn } = await startPage(work);
  expect((await run(work, 'sessions', 'list')).stdout).toBe('no sessions\n');
  const [ana, phone, ben] = [await signIn('ana'), await signIn('ana'), await signIn('ben')];
  expect([await ana(), await phone(), await ben()]).toEqual([200, 200, 200]);
  const { stdout } = await run(work, 'sessions', 'list');
  expect(stdout.replaceAll(/2\S+Z/g, 'TIME').trim().split('\n').sort()).toEqual([
    ...['ana token until TIME', 'ana token until TIME', 'ben token until TIME'],
  ]);
  const json = await run(work, 'sessions', 'list', '--format', 'json');
  expect(JSON.parse(json.stdout).sessions.map((each: object) => Object.keys(each))).toEqual(
    Array.from({ length: 3 }, () => ['name', 'method', 'until']),
  );

  const ended = await run(work, 'sessions', 'end', '--user', 'ana', '--reason', 'lost laptop');
  expect([ended.code, ended.stdout]).toEqual([0, 'Ended 2 sessions\n']);
  expect([await ana(), await phone(), await ben()]).toEqual([NOT_SIGNED_IN, NOT_SIGNED_IN, 200]);
  const again = await run(work, 'sessions', 'end', '--user', 'ana');
  expect([again.code, again.stderr.includes('"ana" has no session; list the names')]).toEqual([3, true]);
  expect((await run(work, 'sessions', 'end', '--all')).stdout).toBe('Ended 1 session\n');
  expect(await ben()).toBe(NOT_SIGNED_IN);
  const [, ...audit] = (await run(work, 'audit')).stdout.split('\n');
  expect(audit.map((each) => each.replace(/^.*? sessions/, 'sessions').replaceAll(/ +/g, ' '))).toEqual([
    'sessions end everybody done 1 session',
    'sessions end ana done 2 sessions lost laptop',
    '',
  ]);
});

test.each([
  [[], 'pass --user NAME to end one person'],
  [['--all', '--user', 'ana'], 'cannot be used with'],
])('sessions end %j is refused', async (args, error) => {
  await using work = await openWorkspace();
  work.configure();
  const { code, stderr } = await run(work, 'sessions', 'end', ...args);
  expect([code, stderr.includes(error)]).toEqual([3, true]);
});

test('guesses of tokens are in the audit, once a minute', async () => {
  await using work = await openWorkspace();
  const { send } = await startPage(work);
  const statuses: number[] = [];
  for (let attempt = 0; attempt < 12; attempt += 1) {
    statuses.push((await send(`guess-${attempt}`)).status);
  }
  expect(statuses.filter((status) => status === 429)).toHaveLength(2);
  await eventually('the entry', async () => (await run(work, 'audit')).stdout !== '');
  expect((await run(work, 'audit')).stdout).toMatch(
    / sign in +127\.0\.0\.1 +refused +10 wrong tokens within a minute; further ones are refused for a minute\n$/,
  );
  expect((await run(work, 'audit')).stdout).not.toContain('guess-');
});
