// Records and tables of reviews, comments and replies.

import type { Json } from '../../core/json.ts';
import { type Entity, IndexedTable } from '../model/table.ts';

/** Body of a comment or reply, in the format in which it was sent. Source: docs/platform-notes.md#comments */
export type CommentBody = { readonly markdown: string } | { readonly document: Json };

export interface Reaction {
  readonly emoji: string;
  readonly user: string;
  readonly reactedAt: string;
}

/** Common fields of comments and replies. */
export interface PostRecord extends Entity {
  /** Absent if the token's user is unknown to the platform. */
  readonly postedBy?: string | undefined;
  readonly postedAt: string;
  readonly editedAt?: string | undefined;
  readonly body: CommentBody;
  readonly reactions: readonly Reaction[];
}

/** A comment on a change request, or on a space itself. */
export interface CommentRecord extends PostRecord {
  readonly space: string;
  readonly changeRequest?: string | undefined;
  /** The review that the comment belongs to. */
  readonly review?: string | undefined;
  /** The part of the content that the comment is about. */
  readonly page?: string | undefined;
  readonly node?: string | undefined;
  readonly tableCell?: { readonly record: string; readonly definition: string } | undefined;
  readonly revision: string;
  readonly resolved?: { readonly at: string; readonly by?: string | undefined } | undefined;
}

export interface ReplyRecord extends PostRecord {
  readonly comment: string;
}

/** Tables of reviews, comments and replies. */
export function reviewTables(changed: () => void) {
  return {
    reviews: new IndexedTable<ReviewRecord, 'changeRequest'>(
      { changeRequest: (review) => review.changeRequest },
      changed,
    ),
    comments: new IndexedTable<CommentRecord, 'subject'>(
      { subject: (comment) => comment.changeRequest ?? comment.space },
      changed,
    ),
    replies: new IndexedTable<ReplyRecord, 'comment'>({ comment: (reply) => reply.comment }, changed),
  };
}

/** Verdict of a review. Source: docs/platform-notes.md#enumerations */
export type ReviewStatus = 'approved' | 'changes-requested';

/** A submitted review. Source: docs/platform-notes.md#reviews */
export interface ReviewRecord extends Entity {
  readonly changeRequest: string;
  readonly reviewer: string;
  /** Absent if the review was not requested. */
  readonly requestedBy?: string | undefined;
  /** The change request's revision that was reviewed. */
  readonly revision: string;
  readonly status: ReviewStatus;
  /** The comment of the review. */
  readonly comment?: string | undefined;
  readonly createdAt: string;
}

declare module '../model/store.ts' {
  interface Tables extends ReturnType<typeof reviewTables> {}
}
