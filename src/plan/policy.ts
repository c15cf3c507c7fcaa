import type { Address } from '../core/address.ts';
import type { Pause } from '../core/resource.ts';
import type { Revert } from './identity/flapping.ts';

/** Setting that decides which undeclared resources are deleted: one value, or one for each kind. */
export type PrunePolicy = 'owned' | 'never' | 'all' | Readonly<Record<string, 'owned' | 'never' | 'all'>>;

/** Limits on the changes that a plan may apply. See docs/approvals.md#what-needs-approval. */
export interface Policy {
  readonly prune: PrunePolicy;
  /** Kinds whose deletions need approval; null for those with `deletionNeedsApproval` in their rules. */
  readonly requireApproval: readonly string[] | null;
  readonly limits: {
    /** Maximum number of deletions in one plan. */
    readonly maxDeletions: number;
    /** Updates and deletions together, in percent of the owned resources, at 10 or more of those. */
    readonly maxChangedPercent: number;
  };
  /** Reverts drift; if false, drift is only reported. */
  readonly selfHeal: boolean;
  /** The email of the user whose token is used; null if it is not known. */
  readonly user: string | null;
  /** Current time, for pauses, in milliseconds since the epoch. */
  readonly now: number;
  /** Number of deletions that may exceed both limits in this plan. */
  readonly allowDeletes: number;
  /** Checksums of plans that a person has approved. */
  readonly approved: readonly string[];
  /** Drift that was reverted recently: a flapping field is reverted at growing intervals. */
  readonly reverts: readonly Revert[];
  /** Resources that a person has paused; only pauses that have not ended. */
  readonly pauses: ReadonlyMap<Address, Pause>;
}

/** Policy of an organization whose configuration sets none. */
export const DEFAULT_POLICY: Omit<Policy, 'now'> = {
  prune: 'owned',
  requireApproval: null,
  limits: { maxDeletions: 5, maxChangedPercent: 30 },
  selfHeal: true,
  user: null,
  allowDeletes: 0,
  approved: [],
  reverts: [],
  pauses: new Map(),
};
