import { GitBookAPI, GitBookAPIError } from 'gitbook-api-0.146';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
// Its own types name files without their endings, which is not followed here.
import type { Api } from '../../node_modules/gitbook-api-0.146/dist/client.d.ts';
import { type Emulator, startEmulator } from '../../src/emulator/emulator.ts';

/*
 * The vendor's own client of 0.146 works with the embedded platform: lists in pages, writes, a stream of events, and
 * errors. The comparison with the vendor's documents covers all operations.
 */

type Client = Api<unknown>;

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
