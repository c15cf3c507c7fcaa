import type { Entity } from './entity.ts';

/** Verdict of a review. Source: docs/platform-notes.md#enumerations */
export type ReviewStatus = 'approved' | 'changes-requested';

/** A submitted review. Source: docs/platform-notes.md#reviews */
export interface ReviewRecord extends Entity {
  readonly changeRequest: string;
  readonly reviewer: string;
  /** Absent where nobody asked for it. */
  readonly requestedBy?: string | undefined;
  /** The change request's revision that was reviewed. */
  readonly revision: string;
  readonly status: ReviewStatus;
  /** The comment that came with it. */
  readonly comment?: string | undefined;
  readonly createdAt: string;
}
