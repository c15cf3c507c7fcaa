/** Requests of `octavo api`: what is sent, refused and printed. */
import { writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import {
  findOperation,
  operationsWithPath,
  type RequestMethod,
  similarPath,
} from '../../src/commands/api/operations.ts';
import { readTarget } from '../../src/commands/api/request.ts';
import type { Terminal } from '../../src/commands/cli/context.ts';
import { allOperations } from '../../src/platform/operations/table.ts';
import { type LocalServer, serveLocally } from '../support/local-server.ts';
import { openWorkspace } from '../support/workspace.ts';

const space = await openWorkspace();
const teams: string[] = [];
for (const title of ['Writers', 'Editors', 'Readers']) {
  teams.push((await space.call('PUT', '/teams', { title })).id as string);
}
afterAll(() => space[Symbol.asyncDispose]());

/** Runs `octavo api` with overrides of the terminal. */
function api(args: readonly string[], terminal: Partial<Terminal> = {}) {
  return space.inside(['api', ...args], {}, '..', terminal);
}

const json = (text: string) => JSON.parse(text) as Record<string, unknown>;
const org = () => space.emulator.organization;
/** The request that would be sent. */
async function dry(...args: readonly string[]) {
  const { code, stdout, stderr } = await api([...args, '--dry-run', '--format', 'json']);
  return code === 0 ? json(stdout) : { code, stderr };
}

test('sends what one of two documents allows, and shows why the platform refuses it', async () => {
  const before = space.emulator.requests.count('updateOrganization');
  const { code, stderr } = await api(['updateOrganization', '--yes', '-d', '{"mergeRules":{"type":"inherit"}}']);
  expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringContaining('mergeRules') });
  expect(stderr).not.toContain('was not sent');
  expect(space.emulator.requests.count('updateOrganization')).toBe(before + 1);
});

test('says which platforms have an operation that this one lacks', async () => {
  const { code, stderr } = await api(['listSiteChannels', 'site_1']);
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: expect.stringContaining('only platforms like 0.202 have this operation'),
  });
  expect((await api(['getTeam', 'nobody'])).stderr).not.toContain('platforms like');
  expect((await api(['--list', 'listSiteChannels'])).stdout).toMatch(/only +platforms like 0\.202\n/);
  expect((await api(['--list', 'updateSite'])).stdout).toMatch(
    /agentsContext +one of "excluded", "included" \(0\.146\)/,
  );
});

