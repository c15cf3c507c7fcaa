import { ApiError } from './answers.ts';
import type { ChangeRequestRecord } from './collaboration-records.ts';
import { callingUser, organizationAt } from './lookup.ts';
import type { Context } from './operation.ts';
import type { SpaceRecord } from './records.ts';
import { isOutdated } from './views/change-request.ts';
import { lastReviews } from './views/review.ts';

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

/** The names of the rules that a body sets. */
export function ruleNames(
  given: { readonly type: string; readonly rules?: readonly Rule[] } | undefined,
): readonly unknown[] {
  return (given?.rules ?? []).map(({ rule }) => rule);
}

/** The space's own, or where it inherits them, its organization's. */
function rulesOf({ store }: Context, space: SpaceRecord): readonly Rule[] {
  const own =
    space.mergeRules.type === 'inherit' ? organizationAt(store, space.organization).mergeRules : space.mergeRules;
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
      return callingUser(context.store, context.caller)?.id === record.createdBy;
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

/** 400 while a merge rule is not met, unless the caller is one of those who may bypass them. */
export function refuseUnmetRules(context: Context, record: ChangeRequestRecord, space: SpaceRecord): void {
  const rules = rulesOf(context, space);
  const user = callingUser(context.store, context.caller)?.id ?? '';
  if (rules.some((rule) => rule.rule === 'allow_bypass' && usersOf(rule).includes(user))) {
    return;
  }
  const unmet = rules.filter((rule) => !isMet(context, record, rule)).map((rule) => String(rule.rule));
  if (unmet.length > 0) {
    throw new ApiError(400, `Change request "${record.id}" cannot be merged yet: ${unmet.join(', ')}`);
  }
}
