import type { Json } from '../core/json.ts';
import type { Entity } from './entity.ts';
import type { ChangeRequestStatus } from './vocabulary.ts';

/** A requested review. Source: docs/platform-notes.md#reviews */
export interface RequestedReviewer {
  readonly user: string;
  /** Absent where the token's user is nobody that the platform knows. */
  readonly requestedBy?: string | undefined;
  readonly createdAt: string;
  /** The change request's revision when it was asked for. */
  readonly revision: string;
}

/** Its organization is that of its space, wherever the space is moved to. */
export interface ChangeRequestRecord extends Entity {
  readonly space: string;
  /** Counts from 1 within the space. */
  readonly number: number;
  readonly status: ChangeRequestStatus;
  readonly subject: string;
  readonly description?: Json | undefined;
  /** Absent where the token's user is nobody that the platform knows. */
  readonly createdBy?: string | undefined;
  /** Who wrote in it besides. */
  readonly contributors?: readonly string[] | undefined;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly revision: string;
  readonly revisionInitial: string;
  readonly revisionMergedAncestor?: string | undefined;
  readonly revisionMerged?: string | undefined;
  readonly conversationsIssuesCluster?: string | undefined;
  /** What it was drafted for, where the platform drafted it. */
  readonly siteTopic?: { readonly site: string; readonly topic: string; readonly finding: string } | undefined;
  readonly requestedReviewers: readonly RequestedReviewer[];
}

/** Body of a comment or reply, in the format in which it was sent. Source: docs/platform-notes.md#comments */
export type CommentBody = { readonly markdown: string } | { readonly document: Json };

export interface Reaction {
  readonly emoji: string;
  readonly user: string;
  readonly reactedAt: string;
}

/** What comments and their replies have in common. */
export interface SaidRecord extends Entity {
  /** Absent where the token's user is nobody that the platform knows. */
  readonly postedBy?: string | undefined;
  readonly postedAt: string;
  readonly editedAt?: string | undefined;
  readonly body: CommentBody;
  readonly reactions: readonly Reaction[];
}

/** A comment on a change request, or on a space itself. */
export interface CommentRecord extends SaidRecord {
  readonly space: string;
  readonly changeRequest?: string | undefined;
  /** The review that it was said with. */
  readonly review?: string | undefined;
  /** What of it the comment is about. */
  readonly page?: string | undefined;
  readonly node?: string | undefined;
  readonly tableCell?: { readonly record: string; readonly definition: string } | undefined;
  readonly revision: string;
  readonly resolved?: { readonly at: string; readonly by?: string | undefined } | undefined;
}

export interface ReplyRecord extends SaidRecord {
  readonly comment: string;
}