describe('request target', () => {
  test.each([
    ['a method and a path', ['GET', '/v1/orgs/{organization}/teams'], '/teams'],
    ['a path alone, sent with GET', ['/v1/orgs/{org}/teams'], '/teams'],
    ['a path without the version', ['get', '/orgs/:org/teams'], '/teams'],
    ['a path without a leading slash', ['GET', 'orgs/:organization/teams/'], '/teams'],
    ["the document's own placeholder", ['GET', '/v1/orgs/{organizationId}/teams'], '/teams'],
    ['an operation name', ['listTeams'], '/teams'],
    ['an operation name in any case', ['listteams'], '/teams'],
    ["the vendor's name of an operation", ['listTeamsInOrganizationById'], '/teams'],
    ['an id after a name', ['getTeam', 'team 1/x?#$&'], '/teams/team%201%2Fx%3F%23%24%26'],
    ['an id as a field', ['getTeam', '-f', 'teamId=t1'], '/teams/t1'],
    ['a field for a placeholder', ['GET', '/orgs/:org/teams/{team}', '-f', 'team=t1'], '/teams/t1'],
    ['a query in the path', ['GET', '/orgs/:org/teams?title=a%20b'], '/teams?title=a+b'],
    ['fields of a read', ['listTeams', '-f', 'title=a&b', '-F', 'limit=3'], '/teams?title=a%26b&limit=3'],
    [
      'a list in a query',
      ['listSites', '-f', 'type[]=basic', '-f', 'type[]=premium'],
      '/sites?type=basic&type=premium',
    ],
    ['a method as an option', ['-X', 'DELETE', '/orgs/:org/teams/t1'], '/teams/t1'],
  ])('accepts %s', async (_what, args, path) => {
    expect(await dry(...args)).toMatchObject({ url: `${space.emulator.url}/v1/orgs/${org()}${path}`, body: null });
  });

  test.each([
    ['an empty command line', [], 'no request given'],
    ['a part of an operation name', ['ask'], 'no operation "ask"; run octavo api --list ask to list operations'],
    [
      'a part of several operation names',
      ['team'],
      'no operation "team"; run octavo api --list team to list operations',
    ],
    ['a misspelled operation', ['listTeam'], 'no operation "listTeam"; did you mean "listTeams"?'],
    ['a misspelled path', ['GET', '/orgs/:org/team'], 'did you mean /v1/orgs/{organizationId}/teams?'],
    ['another method', ['POST', '/orgs/:org/teams'], 'this path supports GET (listTeams), PUT (createTeam)'],
    ['an unknown method', ['FETCH', '/orgs'], '"FETCH" is not a supported method'],
    ['a method alone', ['GET'], 'GET needs a path'],
    ['a missing id', ['getTeam'], 'teamId is missing'],
    ['too many ids', ['getTeam', 'a', 'b'], 'getTeam takes teamId, but got 2 arguments'],
    ['too many arguments', ['GET', '/orgs', 'x'], '"x" is an extra argument'],
    ['dots', ['GET', '/orgs/../x'], 'it has a segment of only dots'],
    ['encoded dots', ['GET', '/orgs/%2E%2e/x'], 'it has a segment of only dots'],
    ['an empty id', ['deleteTeamMember', 't', ''], '"" is not an id'],
    ['dots as an id', ['deleteTeamMember', 't', '..'], '".." is not an id'],
    ['--slurp alone', ['listTeams', '--slurp'], '--slurp requires --paginate'],
    ['--silent with --jq', ['listTeams', '--silent', '--jq', '.'], '--silent cannot be combined with --jq'],
    ['-i with --paginate', ['listTeams', '-i', '--paginate'], 'cannot be combined with --paginate'],
    ['a body with a read', ['listTeams', '-d', '{}'], '-d cannot be used with GET'],
    ['a field without a value', ['createTeam', '-f', 'title'], 'expected key=value'],
    ['a body that is not JSON', ['createTeam', '-d', '{\n title: 1}'], 'not valid JSON (line 2, column 2)'],
    ['a missing file', ['createTeam', '-d', '@nowhere.json'], 'cannot read nowhere.json'],
    ['fields with a list as body', ['createTeam', '-d', '[]', '-f', 'a=b'], 'can add fields only to an object'],
    [
      '--paginate with an operation that is not a list',
      ['getTeam', 't', '--paginate'],
      'getTeam is not a paginated list',
    ],
    ['a broken jq program', ['listTeams', '--jq', '.['], '--jq: syntax error'],
  ])('refuses %s, and sends nothing', async (_what, args, message) => {
    const before = space.emulator.requests.total;
    const { code, stdout, stderr } = await api(args);
    expect({ code, stdout, stderr }).toEqual({ code: 3, stdout: '', stderr: expect.stringContaining(message) });
    expect(space.emulator.requests.total).toBe(before);
  });

  test('sends an unknown request unchanged, with a note', async () => {
    const { code, stderr, stdout } = await api(['GET', '/v1/quite/another']);
    expect(stderr).toContain('GET /v1/quite/another is not a known operation; it is sent unchecked\n');
    expect({ code, error: json(stdout).error }).toEqual({ code: 1, error: expect.objectContaining({ code: 404 }) });
  });
});

