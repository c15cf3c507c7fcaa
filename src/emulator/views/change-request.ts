import type { ChangeRequestRecord, RequestedReviewer } from '../collaboration-records.ts';
import type { Context } from '../operation.ts';
import { openComments } from './comment.ts';
import { viewUserOf } from './people.ts';

/** Where the change request is read. */
export function changeRequestLocation(context: Context, record: ChangeRequestRecord): string {
  return `${context.base}/v1/spaces/${record.space}/change-requests/${record.id}`;
}

/** Whether the space has gone on since the change request last followed it; what is merged is never behind. */
export function isOutdated(context: Context, record: ChangeRequestRecord): boolean {
  const followed = record.revisionMergedAncestor ?? record.revisionInitial;
  return record.status !== 'merged' && followed !== context.store.spaces.get(record.space)?.revision;
}

/** ChangeRequest. Its cluster was removed with conversations. Source: docs/platform-notes.md#change-requests */
export function viewChangeRequest(context: Context, record: ChangeRequestRecord): unknown {
  return {
    object: 'change-request',
    id: record.id,
    number: record.number,
    status: record.status,
    subject: record.subject,
    description: record.description,
    createdBy: viewUserOf(context, record.createdBy),
    createdAt: record.createdAt,
    updatedAt: record.updatedAt,
    space: record.space,
    revision: record.revision,
    revisionInitial: record.revisionInitial,
    revisionMergedAncestor: record.revisionMergedAncestor,
    revisionMerged: record.revisionMerged,
    comments: openComments(context, record.id),
    outdated: isOutdated(context, record),
    conversationsIssuesCluster: context.features.conversations ? record.conversationsIssuesCluster : undefined,
    siteTopic: context.features.contextRecords ? record.siteTopic : undefined,
    urls: {
      app: `${context.base}/app/s/${record.space}/~/changes/${record.number}`,
      location: changeRequestLocation(context, record),
    },
  };
}

/** One requested reviewer of a change request. Source: docs/platform-notes.md#reviews */
export function viewRequestedReviewer(context: Context, reviewer: RequestedReviewer): unknown {
  return {
    object: 'change-request-requested-reviewer',
    kind: 'user',
    user: viewUserOf(context, reviewer.user),
    revision: reviewer.revision,
    requestedBy: viewUserOf(context, reviewer.requestedBy),
    createdAt: reviewer.createdAt,
  };
}
