import type { Json, JsonObject } from '../core/json.ts';
import type { ChangeRequestRecord, CommentRecord, ReplyRecord } from './collaboration-records.ts';
import type {
  ChangeRequestContentRecord,
  FileRecord,
  PageRecord,
  ReusableRecord,
  RevisionRecord,
  SnapshotRecord,
  Variables,
} from './content-records.ts';
import type { ClusterRecord, ConversationRecord, IssueRecord } from './conversation-records.ts';
import type { Entity, Ranked, Run } from './entity.ts';
import type { IntegrationStateTables } from './integration-records.ts';
import type { ReviewRecord } from './review-records.ts';
import type {
  AgentsContext,
  EditMode,
  Language,
  Role,
  SiteType,
  SiteVisibility,
  SpecVisibility,
  TeamRole,
} from './vocabulary.ts';

/** `inherit`, `none`, or `rules` with the rules. Source: docs/platform-notes.md#merge-rules */
export interface MergeRules {
  readonly type: 'inherit' | 'rules' | 'none';
  readonly rules?: readonly JsonObject[] | undefined;
}

export interface OrganizationRecord extends Entity {
  readonly title: string;
  readonly createdAt: string;
  readonly emailDomains: readonly string[];
  readonly hostname?: string | undefined;
  readonly defaultRole: Role | null;
  readonly defaultContent?: { readonly type: 'site'; readonly site: string } | undefined;
  readonly logo?: string | undefined;
  readonly sso: boolean;
  readonly ai: boolean;
  readonly inviteLinks: boolean;
  readonly mergeRules: MergeRules;
  /** What the documentation agent is told; absent until somebody wrote it. `updatedBy` is a user's id. */
  readonly agentInstructions?:
    | { readonly document: Json; readonly updatedAt: string; readonly updatedBy: string }
    | undefined;
}

export interface UserRecord extends Entity {
  readonly email: string;
  readonly displayName: string;
}

/** `id` is `organization/user`. */
export interface MemberRecord extends Entity {
  readonly organization: string;
  readonly user: string;
  readonly role: Role | null;
  readonly disabled: boolean;
  readonly joinedAt: string;
  readonly lastSeenAt?: string | undefined;
  readonly sso: boolean;
}

export interface TeamRecord extends Entity {
  readonly organization: string;
  readonly title: string;
  readonly createdAt: string;
}

/** `id` is `team/user`. */
export interface TeamMemberRecord extends Entity {
  readonly organization: string;
  readonly team: string;
  readonly user: string;
  readonly role: TeamRole;
}

export interface SamlRecord extends Entity {
  readonly organization: string;
  readonly label: string;
  readonly entityID?: string | undefined;
  readonly certificate?: string | undefined;
  readonly ssoURL?: string | undefined;
  readonly defaultTeam?: string | undefined;
  readonly defaultRole?: Role | null | undefined;
  readonly createdAt: string;
}

export type DefaultLevel = Role | 'inherit' | null;

export interface CollectionRecord extends Ranked {
  readonly organization: string;
  readonly title: string;
  readonly description?: string | undefined;
  readonly parent?: string | undefined;
  readonly defaultLevel: DefaultLevel;
}

export interface SpaceRecord extends Ranked {
  readonly organization: string;
  readonly title: string;
  readonly emoji?: string | undefined;
  readonly icon?: string | undefined;
  readonly parent?: string | undefined;
  readonly language?: Language | undefined;
  readonly editMode: EditMode;
  readonly defaultLevel: DefaultLevel;
  readonly mergeRules: MergeRules;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly deletedAt?: string | undefined;
  readonly revision: string;
  readonly variables?: Variables | undefined;
}

export interface SiteRecord extends Entity {
  readonly organization: string;
  readonly type: SiteType;
  readonly title: string;
  readonly visibility: SiteVisibility;
  readonly basename?: string | undefined;
  readonly proxy?: string | undefined;
  readonly published: boolean;
  readonly createdAt: string;
  readonly adaptiveContent: boolean;
  readonly agentsContext: AgentsContext;
  /** The default among root site spaces. */
  readonly defaultSiteSpace?: string | undefined;
  readonly defaultSection?: string | undefined;
  readonly adaptiveSchema?: { readonly jsonSchema: JsonObject; readonly updatedAt: string } | undefined;
  /** Absent while it is as the platform makes it. */
  readonly customization?: JsonObject | undefined;
}

export interface SiteSpaceRecord extends Ranked {
  readonly site: string;
  /** Absent at the root of a site without sections. */
  readonly section?: string | undefined;
  readonly space: string;
  readonly path: string;
  readonly condition?: string | undefined;
  readonly hidden: boolean;
}

