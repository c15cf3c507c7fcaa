import { z } from 'zod';
import { type Answer, ok } from '../answers.ts';
import type { IssueRecord } from '../conversation-records.ts';
import { siteAt } from '../lookup.ts';
import { type Call, type Context, type Operation, operation, type Params } from '../operation.ts';
import { listBySeq } from '../paging.ts';
import { listQuery } from '../schema.ts';
import { beginFix, findingAt, fixesOf } from '../site-context.ts';
import { viewChangeRequest } from '../views/change-request.ts';
import { viewFinding } from '../views/site-context.ts';

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
type Named<Path extends string> = Pick<Context, 'store'> & { readonly params: Params<Path> };
type Filters = z.output<typeof listQuery> & {
  readonly topic?: string | undefined;
  readonly status?: IssueRecord['status'] | undefined;
};

function listFindings(call: Call<Site, Filters>, level: string | undefined): Answer {
  const site = siteAt(call.store, call.params.organizationId, call.params.siteId);
  const { topic, status } = call.query;
  const items = call.store.conversationIssues
    .by('site', site.id)
    .filter((finding) => topic === undefined || finding.cluster === topic)
    .filter((finding) => status === undefined || (finding.status ?? 'open') === status)
    .filter((finding) => level === undefined || finding.impact === level);
  return listBySeq(call, items, (finding) => viewFinding(call, finding));
}

function setStatus(call: Call<string>, finding: IssueRecord, status: NonNullable<IssueRecord['status']>): Answer {
  const topic = call.store.issuesClusters.get(finding.cluster ?? '');
  if (topic !== undefined) {
    call.store.issuesClusters.put({ ...topic, updatedAt: call.at });
  }
  return ok(viewFinding(call, call.store.conversationIssues.put({ ...finding, status })));
}

const issueOf = ({ store, params }: Named<`${Site}/issues/{siteIssueId}`>) =>
  findingAt(store, params.organizationId, params.siteId, params.siteIssueId);
const findingOf = ({ store, params }: Named<`${Site}/findings/{siteFindingId}`>) =>
  findingAt(store, params.organizationId, params.siteId, params.siteFindingId);

/** Operations on a site's issues, as in 0.167. Source: docs/platform-notes.md#findings */
export const siteIssueOperations: readonly Operation[] = [
  operation({
    name: 'listSiteIssues',
    method: 'GET',
    path: '/orgs/{organizationId}/sites/{siteId}/issues',
    feature: 'siteIssues',
    query: issuesQuery,
    handle: (call) => listFindings(call, call.query.priority),
  }),
  operation({
    name: 'getSiteIssue',
    method: 'GET',
    path: '/orgs/{organizationId}/sites/{siteId}/issues/{siteIssueId}',
    feature: 'siteIssues',
    handle: (call) => ok(viewFinding(call, issueOf(call))),
  }),
  operation({
    name: 'updateSiteIssue',
    method: 'PATCH',
    path: '/orgs/{organizationId}/sites/{siteId}/issues/{siteIssueId}',
    feature: 'siteIssues',
    body: z.strictObject({ status: z.enum(ISSUE_STATUSES) }),
    handle: (call) => setStatus(call, issueOf(call), call.body.status),
  }),
];

/** Operations on a site's findings, from 0.181. Source: docs/platform-notes.md#findings */
export const siteFindingOperations: readonly Operation[] = [
  operation({
    name: 'listSiteFindings',
    method: 'GET',
    path: '/orgs/{organizationId}/sites/{siteId}/findings',
    feature: 'siteFindings',
    query: findingsQuery,
    handle: (call) => listFindings(call, call.query.severity),
  }),
  operation({
    name: 'getSiteFinding',
    method: 'GET',
    path: '/orgs/{organizationId}/sites/{siteId}/findings/{siteFindingId}',
    feature: 'siteFindings',
    handle: (call) => ok(viewFinding(call, findingOf(call))),
  }),
  operation({
    name: 'updateSiteFinding',
    method: 'PATCH',
    path: '/orgs/{organizationId}/sites/{siteId}/findings/{siteFindingId}',
    feature: 'siteFindings',
    body: z.strictObject({ status: z.enum(FINDING_STATUSES) }),
    handle: (call) => setStatus(call, findingOf(call), call.body.status),
  }),
  operation({
    name: 'listFindingChangeRequests',
    method: 'GET',
    path: '/orgs/{organizationId}/sites/{siteId}/findings/{siteFindingId}/change-requests',
    feature: 'siteFindings',
    query: listQuery,
    handle: (call) =>
      listBySeq(call, fixesOf(call.store, findingOf(call)), (record) => viewChangeRequest(call, record)),
  }),
  operation({
    name: 'draftFindingChangeRequests',
    method: 'POST',
    path: '/orgs/{organizationId}/sites/{siteId}/findings/{siteFindingId}/change-requests',
    feature: 'siteFindings',
    handle: (call) => {
      beginFix(call, findingOf(call));
      return { status: 202 };
    },
  }),
];
