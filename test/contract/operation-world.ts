/** A platform with one of everything, for the contract cases. */
import { systemClock } from '../../src/core/clock.ts';
import { createState, type Emulator, emptyOrganization, startEmulator } from '../../src/emulator/emulator.ts';
import { openWriter, type Writer } from '../../src/platform/client.ts';
import { type Connection, openConnection } from '../../src/platform/connection.ts';
import { operations } from '../../src/platform/operations/index.ts';
import type { Input, Operation } from '../../src/platform/operations/model/operation.ts';
import { toDocument } from '../../src/platform/rich-text/from-markdown.ts';

/**
 * Caller: an admin, the integration `helper`, somebody who is not a member yet, or somebody whom the platform does not
 * know.
 */
export type Who = 'admin' | 'integration' | 'newcomer' | 'stranger';

export const ORGANIZATION = 'org_acme';
/** For paths below an organization that does not exist. */
export const NOWHERE = { organizationId: 'none' };
export const document = { ...toDocument('Because of **SSO**') };
export const INTEGRATION = {
  title: 'Helper',
  description: 'Helps',
  script: 'export default {}',
  scopes: ['space:content:read' as const],
  organization: ORGANIZATION,
};
export const commentBody = { body: { markdown: 'Well' } };

const people = { ana: 'ana@acme.example', bo: 'bo@acme.example' };
const SEED = createState({
  organizations: [
    emptyOrganization({
      id: ORGANIZATION,
      title: 'Acme',
      members: [
        { email: people.ana, role: 'admin' },
        { email: people.bo, role: 'edit' },
      ],
    }),
    emptyOrganization({ id: 'org_other', title: 'Other', members: [{ email: people.ana, role: 'admin' }] }),
  ],
});

const TOKENS = {
  'token-integration': { user: people.ana, permission: 'admin', integration: 'helper' },
  'token-newcomer': { user: 'cy@acme.example', permission: 'admin' },
} as const;

/** A platform with one of everything, of all versions at once, and a client for every caller. */
export interface Stage {
  readonly emulator: Emulator;
  readonly ids: Ids;
  as(who: Who): Writer;
  close(): Promise<void>;
}

/**
 * Starts the platform and creates one of everything through the client. `through` receives the platform's address and
 * returns the one that the client uses.
 */
export async function openStage(through = (url: string) => Promise.resolve(url)): Promise<Stage> {
  const emulator = await startEmulator({
    seed: SEED,
    tokens: TOKENS,
    processing: { openapi: 0, translation: 0, conversations: 0 },
    features: { contextRecords: true, siteIssues: true, siteFindings: true, externalLinks: true },
  });
  const baseUrl = await through(emulator.url);
  const connections: Connection[] = [];
  const writers = new Map<Who, Writer>();
  for (const who of ['admin', 'integration', 'newcomer', 'stranger'] as const) {
    const connection = openConnection({
      baseUrl,
      token: who === 'admin' ? emulator.token : `token-${who}`,
      userAgent: 'octavo/0.0.0',
      concurrency: 4,
      clock: systemClock,
      random: () => 0,
    });
    connections.push(connection);
    writers.set(who, openWriter(connection, { organization: ORGANIZATION, priority: 'person' }));
  }
  const as = (who: Who) => writers.get(who) as Writer;
  const ids = await buildWorld(as('admin'), emulator);
  return {
    emulator,
    ids,
    as,
    async close() {
      await Promise.all(connections.map((connection) => connection.close(0)));
      await emulator.close();
    },
  };
}

