import { GitBookAPI, GitBookAPIError } from 'gitbook-api-0.146';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
// Its own types name files without their endings, which is not followed here.
import type { Api } from '../../node_modules/gitbook-api-0.146/dist/client.d.ts';
import { type Emulator, startEmulator } from '../../src/emulator/emulator.ts';

/*
 * The vendor's own client of 0.146 works with the embedded platform: a team is created, spaces are written and
 * reviewed, a site is published and asked, tickets become clusters, and all of it is deleted.
 */

type Client = Api<unknown>;

/** Calls, each of a different operation. */
const AT_LEAST = 50;

let emulator: Emulator;
let api: Client;
let org: string;

beforeAll(async () => {
  emulator = await startEmulator({ processing: { openapi: 0, translation: 0, conversations: 0 } });
  api = open(emulator.token);
  org = emulator.organization;
});
afterAll(() => emulator.close());

function open(authToken: string): Client {
  return new GitBookAPI({ endpoint: emulator.url, authToken }) as unknown as Client;
}

/** The error of a failed call. */
async function refused(call: Promise<unknown>): Promise<GitBookAPIError> {
  const error = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(GitBookAPIError);
  return error as GitBookAPIError;
}

/** A rich document of one paragraph. */
const document = (text: string) => ({
  object: 'document' as const,
  data: {},
  nodes: [
    {
      object: 'block' as const,
      type: 'paragraph' as const,
      nodes: [{ object: 'text' as const, leaves: [{ object: 'leaf' as const, text, marks: [] }] }],
    },
  ],
});

test('reads the user, the organization and its members', async () => {
  expect((await api.getApiInformation()).data).toMatchObject({ version: expect.any(String) });
  const { data: organizations } = await api.orgs.listOrganizationsForAuthenticatedUser();
  expect(organizations.items.map(({ id }) => id)).toEqual([org]);
  const { data: organization } = await api.orgs.getOrganizationById(org);
  expect(organization).toMatchObject({
    object: 'organization',
    permissions: { admin: true, ingestConversations: true },
  });
  const { data: members } = await api.orgs.listMembersInOrganizationById(org, { order: 'asc', limit: 10 });
  expect(members.items.length).toBe(3);
  const [ana] = members.items;
  expect((await api.orgs.getMemberInOrganizationById(org, ana?.id ?? '')).data.user).toEqual(ana?.user);
});

test('creates a team and changes its members', async () => {
  const { data: members } = await api.orgs.listMembersInOrganizationById(org);
  const [one, two] = members.items.map(({ id }) => id) as [string, string];
  const { data: team, status } = await api.orgs.createOrganizationTeam(org, { title: 'Translators', members: [one] });
  expect([status, team.title, team.members]).toEqual([201, 'Translators', 1]);
  expect((await api.orgs.updateTeamInOrganizationById(org, team.id, { title: 'Polyglots' })).data.title).toBe(
    'Polyglots',
  );
  expect((await api.orgs.updateMembersInOrganizationTeam(org, team.id, { add: [two], remove: [one] })).status).toBe(
    204,
  );
  await api.orgs.addMemberToOrganizationTeamById(org, team.id, one, { role: 'owner' as never });
  const { data: inTeam } = await api.orgs.listTeamMembersInOrganizationById(org, team.id);
  expect(inTeam.items.map((item) => item.team.role).sort()).toEqual(['member', 'owner']);
  expect((await api.orgs.removeTeamFromOrganizationById(org, team.id)).status).toBe(205);
  expect((await api.orgs.removeTeamFromOrganizationById(org, team.id)).status).toBe(204);
});

test('reads all pages of a list', async () => {
  const titles = ['A', 'B', 'C', 'D', 'E'];
  for (const title of titles) {
    await api.orgs.createCollection(org, { title });
  }
  const seen: string[] = [];
  let page: string | undefined;
  do {
    const { data } = await api.orgs.listCollectionsInOrganizationById(org, { limit: 2, ...(page ? { page } : {}) });
    expect(data.items.length).toBeLessThanOrEqual(2);
    seen.push(...data.items.map((item) => item.title));
    page = data.next?.page;
  } while (page !== undefined);
  expect(seen).toEqual(titles);
});

