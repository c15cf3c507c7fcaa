import { z } from 'zod';
import { isObject, type Json } from '../core/json.ts';
import type { Actual } from '../core/resource.ts';
import { counted } from '../plan/render/words.ts';
import type { Reader } from '../platform/client.ts';
import { operations } from '../platform/operations/index.ts';
import { collect, type Detail, type Kind } from './model/kind.ts';
import { commonFields, manifestRules } from './model/manifest.ts';
import { type PlannedRequest, present, Ref, RefMap, ref, request } from './model/request.ts';
import { emailKey, entry, plainKey, type SchemaNotes, text } from './model/schema.ts';

const LIMITS = { min: 1, max: 64, example: 'Docs writers' };
const person = z
  .string()
  .regex(emailKey.pattern, { error: 'is not an email address' })
  .meta({ suggests: ['member'] } satisfies SchemaNotes);
const teamRole = z.enum(['owner', 'member']);

const schema = entry({
  title: text(LIMITS).optional().describe('The title of the team.'),
  membership: z
    .enum(['exact', 'additive'])
    .default('exact')
    .describe('`exact` allows only the declared members. `additive` also allows others.'),
  members: z
    .record(person, teamRole)
    .meta({ examples: [{ 'ana@acme.example': 'owner', 'bo@acme.example': 'member' }] })
    .optional()
    .describe('Email addresses, each with `owner` (can manage the team) or `member`.'),
});

/** Teams and their members. Source: docs/platform-notes.md#teams */
export const team: Kind = {
  name: 'team',
  dependsOn: ['member'],
  creatable: true,
  deletable: true,
  fields: {
    title: {},
    members: { shape: 'people', access: true, keepsOthers: ({ membership }) => membership === 'additive' },
    membership: { declarationOnly: true },
  },
  manifest: manifestRules({
    section: 'teams',
    single: false,
    key: plainKey,
    entry: schema,
    summary: 'Teams and their members.',
    example: `writers:
  title: Docs writers
  membership: exact
  members: { ana@acme.example: owner, bo@acme.example: member }`,
    declare(key, written, context) {
      if (written.title === undefined && written.id === undefined) {
        context.problem([], 'needs a title, unless id says which team it is');
      }
      const members = written.members;
      context.add({
        kind: 'team',
        key,
        path: [],
        fields: {
          title: written.title,
          members:
            members && Object.fromEntries(Object.entries(members).map(([email, role]) => [email.toLowerCase(), role])),
          membership: members && written.membership,
        },
        within: null,
        place: null,
        common: commonFields(written),
      });
    },
    describe(actual, context) {
      const everyone = Object.entries(people(actual.fields.members));
      const known = everyone.filter(([person]) => emailKey.pattern.test(person)).sort(byEmail);
      const isWhole = known.length === everyone.length;
      if (!isWhole) {
        context.note(
          actual,
          `additive: of ${everyone.length - known.length} in it the platform tells no email address`,
        );
      }
      return context.resource(actual, {
        title: actual.title,
        membership: isWhole ? undefined : 'additive',
        members: Object.fromEntries(known),
      });
    },
  }),
  suggestedKeys: ({ title }) => [title],
  naturalKeys: (fields) => (typeof fields.title === 'string' ? [{ by: 'title', value: fields.title }] : []),
  actualKeys: (actual) => [{ by: 'title', value: actual.title }],
  renamedKey: (title) => ({ by: 'title', value: title }),
  impact(actual) {
    const members = Number(actual.facts?.members ?? 0);
    return { weight: members, text: members === 0 ? '' : counted(members, 'member') };
  },
  async observe({ reader, add }) {
    await collect(reader.pages(operations.listTeams), (each) => {
      add({
        kind: 'team',
        id: each.id,
        title: each.title,
        fields: { title: each.title },
        within: null,
        place: null,
        facts: { members: each.members ?? 0 },
      });
    });
  },
  // One list for each team whose membership is declared; there is no other way to read it.
  details: [{ name: 'members', fields: ['members'], read: membersOf }],
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
    const members = people(change.declared.members);
    const plain = Object.keys(members).filter((email) => members[email] === 'member');
    const created = request(
      operations.createTeam,
      {
        body: present({
          title: String(title ?? change.address),
          members: plain.length === 0 ? undefined : plain.map(personRef),
        }),
      },
      { creates: true, learns: (answer) => [[change.address, answer.id]] },
    );
    const owners = Object.keys(members).filter((email) => members[email] !== 'member');
    return { first: [created, ...bulk(change.address, pick(members, owners), [])] };
  },
};

async function membersOf({ id }: Actual, reader: Reader): Promise<Detail> {
  const members: Record<string, Json> = {};
  const people: (readonly [string, string])[] = [];
  const read = reader.pages(operations.listTeamMembers, { path: { teamId: id } });
  await collect(read, ({ organization: person, team: as }) => {
    const email = person.user?.email?.toLowerCase();
    members[email ?? `#${person.id}`] = as.role;
    if (email !== undefined) {
      people.push([email, person.id]);
    }
  });
  return { fields: { members }, people };
}

function membershipWrites(change: Parameters<Kind['writes']>[0]): readonly PlannedRequest[] {
  const field = change.fields.find((each) => each.path === 'members');
  if (field === undefined) {
    return [];
  }
  const [before, after] = [people(field.from), people(field.to)];
  const set = Object.keys(after).filter((email) => after[email] !== before[email]);
  const gone = Object.keys(before).filter((email) => !(email in after));
  return bulk(change.address, pick(after, set), gone);
}

/** One request for any number of people: `add` and `remove` name them, `memberships` gives those added their role. */
function bulk(
  address: string,
  set: Readonly<Record<string, string>>,
  gone: readonly string[],
): readonly PlannedRequest[] {
  const emails = Object.keys(set).sort();
  if (emails.length === 0 && gone.length === 0) {
    return [];
  }
  const body = {
    add: emails.length === 0 ? undefined : emails.map(personRef),
    remove: gone.length === 0 ? undefined : gone.map(personRef),
    memberships:
      emails.length === 0
        ? undefined
        : new RefMap(emails.map((email) => [personRef(email), { role: teamRole.parse(set[email]) }])),
  };
  return [request(operations.updateTeamMembers, { path: { teamId: ref(address) }, body: present(body) })];
}

/** Someone without an email is known by id. */
function personRef(person: string): Ref {
  return new Ref(person.startsWith('#') ? person : `member/${person}`);
}

function byEmail([a]: readonly [string, string], [b]: readonly [string, string]): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function people(value: Json | undefined): Readonly<Record<string, string>> {
  return isObject(value) ? (value as Record<string, string>) : {};
}

function pick(from: Readonly<Record<string, string>>, names: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(names.map((name) => [name, from[name] ?? 'member']));
}
