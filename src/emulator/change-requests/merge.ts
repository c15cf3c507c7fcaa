// Merging a change request into its space, and updating it from its space.

import { change, isOutdated, refuseLocked, refuseMerged } from '../content/change-request.ts';
import { addRevision, getContentPair, putSpaceContent, rebase, spaceContent } from '../content/content.ts';
import { type MergeResult, mergeContent } from '../content/merge.ts';
import type { ChangeRequestRecord } from '../content/records.ts';
import { ApiError } from '../model/answers.ts';
import type { Context } from '../model/operation.ts';
import { findCallingUser, organizationById } from '../organizations/people.ts';
import type { SpaceRecord } from '../spaces/records.ts';
import { lastReviews } from './reviews.ts';

/**
 * Returns the creation time of a new change request. Decision of this emulator: it is later than that of every other
 * change request, if necessary by a millisecond, so that sorting by creation time gives the order of creation.
 */
export function getCreationTime({ store, now }: Context): string {
  let time = now;
  for (const record of store.changeRequests.all()) {
    time = Math.max(time, Date.parse(record.createdAt) + 1);
  }
  return new Date(time).toISOString();
}

/** Result of a merge or an update. */
export interface MergeOutcome {
  readonly revision: string;
  readonly hasConflicts: boolean;
}

/** Merges both sides of a change request. */
function mergeSides({ store }: Context, record: ChangeRequestRecord, space: SpaceRecord): MergeResult {
  const others = spaceContent(store, space);
  const { base, head } = getContentPair(store, record, space);
  return mergeContent(base, head, others);
}

/** Merges the change request's content into the space, as a new revision. Throws a 400 unless it is a draft or open. */
export function merge(context: Context, record: ChangeRequestRecord, space: SpaceRecord): MergeOutcome {
  refuseMerged(record);
  refuseLocked(space);
  if (record.status === 'archived') {
    throw new ApiError(400, `Change request "${record.id}" is archived`);
  }
  refuseUnmetRules(context, record, space);
  const { store, at } = context;
  const { content, hasConflicts } = mergeSides(context, record, space);
  const parents = [space.revision, record.revision];
  const revision = addRevision(store, { parents, type: 'merge', createdAt: at, mergedFrom: record.id });
  putSpaceContent(store, space, content, { revision, at });
  change(context, record, { status: 'merged', revisionMerged: revision });
  return { revision, hasConflicts };
}

/**
 * Merges the space's current content into the change request. Its revision stays the same if there is nothing to merge.
 */
export function update(context: Context, record: ChangeRequestRecord, space: SpaceRecord): MergeOutcome {
  refuseMerged(record);
  if (!isOutdated(context, record)) {
    return { revision: record.revision, hasConflicts: false };
  }
  const { store, at } = context;
  const { content, hasConflicts } = mergeSides(context, record, space);
  const parents = [record.revision, space.revision];
  const revision = addRevision(store, { parents, type: 'update', createdAt: at });
  const isEdited = store.changeRequestContents.get(record.id)?.head !== undefined;
  rebase(store, record, space, isEdited ? content : undefined);
  change(context, record, { revision, revisionMergedAncestor: space.revision });
  return { revision, hasConflicts };
}

/*
 * Checks the merge rules of a change request. Decisions of this emulator: an unmet rule answers 400; the last review of
 * each person counts; the agent approves everything; `custom` expressions are not evaluated.
 * Source: docs/platform-notes.md#merge-rules
 */
interface Rule {
  readonly rule?: unknown;
  readonly users?: unknown;
}

function usersOf({ users }: Rule): readonly string[] {
  return Array.isArray(users) ? users.map(String) : [];
}

/** Returns the rules of the space, or those of its organization if it inherits them. */
function rulesOf({ store }: Context, space: SpaceRecord): readonly Rule[] {
  const own =
    space.mergeRules.type === 'inherit' ? organizationById(store, space.organization).mergeRules : space.mergeRules;
  return own.type === 'rules' ? (own.rules ?? []) : [];
}

function isMet(context: Context, record: ChangeRequestRecord, rule: Rule): boolean {
  const reviews = [...lastReviews(context, record.id)];
  const approvals = new Set(reviews.filter((review) => review.status === 'approved').map((review) => review.reviewer));
  switch (rule.rule) {
    case 'require_at_least_one_review':
      return reviews.length > 0;
    case 'require_at_least_one_approved_review':
      return approvals.size > 0;
    case 'require_author_to_merge':
      return findCallingUser(context)?.id === record.createdBy;
    case 'require_all_reviews_approved':
      return reviews.every((review) => review.status === 'approved');
    case 'require_specific_reviewers':
      return usersOf(rule).every((user) => approvals.has(user));
    case 'require_one_of_specific_reviewers':
      return usersOf(rule).some((user) => approvals.has(user));
    case 'require_up_to_date_change_request':
      return !isOutdated(context, record);
    case 'require_change_request_subject':
      return record.subject.trim() !== '';
    case 'require_change_request_description':
      return record.description !== undefined;
    default:
      return true;
  }
}

/** Throws a 400 while a merge rule is not met, unless the caller may bypass the rules. */
function refuseUnmetRules(context: Context, record: ChangeRequestRecord, space: SpaceRecord): void {
  const rules = rulesOf(context, space);
  const user = findCallingUser(context)?.id ?? '';
  if (rules.some((rule) => rule.rule === 'allow_bypass' && usersOf(rule).includes(user))) {
    return;
  }
  const unmet = rules.filter((rule) => !isMet(context, record, rule)).map((rule) => String(rule.rule));
  if (unmet.length > 0) {
    throw new ApiError(400, `Change request "${record.id}" cannot be merged yet: ${unmet.join(', ')}`);
  }
}
