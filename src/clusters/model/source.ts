import type { Writer } from '../../platform/client.ts';
import type { operations } from '../../platform/operations/index.ts';
import type { Input, Item } from '../../platform/operations/model/operation.ts';
import type { ClusterIssue, IssueCluster } from './cluster.ts';

/** Change request as listed by the platform. */
export type ChangeRequestItem = Item<typeof operations.listOrganizationChangeRequests>;

/** Error messages for a platform without clusters, by source. */
export const NO_CLUSTERS = {
  clusters:
    'this platform has no issue clusters (404); from 0.167 on, a site has topics instead: name it in conversations.site',
  topics: 'this platform has neither issue clusters nor topics of the site that conversations.site names (404)',
} as const;

export interface ClusterPage {
  readonly clusters: readonly IssueCluster[];
  /** Cursor of the next page; null after the last one. */
  readonly next: string | null;
}

/**
 * Source of clusters: the organization's issue clusters, or the topics of a site. All other code is independent of it.
 * Every method throws AppError. Source: docs/platform-notes.md#topics
 */
export interface ClusterSource {
  readonly kind: 'clusters' | 'topics';
  /** True if the organization's list of change requests accepts several statuses at once. */
  readonly takesStatuses: boolean;
  /** Additional filters that this list needs to be complete. */
  readonly listQuery: NonNullable<Input<typeof operations.listOrganizationChangeRequests>['query']>;
  /**
   * Reads a page, newest-updated first; `page` null for the first one. Returns null if the platform has no clusters.
   */
  page(page: string | null): Promise<ClusterPage | null>;
  /** Reads the cluster with this id; null if it does not exist. */
  one(id: string): Promise<IssueCluster | null>;
  /** Reads the issues of a cluster, or enough of them to describe it. */
  issues(id: string): Promise<readonly ClusterIssue[]>;
  /** Mutes or unmutes a cluster for change requests. Returns whether it is muted afterwards. */
  mute(writer: Writer, id: string, muted: boolean): Promise<boolean>;
  /** Fields of a new change request that link it to the cluster on the platform. */
  link(id: string): { readonly conversationsIssuesCluster?: string };
  /** Lists the change requests of a cluster that the list of all may omit. */
  requestsOf(id: string): Promise<readonly ChangeRequestItem[]>;
}
