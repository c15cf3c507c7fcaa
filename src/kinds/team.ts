/** Kind of the teams, with their members. */
import { z } from 'zod';
import type { Change } from '../core/change.ts';
import { type Json, present } from '../core/json.ts';
import type { Actual } from '../core/resource.ts';
import { counted } from '../plan/render/words.ts';
import type { Reader } from '../platform/client.ts';
import { operations } from '../platform/operations/index.ts';
import { listedKind } from './model/derived-kind.ts';
import { listedElsewhere } from './model/field-table.ts';
import { creating, type Detail, type PlannedRequest, RefMap, ref, request } from './model/kind.ts';
import type { DescribeContext } from './model/manifest.ts';
import { declarablePeople, peopleFromEntry, peopleSchema, personIn, personRef, rolesIn } from './model/people.ts';
import { line } from './model/schema.ts';

const LIMITS = { min: 1, max: 64, example: 'Docs writers' };
const teamRole = z.enum(['owner', 'member']);

/** Teams and their members. Source: docs/platform-notes.md#teams */
export const team = listedKind({
  name: 'team',
  section: 'teams',
  summary: 'Teams and their members.',
  dependsOn: ['member'],
  operations: {
    list: operations.listTeams,
    create: operations.createTeam,
    update: operations.updateTeam,
    delete: operations.deleteTeam,
  },
  fields: {
    title: line(LIMITS).describe('The title of the team.'),
    membership: {
      schema: z
        .enum(['exact', 'additive'])
        .default('exact')
        .describe('`exact` allows only the declared members. `additive` also allows others.'),
      declarationOnly: true,
      toEntry: (_value, _context, actual) =>
        declarablePeople(actual.fields.members).unknown === 0 ? undefined : 'additive',
    },
    members: {
      schema: peopleSchema(teamRole)
        .meta({ examples: [{ 'ana@acme.example': 'owner', 'bo@acme.example': 'member' }] })
        .describe('Email addresses, each with `owner` (can manage the team) or `member`.'),
      shape: 'people',
      access: listedElsewhere,
      isListed: false,
      keepsOthers: ({ membership }) => membership === 'additive',
      fromEntry: peopleFromEntry,
      toEntry: describeMembers,
    },
  },
  complete: (fields) => ({ ...fields, membership: fields.members && fields.membership }),
  facts: ({ members }) => ({ members: members ?? 0 }),
  impact(actual) {
    const members = Number(actual.facts?.members ?? 0);
    return { weight: members, text: members === 0 ? '' : counted(members, 'member') };
  },
  // The members of a team need a separate request, which is sent only if they are declared.
  details: [{ name: 'members', fields: ['members'], read: readMembers }],
  writes(change) {
    const path = { teamId: ref(change.address) };
    if (change.action === 'delete') {
      return { first: [request(operations.deleteTeam, { path })] };
    }
    const title = change.fields.find((field) => field.path === 'title')?.to;
    if (change.action === 'update') {
      const renamed =
        title === undefined ? [] : [request(operations.updateTeam, { path, body: { title: String(title) } })];
      return { first: [...renamed, ...membershipWrites(change)] };
    }
    const members = rolesIn(change.declared.members);
    const plain = Object.keys(members).filter((email) => members[email] === 'member');
    const body = present({
      title: String(title ?? change.address),
      members: plain.length === 0 ? undefined : plain.map(personRef),
    });
    const created = request(operations.createTeam, { body }, creating(change));
    const owners = Object.keys(members).filter((email) => members[email] !== 'member');
    return { first: [created, ...bulk(change.address, pick(members, owners), [])] };
  },
  example: `writers:
  title: Docs writers
  membership: exact
  members: { ana@acme.example: owner, bo@acme.example: member }`,
});

function describeMembers(value: Json | undefined, context: DescribeContext, actual: Actual): unknown {
  const { known, unknown } = declarablePeople(value);
  if (unknown > 0) {
    context.note(actual, `additive: the platform returns no email address for ${unknown} of its members`);
  }
  return known;
}

async function readMembers({ id }: Actual, reader: Reader): Promise<Detail> {
  const members: Record<string, Json> = {};
  const people: (readonly [string, string])[] = [];
  const pages = reader.pages(operations.listTeamMembers, { path: { teamId: id } });
  for await (const { organization: person, team: as } of pages) {
    const name = personIn({ id: person.id, email: person.user?.email });
    members[name] = as.role;
    if (person.user?.email) {
      people.push([name, person.id]);
    }
  }
  return { fields: { members }, people };
}

function membershipWrites(change: Change): readonly PlannedRequest[] {
  const field = change.fields.find((each) => each.path === 'members');
  if (field === undefined) {
    return [];
  }
  const [before, after] = [rolesIn(field.from), rolesIn(field.to)];
  const set = Object.keys(after).filter((email) => after[email] !== before[email]);
  const gone = Object.keys(before).filter((email) => !(email in after));
  return bulk(change.address, pick(after, set), gone);
}

/** Returns one request for any number of people; `memberships` sets the roles of the people in `add`. */
function bulk(
  address: string,
  set: Readonly<Record<string, string>>,
  gone: readonly string[],
): readonly PlannedRequest[] {
  const emails = Object.keys(set).sort();
  if (emails.length === 0 && gone.length === 0) {
    return [];
  }
  const roles = emails.map((email) => [personRef(email), { role: teamRole.parse(set[email]) }] as const);
  const body = present({
    add: emails.length === 0 ? undefined : emails.map(personRef),
    remove: gone.length === 0 ? undefined : gone.map(personRef),
    memberships: emails.length === 0 ? undefined : new RefMap(roles),
  });
  return [request(operations.updateTeamMembers, { path: { teamId: ref(address) }, body })];
}

function pick(from: Readonly<Record<string, string>>, names: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(names.map((name) => [name, from[name] ?? 'member']));
}
