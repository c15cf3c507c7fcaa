// Operations on issues and clusters of conversations.

import { z } from 'zod';
import { ok } from '../model/answers.ts';
import { type ApiOperation, ORGANIZATION, operation } from '../model/operation.ts';
import { list, listBySeq } from '../model/paging.ts';
import { listQuery } from '../model/schema.ts';
import { requireOrganization } from '../organizations/people.ts';
import { requireCluster, requireIssue } from './conversations.ts';
import type { IssueRecord } from './records.ts';
import { viewCluster, viewIssue } from './views.ts';

const ISSUES = `${ORGANIZATION}/conversations-issues` as const;
const CLUSTER = `${ORGANIZATION}/conversations-clusters/{clusterId}` as const;

/** Source: docs/platform-notes.md#filters */
const issuesQuery = listQuery.extend({ cluster: z.string().optional(), conversation: z.string().optional() });

/** Only one value of `sort` was observed. Source: docs/platform-notes.md#filters */
const clustersQuery = listQuery.extend({
  order: z.enum(['asc', 'desc']).optional(),
  sort: z.literal('updatedAt').optional(),
});

function matches(issue: IssueRecord, query: z.output<typeof issuesQuery>): boolean {
  return (
    (query.cluster === undefined || issue.cluster === query.cluster) &&
    (query.conversation === undefined || issue.conversation === query.conversation)
  );
}

const updateConversationClusterBody = z.strictObject({ muted: z.boolean() });

/** Operations on issues. Source: docs/platform-notes.md#issue-clusters */
export const conversationIssueOperations: readonly ApiOperation[] = [
  operation('listConversationIssues', 'GET', ISSUES, { feature: 'conversations', query: issuesQuery }, (call) => {
    const organization = requireOrganization(call);
    const items = call.store.conversationIssues
      .by('organization', organization.id)
      .filter((issue) => matches(issue, call.query));
    return listBySeq(call, items, viewIssue);
  }),
  operation('getConversationIssue', 'GET', `${ISSUES}/{issueId}`, { feature: 'conversations' }, (call) =>
    ok(viewIssue(call, requireIssue(call))),
  ),
];

/** Operations on clusters of issues. Source: docs/platform-notes.md#issue-clusters */
export const conversationClusterOperations: readonly ApiOperation[] = [
  operation(
    'listConversationClusters',
    'GET',
    `${ORGANIZATION}/conversations-clusters`,
    { feature: 'conversations', query: clustersQuery },
    (call) => {
      const organization = requireOrganization(call);
      return list(call, {
        items: call.store.issuesClusters.by('organization', organization.id),
        key: (cluster) => [cluster.updatedAt, cluster.seq],
        descending: call.query.order !== 'asc',
        view: viewCluster,
      });
    },
  ),
  operation('getConversationCluster', 'GET', CLUSTER, { feature: 'conversations' }, (call) =>
    ok(viewCluster(call, requireCluster(call))),
  ),
  operation(
    'updateConversationCluster',
    'PATCH',
    CLUSTER,
    { feature: 'conversations', body: updateConversationClusterBody },
    (call) => {
      const cluster = requireCluster(call);
      return ok(viewCluster(call, call.store.issuesClusters.put({ ...cluster, muted: call.body.muted })));
    },
  ),
];
