import type { IncomingMessage } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Terminal } from '../../src/commands/cli/context.ts';
import { type LocalServer, serveLocally } from '../support/local-server.ts';
import { openWorkspace, type Workspace } from '../support/workspace.ts';

let space: Workspace;
let space1: string;
let request1: string;

beforeAll(async () => {
  space = await openWorkspace();
  for (const title of ['Writers', 'Editors', 'Readers']) {
    await space.call('PUT', '/teams', { title });
  }
  space1 = (await space.call('POST', '/spaces', { title: 'Guides' })).id;
  request1 = JSON.parse(
    (await api(['POST', `/spaces/${space1}/change-requests`, '-f', 'subject=Fix', '--yes'])).stdout,
  ).id;
});
afterAll(() => space[Symbol.asyncDispose]());

function api(args: readonly string[], terminal: Partial<Terminal> = {}) {
  return space.inside(['api', ...args], {}, '..', terminal);
}

/** The request that would be sent. */
async function dry(...args: readonly string[]) {
  const { code, stdout, stderr } = await api([...args, '--dry-run', '--format', 'json']);
  return code === 0 ? (JSON.parse(stdout) as Record<string, unknown>) : { code, stderr };
}

describe('a full URL of the platform', () => {
  const origin = () => space.emulator.url;

  test.each([
    ['outside of the API', '/app/print/spc_1/cr_1?until=2026-01-31T09%3A00%3A00Z&a=b%20c'],
    ['with a slash at its end', '/v1/orgs/'],
    ['without a version', '/orgs'],
    ['with a colon', '/app/:org/x'],
    ['that is nearly an operation', '/v1/orgs/o/team'],
  ])('%s is used unchanged', async (_what, path) => {
    expect(await dry(`${origin()}${path}`)).toMatchObject({ url: `${origin()}${path}` });
  });

  test('is compared as a URL, and its fragment is not sent', async () => {
    const other = origin().replace('http://', 'HTTP://');
    expect(await dry(`${other}/v1/orgs#top`)).toMatchObject({ url: `${origin()}/v1/orgs` });
  });

  test.each([
    ['another host', 'https://elsewhere.example/v1/orgs'],
    ['another host after user info', 'http://127.0.0.1@elsewhere.example/v1'],
    ['user info', 'http://ana:secret-1@HOST/v1/orgs'],
    ['another port', 'http://127.0.0.1:1/v1/orgs'],
    ['a backslash', 'http://HOST\\@elsewhere.example/v1'],
    ['another scheme', 'https://HOST/v1/orgs'],
  ])('is refused with %s', async (_what, url) => {
    const refused = await dry(url.replace('HOST', new URL(origin()).host));
    expect(refused).toMatchObject({ code: 3, stderr: expect.stringContaining('the token is sent only there') });
    expect(JSON.stringify(refused)).not.toContain('secret-1');
  });

  test('can be a file, which is written unchanged', async () => {
    const { stdout } = await api(['getChangeRequestPdf', space1, request1, '--jq', '.url']);
    const url = stdout.trim();
    const bytes: Buffer[] = [];
    const outBytes = (some: Uint8Array) => void bytes.push(Buffer.from(some));
    expect(await api([url], { outBytes })).toEqual({ code: 0, stdout: '', stderr: '' });
    const direct = Buffer.from(await (await fetch(url)).arrayBuffer());
    expect(Buffer.concat(bytes).equals(direct)).toBe(true);
    expect(direct.subarray(0, 5).toString()).toBe('%PDF-');
    expect(await api([url], { outBytes, isOutTerminal: true })).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('redirect it to a file'),
    });
    expect(await api([url, '--jq', '.x'])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('leave out --jq'),
    });
  });
});

describe('-f and -F', () => {
  test('does not suggest -F if its value would be invalid, too', async () => {
    for (const args of [
      ['listTeams', '-f', 'limit=5000'],
      ['listTeams', '-F', 'limit=5000'],
      ['updateOrganization', '-f', 'ai=3'],
    ]) {
      const { code, stderr } = await api([...args, '--yes']);
      expect({ code, stderr }).toEqual({ code: 3, stderr: expect.not.stringContaining('to send the value') });
    }
  });
});

