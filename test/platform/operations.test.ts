import nock from 'nock';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import { RejectedError, TransientError } from '../../src/core/errors.ts';
import { openWriter, type Writer } from '../../src/platform/client.ts';
import { type Connection, openConnection } from '../../src/platform/connection.ts';
import { operations } from '../../src/platform/operations/index.ts';
import type { Input } from '../../src/platform/operations/model/operation.ts';
import { toDocument } from '../../src/platform/rich-text/from-markdown.ts';

const BASE = 'https://api.example';
const CR = '/v1/spaces/s/change-requests/c';
const open: Connection[] = [];

function client(): Writer {
  const connection = openConnection({
    baseUrl: BASE,
    token: 'secret-token',
    userAgent: 'octavo/0.0.0',
    concurrency: 4,
    clock: systemClock,
    random: () => 0,
    timeouts: {},
  });
  open.push(connection);
  return openWriter(connection, { organization: 'org_1', priority: 'clusters' });
}

beforeEach(() => nock.disableNetConnect());

afterEach(async () => {
  await Promise.all(open.splice(0).map((connection) => connection.close(0)));
  const unused = nock.pendingMocks();
  nock.cleanAll();
  nock.enableNetConnect();
  expect(unused).toEqual([]);
});

/** Query as nock compares it and as the client accepts it. */
const document = JSON.parse(JSON.stringify(toDocument('Add **SSO**')));
const path = { spaceId: 's', changeRequestId: 'c' };

const changeRequest = {
  object: 'change-request',
  id: 'c',
  number: 3,
  status: 'draft',
  subject: 'Docs gap: SSO',
  createdAt: '2026-01-02T03:04:05.000Z',
  updatedAt: '2026-01-02T03:04:05.000Z',
  space: 's',
  revision: 'r2',
  revisionInitial: 'r1',
  comments: 0,
  outdated: false,
};

/** A cluster in the form of the API document. Source: docs/platform-notes.md#issue-clusters */
const cluster = {
  object: 'issues-cluster',
  id: 'k',
  label: 'SSO login loops',
  createdAt: '2026-01-01T00:00:00.000Z',
  updatedAt: '2026-01-02T00:00:00.000Z',
  icon: 'key',
  summary: document,
  muted: false,
  impact: 'high',
  weeklyPulse: [0, 1, 2],
  sources: { email: 2 },
  stats: { issues: 3, conversations: 2 },
  urls: { location: 'https://api.example/v1/orgs/org_1/conversations-clusters/k' },
};

describe('clusters and issues', () => {
  test.each([
    ['as documented', cluster],
    ['of another version', { id: 'k', label: 'L', summary: 'text', stats: { issues: 1, tasksTotal: 4 }, urls: null }],
    ['with details instead of a summary', { id: 'k', details: 'text', icon: { light: 'a' }, stats: null }],
    ['with unknown values', { id: 'k', impact: 'catastrophic', sources: { 'integration:x:y': 1, '': null } }],
    ['with an id alone', { id: 'k' }],
  ])('a cluster %s is returned unchanged', async (_, answer) => {
    nock(BASE).get('/v1/orgs/org_1/conversations-clusters/k').reply(200, answer);
    const read = await client().get(operations.getConversationCluster, { path: { clusterId: 'k' } });
    expect(read).toEqual(answer);
  });

  test('are muted, with retries', async () => {
    const mute = () => nock(BASE).patch('/v1/orgs/org_1/conversations-clusters/k', { muted: true });
    mute().reply(502, '');
    mute().reply(200, { ...cluster, muted: true });
    const muted = await client().send(operations.updateConversationCluster, {
      path: { clusterId: 'k' },
      body: { muted: true },
    });
    expect(muted.muted).toBe(true);
  });

  test.each([
    [{ cluster: 'k' }, { cluster: 'k', limit: '10' }],
    [{ conversation: 'v' }, { conversation: 'v', limit: '10' }],
  ])('issues are listed by %j', async (filter, query) => {
    const item = {
      issue: {
        object: 'conversation-issue',
        id: 'i',
        title: 'Loops',
        details: document,
        impact: 'low',
        conversation: 'v',
        cluster: 'k',
      },
      conversation: {
        id: 'v',
        subject: 'Help',
        source: 'email',
        impact: 'odd',
        urls: { source: 'https://desk.example/1' },
      },
    };
    nock(BASE)
      .get('/v1/orgs/org_1/conversations-issues')
      .query(query)
      .reply(200, { items: [item, { issue: { id: 'j', summary: 'text' } }] });
    const page = await client().get(operations.listConversationIssues, { query: { ...filter, limit: 10 } });
    expect(page.items).toEqual([item, { issue: { id: 'j', summary: 'text' } }]);
  });
});

