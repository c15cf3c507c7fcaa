// Operations on conversations.

import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { type ApiAnswer, ApiError, noContent, ok } from '../model/answers.ts';
import {
  type ApiOperation,
  type Caller,
  type Context,
  canIngest,
  type OperationCall,
  ORGANIZATION,
  operation,
  type PathContext,
} from '../model/operation.ts';
import { listBySeq } from '../model/paging.ts';
import { startRun } from '../model/runs.ts';
import { listQuery, parse, text } from '../model/schema.ts';
import { PART_ROLES } from '../model/vocabulary.ts';
import { requireOrganization, requireOwned } from '../organizations/people.ts';
import {
  type ClusterRecord,
  type ConversationContent,
  type ConversationRecord,
  type IssueRecord,
  originKey,
} from './records.ts';
import { viewConversation } from './views.ts';

const CONVERSATIONS = `${ORGANIZATION}/conversations` as const;

/**
 * Maximum number of conversations in a request. Not documented; the vendor's own connector sends this many. Source:
 * docs/platform-notes.md#conversations
 */
const MAX_BATCH = 100;

/** Largest request body, in bytes. Not documented. Source: docs/platform-notes.md#errors */
const MAX_BYTES = 5 * 1024 * 1024;

/** RFC 3339: a time zone and seconds are required. */
const dateTime = z.iso
  .datetime({ offset: true, error: 'must be a date-time' })
  .refine((value) => /T\d\d:\d\d:\d\d/.test(value), {
    error: 'must be a date-time',
  });

const anyUrl = text(1, 2048).refine((value) => URL.canParse(value), { error: 'must be a URL' });

/** A conversation to ingest. Source: docs/platform-notes.md#conversations */
const conversationInput = z.strictObject({
  id: text(1, 255),
  subject: text(0, 512).optional(),
  parts: z.array(z.strictObject({ type: z.literal('message'), role: z.enum(PART_ROLES), body: z.string() })),
  metadata: z
    .strictObject({
      url: anyUrl.optional(),
      attributes: z.record(z.string(), z.string()).optional(),
      createdAt: dateTime.optional(),
    })
    .optional(),
});

type ConversationInput = z.output<typeof conversationInput>;

const conversationInputs = z
  .array(conversationInput)
  .max(MAX_BATCH, { error: `must have at most ${MAX_BATCH} conversations` });

/** Reads one conversation or an array. Source: docs/platform-notes.md#conversations */
function readInputs(context: Context, body: unknown): readonly ConversationInput[] {
  if (Array.isArray(body) && context.features.conversationLists) {
    return parse('body', conversationInputs, body);
  }
  return [parse('body', conversationInput, body)];
}

/**
 * Returns the source of the caller's conversations. A user's token has no installation to name.
 * Source: docs/platform-notes.md#conversations
 */
function sourceOf(caller: Caller): string {
  return caller.source ?? `integration:api:${caller.user}`;
}

/** Stores a list completely or not at all. If an id occurs twice, the later conversation wins. */
function ingest(call: OperationCall<'/orgs/{organizationId}/conversations', unknown, unknown>): ApiAnswer {
  const organization = requireOrganization(call);
  if (!canIngest(call.caller, call.features)) {
    throw new ApiError(403, "Only an integration installation's token may ingest conversations");
  }
  for (const { id, ...content } of readInputs(call, call.body)) {
    keep(call, organization.id, id, content);
  }
  call.store.settle(call.now);
  return noContent();
}

function keep(call: Context, organization: string, externalId: string, content: ConversationContent): void {
  const { conversations } = call.store;
  const source = sourceOf(call.caller);
  const before = conversations.one('origin', originKey(organization, source, externalId));
  if (before !== undefined && isDeepStrictEqual(before.content, content)) {
    conversations.put({ ...before, received: before.received + 1, repeats: before.repeats + 1 });
    return;
  }
  conversations.put({
    ...(before ?? call.store.identify('cnv')),
    organization,
    source,
    externalId,
    content,
    createdAt: content.metadata?.createdAt ?? before?.createdAt ?? call.at,
    ingestedAt: call.at,
    received: (before?.received ?? 0) + 1,
    repeats: before?.repeats ?? 0,
    processedAt: undefined,
    run: startRun(call, call.processing.conversations),
  });
}

const listConversationsQuery = listQuery.extend({ source: z.string().optional() });

/** Operations on conversations. Source: docs/platform-notes.md#conversations */
export const conversationOperations: readonly ApiOperation[] = [
  operation(
    'listConversations',
    'GET',
    CONVERSATIONS,
    { feature: 'conversations', query: listConversationsQuery },
    (call) => {
      const organization = requireOrganization(call);
      const { source } = call.query;
      const items = call.store.conversations
        .by('organization', organization.id)
        .filter((conversation) => source === undefined || conversation.source === source);
      return listBySeq(call, items, viewConversation);
    },
  ),
  operation(
    'ingestConversations',
    'POST',
    CONVERSATIONS,
    { feature: 'conversations', limit: 'ingest', maxBytes: MAX_BYTES, body: z.unknown() },
    ingest,
  ),
  operation('getConversation', 'GET', `${CONVERSATIONS}/{conversationId}`, { feature: 'conversations' }, (call) => {
    const conversation = requireConversation(call);
    const { parts, metadata } = conversation.content;
    return ok({ conversation: viewConversation(call, conversation), parts, metadata: metadata ?? {} });
  }),
];

/** Returns the conversation that the path names, or throws a 404. */
function requireConversation(call: PathContext<'organizationId' | 'conversationId'>): ConversationRecord {
  const { conversationId } = call.params;
  return requireOwned(call, withoutSite(call.store.conversations.get(conversationId)), 'Conversation', conversationId);
}

/** Returns the issue that the path names, or throws a 404. */
export function requireIssue(call: PathContext<'organizationId' | 'issueId'>): IssueRecord {
  const { issueId } = call.params;
  return requireOwned(call, withoutSite(call.store.conversationIssues.get(issueId)), 'Issue', issueId);
}

/** Returns the cluster that the path names, or throws a 404. */
export function requireCluster(call: PathContext<'organizationId' | 'clusterId'>): ClusterRecord {
  const { clusterId } = call.params;
  return requireOwned(call, withoutSite(call.store.issuesClusters.get(clusterId)), 'Cluster', clusterId);
}

function withoutSite<R extends { readonly site?: string | undefined }>(record: R | undefined): R | undefined {
  return record?.site === undefined ? record : undefined;
}
