import { type AccessChange, type Change, WHOLE_ORGANIZATION } from '../core/change.ts';
import { isObject, type Json } from '../core/json.ts';
import { PeopleAddresses } from './model/people.ts';
import type { KindRules } from './model/rules.ts';

/** Lists who gains or loses access, person by person, with the change that causes it. */
export function accessChanges(kinds: readonly KindRules[], changes: readonly Change[]): readonly AccessChange[] {
  const rules = new Map(kinds.map((kind) => [kind.name, kind]));
  const people = new PeopleAddresses(kinds);
  return changes.flatMap((change) => {
    const kind = rules.get(change.kind);
    return kind === undefined ? [] : [...membershipChanges(kind, change), ...roleChanges(change, people)];
  });
}

function membershipChanges(kind: KindRules, change: Change): readonly AccessChange[] {
  const found: AccessChange[] = [];
  for (const [path, rules] of Object.entries(kind.fields)) {
    if (rules.shape !== 'people') {
      continue;
    }
    const field = change.fields.find((each) => each.path === path);
    const before = peopleIn(change.action === 'delete' ? change.actual[path] : field?.from);
    const after = peopleIn(change.action === 'delete' ? undefined : field?.to);
    for (const person of [...new Set([...Object.keys(before), ...Object.keys(after)])].sort()) {
      const [was, is] = [before[person], after[person]];
      if (was !== is && (field !== undefined || change.action === 'delete')) {
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
