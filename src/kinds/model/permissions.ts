/** Permissions: the roles that teams and people have in a space, a collection or a site, in addition to its default level. */
import { z } from 'zod';
import type { Change } from '../../core/change.ts';
import { isObject, type Json } from '../../core/json.ts';
import { compareText } from '../../core/lists.ts';
import { type Actual, type Fields, idRef } from '../../core/resource.ts';
import { counted } from '../../plan/render/words.ts';
import type { KindRules, LockOutContext } from '../../plan/rules.ts';
import type { Reader } from '../../platform/client.ts';
import { permissionsOf, type TeamPermission, type UserPermission } from '../../platform/operations/index.ts';
import type { PaginatedOperation, WriteOperation } from '../../platform/operations/model/operation.ts';
import { type FieldTable, listedElsewhere } from './field-table.ts';
import { type DetailRequest, type Kind, type PlannedRequest, Ref, ref, request, unlessMissing } from './kind.ts';
import { type DescribeContext, Reference } from './manifest.ts';
import { declarablePeople, peopleFromEntry, peopleSchema, personIn, personRef, rolesIn } from './people.ts';
import { key, role } from './schema.ts';

const GROUP = 'permissions';
const TEAMS = `${GROUP}.teams`;
const MEMBERS = `${GROUP}.members`;
const MEMBERSHIP = `${GROUP}.membership`;
const ADMIN = 'admin';

/** Kinds of resources in which teams and people have roles. */
export type Grantable = keyof typeof permissionsOf;

/** Says why permissions were not compared: an older version of the platform, or a snapshot by a token without the right. */
function notComparedNote(kind: Grantable, field: string): string {
  const reason = kind === 'site' ? 'this version of the platform has none for sites (before 0.167)' : 'it was not read';
  return `${field} was not compared: ${reason}`;
}

/** Fields of the permissions of a kind: teams by key and people by email address, each with a role. */
export function permissionFields(kind: Grantable): FieldTable<never> {
  const common = {
    isListed: false,
    kept: keptLevel,
    keepsOthers: (fields: Fields) => fields[MEMBERSHIP] === 'additive',
  };
  return {
    [GROUP]: {
      description: `Roles of teams and people in the ${kind}. A member that is left out is not managed.`,
      group: {
        membership: {
          schema: z
            .enum(['exact', 'additive'])
            .default('exact')
            .describe('`exact` allows only the declared teams and people. `additive` also allows others.'),
          declarationOnly: true,
          toEntry: (_value, context, actual) => describeMembership(actual, context),
        },
        teams: {
          ...common,
          unsupportedNote: notComparedNote(kind, TEAMS),
          schema: z
            .record(key('A key of `teams`.', 'team'), role)
            .meta({ examples: [{ writers: 'edit' }] })
            .describe('Keys of `teams`, each with a role.'),
          // A list, because keys cannot be references.
          fromEntry: (value) =>
            Object.entries(rolesIn(value)).map(([team, as]) => ({
              team: new Reference(['team'], team, [GROUP, 'teams', team]),
              role: as,
            })),
          normalize: (value) => Object.fromEntries(teamsIn(value)),
          // The platform removes the roles of a deleted team.
          optionalRef: true,
          references: (value) => teamsIn(value).map(([team]) => team),
          access: ({ fields }) =>
            teamsIn(fields[TEAMS]).map(([team, as]) => ({ who: `everyone in ${team}`, role: as })),
          toEntry: (value, context) => describeTeams(value, context).known,
        },
        members: {
          ...common,
          unsupportedNote: notComparedNote(kind, MEMBERS),
          schema: peopleSchema(role)
            .meta({ examples: [{ 'ana@acme.example': 'admin' }] })
            .describe('Email addresses, each with a role.'),
          shape: 'people',
          access: listedElsewhere,
          fromEntry: peopleFromEntry,
          toEntry: (value) => unlessEmpty(declarablePeople(value).known),
        },
      },
    },
  };
}

/** The default level stays when a role is taken away. */
function keptLevel({ defaultLevel: level }: Fields): string | null {
  if (typeof level !== 'string') {
    return null;
  }
  return `everyone keeps ${level === 'inherit' ? 'what its parent gives' : level}`;
}

