import { afterEach, beforeEach, expect, test } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import { type Emulator, startEmulator } from '../../src/emulator/emulator.ts';
import { openWriter, type Writer } from '../../src/platform/client.ts';
import { type Connection, openConnection } from '../../src/platform/connection.ts';
import { operations } from '../../src/platform/operations/index.ts';
import { toDocument } from '../../src/platform/rich-text/from-markdown.ts';
import { toMarkdown } from '../../src/platform/rich-text/to-markdown.ts';

/* Over sockets, to the embedded platform: it rejects what the documents do not allow, and shares no code. */

let emulator: Emulator;
let connection: Connection;
let writer: Writer;

beforeEach(async () => {
  emulator = await startEmulator();
  connection = openConnection({
    baseUrl: emulator.url,
    token: emulator.token,
    userAgent: 'octavo/0',
    concurrency: 4,
    clock: systemClock,
    random: () => 0.5,
  });
  writer = openWriter(connection, { organization: emulator.organization, priority: 'clusters' });
});

afterEach(async () => {
  await connection.close(0);
  await emulator.close();
});

async function openChangeRequest() {
  const space = await writer.send(operations.createSpace, { body: { title: 'Guides' } });
  const description = { ...toDocument('# Why\n\n- **SSO** loops\n- [x](https://x.example)\n\n```js\na\n```\n\n---') };
  const body = { subject: 'Docs gap: SSO', description };
  const created = await writer.send(operations.createChangeRequest, { path: { spaceId: space.id }, body });
  return { created, path: { spaceId: space.id, changeRequestId: created.id } };
}

test('creates, describes, lists and merges a change request', async () => {
  const { created, path } = await openChangeRequest();
  expect(created).toMatchObject({ status: 'draft', subject: 'Docs gap: SSO', space: path.spaceId });
  const description = { ...toDocument('Because | of _it_') };
  const opened = await writer.send(operations.updateChangeRequest, { path, body: { status: 'open', description } });
  expect(opened).toMatchObject({ id: created.id, status: 'open', description });

  const { spaceId } = path;
  const ids = async (status?: 'draft' | 'open') => {
    const query = status === undefined ? {} : { status };
    const items = await Array.fromAsync(writer.pages(operations.listSpaceChangeRequests, { path: { spaceId }, query }));
    return items.map((item) => item.id);
  };
  expect(await Promise.all([ids(), ids('open'), ids('draft')])).toEqual([[created.id], [created.id], []]);
  const listed = await Array.fromAsync(writer.pages(operations.listOrganizationChangeRequests));
  expect(listed.map((item) => item.id)).toEqual([created.id]);

  expect((await writer.send(operations.updateChangeRequestContent, { path })).result).toBe('update');
  expect((await writer.send(operations.mergeChangeRequest, { path })).result).toBe('merge');
  expect((await writer.get(operations.getChangeRequest, { path })).status).toBe('merged');
});

test('a change request has reviewers and comments', async () => {
  const { path } = await openChangeRequest();
  const [member] = await Array.fromAsync(writer.pages(operations.listMembers));
  const userId = member?.user?.id ?? '';
  await writer.send(operations.requestReviewers, { path, body: { users: [userId] } });
  const [asked] = await Array.fromAsync(writer.pages(operations.listRequestedReviewers, { path }));
  expect(asked?.user?.id).toBe(userId);
  await writer.send(operations.removeRequestedReviewer, { path: { ...path, userId } });
  expect(await Array.fromAsync(writer.pages(operations.listRequestedReviewers, { path }))).toEqual([]);

  const document = { ...toDocument('**Two** more') };
  await writer.send(operations.postChangeRequestComment, { path, body: { body: { markdown: 'One more' } } });
  await writer.send(operations.postChangeRequestComment, { path, body: { body: { document } } });
  const query = { order: 'asc', format: 'document', status: 'all' } as const;
  const comments = await Array.fromAsync(writer.pages(operations.listChangeRequestComments, { path, query }));
  expect(comments.map((comment) => toMarkdown(comment.body?.document).trim())).toEqual(['One more', '**Two** more']);
});

test('returns empty lists of clusters, issues and search results', async () => {
  const { path } = await openChangeRequest();
  const { spaceId } = path;
  const query = { query: 'sso' };
  const lists = [
    writer.pages(operations.listConversationClusters, { query: { order: 'desc', sort: 'updatedAt' } }),
    writer.pages(operations.listConversationIssues, { query: { cluster: 'none' } }),
    writer.pages(operations.searchOrganization, { query }),
    writer.pages(operations.searchSpace, { path: { spaceId }, query }),
  ];
  expect(await Promise.all(lists.map((items: AsyncIterable<unknown>) => Array.fromAsync(items)))).toEqual([
    [],
    [],
    [],
    [],
  ]);
  const path404 = { clusterId: 'none' };
  await expect(writer.get(operations.getConversationCluster, { path: path404 })).rejects.toMatchObject({ status: 404 });
  const mute = writer.send(operations.updateConversationCluster, { path: path404, body: { muted: true } });
  await expect(mute).rejects.toMatchObject({ status: 404 });
});
