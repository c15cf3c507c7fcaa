/** Sample clusters, issues and settings. */
import type { ClusterChangeRequest } from '../../src/clusters/change-request.ts';
import type { ClusterIssue, IssueCluster } from '../../src/clusters/cluster.ts';
import { type ClustersConfig, completeClusters } from '../../src/config/clusters.ts';
import { configSchema } from '../../src/config/config.ts';

export const DAY = 86_400_000;
/** A Saturday. */
export const NOW = Date.parse('2026-11-21T12:00:00Z');

export function someCluster(over: Partial<IssueCluster> = {}): IssueCluster {
  return {
    id: 'c_1',
    label: 'Login with SSO fails',
    impact: 'high',
    muted: false,
    createdAt: NOW - 10 * DAY,
    updatedAt: NOW - DAY,
    weeklyPulse: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 4],
    sources: { email: 5, 'integration:intercom:main': 2 },
    issues: 7,
    conversations: 6,
    summary: null,
    url: null,
    icon: null,
    ...over,
  };
}

export function someIssue(over: Partial<ClusterIssue> = {}): ClusterIssue {
  const conversation = { id: 'v_1', subject: 'Cannot sign in', url: 'https://help.example/1', source: 'email' };
  return {
    id: 'i_1',
    title: 'Login loops',
    impact: 'high',
    createdAt: NOW - DAY,
    details: null,
    conversation,
    ...over,
  };
}

export function someRequest(over: Partial<ClusterChangeRequest> = {}): ClusterChangeRequest {
  return {
    id: 'cr_1',
    space: 'sp_1',
    cluster: 'c_1',
    status: 'open',
    subject: 'Docs gap',
    url: 'https://app.example/cr_1',
    createdAt: NOW - DAY,
    updatedAt: NOW - DAY,
    superseded: false,
    isEmptyMerge: false,
    isDescribed: true,
    isDraftSubject: false,
    ...over,
  };
}

/** The settings with these overrides, and every default. */
export function settingsOf(clusters: object): ClustersConfig {
  const parsed = configSchema([]).parse({
    platform: { baseUrl: 'https://api.example', token: 't' },
    organizations: [{ id: 'org_1', source: { directory: '/m' }, clusters }],
  });
  const [organization] = parsed.organizations;
  if (organization === undefined) {
    throw new Error('there is one');
  }
  return completeClusters(organization.clusters, undefined);
}
