import { invalid, notFound } from './answers.ts';
import type { ChangeRequestRecord } from './collaboration-records.ts';
import type { ClusterRecord, ConversationRecord, IssueRecord } from './conversation-records.ts';
import type {
  CollectionRecord,
  ExternalLinkRecord,
  MemberRecord,
  OrganizationRecord,
  SectionGroupRecord,
  SectionRecord,
  SiteRecord,
  SiteSpaceRecord,
  SpaceRecord,
  TeamRecord,
  UserRecord,
} from './records.ts';
import { placeKey, type Store } from './store.ts';

/** Time for which a deleted space is kept, in milliseconds. Source: docs/platform-notes.md#deletions */
const RETENTION = 7 * 24 * 60 * 60 * 1000;

/** The thing a path names, or 404. */
export function found<R>(record: R | undefined, what: string, id: string): R {
  if (record === undefined) {
    throw notFound(what, id);
  }
  return record;
}

/** The thing a body names, or a 400 that names the field. */
export function referenced<R>(record: R | undefined, field: string, what: string, id: string): R {
  if (record === undefined) {
    throw invalid(field, `${what} "${id}" does not exist`);
  }
  return record;
}

export function organizationAt(store: Store, id: string): OrganizationRecord {
  return found(store.organizations.get(id), 'Organization', id);
}

export function memberAt(store: Store, organization: string, user: string): MemberRecord {
  organizationAt(store, organization);
  return found(store.members.get(`${organization}/${user}`), 'Member', user);
}

export function userOf(store: Store, member: { readonly user: string }): UserRecord {
  return found(store.users.get(member.user), 'User', member.user);
}

/** The user a token stands for; undefined where the platform knows nobody with that email. */
export function callingUser(store: Store, caller: { readonly user: string }): UserRecord | undefined {
  return store.users.one('email', caller.user.toLowerCase());
}

export function teamAt(store: Store, organization: string, id: string): TeamRecord {
  organizationAt(store, organization);
  const team = store.teams.get(id);
  return found(team?.organization === organization ? team : undefined, 'Team', id);
}

export function collectionAt(store: Store, id: string): CollectionRecord {
  return found(store.collections.get(id), 'Collection', id);
}

/** The space, deleted or not, while it can still be restored. */
function keptSpace(store: Store, now: number, id: string): SpaceRecord | undefined {
  const space = store.spaces.get(id);
  const gone = space?.deletedAt !== undefined && Date.parse(space.deletedAt) + RETENTION <= now;
  return gone ? undefined : space;
}

export function keptSpaceAt(store: Store, now: number, id: string): SpaceRecord {
  return found(keptSpace(store, now, id), 'Space', id);
}

/** A space that is not deleted. */
export function spaceAt(store: Store, id: string): SpaceRecord {
  const space = store.spaces.get(id);
  return found(space?.deletedAt === undefined ? space : undefined, 'Space', id);
}

/** The space that a body names: of that organization and not deleted. */
export function spaceReferenced(store: Store, organization: string, id: string, field: string): SpaceRecord {
  const space = store.spaces.get(id);
  const usable = space?.organization === organization && space.deletedAt === undefined;
  return referenced(usable ? space : undefined, field, 'space', id);
}

/** Finds a change request by its id, or by its number in the space. Source: docs/platform-notes.md#conventions */
export function changeRequestOf(store: Store, space: string, id: string): ChangeRequestRecord | undefined {
  const { changeRequests } = store;
  const record = changeRequests.get(id) ?? changeRequests.one('place', placeKey(space, id));
  return record?.space === space ? record : undefined;
}

/** The same, or 404; also in a space that is deleted. */
export function changeRequestAt(store: Store, space: string, id: string): ChangeRequestRecord {
  return found(changeRequestOf(store, spaceAt(store, space).id, id), 'Change request', id);
}

export function siteAt(store: Store, organization: string, id: string): SiteRecord {
  organizationAt(store, organization);
  const site = store.sites.get(id);
  return found(site?.organization === organization ? site : undefined, 'Site', id);
}

export function siteSpaceOf(store: Store, site: SiteRecord, id: string): SiteSpaceRecord | undefined {
  const siteSpace = store.siteSpaces.get(id);
  return siteSpace?.site === site.id ? siteSpace : undefined;
}

export function siteSpaceAt(store: Store, site: SiteRecord, id: string): SiteSpaceRecord {
  return found(siteSpaceOf(store, site, id), 'Site space', id);
}

export function sectionOf(store: Store, site: SiteRecord, id: string): SectionRecord | undefined {
  const section = store.sections.get(id);
  return section?.site === site.id ? section : undefined;
}

export function sectionAt(store: Store, site: SiteRecord, id: string): SectionRecord {
  return found(sectionOf(store, site, id), 'Site section', id);
}

export function groupOf(store: Store, site: SiteRecord, id: string): SectionGroupRecord | undefined {
  const group = store.sectionGroups.get(id);
  return group?.site === site.id ? group : undefined;
}

export function groupAt(store: Store, site: SiteRecord, id: string): SectionGroupRecord {
  return found(groupOf(store, site, id), 'Site section group', id);
}

export function externalLinkOf(store: Store, site: SiteRecord, id: string): ExternalLinkRecord | undefined {
  const link = store.externalLinks.get(id);
  return link?.site === site.id ? link : undefined;
}

export function conversationAt(store: Store, organization: string, id: string): ConversationRecord {
  organizationAt(store, organization);
  const conversation = store.conversations.get(id);
  const isOwn = conversation?.organization === organization && conversation.site === undefined;
  return found(isOwn ? conversation : undefined, 'Conversation', id);
}

export function issueAt(store: Store, organization: string, id: string): IssueRecord {
  organizationAt(store, organization);
  const issue = store.conversationIssues.get(id);
  return found(issue?.organization === organization && issue.site === undefined ? issue : undefined, 'Issue', id);
}

export function clusterAt(store: Store, organization: string, id: string): ClusterRecord {
  organizationAt(store, organization);
  const cluster = store.issuesClusters.get(id);
  return found(
    cluster?.organization === organization && cluster.site === undefined ? cluster : undefined,
    'Cluster',
    id,
  );
}