export interface SectionRecord extends Ranked {
  readonly site: string;
  readonly group?: string | undefined;
  readonly title: string;
  readonly description?: string | undefined;
  readonly path: string;
  readonly condition?: string | undefined;
  readonly icon?: string | undefined;
  readonly defaultSiteSpace?: string | undefined;
}

export interface SectionGroupRecord extends Ranked {
  readonly site: string;
  readonly parent?: string | undefined;
  readonly title: string;
  readonly icon?: string | undefined;
}

/** A link to elsewhere among the sections of a site. */
export interface ExternalLinkRecord extends Ranked {
  readonly site: string;
  readonly group?: string | undefined;
  readonly title: string;
  readonly description?: string | undefined;
  readonly icon?: string | undefined;
  readonly url: string;
  readonly draft: boolean;
  readonly condition?: string | undefined;
}

export interface SpecError {
  readonly message: string;
  readonly code: 'FETCH_TIMEOUT' | 'FETCH_ERROR' | 'PARSE_ERROR';
}

/** `id` is what `lastVersion` and addresses build on; the slug names it in paths. */
export interface SpecRecord extends Entity {
  readonly organization: string;
  readonly slug: string;
  readonly source: { readonly url: string } | { readonly text: string };
  readonly visibility: SpecVisibility;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly run: Run | null;
  /** What the run will find. */
  readonly errors: readonly SpecError[];
  readonly lastVersion?: string | undefined;
  readonly lastProcessedAt?: string | undefined;
  readonly lastProcessedErrors: readonly SpecError[];
}

export interface TranslationRecord extends Entity {
  readonly organization: string;
  readonly source: { readonly space: string; readonly language: Language };
  readonly language: Language;
  readonly instructions?: Json | undefined;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly run: Run | null;
  readonly result?: { readonly space: string; readonly revision: string } | undefined;
  readonly stats: TranslationStats;
}

export interface TranslationStats {
  readonly runs: number;
  readonly totalWords: number;
  readonly totalPages: number;
  readonly totalDuration: number;
  readonly latestRunDuration: number;
  readonly latestPages: number;
  readonly latestWords: number;
}

/** A link that makes its user a member of the organization. Source: docs/platform-notes.md#invite-links */
export interface LinkInviteRecord extends Entity {
  readonly organization: string;
  readonly role: Role | null;
}

/** The format name that every state carries, so that an older or foreign file is refused. */
export const STATE_FORMAT = 'octavo.emulator/1';

/** Every table's records. */
export interface StateTables extends IntegrationStateTables {
  readonly organizations: readonly OrganizationRecord[];
  readonly users: readonly UserRecord[];
  readonly members: readonly MemberRecord[];
  readonly linkInvites: readonly LinkInviteRecord[];
  readonly teams: readonly TeamRecord[];
  readonly teamMembers: readonly TeamMemberRecord[];
  readonly samlProviders: readonly SamlRecord[];
  readonly collections: readonly CollectionRecord[];
  readonly spaces: readonly SpaceRecord[];
  readonly pages: readonly PageRecord[];
  readonly files: readonly FileRecord[];
  readonly reusableContents: readonly ReusableRecord[];
  readonly revisions: readonly RevisionRecord[];
  readonly changeRequests: readonly ChangeRequestRecord[];
  readonly snapshots: readonly SnapshotRecord[];
  readonly changeRequestContents: readonly ChangeRequestContentRecord[];
  readonly reviews: readonly ReviewRecord[];
  readonly comments: readonly CommentRecord[];
  readonly replies: readonly ReplyRecord[];
  readonly sites: readonly SiteRecord[];
  readonly siteSpaces: readonly SiteSpaceRecord[];
  readonly sections: readonly SectionRecord[];
  readonly sectionGroups: readonly SectionGroupRecord[];
  readonly externalLinks: readonly ExternalLinkRecord[];
  readonly specs: readonly SpecRecord[];
  readonly translations: readonly TranslationRecord[];
  readonly conversations: readonly ConversationRecord[];
  readonly conversationIssues: readonly IssueRecord[];
  readonly issuesClusters: readonly ClusterRecord[];
}

/** All that the emulator remembers, as plain JSON. Tables that a file lacks are empty. */
export interface EmulatorState extends Partial<StateTables> {
  readonly format: typeof STATE_FORMAT;
  /** The last number handed out, for ids, creation order and ranks. */
  readonly sequence: number;
}
