/** Lists who gains or loses access by a plan: persons, and groups such as everyone on the internet. */
import type { Address } from '../core/address.ts';
import { type AccessChange, type Change, EVERYONE, WHOLE_ORGANIZATION } from '../core/change.ts';
import type { Json } from '../core/json.ts';
import { append } from '../core/lists.ts';
import type { Fields } from '../core/resource.ts';
import { fieldsAt, type Identity } from './identity.ts';
import { changedPeople } from './render/field-text.ts';
import {
  type AccessRule,
  type AccessState,
  type FieldRules,
  type Grant,
  type KindRules,
  PeopleAddresses,
} from './rules.ts';

/** Lists who gains or loses access, with the change that causes it: the widest access first, persons last. */
export function accessChanges(
  kinds: readonly KindRules[],
  changes: readonly Change[],
  identity: Identity,
): readonly AccessChange[] {
  const rules = new Map(kinds.map((kind) => [kind.name, kind]));
  const people = new PeopleAddresses(kinds);
  const states = resourceStates(changes, identity);
  const persons: AccessChange[] = [];
  const ofGroups: AccessChange[] = [];
  for (const change of changes) {
    const kind = rules.get(change.kind);
    if (kind === undefined) {
      continue;
    }
    append(persons, membershipChanges(kind, change));
    append(persons, roleChanges(change, people));
    append(ofGroups, groupChanges(kind, change, states));
  }
  const groups = withoutCancelled(ofGroups);
  const isWidest = ({ person }: AccessChange) => person.startsWith(EVERYONE);
  return [...groups.filter(isWidest), ...groups.filter((each) => !isWidest(each)), ...persons];
}

/** Leaves out the access that one resource takes and another gives: a replacement, or a space that moves on a site. */
function withoutCancelled(changes: readonly AccessChange[]): readonly AccessChange[] {
  const idOf = ({ person, from, to, role, field }: AccessChange) => JSON.stringify([person, from ?? to, role, field]);
  const gains = new Set(changes.filter(({ from }) => from === null).map(idOf));
  const losses = new Set(changes.filter(({ to }) => to === null).map(idOf));
  return changes.filter((each) => !(gains.has(idOf(each)) && losses.has(idOf(each))));
}

function groupChanges(
  kind: KindRules,
  change: Change,
  states: ReturnType<typeof resourceStates>,
): readonly AccessChange[] {
  const changed = change.fields.map(({ path }) => path);
  const isWhole = change.action === 'create' || change.action === 'delete';
  if (!isWhole && changed.every((path) => kind.fields[path]?.access === undefined)) {
    return [];
  }
  const before = change.action === 'create' ? {} : change.actual;
  const after = change.action === 'delete' ? {} : { ...before, ...wantedFields(change) };
  const common = { action: change.action, address: change.address, within: change.within, before: states.before };
  const was: AccessState = { ...common, fields: before, otherFields: after, now: states.before };
  const is: AccessState = { ...common, fields: after, otherFields: before, now: states.after };
  return Object.entries(kind.fields).flatMap(([field, { access, kept }]) =>
    access === undefined
      ? []
      : differences(access, was, is).map((each) => ({ ...each, field, role: withKept(each, kept, change) })),
  );
}

/** Returns the role of a line about access, with what those who lose it keep; a deleted resource keeps nothing. */
function withKept({ to, role }: AccessChange, kept: FieldRules['kept'], change: Change): string {
  const rest = to === null && change.action !== 'delete' ? kept?.({ ...change.actual, ...wantedFields(change) }) : null;
  return rest == null ? role : `${role}; ${rest}`;
}

function wantedFields({ fields }: Change): Fields {
  return Object.fromEntries(fields.map(({ path, to }) => [path, to ?? null]));
}

