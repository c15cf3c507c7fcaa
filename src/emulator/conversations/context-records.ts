// Operations on context records and topics of a site.

import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { type ApiAnswer, noContent, ok } from '../model/answers.ts';
import { type ApiOperation, type Context, type OperationCall, operation, SITE } from '../model/operation.ts';
import { listBySeq } from '../model/paging.ts';
import { omitUndefined } from '../model/patch.ts';
import { startRun } from '../model/runs.ts';
import { listQuery, text } from '../model/schema.ts';
import type { SiteRecord } from '../sites/records.ts';
import { requireSite } from '../sites/views.ts';
import { type ConversationRecord, originKey } from './records.ts';
import { requireContextRecord, requireTopic } from './site-context.ts';
import { viewContextRecord, viewTopic } from './topic-views.ts';

const RECORDS = `${SITE}/context-records` as const;
const TOPIC = `${SITE}/topics/{siteTopicId}` as const;

/** Largest number of records and of bytes in one request. Not documented, as for conversations. */
const MAX_BATCH = 100;
const MAX_BYTES = 5 * 1024 * 1024;
const TYPES = ['ticket', 'document'] as const;

const dateTime = z.iso
  .datetime({ offset: true, error: 'must be a date-time' })
  .refine((value) => /T\d\d:\d\d:\d\d/.test(value), { error: 'must be a date-time' });

/** Source: docs/platform-notes.md#context-records */
const contextRecordInput = z.strictObject({
  id: z.string().min(1, { error: 'must not be empty' }),
  type: z.enum(TYPES),
  title: text(1, 256),
  description: text(0, 512).optional(),
  body: z.string(),
  url: z
    .string()
    .refine((value) => URL.canParse(value), { error: 'must be a URL' })
    .optional(),
  createdAt: dateTime.optional(),
  metadata: z.record(z.string(), z.union([z.string(), z.number()])).optional(),
});

type ContextRecordInput = z.output<typeof contextRecordInput>;

const contextRecordInputs = z
  .array(contextRecordInput)
  .max(MAX_BATCH, { error: `must have at most ${MAX_BATCH} context records` });

type Put = OperationCall<
  '/orgs/{organizationId}/sites/{siteId}/context-records',
  unknown,
  readonly ContextRecordInput[]
>;

/** Stores a list completely or not at all. If an id occurs twice, the later record wins. */
function putRecords(call: Put): ApiAnswer {
  const site = requireSite(call);
  for (const input of call.body) {
    keep(call, site, input);
  }
  call.store.settle(call.now);
  return noContent();
}

/** Stores a record. An unchanged record is counted, but not processed again. */
function keep(
  call: Context,
  site: SiteRecord,
  { id, title, body, url, createdAt, ...record }: ContextRecordInput,
): void {
  const { conversations } = call.store;
  const source = 'builtin:api';
  const before = conversations.one('origin', originKey(site.id, source, id));
  const content: ConversationRecord['content'] = {
    subject: title,
    parts: [{ type: 'message', role: 'user', body }],
    metadata: omitUndefined({ url, createdAt }),
  };
  if (before !== undefined && isDeepStrictEqual([before.content, before.record], [content, record])) {
    conversations.put({ ...before, received: before.received + 1, repeats: before.repeats + 1 });
    return;
  }
  conversations.put({
    ...(before ?? call.store.identify('rec')),
    organization: site.organization,
    site: site.id,
    record,
    source,
    externalId: id,
    content,
    createdAt: createdAt ?? before?.createdAt ?? call.at,
    ingestedAt: call.at,
    received: (before?.received ?? 0) + 1,
    repeats: before?.repeats ?? 0,
    processedAt: undefined,
    run: startRun(call, call.processing.conversations),
  });
}

const recordsQuery = listQuery.extend({ type: z.enum(TYPES).optional(), topic: z.string().optional() });

const updateSiteTopicBody = z.strictObject({ usageSettings: z.strictObject({ changeRequests: z.boolean() }) });

/** Operations on context records. Source: docs/platform-notes.md#context-records */
export const contextRecordOperations: readonly ApiOperation[] = [
  operation(
    'putContextRecords',
    'PUT',
    RECORDS,
    { feature: 'contextRecords', limit: 'ingest', maxBytes: MAX_BYTES, body: contextRecordInputs },
    putRecords,
  ),
  operation('listContextRecords', 'GET', RECORDS, { feature: 'contextRecords', query: recordsQuery }, (call) => {
    const { store, query } = call;
    const site = requireSite(call);
    const topicOf = (id: string) => store.conversationIssues.one('conversation', id)?.cluster;
    const items = store.conversations
      .by('site', site.id)
      .filter(({ record }) => query.type === undefined || record?.type === query.type)
      .filter(({ id }) => query.topic === undefined || topicOf(id) === query.topic);
    return listBySeq(call, items, viewContextRecord);
  }),
  operation('getContextRecord', 'GET', `${RECORDS}/{contextRecordId}`, { feature: 'contextRecords' }, (call) => {
    return ok(viewContextRecord(call, requireContextRecord(call)));
  }),
];

/** Operations on a site's topics. Their list is not paginated. Source: docs/platform-notes.md#topics */
export const siteTopicOperations: readonly ApiOperation[] = [
  operation('listSiteTopics', 'GET', `${SITE}/topics`, { feature: 'contextRecords' }, (call) => {
    const site = requireSite(call);
    return ok({ items: call.store.issuesClusters.by('site', site.id).map((topic) => viewTopic(call, topic)) });
  }),
  operation('getSiteTopic', 'GET', TOPIC, { feature: 'contextRecords' }, (call) => {
    return ok(viewTopic(call, requireTopic(call)));
  }),
  operation('updateSiteTopic', 'PATCH', TOPIC, { feature: 'contextRecords', body: updateSiteTopicBody }, (call) => {
    const topic = requireTopic(call);
    const muted = !call.body.usageSettings.changeRequests;
    return ok(viewTopic(call, call.store.issuesClusters.put({ ...topic, muted })));
  }),
];