describe('request body', () => {
  test.each([
    ['texts', ['-f', 'title=true'], { title: 'true' }],
    [
      'typed values',
      ['-F', 'a=true', '-F', 'b=-1.5', '-F', 'c=null', '-F', 'd=x', '-F', 'e=007'],
      { a: true, b: -1.5, c: null, d: 'x', e: '007' },
    ],
    ['fields inside fields', ['-f', 'a[b][c]=d', '-f', 'a[e]=f'], { a: { b: { c: 'd' }, e: 'f' } }],
    ['lists', ['-f', 'a[]=x', '-F', 'a[]=2', '-f', 'b[]'], { a: ['x', 2], b: [] }],
    [
      'lists of objects in the notation of gh',
      ['-f', 'p[][k]=1', '-f', 'p[][v]=2', '-f', 'p[][k]=3'],
      { p: [{ k: '1', v: '2' }, { k: '3' }] },
    ],
    ['a body with fields that override it', ['-d', '{"a":1,"b":2}', '-f', 'b=x'], { a: 1, b: 'x' }],
    ['a list as the body', ['-d', '[{"a":1}]'], [{ a: 1 }]],
    ['an equals sign in a value', ['-f', 'a=b=c'], { a: 'b=c' }],
    ['a field named __proto__', ['-f', '__proto__[x]=y'], JSON.parse('{"__proto__":{"x":"y"}}')],
  ])('builds a body from %s', async (_what, args, body) => {
    expect(await dry('POST', '/anything', ...args)).toMatchObject({ method: 'POST', body });
  });

  test('reads files and standard input', async () => {
    writeFileSync(join(space.folder, 'body.json'), '\ufeff{"title":"From a file"}');
    writeFileSync(join(space.folder, 'text.md'), 'two\nlines');
    expect(await dry('createTeam', '-d', '@body.json')).toMatchObject({ body: { title: 'From a file' } });
    expect(await dry('POST', '/x', '-F', 'text=@text.md')).toMatchObject({ body: { text: 'two\nlines' } });
    const piped = { input: async () => '{"title":"Piped"}' };
    const { stdout } = await api(['createTeam', '-d', '-', '--dry-run', '--format', 'json'], piped);
    expect(json(stdout).body).toEqual({ title: 'Piped' });
  });

  test.each([
    ['a contradiction', ['-f', 'a=1', '-f', 'a[b]=2']],
    ['a list and an object', ['-f', 'a[]=1', '-f', 'a[b]=2']],
    ['a key of brackets', ['-f', '[a]=1']],
  ])('%s is refused', async (_what, args) => {
    expect(await dry('POST', '/x', ...args)).toMatchObject({ code: 3 });
  });

  test('sends a field that only the query of a write has in the query', async () => {
    const sent = await dry('askSite', 's1', '-f', 'question=How?', '-f', 'scope[mode]=all', '-f', 'format=markdown');
    expect(sent).toMatchObject({
      url: expect.stringMatching(/\/sites\/s1\/ask\?format=markdown$/),
      body: { question: 'How?', scope: { mode: 'all' } },
    });
  });
});

describe('checks of requests', () => {
  test.each([
    ['a missing field', ['createTeam'], 'title: missing; expected text of 1 to 64 characters'],
    ['a misspelled field', ['createTeam', '-f', 'titel=x'], 'titel: no such field; did you mean "title"?'],
    ['one too long', ['createTeam', '-f', `title=${'x'.repeat(65)}`], 'title: must be text of 1 to 64 characters'],
    ['one of several', ['updateSite', 's', '-f', 'visibility=publik'], '"visitor-auth"; did you mean "public"?'],
    [
      'a text for a flag',
      ['updateOrganization', '-f', 'ai=true'],
      'ai: must be true or false; -f sends strings; use -F ai=true to send the value',
    ],
    [
      'an inner field',
      ['putOpenApiSpec', 'x', '-f', 'source[ulr]=x'],
      'source[ulr]: no such field; did you mean "url"?',
    ],
    ['a query', ['listTeams', '-f', 'limit=1001'], 'limit: must be a whole number from 0 to 1000'],
    [
      'an unknown filter',
      ['listTeams', '-f', 'name=x'],
      'name: no such field; valid fields: limit, owner, page, title',
    ],
    ['a body for an operation without one', ['deleteTeam', 't', '-f', 'title=x'], 'deleteTeam has no body'],
    ['alternatives', ['askSite', 's', '-f', 'question=q', '-f', 'scope[mode]=defalt'], 'did you mean "default"?'],
    [
      'a rule about the whole body',
      ['moveSpace', 's'],
      'the body: must be an object with at least one of parent, position',
    ],
  ])('checks %s', async (_what, args, message) => {
    const before = space.emulator.requests.total;
    const { code, stderr } = await api([...args, '--yes']);
    expect({ code, stderr }).toEqual({ code: 3, stderr: expect.stringContaining(message) });
    expect(space.emulator.requests.total).toBe(before);
  });

  test('reports all problems at once', async () => {
    const { stderr } = await api(['updateTeam', 't', '-f', 'a=1', '-f', 'b=2', '--yes']);
    expect(stderr.split('\n').slice(0, 4)).toEqual([
      'octavo: updateTeam is not sent:',
      expect.stringContaining('  title: missing'),
      expect.stringContaining('  a: no such field'),
      expect.stringContaining('  b: no such field'),
    ]);
  });

  test('sends an invalid request with --raw, and prints the error of the platform', async () => {
    const { code, stdout, stderr } = await api(['createTeam', '-f', 'titel=x', '--raw', '--yes']);
    expect({ code, error: json(stdout).error }).toEqual({ code: 1, error: expect.objectContaining({ code: 400 }) });
    expect(stderr).toMatch(/^octavo: createTeam: the platform refused it \(400\)/);
  });
});

