import { type Topics, topicsOf } from './clustering.ts';
import type { ChangeRequestRecord, CommentRecord, ReplyRecord } from './collaboration-records.ts';
import type {
  ChangeRequestContentRecord,
  FileRecord,
  PageRecord,
  ReusableRecord,
  RevisionRecord,
  SnapshotRecord,
} from './content-records.ts';
import { conversationTables } from './conversation-tables.ts';
import { integrationTables } from './integration-tables.ts';
import type {
  CollectionRecord,
  EmulatorState,
  ExternalLinkRecord,
  LinkInviteRecord,
  MemberRecord,
  OrganizationRecord,
  SamlRecord,
  SectionGroupRecord,
  SectionRecord,
  SiteRecord,
  SiteSpaceRecord,
  SpaceRecord,
  SpecRecord,
  StateTables,
  TeamMemberRecord,
  TeamRecord,
  TranslationRecord,
  UserRecord,
} from './records.ts';
import { STATE_FORMAT } from './records.ts';
import type { ReviewRecord } from './review-records.ts';
import { Table } from './table.ts';

const organizationOf = (record: { readonly organization: string }) => record.organization;
const runningOf = (record: { readonly run: unknown }) => (record.run === null ? undefined : 'yes');
const siteOf = (record: { readonly site: string }) => record.site;

/** Where a space or collection hangs: its collection, else its organization. Deleted spaces hang nowhere. */
function parentKey(record: {
  readonly organization: string;
  readonly parent?: string | undefined;
  readonly deletedAt?: string | undefined;
}): string | undefined {
  return record.deletedAt === undefined ? (record.parent ?? record.organization) : undefined;
}

function organizationTables(changed: () => void) {
  return {
    organizations: new Table<OrganizationRecord>({}, changed),
    users: new Table<UserRecord, 'email'>({ email: (user) => user.email.toLowerCase() }, changed),
    members: new Table<MemberRecord, 'organization'>({ organization: organizationOf }, changed),
    linkInvites: new Table<LinkInviteRecord, 'organization'>({ organization: organizationOf }, changed),
    teams: new Table<TeamRecord, 'organization'>({ organization: organizationOf }, changed),
    teamMembers: new Table<TeamMemberRecord, 'team' | 'member'>(
      { team: (record) => record.team, member: (record) => `${record.organization}/${record.user}` },
      changed,
    ),
    samlProviders: new Table<SamlRecord, 'organization'>({ organization: organizationOf }, changed),
  };
}

function contentTables(changed: () => void) {
  return {
    collections: new Table<CollectionRecord, 'organization' | 'parent'>(
      { organization: organizationOf, parent: parentKey },
      changed,
    ),
    spaces: new Table<SpaceRecord, 'organization' | 'parent'>(
      {
        organization: (space) => (space.deletedAt === undefined ? space.organization : undefined),
        parent: parentKey,
      },
      changed,
    ),
    specs: new Table<SpecRecord, 'organization' | 'slug' | 'running'>(
      { organization: organizationOf, slug: (spec) => `${spec.organization}/${spec.slug}`, running: runningOf },
      changed,
    ),
    translations: new Table<TranslationRecord, 'organization' | 'pair' | 'running'>(
      {
        organization: organizationOf,
        pair: (record) => `${record.source.space}/${record.language}`,
        running: runningOf,
      },
      changed,
    ),
  };
}

const spaceOf = (record: { readonly space: string }) => record.space;

function spaceContentTables(changed: () => void) {
  return {
    pages: new Table<PageRecord, 'space' | 'place'>(
      { space: spaceOf, place: (page) => placeKey(page.space, page.path) },
      changed,
    ),
    files: new Table<FileRecord, 'space'>({ space: spaceOf }, changed),
    reusableContents: new Table<ReusableRecord, 'space'>({ space: spaceOf }, changed),
    snapshots: new Table<SnapshotRecord>({}, changed),
    changeRequestContents: new Table<ChangeRequestContentRecord>({}, changed),
    revisions: new Table<RevisionRecord>({}, changed),
  };
}

function collaborationTables(changed: () => void) {
  return {
    changeRequests: new Table<ChangeRequestRecord, 'space' | 'place'>(
      { space: (record) => record.space, place: (record) => placeKey(record.space, String(record.number)) },
      changed,
    ),
    reviews: new Table<ReviewRecord, 'changeRequest'>({ changeRequest: (review) => review.changeRequest }, changed),
    comments: new Table<CommentRecord, 'subject'>(
      { subject: (comment) => comment.changeRequest ?? comment.space },
      changed,
    ),
    replies: new Table<ReplyRecord, 'comment'>({ comment: (reply) => reply.comment }, changed),
  };
}

