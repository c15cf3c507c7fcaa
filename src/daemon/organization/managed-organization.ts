/** Type of an organization that the daemon manages. */
import type { OrganizationConfig } from '../../config/config.ts';
import type { RequestQueue } from '../../queue/dispatcher.ts';
import type { Lease } from '../../store/leases.ts';
import type { OrganizationClusters } from './clusters.ts';
import type { OrganizationCommentApprovals } from './comment-approvals.ts';
import type { OrganizationCommitStatuses } from './commit-statuses.ts';
import type { OrganizationConversations } from './conversations.ts';
import type { Feature } from './feature.ts';
import type { Reconciliation } from './reconciliation.ts';

/** An organization that the daemon manages, with its features. */
export interface ManagedOrganization {
  readonly id: string;
  readonly config: OrganizationConfig;
  /** Lease under which the organization is managed. */
  readonly lease: Lease;
  /** Queue of its token. */
  readonly queue: RequestQueue;
  /** Null if the configuration has no source of manifests. */
  readonly reconciliation: Reconciliation | null;
  /** Null if the configuration has no token for them, and in a dry run. */
  readonly statuses: OrganizationCommitStatuses | null;
  /** Null if comments approve nothing, and in a dry run. */
  readonly comments: OrganizationCommentApprovals | null;
  readonly conversations: OrganizationConversations;
  readonly clusters: OrganizationClusters;
  /** All of the above, in the order in which they start. */
  readonly features: readonly Feature[];
}