describe('writes', () => {
  const person = (answer: string) => ({ ask: async () => answer, isErrTerminal: true });

  test('need --yes without a terminal', async () => {
    const before = space.emulator.requests.total;
    const { code, stderr } = await api(['createTeam', '-f', 'title=Nobody']);
    expect({ code, stderr }).toEqual({ code: 3, stderr: expect.stringContaining('pass --yes to send') });
    expect(space.emulator.requests.total).toBe(before);
  });

  test.each(['', 'y', 'no'])('are not sent after the answer "%s"', async (answer) => {
    const before = space.emulator.requests.total;
    const { code, stderr } = await api(['deleteTeam', 't1'], person(answer));
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('Not sent.') });
    expect(space.emulator.requests.total).toBe(before);
  });

  test('print the request before asking, and are sent after a yes', async () => {
    const made = await api(['createTeam', '-f', 'title=Asked'], {
      ...person(' Yes '),
      env: { ...space.env, NO_COLOR: '1' },
    });
    expect(made.stderr).toContain(`PUT ${space.emulator.url}/v1/orgs/${org()}/teams\n{\n  "title": "Asked"\n}\n`);
    const { id } = json(made.stdout);
    const gone = await api(['deleteTeam', String(id), '--yes']);
    expect(gone).toEqual({ code: 0, stdout: '', stderr: 'deleteTeam: done (205)\n' });
    const again = await api(['deleteTeam', String(id), '--yes']);
    expect(again).toEqual({ code: 0, stdout: '', stderr: 'deleteTeam: nothing to delete (204)\n' });
  });

  test('need confirmation also for an unknown operation', async () => {
    expect(await api(['POST', '/quite/another'])).toMatchObject({ code: 3, stderr: expect.stringContaining('--yes') });
  });
});

