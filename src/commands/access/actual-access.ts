/** Reads who has which role where on the platform, and what gives it. */
import type { Address } from '../../core/address.ts';
import { AuthError, type Problem } from '../../core/errors.ts';
import type { Actual, Declared, Observation } from '../../core/resource.ts';
import { unlessMissing } from '../../kinds/model/kind.ts';
import { personIn, rolesIn } from '../../kinds/model/people.ts';
import { kinds } from '../../kinds/registry.ts';
import { identify } from '../../plan/identity.ts';
import type { Reader } from '../../platform/client.ts';
import {
  operations,
  permissionsOf,
  type TeamPermission,
  type UserPermission,
} from '../../platform/operations/index.ts';
import { list, settleAll } from '../../reconcile/observe.ts';
import { type AccessGrant, ORGANIZATION } from './declared-access.ts';

/** ReviewedPerson in the organization. */
export interface ReviewedPerson {
  readonly name: string;
  /** `guest` for people without a role. */
  readonly role: string;
  /** ISO 8601; null if the platform does not say. */
  readonly lastSeen: string | null;
  readonly disabled: boolean;
}

/** Roles that were read, and what could not be read. */
export interface ActualAccess {
  /** People by email address, or `#id`. */
  readonly people: ReadonlyMap<string, ReviewedPerson>;
  /** The role in effect of each person in the organization, in each team, and in each space, collection and site. */
  readonly grants: readonly AccessGrant[];
  /** Titles of resources by address, or `kind #id` for one that no manifest declares. */
  readonly titles: ReadonlyMap<Address, string>;
  readonly unread: readonly { readonly resource: Address; readonly reason: string }[];
  /** Declared resources that may be any of several. */
  readonly problems: readonly Problem[];
}

const PLACES = ['collection', 'space', 'site'] as const;

/** Reads everything. `declared` names the resources. Throws AppError; a resource that may not be read is reported. */
export async function readAccess(reader: Reader, declared: ReadonlyMap<Address, Declared>): Promise<ActualAccess> {
  const [people, ...lists] = await settleAll<readonly unknown[]>([
    readPeople(reader),
    ...['team', ...PLACES].map(async (name) => (await list(kindNamed(name), reader)).actuals),
  ]);
  const [teams = [], ...places] = lists as (readonly Actual[])[];
  const names = namesOf(
    declared,
    new Map([['team', teams], ...PLACES.map((name, at) => [name, places[at] ?? []] as const)]),
  );
  const members = await settleAll(teams.map(async (team) => [team.id, await readTeam(team, reader)] as const));
  const teamNames = new Map(teams.map((team) => [team.id, names.nameOf(team)]));
  const context = { reader, members: new Map(members), teamNames, nameOf: names.nameOf };
  const read = await settleAll(places.flat().map((place) => readPlace(place, context)));
  const known = new Map(people as readonly (readonly [string, ReviewedPerson])[]);
  return {
    people: known,
    grants: [
      ...[...known].map(([person, { role }]) => ({ person, resource: ORGANIZATION, through: 'direct', role })),
      ...teams.flatMap((team) =>
        Object.entries(context.members.get(team.id) ?? {}).map(([person, role]) => {
          return { person, resource: names.nameOf(team), through: 'direct', role };
        }),
      ),
      ...read.flatMap(({ grants }) => grants),
    ],
    titles: new Map([...teams, ...places.flat()].map((actual) => [names.nameOf(actual), actual.title])),
    unread: read.flatMap(({ unread }) => (unread === null ? [] : [unread])),
    problems: names.problems,
  };
}

function kindNamed(name: string) {
  const kind = kinds.find((each) => each.name === name);
  if (kind === undefined) {
    throw new Error(`there is no kind ${name}`);
  }
  return kind;
}