/** Returns the teams of a value with their roles: a list of references before it is normalized, a mapping after that. */
function teamsIn(value: Json | undefined): readonly (readonly [team: string, role: string])[] {
  const list = Array.isArray(value) ? (value as readonly Json[]) : null;
  return list === null
    ? Object.entries(rolesIn(value))
    : list.flatMap((each) => (isObject(each) ? [[String(each.team), String(each.role)] as const] : []));
}

function describeTeams(value: Json | undefined, context: DescribeContext) {
  const grants = Array.isArray(value) ? (value as readonly { readonly team: Json; readonly role: Json }[]) : [];
  const named = grants.map(({ team, role: as }) => [context.keyOfRef(team), as] as const);
  const known = named.flatMap(([team, as]) => (team === null ? [] : [[team, as] as const]));
  return {
    known: unlessEmpty(Object.fromEntries(known.toSorted(([a], [b]) => compareText(a, b)))),
    unknown: named.length - known.length,
  };
}

/** An import leaves out permissions that nobody has. */
function unlessEmpty(roles: Readonly<Record<string, Json>>): Readonly<Record<string, Json>> | undefined {
  return Object.keys(roles).length === 0 ? undefined : roles;
}

function describeMembership(actual: Actual, context: DescribeContext): string | undefined {
  const { fields } = actual;
  const [teams, people] = [describeTeams(fields[TEAMS], context), declarablePeople(fields[MEMBERS])];
  if (teams.unknown > 0) {
    context.note(actual, `additive: ${counted(teams.unknown, 'team')} in its permissions cannot be declared`);
  }
  if (people.unknown > 0) {
    const who = counted(people.unknown, 'person', 'people');
    context.note(actual, `additive: the platform returns no email address for ${who} in its permissions`);
  }
  return teams.unknown + people.unknown > 0 ? 'additive' : undefined;
}

/** Requests for permissions: one list for teams and one for people, each only if it is declared. */
export function permissionDetails(kind: Grantable): readonly DetailRequest[] {
  const { parameter, teams, users } = permissionsOf[kind];
  return [
    {
      name: 'team permissions',
      isOptional: true,
      fields: [TEAMS],
      async read({ id }, reader) {
        const list = await readAll<TeamPermission>(reader, teams, { [parameter]: id }, kind);
        const granted = list?.flatMap(({ team, permission }) =>
          permission == null ? [] : [{ team: idRef(team.id, 'team'), role: permission }],
        );
        return granted === undefined ? {} : { fields: { [TEAMS]: granted } };
      },
    },
    {
      name: 'member permissions',
      isOptional: true,
      fields: [MEMBERS],
      async read({ id }, reader) {
        const list = await readAll<UserPermission>(reader, users, { [parameter]: id }, kind);
        const granted = list?.flatMap(({ user, permission }) =>
          permission == null ? [] : [{ name: personIn(user), id: user.id, permission }],
        );
        if (granted === undefined) {
          return {};
        }
        const roles = Object.fromEntries(granted.map(({ name, permission }) => [name, permission]));
        const people = granted.flatMap(({ name, id: user }) => (name.startsWith('#') ? [] : [[name, user] as const]));
        return { fields: { [MEMBERS]: roles }, people };
      },
    },
  ];
}

/** Returns all items of a list; undefined for a list of a site that this version of the platform does not have. */
async function readAll<T>(
  reader: Reader,
  list: PaginatedOperation,
  path: Readonly<Record<string, string>>,
  kind: Grantable,
): Promise<readonly T[] | undefined> {
  const items = Array.fromAsync(reader.pages(list, { path } as never)) as Promise<T[]>;
  return kind === 'site' ? ((await unlessMissing(items)) ?? undefined) : await items;
}

