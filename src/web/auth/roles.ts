/** Roles of people for organizations. */
import type { RoleRule } from '../../config/ui.ts';
import type { ViewerRole } from '../page.ts';

/** Order of the roles: each includes those before it. */
const RANK: Readonly<Record<ViewerRole, number>> = { viewer: 1, operator: 2, approver: 3 };

/** A person, as the rules know people. */
interface Person {
  readonly name: string;
  readonly groups: readonly string[];
}

/** Returns true if a role includes what another one may do. */
export function includesRole(role: ViewerRole | null, needed: ViewerRole): boolean {
  return role !== null && RANK[role] >= RANK[needed];
}

/** Returns the strongest role that the rules give to a person for an organization. Emails ignore case. */
export function roleOf(rules: readonly RoleRule[], person: Person, organization: string): ViewerRole | null {
  const name = person.name.toLowerCase();
  const isMeant = ({ people, groups }: RoleRule) =>
    people.some((each) => each === '*' || each.toLowerCase() === name) ||
    groups.some((group) => person.groups.includes(group));
  return rules
    .filter((rule) => isMeant(rule) && (rule.organizations?.includes(organization) ?? true))
    .reduce<ViewerRole | null>((best, { role }) => (includesRole(best, role) ? best : role), null);
}