async function readPeople(reader: Reader): Promise<readonly (readonly [string, ReviewedPerson])[]> {
  const people: (readonly [string, ReviewedPerson])[] = [];
  for await (const { id, role, user, lastSeenAt, disabled } of reader.pages(operations.listMembers)) {
    const email = personIn({ id, email: user?.email });
    const person = { name: user?.displayName ?? '', role: role ?? 'guest', lastSeen: lastSeenAt ?? null };
    people.push([email, { ...person, disabled: disabled === true }]);
  }
  return people;
}

/** Names resources by the addresses that the manifests bind to them. */
function namesOf(declared: ReadonlyMap<Address, Declared>, found: Observation['kinds']) {
  const own = kinds.filter(({ name }) => found.has(name));
  const known = new Map([...declared].filter(([, { kind }]) => found.has(kind)));
  const { bound, problems } = identify(own, known, null, { kinds: found, people: new Map() });
  const addresses = new Map([...bound].map(([address, actual]) => [actual, address]));
  return { nameOf: (actual: Actual): Address => addresses.get(actual) ?? `${actual.kind} #${actual.id}`, problems };
}

/** Returns the roles of the members of a team. */
async function readTeam(team: Actual, reader: Reader): Promise<Readonly<Record<string, string>>> {
  const [details] = kindNamed('team').details ?? [];
  const { fields } = (await details?.read(team, reader, {})) ?? {};
  return rolesIn(fields?.members);
}

interface Reading {
  readonly reader: Reader;
  /** Members of teams with their roles in the team, by the id of the team. */
  readonly members: ReadonlyMap<string, Readonly<Record<string, string>>>;
  readonly teamNames: ReadonlyMap<string, Address>;
  readonly nameOf: (actual: Actual) => Address;
}

/** Roles that a resource gives to teams and people itself. */
interface Given {
  readonly teams: readonly TeamPermission[];
  readonly users: readonly UserPermission[];
}

async function readPlace(place: Actual, context: Reading) {
  const { reader, nameOf } = context;
  const { parameter, inEffect, teams, users } = permissionsOf[place.kind as (typeof PLACES)[number]];
  const resource = nameOf(place);
  const read = async (operation: typeof inEffect): Promise<readonly unknown[]> =>
    Array.fromAsync(reader.pages(operation, { path: { [parameter]: place.id } } as never));
  // A version of the platform may only have the roles in effect of a site.
  const given = async (operation: typeof inEffect) => (await unlessMissing(read(operation))) ?? [];
  try {
    const effective = (await read(inEffect)) as readonly UserPermission[];
    const isExplained = effective.some(({ origin }) => origin?.reason != null);
    const [ofTeams = [], ofUsers = []] = isExplained ? [] : await settleAll([given(teams), given(users)]);
    const own = { teams: ofTeams, users: ofUsers } as Given;
    const grants = effective.flatMap((each): readonly AccessGrant[] => {
      const { permission: role, user } = each;
      return role == null ? [] : [{ person: personIn(user), resource, role, through: sourceOf(each, own, context) }];
    });
    return { grants, unread: null };
  } catch (error) {
    if (error instanceof AuthError && error.status === 403) {
      return { grants: [], unread: { resource, reason: error.message } };
    }
    throw error;
  }
}

/**
 * Returns what gives the role in effect: `direct`, the address of a team, or `default` for the default level, an inherited
 * role and the role in the organization. Source: docs/platform-notes.md#permissions
 */
function sourceOf({ permission, user, origin }: UserPermission, own: Given, { members, teamNames }: Reading): string {
  const person = personIn(user);
  const isSame = (given: { readonly permission?: string | null | undefined }) => given.permission === permission;
  if (origin?.reason === 'member' || own.users.some((each) => each.user.id === user.id && isSame(each))) {
    return 'direct';
  }
  const giving = own.teams.find((each) => isSame(each) && Object.hasOwn(members.get(each.team.id) ?? {}, person));
  const team = origin?.reason === 'team' ? origin.team : giving?.team.id;
  return team == null ? 'default' : (teamNames.get(team) ?? `team #${team}`);
}
