import { describe, expect, test } from 'vitest';
import { getFeatures, type PlatformVersion } from '../../src/emulator/model/features.ts';
import { startInside } from '../daemon/inside.ts';
import { PUSHES } from '../support/push-deliveries.ts';
import { openWorkspace, type Workspace } from '../support/workspace.ts';

/** Result of each check, by its name. */
async function runDoctor(work: Workspace, ...flags: string[]): Promise<Readonly<Record<string, string>>> {
  const { code, stdout, stderr } = await work.inside(['doctor', ...flags]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toMatch(/\n\nEverything works(; \d+ notes? above)?\n$/);
  const lines = stdout.replaceAll(/\n {27}/g, ' ').matchAll(/^ {2}(\w+) +(.{16})(.*)$/gm);
  return Object.fromEntries(
    Array.from(lines, ([, verdict, what = '', detail]) => [what.trim(), `${verdict}: ${detail}`]),
  );
}

/** A site with a section, a group and, if the version has them, an external link. */
async function withSite(work: Workspace, version: PlatformVersion): Promise<void> {
  const space = await work.call('POST', '/spaces', { title: 'Guides' });
  const site = await work.call('POST', '/sites', { title: 'Help' });
  await work.call('POST', `/sites/${site.id}/sections`, { spaceId: space.id, title: 'Guides' });
  await work.call('POST', `/sites/${site.id}/section-groups`, { title: 'More' });
  work.emulator.setFeatures(getFeatures(version));
  if (version === '0.201') {
    await work.call('POST', `/sites/${site.id}/external-links`, { title: 'Status', url: 'https://status.example' });
  }
}

const BY_GROUP = 'ok: sections join a group through the group operations (before 0.181)';
const BY_SECTION = 'ok: sections join a group through a section update (0.181 and later)';
const NO_AGENTS = 'note: not supported by this platform (removed in 0.167); leave it out of manifests';
const LISTS_LINKS = 'ok: links and backlinks can be listed';

test.each([
  ['0.146', { agentsContext: 'ok: sites have an agent visibility setting', groups: BY_GROUP, links: LISTS_LINKS }],
  ['0.167', { agentsContext: NO_AGENTS, groups: BY_GROUP, links: LISTS_LINKS }],
  ['0.181', { agentsContext: NO_AGENTS, groups: BY_SECTION, links: LISTS_LINKS }],
  [
    '0.201',
    {
      agentsContext: NO_AGENTS,
      groups: BY_SECTION,
      links: 'note: not supported by this platform (removed in 0.201); not needed by Octavo',
      external: 'ok: 1 external link on the first site',
    },
  ],
] as const)('reports the features of platform %s with reads only', async (version, expected) => {
  await using work = await openWorkspace();
  await withSite(work, version);
  work.emulator.requests.reset();
  const lines = await runDoctor(work);
  expect({
    agentsContext: lines['Agent setting'],
    groups: lines['Section groups'],
    links: lines['Link listings'],
    ...('external' in expected ? { external: lines['External links'] } : {}),
  }).toEqual(expected);
  expect(lines['Hidden spaces']).toBe('ok: site spaces can be hidden');
  expect(lines.Sites).toBe('ok: a site and its structure can be read');
  expect(Object.keys(work.emulator.requests.byMethod)).toEqual(['GET']);
});

test('ends with what to do, and fits into 80 columns', async () => {
  await using work = await openWorkspace();
  // biome-ignore lint/suspicious/noTemplateCurlyInString: syntax of a variable in the configuration
  const platform = { baseUrl: work.emulator.url, token: '${env:OCTAVO_TOKEN}', user: 'nobody@acme.example' };
  const config = work.configure({ top: { platform } });
  work.emulator.setFaults([{ match: { operation: 'listSpaces' }, fault: { kind: 'status', status: 403 } }]);
  const { code, stdout } = await work.inside(['doctor', '--config', config], {}, '.', { columns: 80 });
  expect(stdout).toMatch(/^ {2}note {5}Own user {8}nobody@acme\.example is configured, but the token\n {27}belongs/m);
  expect(stdout).toMatch(/^ {2}problem {2}Spaces {10}/m);
  expect(stdout).toMatch(/\n\n2 problems: fix them before you plan or apply\n$/);
  expect(code).toBe(1);
  expect(stdout.split('\n').filter((line) => line.length > 80)).toEqual([]);
});

test('reports when site spaces have no hidden field, and skips site checks without a site', async () => {
  await using work = await openWorkspace();
  expect(await runDoctor(work)).toMatchObject({ Sites: 'ok: the organization has no sites yet' });
  await withSite(work, '0.146');
  work.emulator.setFeatures({ hiddenSiteSpaces: false });
  expect((await runDoctor(work))['Hidden spaces']).toBe(
    'note: not reported by the platform; before 0.167 site spaces cannot be hidden',
  );
});

describe('conversations', () => {
  const webhook = { name: 'hook', webhook: { secrets: ['whsec_c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0'] } };
  const at = async (version: PlatformVersion, conversations: object) => {
    await using work = await openWorkspace();
    const { id } = await work.call('POST', '/sites', { title: 'Help' });
    work.emulator.setFeatures(getFeatures(version));
    work.emulator.requests.reset();
    const settings = JSON.parse(JSON.stringify({ sources: [webhook], ...conversations }).replaceAll('SITE', id));
    const config = work.configure({ organization: { conversations: settings } });
    const lines = await runDoctor(work, '--config', config);
    const asked = work.emulator.requests.count('listConversationClusters');
    const { Conversations: is = '', Topics: topics, Permissions: permissions } = lines;
    return { is: is.replaceAll(id, 'SITE'), topics, permissions, asked };
  };
  const permissions = 'ok: the token has all permissions that Octavo needs';

  test.each([
    ['0.146', { site: 'SITE' }, 'ok: conversations and issue clusters are supported', undefined],
    [
      '0.167',
      {},
      'note: not supported by this platform (removed in 0.167); set conversations.site to a site that takes context records ' +
        'instead; until then, conversations wait',
      undefined,
    ],
    [
      '0.167',
      { site: 'SITE' },
      'ok: context records of the site SITE, and its topics for issue clusters',
      'ok: the issues of the site report their impact',
    ],
    [
      '0.201',
      { site: 'SITE' },
      'ok: context records of the site SITE, and its topics for issue clusters',
      'ok: the findings of the site report their impact',
    ],
    [
      '0.181',
      { site: 'help' },
      'note: not supported by this platform, and no site has the id "help"; a manifest key resolves only in ' +
        'the daemon that applied it',
      undefined,
    ],
  ] as const)('reports conversations of platform %s with %j', async (version, conversations, is, topics) => {
    expect(await at(version, conversations)).toEqual({ is, topics, permissions, asked: 1 });
  });
});

describe('the webhook of the repository', () => {
  const secret = 'a-secret-of-more-than-16-characters';
  const settings = { organization: { forge: { type: 'github', repository: 'acme/docs', webhookSecret: secret } } };

  test('is checked with the running daemon', async () => {
    await using work = await openWorkspace();
    work.repository.commit('Begin', { 'teams.yaml': 'teams: {}' });
    const config = work.configure(settings);
    const check = async () => (await runDoctor(work, '--config', config)).Webhook;
    expect(await check()).toBe('note: configured; deliveries arrive while the daemon runs');
    await using daemon = await startInside(work, settings);
    const send = async (signed: string) => {
      const { headers, body } = PUSHES.github({ secret: signed });
      await fetch(`${daemon.address}/hooks/org_acme`, { method: 'POST', headers, body: new Uint8Array(body) });
    };
    expect(await check()).toBe(
      'note: no delivery has arrived yet; octavo webhook org_acme shows what to enter at the forge',
    );
    await send(secret);
    expect(await check()).toMatch(/^ok: last delivery at \d{4}-.*Z: a push, which was fetched at once$/);
    await send('another secret of many characters');
    expect(await check()).toMatch(/^note: a push, which was fetched at once; requests are refused since then/);
    const { stdout } = await work.inside(['status', '--config', config]);
    expect(stdout).toMatch(/^webhook: \d+s ago, a push, which was fetched at once; requests are refused/m);
  });

  test('is not asked for without --config, or if there is none', async () => {
    await using work = await openWorkspace();
    expect((await runDoctor(work)).Webhook).toBeUndefined();
  });
});