describe('responses', () => {
  test('prints a response as indented JSON', async () => {
    const { code, stdout, stderr } = await api(['getTeam', teams[0] ?? '']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toBe(`${JSON.stringify(json(stdout), null, 2)}\n`);
    expect(json(stdout).title).toBe('Writers');
  });

  test('prints the items of all pages in order, one per line', async () => {
    const { stdout } = await api(['listTeams', '-f', 'limit=1', '--paginate']);
    const titles = stdout
      .trimEnd()
      .split('\n')
      .map((line) => json(line).title);
    expect(titles).toEqual(['Writers', 'Editors', 'Readers']);
  });

  test.each([
    ['prints texts without quotes', ['--jq', '.items[].title'], 'Writers\nEditors\nReaders\n'],
    [
      'prints other values as JSON, one per line',
      ['--jq', '.items[0] | {title}, .members'],
      '{"title":"Writers"}\n0\n',
    ],
    ['prints nothing for an empty result', ['--jq', 'empty'], ''],
    [
      'filters each item with --paginate',
      ['--paginate', '-f', 'limit=2', '-q', 'select(.title != "Editors").title'],
      'Writers\nReaders\n',
    ],
  ])('--jq: %s', async (_what, args, stdout) => {
    expect(await api(['listTeams', ...args])).toEqual({ code: 0, stdout, stderr: '' });
  });

  test('--jq: fails if the program cannot be applied to the response', async () => {
    const { code, stdout, stderr } = await api(['listTeams', '--jq', '.items.x']);
    expect({ code, stdout, stderr }).toEqual({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/^octavo: --jq: Cannot index/),
    });
  });

  test('prints status, headers and the response of an error with -i', async () => {
    const { code, stdout, stderr } = await api(['getTeam', 'none', '-i']);
    expect(code).toBe(1);
    expect(stdout).toMatch(/^HTTP 404 Not Found\n[\s\S]*\n\n\{\n {2}"error"/);
    expect(stderr).toMatch(/^octavo: getTeam: the platform refused it \(404\)/);
  });

  test('prints an error only to standard error with --jq', async () => {
    expect(await api(['getTeam', 'none', '--jq', '.title'])).toMatchObject({ code: 1, stdout: '' });
    expect(await api(['GET', '/orgs/none/teams', '--paginate'])).toMatchObject({ code: 1, stdout: '' });
  });

  test('prints one line for an invalid token', async () => {
    const { code, stderr } = await api(['listTeams'], { env: { ...space.env, OCTAVO_TOKEN: 'wrong-token' } });
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringMatching(
        /^octavo: the platform does not accept the token from OCTAVO_TOKEN \(401\).*; replace it, see docs\/token\.md\n$/,
      ),
    });
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

describe('network failures', () => {
  afterEach(() => space.emulator.setFaults([]));

  test('reports that a write may have taken effect after a lost response, and does not retry it', async () => {
    space.emulator.setFaults([{ match: { operation: 'createTeam' }, fault: { kind: 'reset-after' } }]);
    space.emulator.requests.reset();
    const { code, stdout, stderr } = await api(['createTeam', '-f', 'title=Lost', '--yes']);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/^createTeam may have taken effect; check before you send it again\noctavo: .*\n$/);
    expect(space.emulator.requests.count('createTeam')).toBe(1);
  });

  test('retries a read', async () => {
    space.emulator.setFaults([{ fault: { kind: 'status', status: 503 }, times: 1 }]);
    expect(await api(['getTeam', teams[0] ?? '', '--jq', '.title'])).toMatchObject({ code: 0, stdout: 'Writers\n' });
  });

  test('waits for the rate limit, with a message', async () => {
    space.emulator.setFaults([{ fault: { kind: '429', retryAfter: 0 }, times: 1 }]);
    const { code, stderr } = await api(['getTeam', teams[0] ?? '']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringMatching(/^Rate limit reached; waiting/) });
  });

  test('reports an HTML response without printing it', async () => {
    space.emulator.setFaults([{ fault: { kind: 'html', status: 404 } }]);
    const { code, stdout, stderr } = await api(['getTeam', 't']);
    expect({ code, stdout, stderr }).toEqual({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining('answered with HTML'),
    });
  });

  test('redacts the token in responses', async () => {
    await using server = await serveLocally((request, response) => {
      const { authorization = '' } = request.headers;
      response.writeHead(200, { 'content-type': 'application/json', 'x-seen': authorization });
      response.end(JSON.stringify({ seen: authorization, items: [{ seen: authorization }] }));
    });
    const env = { ...space.env, OCTAVO_BASE_URL: server.url };
    for (const args of [['-i'], ['--paginate'], ['--jq', '.seen']]) {
      const { code, stdout } = await api(['listTeams', ...args], { env });
      expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining('[secret]') });
    }
  });
});