describe('change requests', () => {
  test('of a space are listed by status and cluster', async () => {
    nock(BASE)
      .get('/v1/spaces/s/change-requests')
      .query({ status: 'draft', conversationsIssuesCluster: 'k', creator: 'u', limit: '1000' })
      .reply(200, { items: [changeRequest] });
    const query = { status: 'draft', conversationsIssuesCluster: 'k', creator: 'u' } as const;
    const found = await Array.fromAsync(
      client().pages(operations.listSpaceChangeRequests, { path: { spaceId: 's' }, query }),
    );
    expect(found).toEqual([changeRequest]);
  });

  test('of the organization are listed by cluster, whatever their status', async () => {
    const odd = { ...changeRequest, status: 'parked', description: document, conversationsIssuesCluster: 'k' };
    nock(BASE)
      .get('/v1/orgs/org_1/change-requests')
      .query({ conversationsIssuesCluster: 'k', limit: '1000' })
      .reply(200, { items: [odd], count: 1 });
    const query = { conversationsIssuesCluster: 'k' };
    expect(await Array.fromAsync(client().pages(operations.listOrganizationChangeRequests, { query }))).toEqual([odd]);
  });

  test('are created with a link to their cluster', async () => {
    const body = {
      subject: 'Docs gap: SSO',
      conversationsIssuesCluster: 'k',
      description: document,
      template: { id: 't', params: { contentRefs: { page: { kind: 'page', page: 'p', space: 's' } } } },
    };
    const answer = { ...changeRequest, description: document, conversationsIssuesCluster: 'k' };
    nock(BASE).post('/v1/spaces/s/change-requests', body).reply(201, answer);
    expect(await client().send(operations.createChangeRequest, { path: { spaceId: 's' }, body })).toEqual(answer);
  });

  test('are not created again after a lost response', async () => {
    nock(BASE).post('/v1/spaces/s/change-requests', { subject: 'x' }).reply(502, '');
    const created = client().send(operations.createChangeRequest, { path: { spaceId: 's' }, body: { subject: 'x' } });
    const error = await created.then(
      () => expect.unreachable(),
      (reason: unknown) => reason,
    );
    expect(error).toBeInstanceOf(TransientError);
    expect(error).toHaveProperty('maybeDone', true);
  });

  test('have a subject of 100 characters at most', async () => {
    const body = { subject: 'x'.repeat(101) };
    await expect(client().send(operations.createChangeRequest, { path: { spaceId: 's' }, body })).rejects.toThrow(
      RejectedError,
    );
    await expect(client().send(operations.updateChangeRequest, { path, body })).rejects.toThrow(
      'updateChangeRequest was not sent: body: subject: must have 0 to 100 characters',
    );
  });

  test('are read', async () => {
    nock(BASE).get(CR).reply(200, changeRequest);
    expect(await client().get(operations.getChangeRequest, { path })).toEqual(changeRequest);
  });

  test('are changed, with retries', async () => {
    const body = { status: 'open', description: document } as const;
    nock(BASE).patch(CR, body).reply(502, '');
    nock(BASE)
      .patch(CR, body)
      .reply(200, { ...changeRequest, status: 'open' });
    expect((await client().send(operations.updateChangeRequest, { path, body }))?.status).toBe('open');
  });

  test('become merged only by merging', async () => {
    const body = { status: 'merged' } as never;
    await expect(client().send(operations.updateChangeRequest, { path, body })).rejects.toThrow(RejectedError);
    nock(BASE).post(`${CR}/merge`).reply(200, { revision: 'r3', result: 'merge' });
    const merged = await client().send(operations.mergeChangeRequest, { path });
    expect(merged).toEqual({ revision: 'r3', result: 'merge' });
  });

  test('pull the content of the space and report conflicts', async () => {
    nock(BASE).post(`${CR}/update`).reply(200, { revision: 'r4', result: 'conflicts' });
    const updated = await client().send(operations.updateChangeRequestContent, { path });
    expect(updated.result).toBe('conflicts');
  });
});