describe('--silent and --slurp', () => {
  test('--silent prints no response, and sets the exit code', async () => {
    expect(await api(['listTeams', '--silent'])).toEqual({ code: 0, stdout: '', stderr: '' });
    expect(await api(['listTeams', '--silent', '--paginate'])).toEqual({ code: 0, stdout: '', stderr: '' });
    expect(await api(['deleteTeam', 'none', '--silent', '--yes'])).toEqual({ code: 0, stdout: '', stderr: '' });
    expect(await api(['getTeam', 'none', '--silent'])).toEqual({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining('(404)'),
    });
  });

  test('--silent with -i prints only status and headers', async () => {
    expect((await api(['listTeams', '--silent', '-i'])).stdout).toMatch(/^HTTP 200 OK\n([\w-]+: .*\n)+\n$/);
  });

  test('--slurp prints one list of all pages', async () => {
    const { stdout } = await api(['listTeams', '-f', 'limit=1', '--paginate', '--slurp']);
    expect(JSON.parse(stdout).map(({ title }: { title: string }) => title)).toEqual(['Writers', 'Editors', 'Readers']);
    const counted = await api(['listTeams', '-f', 'limit=2', '--paginate', '--slurp', '--jq', 'length']);
    expect(counted).toEqual({ code: 0, stdout: '3\n', stderr: '' });
    const none = await api(['listTeams', '-f', 'title=nobody', '--paginate', '--slurp']);
    expect(none.stdout).toBe('[]\n');
  });
});

describe('-H', () => {
  let server: LocalServer;
  let env: Readonly<Record<string, string>>;
  let seen: IncomingMessage['headers'] = {};

  beforeAll(async () => {
    server = await serveLocally((request, response) => {
      seen = request.headers;
      const { authorization = '', cookie = '' } = seen;
      response.writeHead(seen['x-refuse'] === undefined ? 200 : 400, {
        'content-type': 'application/json',
        'x-seen': `${authorization} ${cookie}`,
      });
      response.end(JSON.stringify({ error: { message: `${authorization} ${cookie}` }, seen }));
    });
    env = { ...space.env, OCTAVO_BASE_URL: server.url };
  });
  afterAll(() => server.stop());

  test('sends headers, with the last of a name, and replaces those of Octavo', async () => {
    const args = ['-H', 'Prefer: return=minimal', '-H', 'x-a:1', '-H', 'X-A: 2:3', '-H', 'accept: text/plain'];
    await api(['listTeams', ...args], { env });
    expect(seen).toMatchObject({ prefer: 'return=minimal', 'x-a': '2:3', accept: 'text/plain' });
  });

  test('prints no secret of a header in requests and responses', async () => {
    const secrets = ['-H', 'Authorization: Bearer other-token-77', '-H', 'Cookie: session=crumb-88'];
    for (const args of [
      [],
      ['-i'],
      ['--jq', '.seen'],
      ['-H', 'x-refuse: 1'],
      ['-i', '-H', 'x-refuse: 1'],
      ['--dry-run'],
    ]) {
      const { stdout, stderr } = await api(['listTeams', ...secrets, ...args], { env });
      expect(`${stdout}${stderr}`).toMatch(/\[secret\]/);
      expect(`${stdout}${stderr}`).not.toMatch(/other-token-77|crumb-88/);
    }
    expect(seen).toMatchObject({ authorization: 'Bearer other-token-77', cookie: 'session=crumb-88' });
  });

  test('prints headers with --dry-run', async () => {
    expect(await dry('listTeams', '-H', 'Prefer: return=minimal', '-H', 'x-api-key: key-99')).toMatchObject({
      headers: { prefer: 'return=minimal', 'x-api-key': '[secret]' },
    });
    expect((await api(['listTeams', '-H', 'Prefer: x', '--dry-run'])).stdout).toContain('\nprefer: x\n');
  });

  test.each([
    ['no colon', 'Prefer', 'expected name:value'],
    ['no name', ': x', 'is not a valid header name'],
    ['a name with a space', 'a b: x', 'is not a valid header name'],
    ['a line break', 'x-a: 1\r\nhost: evil', 'the value has characters that are not allowed in a header'],
    ['another host', 'Host: evil.example', 'host cannot be set'],
    ['a length', 'Content-Length: 3', 'content-length cannot be set'],
    ['a connection', 'connection: close', 'connection cannot be set'],
  ])('%s is refused', async (_what, header, message) => {
    const { code, stderr } = await api(['listTeams', '-H', header]);
    expect({ code, stderr }).toEqual({ code: 3, stderr: expect.stringContaining(message) });
  });
});
