/** An emulator with one of everything, for the tables of operations. */
import { expect } from 'vitest';
import { createState, emptyOrganization } from '../../src/emulator/emulator.ts';
import { type Body, clientOf, type Fixture, fixture, type Reply } from './fixture.ts';

/**
 * Method and path, body if there is one, status, then the required content of the body or the message. Names in braces
 * stand for the ids of `buildWorld`.
 */
export type Row =
  | readonly [request: string, status: number, says?: unknown]
  | readonly [request: string, body: unknown, status: number, says?: unknown];
export type Rows = Readonly<Record<string, readonly Row[]>>;

type Ids = Readonly<Record<string, string>>;

/** Reads a row with ids instead of names in braces. */
export function readRow([request, ...rest]: Row, ids: Ids) {
  const filled = (value: unknown) =>
    value === undefined
      ? undefined
      : JSON.parse(JSON.stringify(value).replace(/\{(\w+)\}/g, (whole, name: string) => ids[name] ?? whole));
  const [body, status, says] = typeof rest[0] === 'number' ? [undefined, ...rest] : rest;
  const [method = '', path = ''] = String(filled(request)).split(' ');
  return { method, path, body: filled(body), status: Number(status), says: filled(says) };
}

/** Sends the request of a row and checks the reply. */
export async function checkRow(world: OperationWorld, row: Row, headers?: Record<string, string>): Promise<Reply> {
  const { method, path, body, status, says } = readRow(row, world.ids);
  const reply = await world.call(method, path, body, headers);
  expect({ status: reply.status, error: reply.body.error?.message }).toMatchObject({ status });
  if (status >= 400) {
    expect(reply.body).toEqual({ error: { code: status, message: expect.stringContaining(String(says ?? '')) } });
  } else if (says !== undefined) {
    expect(reply.body).toMatchObject(says);
  }
  if (status === 204 || status === 205) {
    expect(reply.body).toBe('');
  }
  return reply;
}

/** Returns a row with a title of its test. */
export const titled = (row: Row) => {
  const { method, path, body = '', status } = readRow(row, {});
  return [`${method} ${path} ${JSON.stringify(body).slice(0, 80)} → ${status}`, row] as const;
};

export const ORG = '/orgs/org_acme';
export const SITE = `${ORG}/sites/{site}`;
export const long = (length: number) => 'é'.repeat(length);
export const at = (type: string, id: string) => ({ type, id });

const SEED = createState({
  organizations: [
    emptyOrganization({
      id: 'org_acme',
      title: 'Acme',
      members: [
        { email: 'ana@acme.example', role: 'admin' },
        { email: 'bo@acme.example', role: 'edit' },
      ],
    }),
    emptyOrganization({
      id: 'org_other',
      title: 'Other',
      members: [{ email: 'ana@acme.example', role: 'admin' }],
      settings: { inviteLinks: true, hostname: 'other-docs' },
    }),
  ],
});

const BODY = `# Password

Reset your *password* on [this page](export.md#pdf), not [that one](gone.md).

![Logo](/files/logo.svg)

{% include "Support" %}

Version ![](/files/logo.svg) <code class="expression">space.vars.version</code>`;

/** Content of the space \`one\`, as imported by git synchronization. */
const CONTENT = {
  pages: [
    { title: 'Login', body: BODY },
    { title: 'Export', path: 'export', body: '## PDF\n\nBack to [the login](/login).' },
  ],
  files: [{ name: 'logo.svg', contentType: 'image/svg+xml', text: '<svg/>', dimensions: { width: 1, height: 1 } }],
  reusableContents: [{ title: 'Support', body: 'Ask **us**.' }],
  variables: { version: '1.2' },
  git: { oid: 'a1b2', message: 'Docs' },
};

/** Two conversations in one cluster, and one that is unlike all others. */
async function buildConversations({ org }: Fixture): Promise<Record<string, string>> {
  const parts = (body: string) => [{ type: 'message', role: 'user', body }];
  await org('POST', '/conversations', [
    { id: 'z-1', subject: 'PDF export is empty', parts: parts('The export to PDF gives an empty file.') },
    { id: 'z-2', subject: 'Empty PDF', parts: parts('PDF export: the file is empty.') },
    { id: 'z-3', subject: 'Dark theme', parts: parts('Is there one for the editor?') },
  ]);
  const { items } = await org('GET', '/conversations-issues');
  const { issue } = items[0];
  return { conversation: issue.conversation, issue: issue.id, cluster: issue.cluster };
}

