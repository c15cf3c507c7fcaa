/** Known differences in conversations, clusters and their replacements. */
import { adds, asks, differs, type Known, known, lacks, unheardOf } from './known.ts';
import { BOTH, FIRST, GONE, LATER } from './sources.ts';

/** Conversations, and their clusters. */
export const conversations: readonly Known[] = [
  ...known(BOTH, unheardOf('PATCH /orgs/{}/conversations-clusters/{}'), {
    because: 'A cluster is muted by updating it.',
    says: 'docs/platform-notes.md#issue-clusters',
  }),
  ...known(FIRST, differs('ConversationsIssuesCluster/properties/summary', 'type'), {
    because: 'A summary is a rich document.',
    says: 'docs/platform-notes.md#issue-clusters',
  }),
  ...known(FIRST, adds('ConversationsIssuesCluster', 'muted', 'impact'), {
    because: 'A cluster says whether it is muted, and how bad it is.',
    says: 'docs/platform-notes.md#issue-clusters',
  }),
  ...known(
    FIRST,
    lacks(
      'ConversationsIssuesCluster/properties/stats',
      'tasksTotal',
      'tasksBacklog',
      'tasksStarted',
      'tasksCompleted',
      'tasksCancelled',
    ),
    { because: 'Only issues and conversations are counted.', says: 'docs/platform-notes.md#issue-clusters' },
  ),
  ...known(FIRST, lacks('ConversationsIssuesCluster/properties/urls', 'app'), {
    because: 'A cluster has no page in the app.',
    says: 'docs/platform-notes.md#issue-clusters',
  }),
  ...known(FIRST, asks('listConversationsIssuesClusters', 'sort'), {
    because: 'Clusters are sorted by `sort`.',
    says: 'docs/platform-notes.md#filters',
  }),
  ...known(FIRST, lacks('ConversationIssue', 'summary'), {
    because: 'An issue has details instead of a summary.',
    says: 'docs/platform-notes.md#issue-clusters',
  }),
  ...known(FIRST, adds('ConversationIssue', 'details', 'impact'), {
    because: 'An issue has details as a rich document, and says how bad it is.',
    says: 'docs/platform-notes.md#issue-clusters',
  }),
  ...known(FIRST, adds('Conversation', 'impact'), {
    because: 'A conversation says how bad it is.',
    says: 'docs/platform-notes.md#conversations',
  }),
  ...known(
    LATER,
    unheardOf(
      'POST /orgs/{}/conversations',
      'GET /orgs/{}/conversations',
      'GET /orgs/{}/conversations/{}',
      'GET /orgs/{}/conversations-issues',
      'GET /orgs/{}/conversations-issues/{}',
      'GET /orgs/{}/conversations-clusters',
      'GET /orgs/{}/conversations-clusters/{}',
    ),
    { because: 'Conversations were removed in 0.167; a site’s context records and topics follow them.', says: GONE },
  ),
  ...known(
    LATER,
    [
      ...adds('ChangeRequest', 'conversationsIssuesCluster'),
      ...asks('listChangeRequestsForSpace', 'conversationsIssuesCluster'),
      ...asks('listChangeRequestsForOrganization', 'conversationsIssuesCluster'),
    ],
    { because: 'Change requests of a cluster went with conversations in 0.167.', says: GONE },
  ),
  ...known(LATER, adds('Organization/properties/permissions', 'ingestConversations'), {
    because: 'The permission went with conversations in 0.167.',
    says: GONE,
  }),
];

/** Their replacements in later versions. */
export const successors: readonly Known[] = [
  ...known(
    FIRST,
    unheardOf(
      'GET /orgs/{}/sites/{}/context-records',
      'PUT /orgs/{}/sites/{}/context-records',
      'GET /orgs/{}/sites/{}/context-records/{}',
      'GET /orgs/{}/sites/{}/topics',
      'GET /orgs/{}/sites/{}/topics/{}',
      'PATCH /orgs/{}/sites/{}/topics/{}',
    ),
    { because: 'What follows conversations came in 0.167.', says: GONE },
  ),
  ...known(
    BOTH,
    unheardOf('GET /orgs/{}/sites/{}/issues', 'GET /orgs/{}/sites/{}/issues/{}', 'PATCH /orgs/{}/sites/{}/issues/{}'),
    { because: 'Issues of a site came in 0.167 and went in 0.181.', says: GONE },
  ),
  ...known(
    FIRST,
    unheardOf(
      'GET /orgs/{}/sites/{}/findings',
      'GET /orgs/{}/sites/{}/findings/{}',
      'PATCH /orgs/{}/sites/{}/findings/{}',
      'GET /orgs/{}/sites/{}/findings/{}/change-requests',
      'POST /orgs/{}/sites/{}/findings/{}/change-requests',
    ),
    { because: 'Findings came in 0.181, in place of issues.', says: GONE },
  ),
];
