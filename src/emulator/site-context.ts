import { ApiError } from './answers.ts';
import type { ChangeRequestRecord } from './collaboration-records.ts';
import type { ClusterRecord, ConversationRecord, IssueRecord } from './conversation-records.ts';
import { callingUser, found, siteAt } from './lookup.ts';
import type { Context } from './operation.ts';
import type { SiteRecord } from './records.ts';
import type { Store } from './store.ts';

/*
 * Processing of a site's context records into findings and topics, as conversations are processed into issues and
 * clusters, separately for each site. Decisions of this emulator: a record with text has one finding, whose severity
 * follows from its words; the change request of a finding is drafted in the site's first space, unless the finding has
 * one that is open or a draft. Source: docs/platform-notes.md#findings
 */

function ofSite<R extends { readonly site?: string | undefined }>(record: R | undefined, site: SiteRecord) {
  return record?.site === site.id ? record : undefined;
}

export function topicAt(store: Store, organization: string, siteId: string, id: string): ClusterRecord {
  const site = siteAt(store, organization, siteId);
  return found(ofSite(store.issuesClusters.get(id), site), 'Site topic', id);
}

export function findingAt(store: Store, organization: string, siteId: string, id: string): IssueRecord {
  const site = siteAt(store, organization, siteId);
  return found(ofSite(store.conversationIssues.get(id), site), 'Site finding', id);
}

export function contextRecordAt(store: Store, organization: string, siteId: string, id: string): ConversationRecord {
  const site = siteAt(store, organization, siteId);
  return found(ofSite(store.conversations.get(id), site), 'Context record', id);
}

/** The change requests that were drafted for a finding, the oldest first. */
export function fixesOf(store: Store, finding: IssueRecord): readonly ChangeRequestRecord[] {
  return spacesOf(store, finding).flatMap((space) =>
    store.changeRequests.by('space', space).filter(({ siteTopic }) => siteTopic?.finding === finding.id),
  );
}

function spacesOf(store: Store, { site }: IssueRecord): readonly string[] {
  const spaces = store.siteSpaces.by('site', site ?? '').map(({ space }) => space);
  return [...new Set(spaces)].filter((id) => {
    const space = store.spaces.get(id);
    return space !== undefined && space.deletedAt === undefined;
  });
}

/** Begins to draft a change request for a finding, unless there is one. 400 where the site has no space to draft in. */
export function beginFix({ store, caller, now, processing }: Context, finding: IssueRecord): void {
  if (spacesOf(store, finding).length === 0) {
    throw new ApiError(400, `Site "${finding.site}" has no space to draft a change request in`);
  }
  const isThere = fixesOf(store, finding).some(({ status }) => status === 'open' || status === 'draft');
  if (!finding.run && !isThere) {
    const run = { startedAt: now, due: now + processing.conversations };
    store.conversationIssues.put({ ...finding, run, askedBy: callingUser(store, caller)?.id });
  }
}

/** Opens the change requests whose drafting is due. */
export function completeFixes(store: Store, now: number): void {
  for (const finding of store.conversationIssues.by('running', 'yes')) {
    if (finding.run && now >= finding.run.due) {
      store.conversationIssues.put({ ...finding, run: null });
      openFix(store, finding, new Date(finding.run.due).toISOString());
    }
  }
}

function openFix(store: Store, finding: IssueRecord, at: string): void {
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
    createdBy: finding.askedBy,
    createdAt: at,
    updatedAt: at,
    revision: store.identify('rev').id,
    revisionInitial: space.revision,
    requestedReviewers: [],
  });
}
