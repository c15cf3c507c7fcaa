import { userOf } from '../lookup.ts';
import type { Context } from '../operation.ts';
import type { MemberRecord, TeamMemberRecord, TeamRecord, UserRecord } from '../records.ts';

/** User. Source: docs/platform-notes.md#members */
function viewUser(context: Context, user: UserRecord): unknown {
  return {
    object: 'user',
    id: user.id,
    displayName: user.displayName,
    email: user.email,
    photoURL: `${context.base}/app/photos/${user.id}`,
    urls: { location: `${context.base}/v1/users/${user.id}` },
  };
}

/** The user with that id, where there is one. */
export function viewUserOf(context: Context, id: string | undefined): unknown {
  const user = id === undefined ? undefined : context.store.users.get(id);
  return user === undefined ? undefined : viewUser(context, user);
}

/**
 * Member with its counts. A guest (null role) has access to no space by role. Source: docs/platform-notes.md#members
 */
export function viewMember(context: Context, member: MemberRecord): unknown {
  const { store } = context;
  return {
    object: 'member',
    id: member.user,
    role: member.role,
    user: viewUser(context, userOf(store, member)),
    disabled: member.disabled,
    joinedAt: member.joinedAt,
    lastSeenAt: member.lastSeenAt,
    sso: member.sso,
    spaces: member.role === null ? 0 : store.spaces.count('organization', member.organization),
    teams: store.teamMembers.count('member', member.id),
  };
}

/**
 * Team with its counts. Nothing here gives a team access to spaces, so `spaces` is 0.
 * Source: docs/platform-notes.md#teams
 */
export function viewTeam(context: Context, team: TeamRecord): unknown {
  return {
    object: 'team',
    id: team.id,
    title: team.title,
    members: context.store.teamMembers.count('team', team.id),
    spaces: 0,
    createdAt: team.createdAt,
    permissions: { admin: context.caller.permission === 'admin', view: true },
  };
}

/** One member of a team. Source: docs/platform-notes.md#teams */
export function viewTeamMember(context: Context, membership: TeamMemberRecord): unknown {
  const member = context.store.members.get(`${membership.organization}/${membership.user}`);
  return {
    organization: member === undefined ? undefined : viewMember(context, member),
    team: { role: membership.role },
    permissions: { view: true },
  };
}
