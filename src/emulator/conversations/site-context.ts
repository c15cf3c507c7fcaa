/** Context records, topics and findings of a site: operations, views, and drafts for findings. */

import { z } from 'zod';
import { addChangeRequest, viewChangeRequest } from '../content/content.ts';
import type { ChangeRequestRecord } from '../content/records.ts';
import { paragraph, richDocument } from '../documents/rich-document.ts';
import { type ApiAnswer, ApiError, noContent, ok } from '../model/answers.ts';
import {
  type ApiOperation,
  type Context,
  type OperationCall,
  ofFeature,
  operation,
  type PathContext,
  SITE,
} from '../model/operation.ts';
import { listBySeq } from '../model/paging.ts';
import { omitUndefined, pick } from '../model/patch.ts';
import { listQuery, text } from '../model/schema.ts';
import { type EmulatorStore, findDue, startRun } from '../model/store.ts';
import { findCallingUser } from '../organizations/people.ts';
import { requirePart, requireSite } from '../sites/views.ts';
import { INGESTION, MAX_BATCH, receive, summarize } from './conversations.ts';
import { type ClusterRecord, type ConversationRecord, dateTime, type IssueRecord } from './records.ts';

/*
 * Processing of a site's context records into findings and topics, as conversations are processed into issues and
 * clusters, separately for each site. Decisions of this emulator: a record with text has one finding, whose severity
 * follows from its words; the change request of a finding is drafted in the site's first space, unless the finding has
 * one that is open or a draft. Source: docs/platform-notes.md#findings
 */
type SiteIds = 'organizationId' | 'siteId';

/** Returns the topic that the path names, or throws a 404. */
function requireTopic(call: PathContext<SiteIds | 'siteTopicId'>): ClusterRecord {
  return requirePart(call, call.store.issuesClusters, 'Site topic', call.params.siteTopicId);
}

/** Returns the finding with that id of the site that the path names, or throws a 404. */
function requireFinding(call: PathContext<SiteIds>, id: string): IssueRecord {
  return requirePart(call, call.store.conversationIssues, 'Site finding', id);
}

/** Returns the change requests that were drafted for a finding, oldest first. */
function findDrafts(store: EmulatorStore, finding: IssueRecord): readonly ChangeRequestRecord[] {
  return spacesOf(store, finding).flatMap((space) =>
    store.changeRequests.by('space', space).filter(({ siteTopic }) => siteTopic?.finding === finding.id),
  );
}

function spacesOf(store: EmulatorStore, { site }: IssueRecord): readonly string[] {
  const spaces = store.siteSpaces.by('site', site ?? '').map(({ space }) => space);
  return [...new Set(spaces)].filter((id) => {
    const space = store.spaces.get(id);
    return space !== undefined && space.deletedAt === undefined;
  });
}

/**
 * Starts to draft a change request for a finding, unless one is open or a draft. Throws a 400 if the site has no space
 * to draft in.
 */
function startDraft(context: Context, finding: IssueRecord): void {
  const { store } = context;
  if (spacesOf(store, finding).length === 0) {
    throw new ApiError(400, `Site "${finding.site}" has no space to draft a change request in`);
  }
  const isThere = findDrafts(store, finding).some(({ status }) => status === 'open' || status === 'draft');
  if (!finding.run && !isThere) {
    const run = startRun(context, context.processing.conversations);
    store.conversationIssues.put({ ...finding, run, requestedBy: findCallingUser(context)?.id });
  }
}

/** Opens the change requests whose drafting is due. */
export function completeDrafts(store: EmulatorStore, now: number): void {
  for (const { record, run } of findDue(store.conversationIssues, now)) {
    store.conversationIssues.put({ ...record, run: null });
    openDraft(store, record, new Date(run.due).toISOString());
  }
}

function openDraft(store: EmulatorStore, finding: IssueRecord, at: string): void {
  const space = store.spaces.get(spacesOf(store, finding)[0] ?? '');
  if (space === undefined || finding.site === undefined) {
    return;
  }
  addChangeRequest(store, space, at, {
    status: 'open',
    subject: [...finding.title].slice(0, 100).join(''),
    siteTopic: { site: finding.site, topic: finding.cluster ?? '', finding: finding.id },
    createdBy: finding.requestedBy,
  });
}

function siteUrl(context: Context, { organization, site }: { organization: string; site?: string | undefined }) {
  return `${context.base}/v1/orgs/${organization}/sites/${site}`;
}

/** ContextRecord, without its body. Source: docs/platform-notes.md#context-records */
function viewContextRecord(context: Context, record: ConversationRecord): unknown {
  const topic = context.store.conversationIssues.one('conversation', record.id)?.cluster;
  return {
    object: 'context-record',
    ...pick(record, 'id', 'createdAt', 'processedAt'),
    title: record.content.subject,
    description: record.record?.description,
    type: record.record?.type,
    connection: `api_${record.site}`,
    connector: 'builtin:api',
    topics: topic === undefined ? [] : [topic],
    urls: {
      location: `${siteUrl(context, record)}/context-records/${record.id}`,
      source: record.content.metadata?.url,
    },
  };
}