describe('a space', () => {
  let space: string;

  beforeAll(async () => {
    const { data, status, headers } = await api.orgs.createSpace(org, { title: 'Guides', emoji: '1f4d8' });
    expect([status, headers.get('location')]).toEqual([201, `${emulator.url}/v1/spaces/${data.id}`]);
    space = data.id;
    emulator.writePages(space, [{ title: 'Login', body: 'To sign in with SSO, open the login page.' }]);
  });

  test('is moved, copied, deleted and restored', async () => {
    const { data: shelf } = await api.orgs.createCollection(org, { title: 'Shelf' });
    expect((await api.spaces.moveSpace(space, { parent: shelf.id })).data.parent).toBe(shelf.id);
    expect((await refused(api.spaces.moveSpace(space, { parent: shelf.id }))).code).toBe(409);
    expect((await api.collections.listSpacesInCollectionById(shelf.id)).data.items.map(({ id }) => id)).toEqual([
      space,
    ]);
    const { data: copy } = await api.spaces.duplicateSpace(space);
    expect((await api.spaces.deleteSpaceById(copy.id)).status).toBe(205);
    expect((await api.spaces.restoreSpace(copy.id)).data.id).toBe(copy.id);
    expect((await api.spaces.updateSpaceById(space, { title: 'Handbook' })).data.title).toBe('Handbook');
  });

  test('has pages that are read and searched', async () => {
    const { data: revision } = await api.spaces.getCurrentRevision(space);
    expect(revision.object).toBe('revision');
    const { data } = await api.spaces.listPages(space);
    const [page] = data.pages;
    expect(page?.title).toBe('Login');
    const { data: read } = await api.spaces.getPageById(space, page?.id ?? '', { format: 'markdown' });
    expect(read).toMatchObject({ markdown: expect.stringContaining('SSO') });
    const { data: hits } = await api.spaces.searchSpaceContent(space, { query: 'sign in' });
    expect(hits.items.map(({ title }) => title)).toEqual(['Login']);
    const { data: everywhere } = await api.orgs.searchOrganizationContent(org, { query: 'sign in' });
    expect(everywhere.items.length).toBeGreaterThan(0);
  });

  test('has a change request that is opened, commented on and merged', async () => {
    const { data: opened, status } = await api.spaces.createChangeRequest(space, { subject: 'Say more' });
    expect([status, opened.status]).toEqual([201, 'draft']);
    const about = {
      subject: 'Say more about SSO',
      description: document('Because people ask'),
      status: 'open' as const,
    };
    const { data: changed } = await api.spaces.updateChangeRequestById(space, opened.id, about);
    expect(changed).toMatchObject({ status: 'open', description: about.description });
    const { data: listed } = await api.spaces.listChangeRequestsForSpace(space, { status: 'open' as never });
    expect(listed.items.map(({ id }) => id)).toEqual([opened.id]);
    const { data: comment } = await api.spaces.postCommentInChangeRequest(space, opened.id, {
      body: { markdown: 'Well' },
    });
    const answer = { body: { markdown: 'Yes' } };
    await api.spaces.postCommentReplyInChangeRequest(space, opened.id, comment.id, answer);
    const resolved = { resolved: true, addedReactions: ['1f44d'] };
    const { data: done } = await api.spaces.updateCommentInChangeRequest(space, opened.id, comment.id, resolved);
    expect(done).toMatchObject({ status: 'resolved', replies: 1, reactions: [{ emoji: '1f44d', count: 1 }] });
    const { data: updated } = await api.spaces.updateChangeRequest(space, opened.id);
    expect(updated.result).toBe('update');
    const { data: merged } = await api.spaces.mergeChangeRequest(space, opened.id);
    expect(merged.result).toBe('merge');
    expect((await api.spaces.getChangeRequestById(space, `${opened.number}`)).data.status).toBe('merged');
  });

  test('is published on a site that answers questions', async () => {
    const { data: site } = await api.orgs.createSite(org, { title: 'Help', spaces: [] });
    expect(site.published).toBe(false);
    const { data: section } = await api.orgs.addSectionToSite(org, site.id, { spaceId: space, title: 'Start' });
    const { data: group } = await api.orgs.addSectionGroupToSite(org, site.id, {
      title: 'More',
      sections: [section.id],
    });
    const { data: structure } = await api.orgs.getSiteStructure(org, site.id);
    expect(structure).toMatchObject({
      type: 'sections',
      structure: [{ id: group.id, sections: [{ id: section.id }] }],
    });
    expect((await api.orgs.publishSite(org, site.id)).data).toMatchObject({ published: true });
    const { data: shown } = await api.orgs.getPublishedContentSite(org, site.id);
    expect(shown).toMatchObject({ object: 'published-content-site', site: { id: site.id } });
    const question = { question: 'How do I sign in with SSO?', scope: { mode: 'all' as const } };
    const events = await Array.fromAsync(api.orgs.streamAskInSite(org, site.id, question, { format: 'markdown' }));
    expect(events.at(-1)).toMatchObject({
      type: 'answer',
      answer: { answer: { markdown: expect.stringMatching(/SSO|sign in/i) }, sources: [{ type: 'page', space }] },
    });
    expect((await api.orgs.unpublishSite(org, site.id)).data).toMatchObject({ published: false });
    expect((await api.orgs.deleteSiteById(org, site.id)).status).toBe(205);
  });

  test('is translated and gets an OpenAPI specification', async () => {
    const translation = {
      source: { space, language: 'en' as never },
      language: 'de' as never,
      instructions: document('Du'),
    };
    const { data: made } = await api.orgs.createTranslation(org, translation);
    expect((await api.orgs.runTranslation(org, made.id)).status).toBe(204);
    expect((await api.orgs.getTranslation(org, made.id)).data).toMatchObject({
      status: 'completed',
      stats: { runs: 2 },
    });
    const source = { text: JSON.stringify({ openapi: '3.1.0', info: { title: 'T', version: '1' }, paths: {} }) };
    const put = (slug: string) => api.orgs.createOrUpdateOpenApiSpecBySlug(org, slug, { source });
    expect([(await put('petstore')).status, (await put('petstore')).status]).toEqual([201, 200]);
    const { data: spec } = await api.orgs.getOpenApiSpecBySlug(org, 'petstore');
    expect(spec).toMatchObject({ slug: 'petstore', processingState: 'complete' });
  });
});