function differences(rule: AccessRule, was: AccessState, is: AccessState): readonly AccessChange[] {
  const [had, has] = [rule(was), rule(is)];
  const change = is.address;
  const placeOf = ({ to = change }: Grant) => to;
  const isSame = (a: Grant) => (b: Grant) => a.who === b.who && placeOf(a) === placeOf(b);
  const includes = (a: Grant, b: Grant) => placeOf(a) === placeOf(b) && a.who !== b.who && a.includes === 'all';
  const words = (grant: Grant, others: readonly Grant[], word: string) => {
    const some = others.filter((each) => includes(grant, each)).map(({ who }) => who);
    return some.length === 0 ? grant.role : `${grant.role}; ${word} only ${some.join(', ')}`;
  };
  return [
    ...has.flatMap((grant): readonly AccessChange[] => {
      const [person, place, old] = [grant.who, placeOf(grant), had.find(isSame(grant))];
      if (old !== undefined) {
        const role = `${old.role} → ${grant.role}`;
        return old.role === grant.role ? [] : [{ person, from: place, to: place, role, change }];
      }
      return had.some((each) => includes(each, grant))
        ? []
        : [{ person, from: null, to: place, role: words(grant, had, 'before'), change }];
    }),
    ...had.flatMap((grant): readonly AccessChange[] =>
      has.some((each) => isSame(grant)(each) || includes(each, grant))
        ? []
        : [{ person: grant.who, from: placeOf(grant), to: null, role: words(grant, has, 'now'), change }],
    ),
  ];
}

/** Returns lookups of the fields of resources before and after the plan is applied. A site has many parts, so they are remembered. */
function resourceStates(changes: readonly Change[], identity: Identity) {
  const changesOf = Map.groupBy(changes, ({ address }) => address);
  const before = remembered((address) => fieldsAt(identity, address));
  const after = remembered((address) => {
    const own = changesOf.get(address) ?? [];
    const isNew = own.some(({ action }) => action === 'create');
    const isGone = !isNew && own.some(({ action }) => action === 'delete');
    const fields = isNew ? {} : before(address);
    const kept = own.filter(({ action }) => action !== 'delete');
    return fields === null || isGone ? null : Object.assign({ ...fields }, ...kept.map(wantedFields));
  });
  return { before, after };
}

function remembered(find: (address: Address) => Fields | null): (address: Address) => Fields | null {
  const known = new Map<Address, Fields | null>();
  return (address) => {
    const fields = known.get(address);
    const found = fields === undefined ? find(address) : fields;
    known.set(address, found);
    return found;
  };
}

function membershipChanges(kind: KindRules, change: Change): readonly AccessChange[] {
  const found: AccessChange[] = [];
  for (const [path, { shape, kept }] of Object.entries(kind.fields)) {
    const field = change.fields.find((each) => each.path === path);
    if (shape !== 'people' || (field === undefined && change.action !== 'delete')) {
      continue;
    }
    const { address } = change;
    const [before, after] = change.action === 'delete' ? [change.actual[path], undefined] : [field?.from, field?.to];
    for (const { person, was, is } of changedPeople(before, after)) {
      const role = was === undefined || is === undefined ? String(is ?? was) : `${was} → ${is}`;
      const [from, to] = [was === undefined ? null : address, is === undefined ? null : address];
      // People join a team; a role in anything else is access that they gain.
      const line = { person, from, to, role, change: address, ...(path === 'members' ? {} : { field: path }) };
      found.push({ ...line, role: withKept(line, kept, change) });
    }
  }
  return found;
}

function roleChanges(change: Change, people: PeopleAddresses): readonly AccessChange[] {
  const rules = people.rules(change.kind);
  if (rules === null) {
    return [];
  }
  const { address } = change;
  const common = { person: people.emailOf(address), from: WHOLE_ORGANIZATION };
  if (change.action === 'delete') {
    return [{ ...common, to: null, role: roleName(change.actual[rules.roleField]), change: address }];
  }
  if (change.action === 'create') {
    const role = change.declared[rules.roleField];
    const given = role === undefined ? 'the default role' : roleName(role);
    return [{ ...common, from: null, to: WHOLE_ORGANIZATION, role: given, change: address }];
  }
  return change.fields
    .filter(({ path }) => path === rules.roleField)
    .map(({ from, to }) => ({
      ...common,
      to: WHOLE_ORGANIZATION,
      role: `${roleName(from)} → ${roleName(to)}`,
      change: address,
    }));
}

function roleName(role: Json | undefined): string {
  return typeof role === 'string' ? role : 'guest';
}