describe('on a terminal', () => {
  const colours = { isOutTerminal: true, columns: 80 };

  test('colors JSON without changing it', async () => {
    const { stdout } = await api(['getTeam', teams[0] ?? ''], colours);
    expect(stdout).toContain('\u001b[');
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the test searches for colors
    expect(json(stdout.replaceAll(/\u001b\[\d+m/g, '')).title).toBe('Writers');
    const plain = await api(['getTeam', teams[0] ?? ''], { ...colours, env: { ...space.env, NO_COLOR: '1' } });
    expect(json(plain.stdout).title).toBe('Writers');
  });

  test('escapes control characters of responses', async () => {
    const title = '\u001b[2J\u009b31m\u202eevil';
    const { id } = await space.call('PUT', '/teams', { title });
    const calm = { ...colours, env: { ...space.env, NO_COLOR: '1' } };
    for (const args of [[], ['--jq', '.title'], ['-i']]) {
      const { stdout } = await api(['getTeam', id, ...args], calm);
      expect(stdout).toContain('evil');
      // biome-ignore lint/suspicious/noControlCharactersInRegex: none of them may occur
      expect(stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
    }
    const { stdout: piped } = await api(['getTeam', id, '--jq', '.title']);
    expect(piped).toBe(`${title}\n`);
    await space.call('DELETE', `/teams/${id}`);
  });
});

describe('--list', () => {
  test('prints every operation, also as JSON', async () => {
    const { stdout } = await api(['--list', '--format', 'json']);
    const { format, operations } = json(stdout) as { format: string; operations: { name: string }[] };
    const lines = (await api(['--list'])).stdout.trimEnd().split('\n');
    expect(format).toBe('octavo.operations/1');
    expect(lines.map((line) => line.split(' ')[0]).sort()).toEqual(operations.map(({ name }) => name).sort());
  });

  test('filters by name, method and path', async () => {
    const { stdout } = await api(['--list', 'orgs', 'team', 'delete']);
    expect([...stdout.matchAll(/^\w+/gm)].map(([name]) => name)).toEqual([
      'removeTeamFromSite',
      'deleteTeam',
      'deleteTeamMember',
    ]);
  });

  test('prints the fields of an operation with their limits', async () => {
    const { stdout } = await api(['--list', 'createTeam']);
    expect(stdout).toContain('createTeam  PUT /v1/orgs/{organizationId}/teams');
    expect(stdout).toMatch(/title\* +text of 1 to 64 characters/);
    expect(stdout).toMatch(/never retried/);
    expect(stdout).toContain('octavo api createTeam -f title=…');
  });

  test.each([60, 100, 200])('fits into a terminal of %i columns', async (columns) => {
    const { stdout } = await api(['--list'], { isOutTerminal: true, columns, env: { NO_COLOR: '1' } });
    expect(stdout.split('\n').filter((line) => line.length > columns)).toEqual([]);
  });

  test('suggests a similar name when nothing matches', async () => {
    expect(await api(['--list', 'createTaem'])).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('did you mean "createTeam"?'),
    });
  });

  test('has no operation with a field named like a path parameter, which would fill the parameter', async () => {
    const { stdout } = await api(['--list', '--format', 'json']);
    type Schema = { readonly properties?: object } | null;
    const { operations } = json(stdout) as {
      operations: { name: string; path: string; query: Schema; body: Schema }[];
    };
    const mixed = operations.filter(({ path, query, body }) =>
      Object.keys({ ...query?.properties, ...body?.properties }).some((name) => path.includes(`{${name}}`)),
    );
    expect(mixed.map(({ name }) => name)).toEqual([]);
  });
});

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
    const { id: docs } = await space.call('POST', '/spaces', { title: 'Guides' });
    const made = await api(['POST', `/spaces/${docs}/change-requests`, '-f', 'subject=Fix', '--yes']);
    const { stdout } = await api(['getChangeRequestPdf', docs, String(json(made.stdout).id), '--jq', '.url']);
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

test('a path stays below the base URL, whatever it is', () => {
  const settings = { table: allOperations(), method: undefined, baseUrl: 'https://api.example/base/' };
  const part = fc.oneof(fc.string(), fc.constantFrom('.', '..', '%2e%2e', '%2E', 'v1', '', 'orgs', '//evil.example'));
  fc.assert(
    fc.property(fc.array(part, { minLength: 1 }), (parts) => {
      let path: string;
      try {
        ({ path } = readTarget(['GET', `/${parts.join('/')}`], settings));
      } catch {
        return;
      }
      const url = new URL(`https://api.example/base${path}`);
      expect(url.origin).toBe('https://api.example');
      expect(url.pathname).toMatch(/^\/base\/v\d+(\/|$)/);
    }),
  );
});

test('the path of every operation is found, and a slip in it is noticed', () => {
  const table = allOperations();
  const slips = table.flatMap(({ name, method, path }) => {
    const given = path.replaceAll(/\{\w+\}/g, 'x9Q2');
    expect(findOperation(table, method as RequestMethod, given)?.name).toBe(name);
    // The last word of some length lacks a letter.
    const wrong = given.replace(/^(.*\/[a-z-]{3,})[a-z-]([a-z-])(?=\/|$)/, '$1$2');
    return wrong === given || operationsWithPath(table, wrong).length > 0 ? [] : [wrong];
  });
  expect(slips.filter((wrong) => similarPath(table, wrong) === null)).toEqual([]);
  expect(slips.length).toBeGreaterThan(100);
});