describe('requested reviewers', () => {
  const reviewer = { kind: 'user', user: { id: 'u', email: 'ada@example.com' }, revision: 'r2' };

  test('are listed, requested and removed', async () => {
    const writer = client();
    nock(BASE)
      .get(`${CR}/requested-reviewers`)
      .query(true)
      .reply(200, { items: [reviewer] });
    nock(BASE)
      .post(`${CR}/requested-reviewers`, { users: ['u'] })
      .reply(200, { users: [reviewer] });
    nock(BASE).delete(`${CR}/requested-reviewers/u`).reply(205);
    expect(await Array.fromAsync(writer.pages(operations.listRequestedReviewers, { path }))).toEqual([reviewer]);
    const asked = await writer.send(operations.requestReviewers, { path, body: { users: ['u'] } });
    expect(asked.users).toEqual([reviewer]);
    const removed = writer.send(operations.removeRequestedReviewer, { path: { ...path, userId: 'u' } });
    expect(await removed).toBeUndefined();
  });

  test('requires at least one reviewer', async () => {
    const asked = client().send(operations.requestReviewers, { path, body: { users: [] } });
    await expect(asked).rejects.toThrow(RejectedError);
  });
});

describe('comments', () => {
  test('are listed by several authors', async () => {
    const comment = { id: 'm', body: { markdown: 'More of it' }, postedBy: { id: 'u' }, status: 'open' };
    nock(BASE)
      .get(`${CR}/comments?format=markdown&order=asc&authors=u&authors=v&limit=1000`)
      .reply(200, { items: [comment, { id: 'n', body: { document } }] });
    const query = { format: 'markdown', order: 'asc', authors: ['u', 'v'] } satisfies Input<
      typeof operations.listChangeRequestComments
    >['query'];
    const found = await Array.fromAsync(client().pages(operations.listChangeRequestComments, { path, query }));
    expect(found).toEqual([comment, { id: 'n', body: { document } }]);
  });

  test.each([{ markdown: '**2** more' }, { document: document }])('are posted as %j', async (body) => {
    nock(BASE).post(`${CR}/comments`, { body }).reply(200, { id: 'm', body });
    expect((await client().send(operations.postChangeRequestComment, { path, body: { body } })).id).toBe('m');
  });

  test('are not posted again after a lost response', async () => {
    nock(BASE).post(`${CR}/comments`).reply(502, '');
    const body = { body: { markdown: 'x' } };
    await expect(client().send(operations.postChangeRequestComment, { path, body })).rejects.toThrow(TransientError);
  });
});

describe('search', () => {
  test('finds pages by space in an organization', async () => {
    const found = {
      id: 's',
      title: 'Guides',
      pages: [
        { id: 'p', title: 'SSO', path: 'sso', ancestors: [{ title: 'Login' }], sections: [{ id: 'h', title: 'SAML' }] },
      ],
    };
    nock(BASE)
      .get('/v1/orgs/org_1/search')
      .query({ query: 'sso & saml', limit: '50' })
      .reply(200, { items: [found, { id: 'empty' }] });
    const page = await client().get(operations.searchOrganization, { query: { query: 'sso & saml', limit: 50 } });
    expect(page.items).toEqual([found, { id: 'empty' }]);
  });

  test('finds pages in a space', async () => {
    const found = { id: 'p', title: 'SSO', path: 'sso', urls: { app: 'https://app.example/p' } };
    nock(BASE)
      .get('/v1/spaces/s/search')
      .query({ query: 'sso' })
      .reply(200, { items: [found] });
    const page = await client().get(operations.searchSpace, { path: { spaceId: 's' }, query: { query: 'sso' } });
    expect(page.items).toEqual([found]);
  });

  test('limits the query to 512 characters, and uses the limit of searches', async () => {
    const query = { query: 'x'.repeat(513) };
    await expect(client().get(operations.searchOrganization, { query })).rejects.toThrow('must have 1 to 512');
    expect(operations.searchOrganization.class).toBe('search');
    expect(operations.searchSpace.class).toBe('search');
  });
});