async function buildSpaces(writer: Writer, emulator: Emulator) {
  const create = async (title: string, rest: object = {}) =>
    (await writer.send(operations.createSpace, { body: { title, ...rest } })).id;
  const collection = (await writer.send(operations.createCollection, { body: { title: 'Handbook' } })).id;
  const nested = (await writer.send(operations.createCollection, { body: { title: 'In it', parent: collection } })).id;
  const space = await create('Guides');
  const other = await create('API', { language: 'en' });
  const inside = await create('Inside', { parent: collection });
  const dead = await create('Dead');
  await writer.send(operations.deleteSpace, { path: { spaceId: dead } });
  const content = emulator.writeContent(space, {
    pages: [
      { title: 'Login', body: '# Login\n\nSign in with SSO, see [the export](export.md). ![Logo](/files/logo.svg)' },
      { title: 'Export', path: 'export', body: 'To PDF.' },
    ],
    files: [{ name: 'logo.svg', contentType: 'image/svg+xml', text: '<svg/>' }],
  });
  const [page = ''] = content.pages;
  const [file = ''] = content.files;
  return { collection, nested, space, other, inside, dead, page, file };
}

async function buildRequests(writer: Writer, spaceId: string, user: string) {
  const path = { spaceId };
  const request = (await writer.send(operations.createChangeRequest, { path, body: { subject: 'Docs gap' } })).id;
  const cr = { spaceId, changeRequestId: request };
  await writer.send(operations.requestReviewers, { path: cr, body: { users: [user] } });
  await writer.send(operations.submitChangeRequestReview, {
    path: cr,
    body: { status: 'approved', comment: commentBody.body },
  });
  const merged = (await writer.send(operations.createChangeRequest, { path, body: {} })).id;
  await writer.send(operations.mergeChangeRequest, { path: { spaceId, changeRequestId: merged } });
  const comment = (await writer.send(operations.postSpaceComment, { path, body: commentBody })).id;
  const reply = (
    await writer.send(operations.postSpaceCommentReply, { path: { ...path, commentId: comment }, body: commentBody })
  ).id;
  const crComment = (await writer.send(operations.postChangeRequestComment, { path: cr, body: commentBody })).id;
  const crReply = (
    await writer.send(operations.postChangeRequestCommentReply, {
      path: { ...cr, commentId: crComment },
      body: commentBody,
    })
  ).id;
  return { request, merged, comment, reply, crComment, crReply };
}

async function buildSite(writer: Writer, space: string, other: string) {
  const site = (await writer.send(operations.createSite, { body: { title: 'Help' } })).id;
  const path = { siteId: site };
  const section = (await writer.send(operations.createSection, { path, body: { spaceId: space, title: 'Guides' } })).id;
  const second = (await writer.send(operations.createSection, { path, body: { spaceId: other, title: 'API' } })).id;
  const added = { spaceId: other, sectionId: section };
  const variant = (await writer.send(operations.addSiteSpace, { path, body: added }))?.id ?? '';
  const group = (await writer.send(operations.createSectionGroup, { path, body: { title: 'More' } })).id;
  const grouped = (await writer.send(operations.createSection, { path, body: { spaceId: other, title: 'In it' } })).id;
  const groupPath = { ...path, siteSectionGroupId: group };
  await writer.send(operations.addSectionToGroup, { path: groupPath, body: { sectionId: grouped } });
  const link = { title: 'Status', url: 'https://status.acme.example' };
  const externalLink = (await writer.send(operations.createExternalLink, { path, body: link })).id;
  const properties = { beta: { type: 'boolean', description: 'Beta' } };
  const jsonSchema = { type: 'object', properties, additionalProperties: false };
  await writer.send(operations.updateAdaptiveSchema, { path, body: { jsonSchema } });
  await writer.send(operations.publishSite, { path });
  const customization = await writer.get(operations.getSiteCustomization, { path });
  const all = await writer.get(operations.listSiteSpaces, { path });
  const firstSiteSpace = all.items.find((item) => item.section === section && item.id !== variant)?.id ?? '';
  return { site, section, second, variant, firstSiteSpace, group, grouped, externalLink, customization };
}

