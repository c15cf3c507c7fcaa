/** Merging a change request into its space, and updating it from its space. */

import {
  addRevision,
  change,
  getContentPair,
  isOutdated,
  putSpaceContent,
  rebase,
  refuseLocked,
  refuseMerged,
  spaceContent,
} from '../content/content.ts';
import type { ChangeRequestRecord, Content, PageRecord } from '../content/records.ts';
import { ApiError } from '../model/answers.ts';
import type { Context } from '../model/operation.ts';
import type { Entity } from '../model/store.ts';
import { findCallingUser, organizationById } from '../organizations/people.ts';
import type { SpaceRecord } from '../spaces/views.ts';
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

/** Merges both sides of a change request. */
function mergeSides({ store }: Context, record: ChangeRequestRecord, space: SpaceRecord) {
  const others = spaceContent(store, space);
  const { base, head } = getContentPair(store, record, space);
  return mergeContent(base, head, others);
}

/** Merges the change request's content into the space, as a new revision. Throws a 400 unless it is a draft or open. */
export function merge(context: Context, record: ChangeRequestRecord, space: SpaceRecord) {
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
export function update(context: Context, record: ChangeRequestRecord, space: SpaceRecord) {
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

/*
 * Merges two versions of content. Only the existence of conflicts is documented. Decisions of this emulator: a change
 * on one side wins over no change on the other; different changes of the same item, or two pages at one path, are a
 * conflict, and the version of the change request is kept. Source: docs/platform-notes.md#merge-and-update
 */

/** Returns the written part of a record as text, without times and git metadata. */
function written(record: object | string | undefined): string | undefined {
  if (record === undefined || typeof record === 'string') {
    return record;
  }
  const members = Object.entries({ ...record, createdAt: 0, updatedAt: 0, git: 0 });
  return JSON.stringify(members.filter(([, value]) => value !== undefined).toSorted());
}

type Versions<T> = ReadonlyMap<string, T>;

function mergeMaps<T extends object | string>(base: Versions<T>, own: Versions<T>, others: Versions<T>) {
  const merged = new Map<string, T>();
  let hasConflicts = false;
  for (const key of new Set([...others.keys(), ...own.keys()])) {
    const [before, mine, theirs] = [base, own, others].map((side) => written(side.get(key)));
    const isMine = mine !== before;
    hasConflicts ||= isMine && theirs !== before && mine !== theirs;
    const kept = isMine ? own.get(key) : others.get(key);
    if (kept !== undefined) {
      merged.set(key, kept);
    }
  }
  return { merged, hasConflicts };
}

function mergeRecords<R extends Entity>(base: readonly R[], own: readonly R[], others: readonly R[]) {
  const byId = (records: readonly R[]) => new Map(records.map((record) => [record.id, record]));
  const { merged, hasConflicts } = mergeMaps(byId(base), byId(own), byId(others));
  return { records: [...merged.values()].sort((a, b) => a.seq - b.seq), hasConflicts };
}

/** Keeps one record per place: the change request's, if both sides have one. */
function onePerPlace<R extends { readonly id: string }>(
  records: readonly R[],
  own: readonly R[],
  place: (record: R) => string,
): R[] {
  const mine = new Set(own.map(({ id }) => id));
  const byPlace = new Map<string, R>();
  for (const record of records) {
    const other = byPlace.get(place(record));
    if (other === undefined || mine.has(record.id)) {
      byPlace.set(place(record), record);
    }
  }
  return records.filter((record) => byPlace.get(place(record)) === record);
}

/** Merges content. `base` is the common ancestor, `own` is the change request's side, `others` the space's. */
export function mergeContent(
  base: Content,
  own: Content,
  others: Content,
): { content: Content; hasConflicts: boolean } {
  const pages = mergeRecords(base.pages, own.pages, others.pages);
  const files = mergeRecords(base.files, own.files, others.files);
  const reusable = mergeRecords(base.reusableContents, own.reusableContents, others.reusableContents);
  const variablesOf = (content: Content) => new Map(Object.entries(content.variables));
  const variables = mergeMaps(variablesOf(base), variablesOf(own), variablesOf(others));
  const content: Content = {
    pages: onePerPlace<PageRecord>(pages.records, own.pages, (page) => page.path),
    files: onePerPlace(files.records, own.files, (file) => file.path),
    reusableContents: onePerPlace(reusable.records, own.reusableContents, (one) => one.title),
    variables: Object.fromEntries(variables.merged),
  };
  const isCrowded =
    content.pages.length < pages.records.length ||
    content.files.length < files.records.length ||
    content.reusableContents.length < reusable.records.length;
  const hasConflicts = isCrowded || [pages, files, reusable, variables].some((kind) => kind.hasConflicts);
  return { content, hasConflicts };
}