/** A draft with a requested review, a merged change request, and a comment with a reply in both places. */
async function buildCollaboration({ call, emulator }: Fixture, ids: Record<string, string>) {
  const { one = '', bo, cluster } = ids;
  const content = emulator.writeContent(one, CONTENT);
  const post = async (path: string, body?: unknown) => (await call('POST', `/spaces/${one}${path}`, body)).body;
  const draft = (await post('/change-requests', { subject: 'Drafted', conversationsIssuesCluster: cluster })).id;
  await post(`/change-requests/${draft}/requested-reviewers`, { users: [bo] });
  await post(`/change-requests/${draft}/reviews`, { status: 'changes-requested' });
  const merged = (await post('/change-requests', { subject: 'Merged' })).id;
  await post(`/change-requests/${merged}/merge`);
  const commentBody = (markdown: string) => ({ body: { markdown } });
  const comment = (await post('/comments', commentBody('Well'))).id;
  const reply = (await post(`/comments/${comment}/replies`, commentBody('Yes'))).id;
  const crComment = (await post(`/change-requests/${draft}/comments`, commentBody('Well'))).id;
  const crReply = (await post(`/change-requests/${draft}/comments/${crComment}/replies`, commentBody('Yes'))).id;
  const [page, exports] = content.pages;
  const [file] = content.files;
  return { draft, merged, comment, reply, crComment, crReply, page, exports, file };
}

/**
 * A public integration, installed and configured; a private one of its owner; and an invite link of another
 * organization.
 */
async function buildIntegrations({ call }: Fixture): Promise<Record<string, string>> {
  const required = { organization: 'org_acme', description: 'Tickets', script: '', scopes: ['conversations:ingest'] };
  const properties = { key: { type: 'string' }, region: { type: 'string', enum: ['eu', 'us'], default: 'eu' } };
  await call('POST', '/integrations/zendesk', {
    ...required,
    ...{ title: 'Zendesk', visibility: 'public', categories: ['collaboration'] },
    blocks: [{ id: 'ticket', title: 'Ticket', urlUnfurl: ['https://*.zendesk.com/tickets/**'] }],
    configurations: { account: { properties, required: ['key', 'region'] } },
  });
  await call('POST', '/integrations/secret', { ...required, title: 'Secret' });
  const path = '/integrations/zendesk/installations';
  const installation = (await call('POST', path, { organization: 'org_acme' })).body.id;
  await call('PATCH', `${path}/${installation}`, { configuration: { key: 'k' }, externalIds: ['acme'] });
  const { items } = (await call('GET', '/integrations/zendesk/events')).body;
  const invite = (await call('POST', '/orgs/org_other/link-invites', { role: 'edit' })).body.id;
  return { installation, event: items[0].id, invite };
}

/** Two context records of one topic with a finding each, an external link, and a redirect. */
async function buildLaterVersions(
  { org, emulator }: Fixture,
  site: string,
  section: string,
): Promise<Record<string, string>> {
  const record = (id: string, title: string, body: string) => ({ id, type: 'ticket', title, body });
  await org('PUT', `/sites/${site}/context-records`, [
    record('r-1', 'Login loops', 'The login with SSO loops for ever.'),
    record('r-2', 'SSO login', 'With SSO the login loops.'),
  ]);
  const first = async (list: string) => (await org('GET', `/sites/${site}/${list}`)).items[0].id as string;
  const link = { title: 'Forum', url: 'https://forum.acme.example' };
  return {
    record: await first('context-records'),
    topic: await first('topics'),
    finding: await first('findings'),
    link: (await org('POST', `/sites/${site}/external-links`, link)).id,
    redirect: (
      await org('POST', `/sites/${site}/redirects`, {
        source: '/old',
        destination: { kind: 'site-section', siteSectionId: section },
      })
    ).id,
    git: emulator.installGitSync({ site, repository: 'acme/docs', branch: 'main', priority: 'git' }),
  };
}