/** Requests that change permissions: what is gained before what is lost. */
export function permissionWrites(kind: Grantable, change: Change): readonly PlannedRequest[] {
  if (change.action !== 'create' && change.action !== 'update') {
    return [];
  }
  const { parameter, invite, updateTeam, updateUser, removeTeam, removeUser } = permissionsOf[kind];
  const path = { [parameter]: ref(change.address) };
  const send = (field: string, operation: WriteOperation, input: object) =>
    // A new site on a platform without permissions of sites.
    request(operation, input as never, { sets: [field], tolerates: kind === 'site' ? [404] : [] } as never);
  const teams = differenceOf(change, TEAMS);
  const people = differenceOf(change, MEMBERS);
  return [
    ...teams.gained.map(([as, names]) =>
      send(TEAMS, invite, { path, body: { teams: names.map((name) => new Ref(name)), role: as } }),
    ),
    ...people.gained.map(([as, names]) =>
      send(MEMBERS, invite, { path, body: { users: names.map(personRef), role: as } }),
    ),
    ...teams.changed.map(([name, as]) =>
      send(TEAMS, updateTeam, { path: { ...path, teamId: new Ref(name) }, body: { role: as } }),
    ),
    ...people.changed.map(([name, as]) =>
      send(MEMBERS, updateUser, { path: { ...path, userId: personRef(name) }, body: { role: as } }),
    ),
    ...teams.lost.map((name) => send(TEAMS, removeTeam, { path: { ...path, teamId: new Ref(name) } })),
    ...people.lost.map((name) => send(MEMBERS, removeUser, { path: { ...path, userId: personRef(name) } })),
  ];
}

/** Compares the roles that a change sets with those before it. New ones are grouped by role: one request for each. */
function differenceOf({ fields }: Change, path: string) {
  const field = fields.find((each) => each.path === path);
  const [before, after] = [rolesIn(field?.from), rolesIn(field?.to)];
  const entries = Object.entries(after);
  const added = Map.groupBy(
    entries.filter(([name]) => !Object.hasOwn(before, name)),
    ([, as]) => as,
  );
  return {
    gained: [...added].map(([as, of]) => [as, of.map(([name]) => name)] as const),
    changed: entries.filter(([name, as]) => Object.hasOwn(before, name) && before[name] !== as),
    lost: Object.keys(before).filter((name) => !Object.hasOwn(after, name)),
  };
}

/** Rules of a kind with permissions: a plan that takes away its own rights, or the last admin, needs a person. */
export function permissionRules(kind: Grantable): Required<Pick<Kind, 'lockOuts' | 'approvalReason' | 'neededKinds'>> {
  return {
    lockOuts: (context) => ownLockOut(kind, context),
    approvalReason: lastAdminReason,
    // Who is an admin of the organization decides whether a lost role locks out.
    neededKinds: ({ declared }) =>
      [...declared.values()].some((each) => each.kind === kind && each.fields[MEMBERS] !== undefined) ? ['member'] : [],
  };
}

function ownLockOut(kind: Grantable, { changes, actuals, user }: LockOutContext): readonly string[] {
  const own = actuals('member')?.find(({ title }) => title === user);
  if (user === null || own?.fields.role === ADMIN) {
    return [];
  }
  return changes(kind).flatMap(({ action, address, fields }) => {
    const field = action === 'update' ? fields.find(({ path }) => path === MEMBERS) : undefined;
    return rolesIn(field?.from)[user] === ADMIN && rolesIn(field?.to)[user] !== ADMIN
      ? [`it would take the role admin in ${address} from ${user}, whose token Octavo uses`]
      : [];
  });
}

const lastAdminReason: NonNullable<KindRules['approvalReason']> = ({ action, fields, actual }) => {
  const changed = fields.filter(({ path }) => path === TEAMS || path === MEMBERS);
  if (action !== 'update' || changed.length === 0) {
    return null;
  }
  const isAdmin = (value: Json | undefined) => teamsIn(value).some(([, as]) => as === ADMIN);
  const after = (path: string) => changed.find((field) => field.path === path)?.to ?? actual[path];
  const hadAdmin = changed.some(({ from }) => isAdmin(from));
  return hadAdmin && !isAdmin(after(TEAMS)) && !isAdmin(after(MEMBERS))
    ? 'no team and no person would have the role admin in it, only admins of the organization'
    : null;
};
