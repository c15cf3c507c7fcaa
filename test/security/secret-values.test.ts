/** Secrets of sites go to the platform in the one request that sets them, and nowhere else. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { serveLocally, textOf } from '../support/local-server.ts';
import { openWorkspace } from '../support/workspace.ts';

const VALUE = 'canary-of-an-mcp-token-"\\-é-0123456789';
const REFERENCE = '$' + '{secret:MCP_TOKEN}';
const MANIFEST = `sites:
  help:
    title: Help
    visibility: visitor-auth
    visitorAuth: { backend: custom, fallbackURL: "https://acme.example/login" }
    shareLinks: { partners: { name: Partners, active: true } }
    mcpServers:
      search: { name: Search, url: "https://mcp.acme.example", headers: { Authorization: "Bearer ${REFERENCE}" } }
`;

/** Proxy that records requests, and refuses the creation of an MCP server with its own body, `refusals` times. */
async function echoing(platform: string) {
  const requests: string[] = [];
  const state = { refusals: 0 };
  const server = await serveLocally(async (incoming, outgoing) => {
    const body = await textOf(incoming);
    const method = incoming.method ?? 'GET';
    requests.push(`${method} ${incoming.url} ${body}`);
    outgoing.setHeader('content-type', 'application/json');
    if (method === 'POST' && incoming.url?.endsWith('/mcp-servers') && state.refusals > 0) {
      state.refusals -= 1;
      const message = `cannot use ${body} or ${VALUE}, and ${VALUE.slice(0, 12)}`;
      outgoing.writeHead(400).end(JSON.stringify({ error: { code: 400, message } }));
      return;
    }
    const headers = { authorization: incoming.headers.authorization ?? '', 'content-type': 'application/json' };
    const answer = await fetch(new URL(incoming.url ?? '/', platform), { method, headers, body: body || null });
    outgoing.writeHead(answer.status).end(answer.status === 204 || answer.status === 205 ? '' : await answer.text());
  });
  return { url: server.url, requests, state, close: () => server.stop() };
}

function filesIn(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name)).toString('latin1'));
}

test('secrets of sites are in one request, and in no output and no file', async () => {
  await using work = await openWorkspace();
  const proxy = await echoing(work.emulator.url);
  onTestFinished(() => proxy.close());
  const env = { OCTAVO_BASE_URL: proxy.url, MCP_TOKEN: VALUE };
  const organization = {
    source: { directory: work.repository.directory },
    // biome-ignore lint/suspicious/noTemplateCurlyInString: syntax of a variable in the configuration
    manifestSecrets: { MCP_TOKEN: { value: '${env:MCP_TOKEN}', sendTo: ['https://mcp.acme.example'] } },
  };
  // biome-ignore lint/suspicious/noTemplateCurlyInString: syntax of a variable in the configuration
  const platform = { baseUrl: proxy.url, token: '${env:OCTAVO_TOKEN}' };
  const config = work.configure({ organization, top: { platform, log: { level: 'trace', format: 'json' } } });
  work.repository.write('octavo.yaml', MANIFEST);
  work.repository.commit('Site');
  const outputs: string[] = [];
  const run = async (...args: string[]) => {
    const { code, stdout, stderr } = await work.inside([...args, '--config', config], env);
    outputs.push(stdout, stderr);
    return { code, stderr };
  };
  const made = join(work.folder, 'made');
  mkdirSync(join(made, 'imported'), { recursive: true });

  for (const format of ['text', 'json', 'markdown']) {
    expect((await run('plan', '.', '--format', format)).code).toBe(0);
  }
  await run('plan', '.', '--out', join(made, 'plan.json'));
  proxy.state.refusals = 1;
  const failed = await run('apply', '.', '--yes');
  expect(failed.stderr).toContain('the platform refused it (400): cannot use');
  proxy.state.refusals = 1;
  expect((await run('run', '--once')).code).toBe(1);
  expect((await run('run', '--once')).code).toBe(0);
  expect((await run('run', '--once')).code).toBe(0);
  expect((await run('snapshot', '--out', join(made, 'snapshot.json'))).code).toBe(0);
  const key = work.emulator.state().sites?.[0]?.visitorAuth?.privateKey ?? '';
  expect((await run('import', '--out', join(made, 'imported'))).code).toBe(0);
  await run('sites', 'regenerate-key', 'Help', '--yes');
  for (const command of ['status', 'history', 'conditions', 'doctor', 'validate']) {
    await run(command, ...(command === 'validate' ? ['.'] : []));
  }
  writeFileSync(join(made, 'outputs.txt'), outputs.join('\n'));

  const { sites = [], shareLinks = [], mcpServers = [] } = work.emulator.state();
  expect(mcpServers.map(({ headers }) => headers)).toEqual([{ Authorization: `Bearer ${VALUE}` }]);
  const secrets = {
    'value of a secret': VALUE,
    'start of the value': VALUE.slice(0, 12),
    'value in JSON': JSON.stringify(VALUE).slice(1, -1),
    'first signing key': key,
    'second signing key': sites[0]?.visitorAuth?.privateKey ?? '',
    'address of a share link': shareLinks[0]?.secret ?? '',
  };
  expect(Object.values(secrets).every((secret) => secret.length > 10)).toBe(true);
  const files = filesIn(work.folder);
  for (const [name, secret] of Object.entries(secrets)) {
    const bytes = Buffer.from(secret).toString('latin1');
    expect(
      files.filter((text) => text.includes(bytes)),
      name,
    ).toEqual([]);
  }
  const sent = proxy.requests.filter((request) => request.includes('canary-of-an-mcp-token'));
  expect(sent.map((request) => request.split(' {')[0])).toEqual(
    Array(3).fill(expect.stringMatching(/^POST \S+\/mcp-servers$/)),
  );
}, 60_000);
