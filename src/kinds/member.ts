/** Kind of the members of an organization. */
import { z } from 'zod';
import { type Address, keyOf } from '../core/address.ts';
import { type Change, WHOLE_ORGANIZATION } from '../core/change.ts';
import type { Base } from '../core/resource.ts';
import { counted } from '../plan/render/words.ts';
import type { LockOutContext } from '../plan/rules.ts';
import { operations } from '../platform/operations/index.ts';
import type { Item } from '../platform/operations/model/operation.ts';
import { fieldTable, listedElsewhere, ofExisting, roleField } from './model/field-table.ts';
import { type Kind, ref, request } from './model/kind.ts';
import { manifestRules, resourceOf } from './model/manifest.ts';
import { emailKey, entry, ROLES, role } from './model/schema.ts';

const table = fieldTable<Item<typeof operations.listMembers>>({
  role: roleField('The role in the organization; `null` makes the person a guest.', listedElsewhere),
  sso: {
    schema: z
      .literal(true, { error: 'must be true, because this setting cannot be undone; omit the field instead' })
      .describe('The person signs in through single sign-on. This cannot be undone.'),
    access: ofExisting(({ address, fields }) =>
      fields.sso === true
        ? []
        : [{ who: keyOf(address), role: 'sign in without single sign-on', to: WHOLE_ORGANIZATION }],
    ),
    read: ({ sso }) => sso === true,
    toEntry: (value) => (value === true ? true : undefined),
  },
});

const NOT_JOINED = 'not a member of the organization yet';

/**
 * People of the organization. One who is declared and not a member is invited once, and is pending until they join; the
 * rest of the plan is applied. Source: docs/platform-notes.md#members
 */
export const member: Kind = {
  name: 'member',
  dependsOn: [],
  creatable: 'once',
  deletable: true,
  deletionNeedsApproval: true,
  people: {
    roleField: 'role',
    adminRole: 'admin',
    notJoined: NOT_JOINED,
    invitedNow: 'invited by this plan; gets what names them when they have joined',
    whyNotInvited,
  },
  lockOuts: (context) => [...adminLockOut(context), ...ownLockOut(context)],
  fields: table.rules,
  manifest: manifestRules({
    section: 'members',
    single: false,
    key: emailKey,
    normalizeKey: (email) => email.toLowerCase(),
    entry: entry(table.shape),
    summary: 'Members of the organization by email address: role and single sign-on.',
    example: 'ana@acme.example: { role: admin, sso: true }',
    declare(key, written, context) {
      context.add(resourceOf('member', key, table.declare(written, [], key), written));
    },
    describe: (actual, context) =>
      emailKey.pattern.test(actual.title)
        ? context.resource(actual, table.describe(actual, context))
        : 'people are declared by email address, and the platform does not return one',
  }),
  suggestedKeys: ({ title }) => [title],
  naturalKeys: (_fields, address) => [{ by: 'email', value: address.slice('member/'.length) }],
  actualKeys: (actual) => [{ by: 'email', value: actual.title }],
  implicitAddress: (actual) => `member/${actual.title}`,
  impact(actual) {
    const as = ROLES.find((each) => each === actual.fields.role) ?? 'guest';
    const teams = Number(actual.facts?.teams ?? 0);
    return { weight: as === 'admin' ? 50 : 1, text: `${as}, in ${counted(teams, 'team')}` };
  },
  async observe({ reader, add, person }) {
    for await (const each of reader.pages(operations.listMembers)) {
      const email = each.user?.email?.toLowerCase();
      if (email !== undefined) {
        person(email, each.id);
      }
      const [fields, facts] = [table.observe(each), { teams: each.teams ?? 0 }];
      add({ kind: 'member', id: each.id, title: email ?? each.id, fields, within: null, place: null, facts });
    }
  },
  writes(change) {
    const path = { userId: ref(change.address) };
    if (change.action === 'delete') {
      return { first: [request(operations.deleteMember, { path })] };
    }
    if (change.action === 'create') {
      return { first: [invitation(change)] };
    }
    const first = change.fields.flatMap(({ path: field, to }) => {
      if (field === 'role') {
        return [request(operations.updateMember, { path, body: { role: role.nullable().parse(to) } })];
      }
      return field === 'sso' ? [request(operations.markMemberSso, { path })] : [];
    });
    return { first };
  },
  recordedMetadata: ({ address }, { invited: _invited, ...known }, _changed, actualOf) =>
    actualOf(address) === undefined ? { ...known, invited: true } : known,
};

/** Invitations cannot be listed, so what was applied before decides who has one. */
function whyNotInvited(base: Base, address: Address, isUnrecorded: boolean): string | null {
  const entry = base?.get(address);
  if (entry === undefined) {
    return isUnrecorded ? `${NOT_JOINED}; only an apply with --record invites` : null;
  }
  const { invited, begun } = entry.metadata;
  if (begun === true) {
    return `${NOT_JOINED}; the answer to the invitation was lost`;
  }
  return invited === true ? 'invited; has not joined yet' : `${NOT_JOINED}; an invitation is sent only once`;
}

function invitation({ address, fields }: Change) {
  const value = (name: string) => fields.find(({ path }) => path === name)?.to;
  const body = { emails: [keyOf(address)], role: role.nullable().optional().parse(value('role')) };
  return request(
    operations.inviteUsersToOrganization,
    { body: value('sso') === true ? { ...body, sso: true } : body },
    { creates: true, learns: ({ users }) => (users ?? []).slice(0, 1).map((id) => [address, id] as const) },
  );
}

function roleChange(change: Change) {
  return change.fields.find((field) => field.path === 'role');
}

function adminLockOut({ changes, actuals }: LockOutContext): readonly string[] {
  const members = actuals('member');
  const touched = changes('member');
  if (members === undefined || touched.length === 0) {
    return [];
  }
  const roles = new Map(members.map(({ id, fields }) => [id, fields.role]));
  for (const change of touched) {
    const role = roleChange(change);
    if (change.id !== null && change.action === 'delete') {
      roles.delete(change.id);
    } else if (change.id !== null && role !== undefined) {
      roles.set(change.id, role.to);
    }
  }
  return [...roles.values()].includes('admin') ? [] : ['it would leave the organization without an admin'];
}

function ownLockOut({ changes, user }: LockOutContext): readonly string[] {
  const own = user === null ? [] : changes('member').filter((change) => change.address === `member/${user}`);
  return own.flatMap((change) => {
    if (change.action === 'delete') {
      return [`it would remove ${user}, whose token Octavo uses`];
    }
    return roleChange(change)?.from === 'admin' ? [`it would demote ${user}, whose token Octavo uses`] : [];
  });
}