test('sends conversations and reads their issue clusters', async () => {
  const ticket = (id: string, body: string) => ({
    id,
    subject: 'PDF export',
    parts: [{ type: 'message' as const, role: 'user' as const, body }],
  });
  await api.orgs.ingestConversation(org, [
    ticket('t-1', 'The PDF export is empty.'),
    ticket('t-2', 'My PDF export is empty.'),
  ]);
  const { data: conversations } = await api.orgs.listConversations(org);
  expect(conversations.items.length).toBe(2);
  const { data: clusters } = await api.orgs.listConversationsIssuesClusters(org, { limit: 5 });
  const [cluster] = clusters.items;
  expect(cluster?.stats).toMatchObject({ issues: 2, conversations: 2 });
  const { data: issues } = await api.orgs.listConversationsIssues(org, { cluster: cluster?.id ?? '' });
  expect(issues.items.length).toBe(2);
});

test('receives errors with a reason', async () => {
  const rows: readonly (readonly [() => Promise<unknown>, number, RegExp])[] = [
    [() => api.spaces.getSpaceById('none'), 404, /Space "none" not found/],
    [() => api.orgs.createOrganizationTeam(org, { title: '' }), 400, /title: must be 1-64 characters/],
    [() => api.orgs.getOrganizationById('none'), 404, /not found/],
    [() => open('wrong').orgs.getOrganizationById(org), 401, /token/],
  ];
  for (const [call, code, says] of rows) {
    const error = await refused(call());
    expect([error.code, error.errorMessage]).toEqual([code, expect.stringMatching(says)]);
  }
});

test('the vendor client has called many operations', () => {
  const called = Object.entries(emulator.requests.byOperation);
  expect(called.length).toBeGreaterThanOrEqual(AT_LEAST);
  expect(called.map(([operation]) => operation)).not.toContain('unknown');
});