/** SiteTopic. The number of findings is included only by versions that have findings. */
function viewTopic(context: Context, topic: ClusterRecord): unknown {
  const { issues: findings, conversations, view } = summarize(context, topic, 'record');
  const open = findings.filter(({ status = 'open' }) => status === 'open').length;
  return {
    object: 'context-topic',
    ...pick(topic, 'id', 'createdAt', 'updatedAt'),
    ...view,
    usageSettings: { changeRequests: !topic.muted },
    pages: 0,
    records: conversations,
    findings: context.features.siteFindings ? { open, total: findings.length } : undefined,
    questions: NO_QUESTIONS,
    urls: { location: `${siteUrl(context, topic)}/topics/${topic.id}` },
  };
}

/** Statistics of questions about a topic, which the emulator does not collect. */
const NO_QUESTIONS = {
  total: 0,
  answers: 0,
  feedback: { positive: 0, negative: 0, unrated: 0 },
  answered: { yes: 0, partially: 0, no: 0 },
  relevance: { relevant: 0, spam: 0, 'off-topic': 0, unclear: 0 },
  types: { exploring: 0, 'how-to': 0, troubleshooting: 0, reference: 0, unknown: 0 },
  channelTypes: {},
  channels: {},
  weeklyPulse: new Array<number>(13).fill(0),
};

/** SiteFinding; in 0.167, an issue with a priority. */
function viewFinding(context: Context, finding: IssueRecord): unknown {
  const { siteFindings } = context.features;
  const conversation = context.store.conversations.get(finding.conversation);
  return {
    object: siteFindings ? 'site-finding' : 'site-issue',
    id: finding.id,
    topic: finding.cluster ?? null,
    title: finding.title,
    status: finding.status ?? 'open',
    ...(siteFindings ? findingOnly(context, finding) : { priority: finding.impact }),
    description: richDocument([paragraph(finding.excerpt === '' ? finding.title : finding.excerpt)]),
    createdAt: finding.createdAt,
    updatedAt: conversation?.processedAt ?? finding.ingestedAt,
    urls: { location: `${siteUrl(context, finding)}/${siteFindings ? 'findings' : 'issues'}/${finding.id}` },
  };
}

function findingOnly(context: Context, finding: IssueRecord) {
  return {
    scan: `scan_${finding.site}`,
    changeRequests: findDrafts(context.store, finding).length,
    pages: 0,
    records: 1,
    questions: 0,
    type: 'content-gap',
    severity: finding.impact,
    autoFixable: true,
  };
}

const RECORDS = `${SITE}/context-records` as const;
const TOPIC = `${SITE}/topics/{siteTopicId}` as const;

const TYPES = ['ticket', 'document'] as const;

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

/** The limits are not documented, as for conversations. */
const contextRecordInputs = z
  .array(contextRecordInput)
  .max(MAX_BATCH, { error: `must have at most ${MAX_BATCH} context records` });

const recordsQuery = listQuery.extend({ type: z.enum(TYPES).optional(), topic: z.string().optional() });

const updateSiteTopicBody = z.strictObject({ usageSettings: z.strictObject({ changeRequests: z.boolean() }) });

/** Operations on context records. Source: docs/platform-notes.md#context-records */
const records: readonly ApiOperation[] = [
  // Stores a list completely or not at all. If an id occurs twice, the later record wins.
  operation('putContextRecords', 'PUT', RECORDS, { ...INGESTION, body: contextRecordInputs }, (call) => {
    const { id: site, organization } = requireSite(call);
    for (const { id: externalId, title: subject, body, url, createdAt, ...record } of call.body) {
      const metadata = omitUndefined({ url, createdAt });
      const content = { subject, parts: [{ type: 'message', role: 'user', body } as const], metadata };
      receive(call, 'rec', { organization, site, record, source: 'builtin:api', externalId, content });
    }
    call.store.settle(call.now);
    return noContent();
  }),
  operation('listContextRecords', 'GET', RECORDS, { query: recordsQuery }, (call) => {
    const { store, query } = call;
    const site = requireSite(call);
    const topicOf = (id: string) => store.conversationIssues.one('conversation', id)?.cluster;
    const items = store.conversations
      .by('site', site.id)
      .filter(({ record }) => query.type === undefined || record?.type === query.type)
      .filter(({ id }) => query.topic === undefined || topicOf(id) === query.topic);
    return listBySeq(call, items, viewContextRecord);
  }),
  operation('getContextRecord', 'GET', `${RECORDS}/{contextRecordId}`, {}, (call) => {
    return ok(
      viewContextRecord(
        call,
        requirePart(call, call.store.conversations, 'Context record', call.params.contextRecordId),
      ),
    );
  }),
];

