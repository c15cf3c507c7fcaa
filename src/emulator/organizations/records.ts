// Records and tables of organizations, their members and their settings.

import type { Json, JsonObject } from '../../core/json.ts';
import { type Entity, IndexedTable, organizationKey } from '../model/table.ts';
import type { Role, TeamRole } from '../model/vocabulary.ts';

/** `inherit`, `none`, or `rules` with the rules. Source: docs/platform-notes.md#merge-rules */
export interface MergeRules {
  readonly type: 'inherit' | 'rules' | 'none';
  readonly rules?: readonly JsonObject[] | undefined;
}

export interface EmulatedOrganization extends Entity {
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
  /** Instructions of the documentation agent; absent until they are written. `updatedBy` is a user's id. */
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

/** An invite link, which makes its user a member of the organization. Source: docs/platform-notes.md#invite-links */
export interface LinkInviteRecord extends Entity {
  readonly organization: string;
  readonly role: Role | null;
}

/** Tables of organizations, their members and their settings. */
export function organizationTables(changed: () => void) {
  return {
    organizations: new IndexedTable<EmulatedOrganization>({}, changed),
    users: new IndexedTable<UserRecord, 'email'>({ email: (user) => user.email.toLowerCase() }, changed),
    members: new IndexedTable<MemberRecord, 'organization'>({ organization: organizationKey }, changed),
    linkInvites: new IndexedTable<LinkInviteRecord, 'organization'>({ organization: organizationKey }, changed),
    teams: new IndexedTable<TeamRecord, 'organization'>({ organization: organizationKey }, changed),
    teamMembers: new IndexedTable<TeamMemberRecord, 'team' | 'member'>(
      { team: (record) => record.team, member: (record) => `${record.organization}/${record.user}` },
      changed,
    ),
    samlProviders: new IndexedTable<SamlRecord, 'organization'>({ organization: organizationKey }, changed),
  };
}

declare module '../model/store.ts' {
  interface Tables extends ReturnType<typeof organizationTables> {}
}