/** Roles of the team and of Bo, in each of these places. */
async function buildPermissions({ call }: Fixture, places: readonly string[], team: string, bo: string): Promise<void> {
  for (const place of places) {
    await call('POST', `${place}/permissions`, { teams: [team], role: 'edit' });
    await call('POST', `${place}/permissions`, { users: [bo], role: 'read' });
  }
}

/** A platform with one of everything; rows refer to their ids in braces. */
export interface OperationWorld extends Fixture {
  readonly ids: Ids;
}

/**
 * Starts a platform that has the operations of all versions at once. `through` receives its address and returns the one
 * of requests.
 */
export async function openOperationWorld(through = async (url: string) => url): Promise<OperationWorld> {
  const made = await fixture({
    seed: SEED,
    processing: { conversations: 0 },
    features: {
      contextRecords: true,
      siteIssues: true,
      siteFindings: true,
      externalLinks: true,
      bulkRedirects: true,
      permanentRedirects: true,
      sitePermissions: true,
      gitSync: true,
      siteGitSync: true,
    },
  });
  const world = { ...made, ...clientOf(await through(made.emulator.url), made.emulator) };
  return { ...world, ids: await buildWorld(world) };
}

async function buildWorld(made: Fixture): Promise<Record<string, string>> {
  const { org } = made;
  const conversations = await buildConversations(made);
  const create = async (method: string, path: string, body: unknown) => (await org(method, path, body)).id as string;
  const members = (await org('GET', '/members?order=asc')).items.map((item: Body) => item.id);
  const [ana, bo] = members;
  const team = await create('PUT', '/teams', { title: 'Writers', members: [bo] });
  const saml = await create('POST', '/saml', { label: 'Okta' });
  const col = await create('POST', '/collections', { title: 'Handbook' });
  const nested = await create('POST', '/collections', { title: 'Nested', parent: col });
  const one = await create('POST', '/spaces', { title: 'One' });
  const two = await create('POST', '/spaces', { title: 'Two', language: 'en' });
  const inside = await create('POST', '/spaces', { title: 'Inside', parent: col, editMode: 'locked' });
  const dead = await create('POST', '/spaces', { title: 'Dead' });
  await made.call('DELETE', `/spaces/${dead}`);
  const site = await create('POST', '/sites', { title: 'Help' });
  const plain = await create('POST', '/sites', { title: 'Plain', spaces: [one, two] });
  const section = await create('POST', `/sites/${site}/sections`, { spaceId: one, title: 'Guides' });
  const api = await create('POST', `/sites/${site}/sections`, { spaceId: two, title: 'API' });
  const variant = await create('POST', `/sites/${site}/site-spaces`, { spaceId: two, sectionId: section });
  const group = await create('POST', `/sites/${site}/section-groups`, { title: 'Group' });
  const parent = await create('POST', `/sites/${site}/section-groups`, { title: 'Parent' });
  const structure = (await org('GET', `/sites/${site}/structure`)).structure;
  const own = structure[0].siteSpaces[0].id;
  await org('PUT', `/sites/${site}/adaptive-schema`, {
    jsonSchema: {
      type: 'object',
      properties: { beta: { type: 'boolean', description: 'Beta' } },
      additionalProperties: false,
    },
  });
  await org('POST', `/sites/${plain}/publish`);
  const server = { name: 'Docs', url: 'https://mcp.acme.example', headers: {} };
  const mcp = await create('POST', `/sites/${site}/mcp-servers`, server);
  const shareLink = await create('POST', `/sites/${site}/share-links`, { name: 'Partners' });
  const spec = (await org('PUT', '/openapi/petstore', { source: { url: 'https://api.example/openapi.json' } })).slug;
  const source = { space: two, language: 'en' };
  const translation = await create('POST', '/translations', { source, language: 'fr' });
  const collaboration = await buildCollaboration(made, { one, bo, ...conversations });
  const integrations = await buildIntegrations(made);
  const later = await buildLaterVersions(made, site, section);
  const places = [`/spaces/${one}`, `/collections/${col}`, `/orgs/org_acme/sites/${site}`];
  await buildPermissions(made, places, team, bo ?? '');
  return {
    ...{ ana, bo, team, saml, col, nested, one, two, inside, dead, site, plain, section, api, variant, group, parent },
    ...{ own, mcp, shareLink, spec, translation, ...conversations, ...collaboration, ...integrations, ...later },
  } as Record<string, string>;
}
