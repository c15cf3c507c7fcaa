/** Access that manifests declare, as one grant for each person, resource and way to it, and its changes from commit to commit. */
import { type Address, keyOf } from '../../core/address.ts';
import { DesiredStateError } from '../../core/errors.ts';
import type { Fields } from '../../core/resource.ts';
import { type LoggedCommit, listCommits } from '../../git/commits.ts';
import { rolesIn } from '../../kinds/model/people.ts';
import { baseAt, type ScopedDirectory } from '../../reconcile/applied.ts';

/** The organization itself, as a resource. */
export const ORGANIZATION = 'organization';
/** Everyone who has the default level, as a person. */
export const EVERYONE_IN = 'everyone in the organization';

/** One way in which a person has a role in a resource. */
export interface AccessGrant {
  /** Email address, `#id` if the platform returns none, or {@link EVERYONE_IN}. */
  readonly person: string;
  /** {@link ORGANIZATION}, the address of a team, or that of a space, collection or site. */
  readonly resource: Address;
  /** `direct`, `default`, or the address of the team that gives it. */
  readonly through: string;
  readonly role: string;
}

/** Change of a grant by a commit. An absent `from` or `to` means that there is no such grant before or after it. */
export interface GrantChange extends Omit<AccessGrant, 'role'> {
  readonly from?: string;
  readonly to?: string;
  readonly commit: LoggedCommit;
}

/** Returns what identifies a grant, whatever its role. */
export function grantKey({ person, resource, through }: Omit<AccessGrant, 'role'>): string {
  return JSON.stringify([person, resource, through]);
}

/** Declared resources with their fields in normal form. */
type Declarations = ReadonlyMap<Address, { readonly kind: string; readonly fields: Fields }>;

/** Returns every grant that manifests declare, by its key. Members of a team have each role of the team. */
export function declaredGrants(declared: Declarations): ReadonlyMap<string, AccessGrant> {
  const grants: AccessGrant[] = [];
  for (const [resource, { kind, fields }] of declared) {
    if (kind === 'member') {
      const role = fields.role === undefined ? null : String(fields.role ?? 'guest');
      if (role !== null) {
        grants.push({ person: keyOf(resource), resource: ORGANIZATION, through: 'direct', role });
      }
    }
    const people = kind === 'team' ? fields.members : fields['permissions.members'];
    for (const [person, role] of Object.entries(rolesIn(people))) {
      grants.push({ person, resource, through: 'direct', role });
    }
    for (const [team, role] of Object.entries(rolesIn(fields['permissions.teams']))) {
      for (const person of Object.keys(rolesIn(declared.get(team)?.fields.members))) {
        grants.push({ person, resource, through: team, role });
      }
    }
    if (typeof fields.defaultLevel === 'string') {
      grants.push({ person: EVERYONE_IN, resource, through: 'default', role: fields.defaultLevel });
    }
  }
  return new Map(grants.map((grant) => [grantKey(grant), grant]));
}

/** Changes since a commit, oldest first, and the commits whose manifests have errors, whose changes count for the next. */
export interface GrantHistory {
  readonly changes: readonly GrantChange[];
  readonly unreadable: readonly LoggedCommit[];
}

/**
 * Compares the manifests of each commit of a branch with those of the one before it. Throws SourceError, and
 * DesiredStateError if those of the first commit have errors.
 */
export async function readGrantHistory(
  { repository, directory }: Pick<ScopedDirectory, 'repository' | 'directory'>,
  from: string,
  to: string,
): Promise<GrantHistory> {
  const changes: GrantChange[] = [];
  const unreadable: LoggedCommit[] = [];
  let before = declaredGrants(await baseAt(repository, from, directory));
  for (const commit of await listCommits(repository, from, to, directory)) {
    const declared = await baseAt(repository, commit.id, directory).catch((error: unknown) => {
      if (error instanceof DesiredStateError) {
        return null;
      }
      throw error;
    });
    if (declared === null) {
      unreadable.push(commit);
      continue;
    }
    const after = declaredGrants(declared);
    for (const key of new Set([...before.keys(), ...after.keys()])) {
      const [was, is] = [before.get(key), after.get(key)];
      const grant = is ?? was;
      if (grant !== undefined && was?.role !== is?.role) {
        const { person, resource, through } = grant;
        const roles = { ...(was ? { from: was.role } : {}), ...(is ? { to: is.role } : {}) };
        changes.push({ person, resource, through, ...roles, commit });
      }
    }
    before = after;
  }
  return { changes, unreadable };
}