/** What is one of its kind within a space: a page's path, a change request's number. */
export function placeKey(space: string, place: string): string {
  return `${space}/${place}`;
}

function siteTables(changed: () => void) {
  return {
    sites: new Table<SiteRecord, 'organization'>({ organization: organizationOf }, changed),
    siteSpaces: new Table<SiteSpaceRecord, 'site' | 'place' | 'space'>(
      {
        site: siteOf,
        place: (record) => record.section ?? record.site,
        space: (record) => record.space,
      },
      changed,
    ),
    sections: new Table<SectionRecord, 'site' | 'place'>(
      { site: siteOf, place: (record) => record.group ?? record.site },
      changed,
    ),
    externalLinks: new Table<ExternalLinkRecord, 'site' | 'place'>(
      { site: siteOf, place: (record) => record.group ?? record.site },
      changed,
    ),
    sectionGroups: new Table<SectionGroupRecord, 'site' | 'place'>(
      { site: siteOf, place: (record) => record.parent ?? record.site },
      changed,
    ),
  };
}

type Tables = ReturnType<typeof organizationTables> &
  ReturnType<typeof contentTables> &
  ReturnType<typeof spaceContentTables> &
  ReturnType<typeof collaborationTables> &
  ReturnType<typeof siteTables> &
  ReturnType<typeof conversationTables> &
  ReturnType<typeof integrationTables>;

/** Everything the emulator remembers, indexed, so that no request but a list walks over what it is not about. */
export interface Store extends Tables {
  /** Calls back after every change. */
  watch(onChange: () => void): void;
  /** The next number: creation order and rank. */
  next(): number;
  /** A new id and its place in the creation order. The same calls in the same order give the same ids. */
  identify(prefix: string): { readonly id: string; readonly seq: number };
  /** What an organization's conversations, or a site's context records, are about: kept beside what it follows from. */
  topics(scope: string): Topics;
  /** A deep copy of everything, as plain JSON. */
  dump(): EmulatorState;
  /** Forgets everything and remembers this instead. */
  load(state: EmulatorState): void;
}

/** An empty store. */
export function createStore(): Store {
  let sequence = 0;
  let notify = () => {};
  const changed = () => notify();
  const tables: Tables = {
    ...organizationTables(changed),
    ...contentTables(changed),
    ...spaceContentTables(changed),
    ...collaborationTables(changed),
    ...siteTables(changed),
    ...conversationTables(changed),
    ...integrationTables(changed),
  };
  const topics = new Map<string, Topics>();
  const next = () => {
    sequence += 1;
    return sequence;
  };
  return {
    ...tables,
    next,
    watch: (onChange) => {
      notify = onChange;
    },
    identify: (prefix) => {
      const seq = next();
      return { id: `${prefix}_${seq.toString(36).padStart(4, '0')}`, seq };
    },
    topics: (scope) => {
      const known = topics.get(scope) ?? readTopics(tables, scope);
      topics.set(scope, known);
      return known;
    },
    dump: () => dump(tables, sequence),
    load: (state) => {
      load(tables, state);
      topics.clear();
      sequence = state.sequence;
    },
  };
}

function readTopics({ conversationIssues, issuesClusters }: Tables, scope: string): Topics {
  const issues = [...conversationIssues.by('organization', scope), ...conversationIssues.by('site', scope)];
  return topicsOf(issues, (cluster) => issuesClusters.get(cluster)?.seq ?? 0);
}

type AnyTable = Table<{ readonly id: string }>;

function dump(tables: Tables, sequence: number): EmulatorState {
  const records = Object.entries(tables).map(([name, table]) => [name, [...(table as unknown as AnyTable).all()]]);
  const state = { format: STATE_FORMAT, sequence, ...(Object.fromEntries(records) as Partial<StateTables>) };
  return JSON.parse(JSON.stringify(state)) as EmulatorState;
}

function load(tables: Tables, state: EmulatorState): void {
  if (state.format !== STATE_FORMAT) {
    throw new Error(`not a state of the emulator: format is ${JSON.stringify(state.format)}, not "${STATE_FORMAT}"`);
  }
  const copy = structuredClone(state);
  for (const [name, table] of Object.entries(tables)) {
    const any = table as unknown as AnyTable;
    any.clear();
    for (const record of copy[name as keyof StateTables] ?? []) {
      any.put(record);
    }
  }
}
