import { type AccessChange, type Change, WHOLE_ORGANIZATION } from '../core/change.ts';
import { isObject, type Json } from '../core/json.ts';
import { append } from '../core/lists.ts';
import { PeopleAddresses } from './model/people.ts';
import type { KindRules } from './model/rules.ts';

/** Lists who gains or loses access, person by person, with the change that causes it. */
export function accessChanges(kinds: readonly KindRules[], changes: readonly Change[]): readonly AccessChange[] {
  const memberships = new Map(kinds.map((kind) => [kind.name, membershipFields(kind)]));
  const people = new PeopleAddresses(kinds);
  const found: AccessChange[] = [];
  for (const change of changes) {
    append(found, membershipChanges(memberships.get(change.kind) ?? [], change));
    append(found, roleChanges(change, people));
  }
  return found;
}

function membershipFields({ fields }: KindRules): readonly string[] {
  return Object.keys(fields).filter((path) => fields[path]?.shape === 'people');
}

function membershipChanges(paths: readonly string[], change: Change): readonly AccessChange[] {
  const found: AccessChange[] = [];
  for (const path of paths) {
    const field = change.fields.find((each) => each.path === path);
    if (field === undefined && change.action !== 'delete') {
      continue;
    }
    const before = peopleIn(change.action === 'delete' ? change.actual[path] : field?.from);
    const after = peopleIn(change.action === 'delete' ? undefined : field?.to);
    for (const person of [...new Set([...Object.keys(before), ...Object.keys(after)])].sort()) {
      const [was, is] = [before[person], after[person]];
      if (was !== is) {
        found.push({
          person,
          from: was === undefined ? null : change.address,
          to: is === undefined ? null : change.address,
          role: was === undefined || is === undefined ? String(is ?? was) : `${was} → ${is}`,
          change: change.address,
        });
      }
    }
  }
  return found;
}

function roleChanges(change: Change, people: PeopleAddresses): readonly AccessChange[] {
  const rules = people.rules(change.kind);
  if (rules === null) {
    return [];
  }
  const person = people.emailOf(change.address);
  if (change.action === 'delete') {
    const role = roleName(change.actual[rules.roleField]);
    return [{ person, from: WHOLE_ORGANIZATION, to: null, role, change: change.address }];
  }
  return change.fields
    .filter((field) => field.path === rules.roleField)
    .map((field) => ({
      person,
      from: WHOLE_ORGANIZATION,
      to: WHOLE_ORGANIZATION,
      role: `${roleName(field.from)} → ${roleName(field.to)}`,
      change: change.address,
    }));
}

function roleName(role: Json | undefined): string {
  return typeof role === 'string' ? role : 'guest';
}

function peopleIn(value: Json | undefined): Record<string, string> {
  return isObject(value) ? (value as Record<string, string>) : {};
}
