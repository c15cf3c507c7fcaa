/** Rows of an access report, and their notation as CSV. */
import { compareText } from '../../core/lists.ts';
import { printable } from '../../plan/render/words.ts';
import type { ActualAccess } from './actual-access.ts';
import { type AccessGrant, EVERYONE_IN, type GrantChange, grantKey, ORGANIZATION } from './declared-access.ts';

/** One person, one resource, and what gives the role. */
export interface AccessRow {
  /** Name, as the platform knows it; empty for those who are not in the organization. */
  readonly person: string;
  readonly email: string;
  /** Role in the organization; `none` for those who are not in it. */
  readonly organizationRole: string;
  /** `organization`, an address, or `kind #id` if no manifest declares it. */
  readonly resource: string;
  readonly title: string;
  /** Role on the platform; `none` if there is none. */
  readonly role: string;
  /** `direct`, `default`, or the address of a team. */
  readonly through: string;
  /** `no` for access that no manifest declares; null for `default`, which the role of a single person does not decide. */
  readonly declared: 'yes' | 'no' | 'other role' | 'not applied' | null;
  /** ISO 8601; null if the platform does not say. */
  readonly lastSeen: string | null;
  /** Commit that last changed it, if the report covers that time. */
  readonly since: Since | null;
}

interface Since {
  readonly commit: string;
  /** ISO 8601. */
  readonly at: string;
  readonly author: string;
  /** Role before; `none` if there was none. */
  readonly before: string;
  /** Role that the manifests declare since then; `none` if there is none. */
  readonly declared: string;
  /** People who approved the plan of the commit, as far as the daemon has a record of it. */
  readonly approvedBy: readonly string[];
}

const NONE = 'none';

/** Returns a row for each grant on the platform, or with `changes` for each grant that they change. */
export function accessRows(
  actual: ActualAccess,
  declared: ReadonlyMap<string, AccessGrant>,
  changes: readonly GrantChange[] | null,
  approvers: ReadonlyMap<string, readonly string[]>,
): readonly AccessRow[] {
  const held = new Map(actual.grants.map((grant) => [grantKey(grant), grant]));
  const last = new Map((changes ?? []).map((change) => [grantKey(change), change]));
  const first = new Map((changes ?? []).toReversed().map((change) => [grantKey(change), change]));
  const shown = changes === null ? [...held.values()] : [...last.values()];
  const rows = shown.map(({ person, resource, through }): AccessRow => {
    const key = grantKey({ person, resource, through });
    const [known, role, change] = [actual.people.get(person), held.get(key)?.role, last.get(key)];
    const wanted = declared.get(key)?.role;
    return {
      person: known?.name ?? '',
      email: person,
      organizationRole: known?.role ?? NONE,
      resource,
      title: actual.titles.get(resource) ?? '',
      role: role ?? NONE,
      through,
      declared: through === 'default' ? null : compared(role, wanted),
      lastSeen: known?.lastSeen ?? null,
      since: change === undefined ? null : sinceOf(change, first.get(key) ?? change, approvers),
    };
  });
  // Changes that cancel each other are left out.
  return rows.filter(({ since }) => since === null || since.before !== since.declared).toSorted(byPlace);
}

function compared(role: string | undefined, wanted: string | undefined): AccessRow['declared'] {
  if (wanted === undefined) {
    return 'no';
  }
  return role === undefined ? 'not applied' : role === wanted ? 'yes' : 'other role';
}

/** The organization comes first, then its resources by address; the people of each are in the order of their emails. */
function byPlace(a: AccessRow, b: AccessRow): number {
  const isOther = ({ resource }: AccessRow) => (resource === ORGANIZATION ? 0 : 1);
  const nameOf = ({ resource, email, through }: AccessRow) => `${resource}\n${email}\n${through}`;
  return isOther(a) - isOther(b) || compareText(nameOf(a), nameOf(b));
}

function sinceOf(
  { commit, to }: GrantChange,
  { from }: GrantChange,
  approvers: ReadonlyMap<string, readonly string[]>,
): Since {
  const { name, email } = commit.author;
  return {
    commit: commit.id,
    at: commit.at,
    author: `${name} <${email}>`,
    before: from ?? NONE,
    declared: to ?? NONE,
    approvedBy: approvers.get(commit.id) ?? [],
  };
}

const HEADINGS = [
  ...['person', 'email', 'organization role', 'resource', 'title', 'role', 'through', 'declared', 'last seen'],
  ...['since commit', 'changed at', 'author', 'role before', 'declared role', 'approved by'],
];

/** Formats rows as CSV of RFC 4180, for spreadsheets. */
export function accessCsv(rows: readonly AccessRow[]): string {
  const lines = rows.map(({ since, ...row }) => [
    ...[row.person, row.email, row.organizationRole, row.resource, row.title, row.role, row.through],
    ...[row.declared ?? '', row.lastSeen ?? ''],
    ...(since === null
      ? ['', '', '', '', '', '']
      : [since.commit, since.at, since.author, since.before, since.declared, since.approvedBy.join(', ')]),
  ]);
  return [HEADINGS, ...lines].map((line) => `${line.map(csvCell).join(',')}\r\n`).join('');
}

/**
 * Start of what a spreadsheet may run as a formula: at the start of a cell, and after what some spreadsheets take as the end
 * of one.
 */
const FORMULA = /(^|[,;|"'\t\r\n])(\s*)(?=[=+\-@\uff1d\uff0b\uff0d\uff20])/gu;

/** Formats a cell: names, titles and emails come from others, so no part of them may be read as a formula. */
export function csvCell(value: string): string {
  const inert = printable(value).replaceAll(FORMULA, "$1$2'");
  return /[",\r\n;]|^\s|\s$/.test(inert) ? `"${inert.replaceAll('"', '""')}"` : inert;
}

const WORDS = { no: 'not declared', 'other role': 'another role', 'not applied': 'not applied' } as const;

/** Returns rows as cells of a table. People with the same default role in a resource share a row if they are many. */
export function accessCells(rows: readonly AccessRow[]): readonly (readonly string[])[] {
  const groups = Map.groupBy(rows, (row) =>
    row.through === 'default' && row.since === null ? JSON.stringify([row.resource, row.role]) : row,
  );
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    const isShort = first !== undefined && group.length > MOST_BY_DEFAULT;
    return (
      isShort ? [{ ...first, email: `${group.length} people`, organizationRole: '', declared: null }] : group
    ).map(({ email, organizationRole, resource, role, through, declared, since }) => [
      email === EVERYONE_IN ? 'everyone' : email,
      organizationRole,
      resource,
      role,
      through,
      declared === null || declared === 'yes' ? '' : WORDS[declared],
      ...(since === null
        ? []
        : [
            `${since.before} → ${since.declared}`,
            since.commit.slice(0, 7),
            since.at.slice(0, 10),
            since.author,
            since.approvedBy.join(', '),
          ]),
    ]);
  });
}

/** Maximum number of people with a default role who have a row of their own in a table. */
const MOST_BY_DEFAULT = 3;
