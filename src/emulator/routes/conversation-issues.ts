import { z } from 'zod';
import { ok } from '../answers.ts';
import type { IssueRecord } from '../conversation-records.ts';
import { clusterAt, issueAt, organizationAt } from '../lookup.ts';
import { type Operation, operation } from '../operation.ts';
import { list, listBySeq } from '../paging.ts';
import { listQuery } from '../schema.ts';
import { viewCluster, viewIssue } from '../views/conversation.ts';

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

/** Operations on issues. Source: docs/platform-notes.md#issue-clusters */
export const conversationIssueOperations: readonly Operation[] = [
  operation({
    name: 'listConversationIssues',
    method: 'GET',
    path: '/orgs/{organizationId}/conversations-issues',
    feature: 'conversations',
    query: issuesQuery,
    handle: (call) => {
      const organization = organizationAt(call.store, call.params.organizationId);
      const items = call.store.conversationIssues
        .by('organization', organization.id)
        .filter((issue) => matches(issue, call.query));
      return listBySeq(call, items, (issue) => viewIssue(call, issue));
    },
  }),
  operation({
    name: 'getConversationIssue',
    method: 'GET',
    path: '/orgs/{organizationId}/conversations-issues/{issueId}',
    feature: 'conversations',
    handle: (call) => ok(viewIssue(call, issueAt(call.store, call.params.organizationId, call.params.issueId))),
  }),
];

/** Operations on clusters of issues. Source: docs/platform-notes.md#issue-clusters */
export const conversationClusterOperations: readonly Operation[] = [
  operation({
    name: 'listConversationClusters',
    method: 'GET',
    path: '/orgs/{organizationId}/conversations-clusters',
    feature: 'conversations',
    query: clustersQuery,
    handle: (call) => {
      const organization = organizationAt(call.store, call.params.organizationId);
      return list(call, {
        items: call.store.issuesClusters.by('organization', organization.id),
        key: (cluster) => [cluster.updatedAt, cluster.seq],
        descending: call.query.order !== 'asc',
        view: (cluster) => viewCluster(call, cluster),
      });
    },
  }),
  operation({
    name: 'getConversationCluster',
    method: 'GET',
    path: '/orgs/{organizationId}/conversations-clusters/{clusterId}',
    feature: 'conversations',
    handle: (call) => ok(viewCluster(call, clusterAt(call.store, call.params.organizationId, call.params.clusterId))),
  }),
  operation({
    name: 'updateConversationCluster',
    method: 'PATCH',
    path: '/orgs/{organizationId}/conversations-clusters/{clusterId}',
    feature: 'conversations',
    body: z.strictObject({ muted: z.boolean() }),
    handle: (call) => {
      const cluster = clusterAt(call.store, call.params.organizationId, call.params.clusterId);
      return ok(viewCluster(call, call.store.issuesClusters.put({ ...cluster, muted: call.body.muted })));
    },
  }),
];
