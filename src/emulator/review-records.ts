import type { Entity } from './entity.ts';

/** What somebody thinks of a change request (supplement, section 4: Review status). */
export type ReviewStatus = 'approved' | 'changes-requested';

/** A review that was submitted (supplement, section 7). */
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
