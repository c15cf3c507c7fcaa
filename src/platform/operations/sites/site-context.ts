// Operations on the context of a site: topics, issues, findings, and records that a client adds.

import * as z from 'zod';
import { changeRequest } from '../content/change-requests.ts';
import { list, read, write } from '../model/operation.ts';
import { optionalFlag, optionalNumber, optionalText, text, urls } from '../model/shapes.ts';

/*
 * Operations on the successors of conversations, issues and clusters: from 0.167, for each site. Fields follow the
 * vendor's OpenAPI document of 0.202, and only the id is required on read.
 * Source: docs/platform-notes.md#context-records
 */

/** ContextRecordInput. A record with an existing id replaces that record. */
const contextRecordInput = z.strictObject({
  id: z.string().min(1),
  type: z.enum(['ticket', 'document']),
  title: text(1, 256),
  description: text(0, 512).optional(),
  /** Markdown. */
  body: z.string(),
  url: z.string().optional(),
  createdAt: z.iso.datetime({ offset: true }).optional(),
  metadata: z.record(z.string(), z.union([z.string(), z.number()])).optional(),
});
/** The body of `putContextRecords`. */
export type ContextRecordInput = z.input<typeof contextRecordInput>;

/** ContextRecord, without its body. Without `processedAt`, it has not been assigned to topics yet. */
const contextRecord = z.looseObject({
  id: z.string(),
  title: optionalText,
  description: optionalText,
  type: optionalText,
  createdAt: optionalText,
  processedAt: optionalText,
  /** Ids of topics. */
  topics: z.array(z.string()).nullish(),
  urls,
});

/** SiteTopic. */
const siteTopic = z.looseObject({
  id: z.string(),
  label: optionalText,
  createdAt: optionalText,
  updatedAt: optionalText,
  icon: z.unknown().optional(),
  /** A rich document or a text. */
  summary: z.unknown().optional(),
  /** `changeRequests` false: muted for change requests. */
  usageSettings: z.looseObject({ changeRequests: optionalFlag }).nullish(),
  records: optionalNumber,
  findings: z.looseObject({ open: optionalNumber, total: optionalNumber }).nullish(),
  urls,
});

/** SiteFinding; in 0.167 an issue, with a `priority` for its `severity`. */
const siteFinding = z.looseObject({
  id: z.string(),
  /** The topic's id; null where it is of none. */
  topic: optionalText,
  title: optionalText,
  /** `open`, `done`, `canceled`; from 0.181 on also `candidate`. */
  status: optionalText,
  /** `low`, `medium` or `high`. */
  severity: optionalText,
  priority: optionalText,
  /** A rich document or a text. */
  description: z.unknown().optional(),
  createdAt: optionalText,
  updatedAt: optionalText,
  urls,
});

const LEVELS = z.enum(['low', 'medium', 'high']);
const ISSUE_STATUS = z.enum(['open', 'done', 'canceled']);
const FINDING_STATUS = z.enum(['candidate', 'open', 'done', 'canceled']);

const SITE = '/v1/orgs/{organizationId}/sites/{siteId}';

/** Operations on context records, topics, issues and findings of sites. */
export const siteContextOperations = {
  putContextRecords: write(
    'putContextRecords',
    'Creates or replaces context records of a site.',
    'PUT',
    `${SITE}/context-records`,
    { body: z.array(contextRecordInput), class: 'ingest', repeat: 'idempotent', success: [204] },
  ),
  listContextRecords: list(
    'listContextRecords',
    'Lists the context records of a site.',
    `${SITE}/context-records`,
    contextRecord,
    {
      type: z.enum(['ticket', 'document']).optional(),
      topic: z.string().optional(),
    },
  ),
  getContextRecord: read(
    'getContextRecord',
    'Returns a context record of a site.',
    `${SITE}/context-records/{contextRecordId}`,
    contextRecord,
  ),
  /** All of them: this list has no pages. */
  listSiteTopics: read(
    'listSiteTopics',
    "Lists the topics of a site's context records.",
    `${SITE}/topics`,
    z.looseObject({ items: z.array(siteTopic) }),
  ),
  getSiteTopic: read('getSiteTopic', 'Returns a topic of a site.', `${SITE}/topics/{siteTopicId}`, siteTopic),
  updateSiteTopic: write(
    'updateSiteTopic',
    'Mutes a topic for change requests, or unmutes it.',
    'PATCH',
    `${SITE}/topics/{siteTopicId}`,
    {
      body: z.strictObject({ usageSettings: z.strictObject({ changeRequests: z.boolean() }) }),
      answer: siteTopic,
      repeat: 'idempotent',
    },
  ),
  listSiteIssues: list('listSiteIssues', 'Lists the issues of a site (0.167).', `${SITE}/issues`, siteFinding, {
    topic: z.string().optional(),
    status: ISSUE_STATUS.optional(),
    priority: LEVELS.optional(),
  }),
  getSiteIssue: read(
    'getSiteIssue',
    'Returns an issue of a site (0.167).',
    `${SITE}/issues/{siteIssueId}`,
    siteFinding,
  ),
  updateSiteIssue: write(
    'updateSiteIssue',
    'Sets the status of an issue of a site (0.167).',
    'PATCH',
    `${SITE}/issues/{siteIssueId}`,
    { body: z.strictObject({ status: ISSUE_STATUS }), answer: siteFinding, repeat: 'idempotent' },
  ),
  listSiteFindings: list('listSiteFindings', 'Lists the findings of a site.', `${SITE}/findings`, siteFinding, {
    topic: z.string().optional(),
    status: FINDING_STATUS.optional(),
    severity: LEVELS.optional(),
  }),
  getSiteFinding: read(
    'getSiteFinding',
    'Returns a finding of a site.',
    `${SITE}/findings/{siteFindingId}`,
    siteFinding,
  ),
  updateSiteFinding: write(
    'updateSiteFinding',
    'Sets the status of a finding of a site.',
    'PATCH',
    `${SITE}/findings/{siteFindingId}`,
    { body: z.strictObject({ status: FINDING_STATUS }), answer: siteFinding, repeat: 'idempotent' },
  ),
  listFindingChangeRequests: list(
    'listFindingChangeRequests',
    'Lists the change requests that were drafted for a finding.',
    `${SITE}/findings/{siteFindingId}/change-requests`,
    changeRequest,
  ),
  /** The results appear later in the list above. */
  draftFindingChangeRequests: write(
    'draftFindingChangeRequests',
    'Requests the draft of a change request for a finding.',
    'POST',
    `${SITE}/findings/{siteFindingId}/change-requests`,
    { repeat: 'never', success: [202] },
  ),
};