async function buildConversations(writer: Writer, siteId: string) {
  const parts = (body: string) => [{ type: 'message' as const, role: 'user' as const, body }];
  await writer.send(operations.ingestConversations, {
    body: [
      { id: 'z-1', subject: 'PDF export is empty', parts: parts('The export to PDF gives an empty file.') },
      { id: 'z-2', subject: 'Empty PDF', parts: parts('PDF export: the file is empty.') },
    ],
  });
  const [found] = (await writer.get(operations.listConversationIssues)).items;
  const path = { siteId };
  const record = (id: string, title: string, body: string) => ({ id, type: 'ticket' as const, title, body });
  await writer.send(operations.putContextRecords, {
    path,
    body: [
      record('r-1', 'Login loops', 'The login with SSO loops for ever.'),
      record('r-2', 'SSO login', 'With SSO the login loops.'),
    ],
  });
  const [contextRecord] = (await writer.get(operations.listContextRecords, { path })).items;
  const [topic] = (await writer.get(operations.listSiteTopics, { path })).items;
  const [finding] = (await writer.get(operations.listSiteFindings, { path })).items;
  return {
    issue: found?.issue.id ?? '',
    cluster: found?.issue.cluster ?? '',
    conversation: found?.issue.conversation ?? '',
    contextRecord: contextRecord?.id ?? '',
    topic: topic?.id ?? '',
    finding: finding?.id ?? '',
  };
}

async function buildIntegration(writer: Writer) {
  const path = { integrationName: 'helper' };
  await writer.send(operations.publishIntegration, { path, body: { ...INTEGRATION, visibility: 'public' } });
  const installed = await writer.send(operations.installIntegration, { path, body: { organization: ORGANIZATION } });
  const [event] = (await writer.get(operations.listIntegrationEvents, { path })).items;
  return { installation: installed.id, event: event?.id ?? '' };
}

/** One of everything. */
async function buildWorld(writer: Writer, emulator: Emulator) {
  await writer.send(operations.updateOrganization, {
    body: { emailDomains: ['acme.example'], inviteLinks: true, ai: true },
  });
  const members = (await writer.get(operations.listMembers, { query: { order: 'asc' } })).items;
  const [ana = '', bo = ''] = members.map((member) => member.id);
  const team = (await writer.send(operations.createTeam, { body: { title: 'Writers', members: [bo] } })).id;
  const saml = (await writer.send(operations.createSamlProvider, { body: { label: 'Okta' } })).id;
  const invite = (await writer.send(operations.createInviteLink, { body: { role: 'read' } })).id;
  const spaces = await buildSpaces(writer, emulator);
  const source = { space: spaces.other, language: 'en' as const };
  const translation = (await writer.send(operations.createTranslation, { body: { source, language: 'fr' } })).id;
  const body = { slug: 'petstore', source: { url: 'https://api.acme.example/openapi.json' } };
  const spec = (await writer.send(operations.createOpenApiSpec, { body })).slug;
  const requests = await buildRequests(writer, spaces.space, bo);
  const site = await buildSite(writer, spaces.space, spaces.other);
  const conversations = await buildConversations(writer, site.site);
  const integration = await buildIntegration(writer);
  return {
    ...{ ana, bo, team, saml, invite, translation, spec },
    ...spaces,
    ...requests,
    ...site,
    ...conversations,
    ...integration,
  };
}

/** Ids of the created resources. */
export type Ids = Awaited<ReturnType<typeof buildWorld>>;

/** A call that the platform accepts, and one that it rejects. */
export interface Case<O extends Operation> {
  good(ids: Ids): Input<O>;
  /** Required content of the answer, if it has a body. */
  sees?(ids: Ids): object;
  readonly goodBy?: Who;
  /** By default, the same call on something that does not exist: the last parameter of its path is `none`. */
  bad?(ids: Ids): Input<O>;
  /** Status of the rejection; 404 by default. */
  readonly status?: number;
  readonly badBy?: Who;
}

/** One case for every operation. */
export type Cases = { readonly [Name in keyof typeof operations]: Case<(typeof operations)[Name]> };