/** Operations on a site's topics. Their list is not paginated. Source: docs/platform-notes.md#topics */
const topics: readonly ApiOperation[] = [
  operation('listSiteTopics', 'GET', `${SITE}/topics`, {}, (call) => {
    const site = requireSite(call);
    return ok({ items: call.store.issuesClusters.by('site', site.id).map((topic) => viewTopic(call, topic)) });
  }),
  operation('getSiteTopic', 'GET', TOPIC, {}, (call) => {
    return ok(viewTopic(call, requireTopic(call)));
  }),
  operation('updateSiteTopic', 'PATCH', TOPIC, { body: updateSiteTopicBody }, (call) => {
    const topic = requireTopic(call);
    const muted = !call.body.usageSettings.changeRequests;
    return ok(viewTopic(call, call.store.issuesClusters.put({ ...topic, muted })));
  }),
];

const FINDING = `${SITE}/findings/{siteFindingId}` as const;
const ISSUE = `${SITE}/issues/{siteIssueId}` as const;

/** Statuses of issues in 0.167. 0.181 added `candidate`. Source: docs/platform-notes.md#findings */
const ISSUE_STATUSES = ['open', 'done', 'canceled'] as const;
const FINDING_STATUSES = ['candidate', ...ISSUE_STATUSES] as const;
const LEVELS = ['low', 'medium', 'high'] as const;

const issuesQuery = listQuery.extend({
  topic: z.string().optional(),
  status: z.enum(ISSUE_STATUSES).optional(),
  priority: z.enum(LEVELS).optional(),
});

const findingsQuery = listQuery.extend({
  topic: z.string().optional(),
  status: z.enum(FINDING_STATUSES).optional(),
  severity: z.enum(LEVELS).optional(),
});

type Site = '/orgs/{organizationId}/sites/{siteId}';

type Filters = z.output<typeof listQuery> & {
  readonly topic?: string | undefined;
  readonly status?: IssueRecord['status'] | undefined;
};

function listFindings(call: OperationCall<Site, Filters>, level: string | undefined): ApiAnswer {
  const site = requireSite(call);
  const { topic, status } = call.query;
  const items = call.store.conversationIssues
    .by('site', site.id)
    .filter((finding) => topic === undefined || finding.cluster === topic)
    .filter((finding) => status === undefined || (finding.status ?? 'open') === status)
    .filter((finding) => level === undefined || finding.impact === level);
  return listBySeq(call, items, viewFinding);
}

function setStatus(
  call: OperationCall<string>,
  finding: IssueRecord,
  status: NonNullable<IssueRecord['status']>,
): ApiAnswer {
  const topic = call.store.issuesClusters.get(finding.cluster ?? '');
  if (topic !== undefined) {
    call.store.issuesClusters.put({ ...topic, updatedAt: call.at });
  }
  return ok(viewFinding(call, call.store.conversationIssues.put({ ...finding, status })));
}

const updateSiteIssueBody = z.strictObject({ status: z.enum(ISSUE_STATUSES) });
const updateSiteFindingBody = z.strictObject({ status: z.enum(FINDING_STATUSES) });

/** Operations on a site's issues, as in 0.167. Source: docs/platform-notes.md#findings */
const issues: readonly ApiOperation[] = [
  operation('listSiteIssues', 'GET', `${SITE}/issues`, { query: issuesQuery }, (call) =>
    listFindings(call, call.query.priority),
  ),
  operation('getSiteIssue', 'GET', ISSUE, {}, (call) =>
    ok(viewFinding(call, requireFinding(call, call.params.siteIssueId))),
  ),
  operation('updateSiteIssue', 'PATCH', ISSUE, { body: updateSiteIssueBody }, (call) =>
    setStatus(call, requireFinding(call, call.params.siteIssueId), call.body.status),
  ),
];

/** Operations on a site's findings, from 0.181. Source: docs/platform-notes.md#findings */
const findings: readonly ApiOperation[] = [
  operation('listSiteFindings', 'GET', `${SITE}/findings`, { query: findingsQuery }, (call) =>
    listFindings(call, call.query.severity),
  ),
  operation('getSiteFinding', 'GET', FINDING, {}, (call) =>
    ok(viewFinding(call, requireFinding(call, call.params.siteFindingId))),
  ),
  operation('updateSiteFinding', 'PATCH', FINDING, { body: updateSiteFindingBody }, (call) =>
    setStatus(call, requireFinding(call, call.params.siteFindingId), call.body.status),
  ),
  operation('listFindingChangeRequests', 'GET', `${FINDING}/change-requests`, { query: listQuery }, (call) =>
    listBySeq(call, findDrafts(call.store, requireFinding(call, call.params.siteFindingId)), viewChangeRequest),
  ),
  operation('draftFindingChangeRequests', 'POST', `${FINDING}/change-requests`, {}, (call) => {
    startDraft(call, requireFinding(call, call.params.siteFindingId));
    return { status: 202 };
  }),
];

/** Operations on context records, topics and findings of a site. */
export const siteContextOperations: readonly ApiOperation[] = [
  ...ofFeature('contextRecords', [...records, ...topics]),
  ...ofFeature('siteIssues', issues),
  ...ofFeature('siteFindings', findings),
];
