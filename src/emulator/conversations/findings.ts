// Operations on findings of a site, and on their predecessors, the issues.

import { z } from 'zod';
import { viewChangeRequest } from '../content/change-request.ts';
import { type ApiAnswer, ok } from '../model/answers.ts';
import { type ApiOperation, type OperationCall, operation, SITE } from '../model/operation.ts';
import { listBySeq } from '../model/paging.ts';
import { listQuery } from '../model/schema.ts';
import { requireSite } from '../sites/views.ts';
import type { IssueRecord } from './records.ts';
import { findDrafts, requireFinding, startDraft } from './site-context.ts';
import { viewFinding } from './topic-views.ts';

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
export const siteIssueOperations: readonly ApiOperation[] = [
  operation('listSiteIssues', 'GET', `${SITE}/issues`, { feature: 'siteIssues', query: issuesQuery }, (call) =>
    listFindings(call, call.query.priority),
  ),
  operation('getSiteIssue', 'GET', ISSUE, { feature: 'siteIssues' }, (call) =>
    ok(viewFinding(call, requireFinding(call, call.params.siteIssueId))),
  ),
  operation('updateSiteIssue', 'PATCH', ISSUE, { feature: 'siteIssues', body: updateSiteIssueBody }, (call) =>
    setStatus(call, requireFinding(call, call.params.siteIssueId), call.body.status),
  ),
];

/** Operations on a site's findings, from 0.181. Source: docs/platform-notes.md#findings */
export const siteFindingOperations: readonly ApiOperation[] = [
  operation('listSiteFindings', 'GET', `${SITE}/findings`, { feature: 'siteFindings', query: findingsQuery }, (call) =>
    listFindings(call, call.query.severity),
  ),
  operation('getSiteFinding', 'GET', FINDING, { feature: 'siteFindings' }, (call) =>
    ok(viewFinding(call, requireFinding(call, call.params.siteFindingId))),
  ),
  operation('updateSiteFinding', 'PATCH', FINDING, { feature: 'siteFindings', body: updateSiteFindingBody }, (call) =>
    setStatus(call, requireFinding(call, call.params.siteFindingId), call.body.status),
  ),
  operation(
    'listFindingChangeRequests',
    'GET',
    `${FINDING}/change-requests`,
    { feature: 'siteFindings', query: listQuery },
    (call) =>
      listBySeq(call, findDrafts(call.store, requireFinding(call, call.params.siteFindingId)), viewChangeRequest),
  ),
  operation('draftFindingChangeRequests', 'POST', `${FINDING}/change-requests`, { feature: 'siteFindings' }, (call) => {
    startDraft(call, requireFinding(call, call.params.siteFindingId));
    return { status: 202 };
  }),
];
