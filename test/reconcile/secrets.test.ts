import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { DesiredStateError } from '../../src/core/errors.ts';
import { ManifestSecrets } from '../../src/core/manifest-secrets.ts';
import { planToJson } from '../../src/plan/render/document.ts';

import { renderPlanText } from '../../src/plan/render/text.ts';
import { PLAIN } from '../../src/plan/render/text-layout.ts';
import { openWorld, type World } from '../support/world.ts';

const VALUE = 'mcp-value-1234567890';
const NEXT = 'mcp-value-0987654321';
const REFERENCE = '$' + '{secret:MCP_TOKEN}';

const site = (servers: string) => `sites: { help: { title: Help, mcpServers: { ${servers} } } }`;
const server = (
  url = 'https://mcp.acme.example/docs',
  headers = `{ Authorization: "Bearer ${REFERENCE}" }`,
  rest = '',
) => site(`search: { name: Search, url: "${url}", headers: ${headers}${rest} }`);
const secrets = (value?: string, token = 'token') =>
  new ManifestSecrets({ MCP_TOKEN: { value, sendTo: ['https://mcp.acme.example'] } }, token);

describe('a secret of a manifest', () => {
  let world: World;
  beforeEach(async () => {
    world = await openWorld();
  });
  afterEach(() => world.close());

  const servers = () => world.emulator.state().mcpServers ?? [];
  const sent = () => servers().map(({ url, headers }) => ({ url, ...headers }));
  const changes = async (manifest: string, known = secrets(VALUE)) =>
    (await world.plan(manifest, { secrets: known })).plan.changes.flatMap(({ fields }) => fields);

  test('is sent with the request that sets it, and then known only by a keyed digest', async () => {
    const { results } = await world.apply(server(), { secrets: secrets(VALUE) });
    expect(results.map(({ status }) => status)).toEqual(['applied', 'applied']);
    expect(sent()).toEqual([{ url: 'https://mcp.acme.example/docs', Authorization: `Bearer ${VALUE}` }]);
    const { entries } = await world.record.read();
    expect(JSON.stringify(entries)).not.toContain(VALUE);
    expect(entries.find(({ kind }) => kind === 'mcp-server')?.metadata.secrets).toEqual({
      MCP_TOKEN: secrets(VALUE).digest('MCP_TOKEN'),
    });
    expect(await changes(server())).toEqual([]);
  });

  test('is sent again when its value changes, and a plan shows only that', async () => {
    await world.apply(server(), { secrets: secrets(VALUE) });
    const { plan } = await world.plan(server(), { secrets: secrets(NEXT) });
    expect(plan.changes.flatMap(({ fields }) => fields)).toEqual([{ path: 'secret MCP_TOKEN', to: 'changed' }]);
    const shown = renderPlanText(plan, { columns: 100, paint: PLAIN });
    expect(shown).toContain('secret MCP_TOKEN');
    for (const text of [shown, JSON.stringify(planToJson(plan)), JSON.stringify(plan)]) {
      expect(text).not.toMatch(new RegExp(`${VALUE}|${NEXT}|${secrets(NEXT).digest('MCP_TOKEN')}`));
    }
    await world.apply(server(), { secrets: secrets(NEXT) });
    expect(sent()).toMatchObject([{ Authorization: `Bearer ${NEXT}` }]);
    expect(await changes(server(), secrets(NEXT))).toEqual([]);
  });

  test('is sent again when the token from which the key of the digests is made changes', async () => {
    await world.apply(server(), { secrets: secrets(VALUE) });
    expect(await changes(server(), secrets(VALUE, 'another token'))).toHaveLength(1);
  });

  test('is sent to a server that was adopted, whose headers nobody can compare', async () => {
    const { id } = await world.call('POST', '/sites', { title: 'Help' });
    const body = { name: 'Search', url: 'https://mcp.acme.example/docs', headers: { Authorization: 'old' } };
    await world.call('POST', `/sites/${id}/mcp-servers`, body);
    await world.apply(server(), { secrets: secrets(VALUE) });
    await world.apply(server(), { secrets: secrets(VALUE) });
    expect(sent()).toMatchObject([{ Authorization: `Bearer ${VALUE}` }]);
    expect(await changes(server())).toEqual([]);
  });

  test('without a value costs one note, and only the change that needs it', async () => {
    const two = site(
      `a: { name: A, url: "https://mcp.acme.example", headers: { X-Key: "${REFERENCE}" } }, b: { name: B, url: "https://b.example", headers: {} }`,
    );
    const { planned, results } = await world.apply(two, { secrets: secrets() });
    expect(planned.plan.notes).toEqual([
      { address: 'mcp-server/help/a', text: expect.stringContaining('no value here for the secret MCP_TOKEN: ') },
    ]);
    expect(results.map(({ address, status, error }) => [address, status, error])).toEqual([
      ['site/help', 'applied', null],
      [
        'mcp-server/help/a',
        'failed',
        'the secret MCP_TOKEN has no value here; set manifestSecrets.MCP_TOKEN in the configuration',
      ],
      ['mcp-server/help/b', 'applied', null],
    ]);
  });

  test('whose value is missing later is neither changed nor forgotten', async () => {
    await world.apply(server(), { secrets: secrets(VALUE) });
    const { planned } = await world.apply(server(), { secrets: secrets() });
    expect(planned.plan.changes).toEqual([]);
    expect(await changes(server())).toEqual([]);
    expect(await changes(server(), secrets(NEXT))).toHaveLength(1);
  });

  test.each([
    ['another server', 'https://evil.example'],
    ['a server whose name begins alike', 'https://mcp.acme.example.evil.example'],
    ['another port', 'https://mcp.acme.example:8443'],
    ['an unencrypted address', 'http://mcp.acme.example'],
    ['a user in front of another server', 'https://mcp.acme.example@evil.example'],
    ['a user', 'https://user:pass@mcp.acme.example'],
    ['a backslash that some programs read as a slash', 'https://mcp.acme.example\\\\@evil.example'],
    ['a path that another program may read differently', 'https://mcp.acme.example/docs/../../x'],
  ])('is not sent to %s', async (_what, url) => {
    const refused = await world.plan(server(url), { secrets: secrets(VALUE) }).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(DesiredStateError);
    expect(String(refused)).toMatch(
      /octavo\.yaml:1:\d+: mcp-server\/help\/search: headers: the configuration does not/,
    );
    expect(String(refused)).not.toContain(VALUE);
  });

  test('is sent only below the path that is allowed', async () => {
    const limited = new ManifestSecrets({ MCP_TOKEN: { value: VALUE, sendTo: ['https://mcp.acme.example/a'] } }, 't');
    expect(limited.refusal('MCP_TOKEN', 'https://mcp.acme.example/a/b')).toBeNull();
    expect(limited.refusal('MCP_TOKEN', 'https://mcp.acme.example/ab')).toContain('does not allow');
    expect(() => limited.fill(REFERENCE, 'https://mcp.acme.example/ab')).toThrow('does not allow');
  });

  test('does not stay with a server that moves to another address', async () => {
    await world.apply(server(), { secrets: secrets(VALUE) });
    await world.apply(server('https://evil.example', '{}', ', ignore: [headers]'), { secrets: secrets(VALUE) });
    expect(sent()).toEqual([{ url: 'https://evil.example' }]);
    // Its address is ignored from now on: the secret takes the declared one with it.
    await world.apply(server(undefined, undefined, ', ignore: [url]'), { secrets: secrets(VALUE) });
    await world.apply(server(undefined, undefined, ', ignore: [url]'), { secrets: secrets(NEXT) });
    expect(sent()).toEqual([{ url: 'https://mcp.acme.example/docs', Authorization: `Bearer ${NEXT}` }]);
  });

  test('cannot be guessed with a value in a manifest', async () => {
    await world.apply(server(undefined, `{ X-Team: "${REFERENCE}" }`), { secrets: secrets(VALUE) });
    const guess = server(undefined, `{ X-Team: "${VALUE}" }`);
    expect(await changes(guess)).toMatchObject([{ path: 'headers' }]);
  });

  test('is removed from the answer of a platform that repeats it', async () => {
    const known = secrets(VALUE);
    expect(known.clean(`headers ${VALUE} and ${VALUE.slice(0, 9)}…`)).toBe('headers [secret] and [secret]…');
    const quoted = new ManifestSecrets({ A: { value: 'a"b\\c d/éé', sendTo: [] } }, 't');
    expect(quoted.clean(`${JSON.stringify('a"b\\c d/éé')} ${encodeURIComponent('a"b\\c d/éé')}`)).toBe(
      '"[secret]" [secret]',
    );
  });
});

test.each([
  ['{ Authorization: Bearer abc }', 'headers.Authorization gives access, so its value must not be in a manifest'],
  ['{ x-api-key: abc }', 'headers.x-api-key gives access'],
  ['{ X-Team: "$' + '{env:TEAM}" }', 'headers.X-Team has a reference that is not one to a secret'],
  ['{ X-Team: "$' + '{secret:}" }', 'headers.X-Team has a reference that is not one to a secret'],
  ['{ X-Team: "a\\nX-Other: b" }', 'headers.X-Team has characters that a header cannot have'],
  ['{ "X Team": a }', '"X Team" in mcpServers.search.headers: is not the name of a header'],
  ['null', 'headers cannot be cleared'],
])('headers %s are refused', async (headers, message) => {
  const world = await openWorld();
  onTestFinished(() => world.close());
  await expect(world.plan(server(undefined, headers))).rejects.toThrow(message);
});

test('a reference to a secret elsewhere is a note', async () => {
  const world = await openWorld();
  onTestFinished(() => world.close());
  const { plan } = await world.plan(`teams: { a: { title: "${REFERENCE}" } }`);
  expect(plan.notes).toMatchObject([{ text: expect.stringContaining('no secret can be in this field') }]);
});
