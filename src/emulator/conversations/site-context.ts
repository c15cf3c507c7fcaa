// Lookups of context records, topics and findings, and drafts for findings.

import type { ChangeRequestRecord } from '../content/records.ts';
import { ApiError, found } from '../model/answers.ts';
import type { Context, PathContext } from '../model/operation.ts';
import { findDue, startRun } from '../model/runs.ts';
import type { EmulatorStore } from '../model/store.ts';
import { findCallingUser } from '../organizations/people.ts';
import { requireSite } from '../sites/views.ts';
import type { ClusterRecord, ConversationRecord, IssueRecord } from './records.ts';

/*
 * Processing of a site's context records into findings and topics, as conversations are processed into issues and
 * clusters, separately for each site. Decisions of this emulator: a record with text has one finding, whose severity
 * follows from its words; the change request of a finding is drafted in the site's first space, unless the finding has
 * one that is open or a draft. Source: docs/platform-notes.md#findings
 */
type SiteIds = 'organizationId' | 'siteId';

function requireOfSite<R extends { readonly site?: string | undefined }>(
  call: PathContext<SiteIds>,
  record: R | undefined,
  what: string,
  id: string,
): R {
  const site = requireSite(call);
  return found(record?.site === site.id ? record : undefined, what, id);
}

/** Returns the topic that the path names, or throws a 404. */
export function requireTopic(call: PathContext<SiteIds | 'siteTopicId'>): ClusterRecord {
  const { siteTopicId } = call.params;
  return requireOfSite(call, call.store.issuesClusters.get(siteTopicId), 'Site topic', siteTopicId);
}

/** Returns the finding with that id of the site that the path names, or throws a 404. */
export function requireFinding(call: PathContext<SiteIds>, id: string): IssueRecord {
  return requireOfSite(call, call.store.conversationIssues.get(id), 'Site finding', id);
}

/** Returns the context record that the path names, or throws a 404. */
export function requireContextRecord(call: PathContext<SiteIds | 'contextRecordId'>): ConversationRecord {
  const { contextRecordId } = call.params;
  return requireOfSite(call, call.store.conversations.get(contextRecordId), 'Context record', contextRecordId);
}

/** Returns the change requests that were drafted for a finding, oldest first. */
export function findDrafts(store: EmulatorStore, finding: IssueRecord): readonly ChangeRequestRecord[] {
  return spacesOf(store, finding).flatMap((space) =>
    store.changeRequests.by('space', space).filter(({ siteTopic }) => siteTopic?.finding === finding.id),
  );
}

function spacesOf(store: EmulatorStore, { site }: IssueRecord): readonly string[] {
  const spaces = store.siteSpaces.by('site', site ?? '').map(({ space }) => space);
  return [...new Set(spaces)].filter((id) => {
    const space = store.spaces.get(id);
    return space !== undefined && space.deletedAt === undefined;
  });
}

/**
 * Starts to draft a change request for a finding, unless one is open or a draft. Throws a 400 if the site has no space
 * to draft in.
 */
export function startDraft(context: Context, finding: IssueRecord): void {
  const { store } = context;
  if (spacesOf(store, finding).length === 0) {
    throw new ApiError(400, `Site "${finding.site}" has no space to draft a change request in`);
  }
  const isThere = findDrafts(store, finding).some(({ status }) => status === 'open' || status === 'draft');
  if (!finding.run && !isThere) {
    const run = startRun(context, context.processing.conversations);
    store.conversationIssues.put({ ...finding, run, requestedBy: findCallingUser(context)?.id });
  }
}

/** Opens the change requests whose drafting is due. */
export function completeDrafts(store: EmulatorStore, now: number): void {
  for (const { record, run } of findDue(store.conversationIssues, now)) {
    store.conversationIssues.put({ ...record, run: null });
    openDraft(store, record, new Date(run.due).toISOString());
  }
}

function openDraft(store: EmulatorStore, finding: IssueRecord, at: string): void {
  const space = store.spaces.get(spacesOf(store, finding)[0] ?? '');
  if (space === undefined || finding.site === undefined) {
    return;
  }
  store.changeRequests.put({
    ...store.identify('cr'),
    space: space.id,
    number: store.changeRequests.count('space', space.id) + 1,
    status: 'open',
    subject: [...finding.title].slice(0, 100).join(''),
    siteTopic: { site: finding.site, topic: finding.cluster ?? '', finding: finding.id },
    createdBy: finding.requestedBy,
    createdAt: at,
    updatedAt: at,
    revision: store.identify('rev').id,
    revisionInitial: space.revision,
    requestedReviewers: [],
  });
}
