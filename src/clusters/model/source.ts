import type { Writer } from '../../platform/client.ts';
import type { operations } from '../../platform/operations/index.ts';
import type { Input, Item } from '../../platform/operations/model/operation.ts';
import type { ClusterIssue, IssueCluster } from './cluster.ts';

/** A change request as the platform lists it. */
export type ChangeRequestItem = Item<typeof operations.listOrganizationChangeRequests>;

/** Error messages for a platform without clusters, by source. */
export const NO_CLUSTERS = {
  clusters:
    'this platform has no issue clusters (404); from 0.167 on, a site has topics instead: name it in conversations.site',
  topics: 'this platform has neither issue clusters nor topics of the site that conversations.site names (404)',
} as const;

export interface ClusterPage {
  readonly clusters: readonly IssueCluster[];
  /** Null: this was the last. */
  readonly next: string | null;
}

/**
 * Source of clusters: the organization's issue clusters, or the topics of a site in their place. All other code works
 * with clusters from either. Every method throws AppError. Source: docs/platform-notes.md#topics
 */
export interface ClusterSource {
  readonly kind: 'clusters' | 'topics';
  /** The organization's list of change requests accepts several statuses at once. */
  readonly takesStatuses: boolean;
  /** Further filters that this list needs to be complete. */
  readonly listQuery: NonNullable<Input<typeof operations.listOrganizationChangeRequests>['query']>;
  /** A page, newest-updated first; `page` null: the first. Null where the platform has none at all. */
  page(page: string | null): Promise<ClusterPage | null>;
  /** Null where there is none with this id. */
  one(id: string): Promise<IssueCluster | null>;
  /** Its issues, or as many of them as say what it is about. */
  issues(id: string): Promise<readonly ClusterIssue[]>;
  /** Mutes or unmutes for change requests, and gives whether it is muted now. */
  mute(writer: Writer, id: string, muted: boolean): Promise<boolean>;
  /** Fields of a new change request that link it to the cluster on the platform. */
  link(id: string): { readonly conversationsIssuesCluster?: string };
  /** Its change requests that a list of all may leave out. */
  requestsOf(id: string): Promise<readonly ChangeRequestItem[]>;
}
