/** Pages of what people did, newest first: of all organizations, and of one. */

import { html } from 'hono/html';
import { type Actor, type AuditEntry, type AuditQuery, DAEMON_HISTORY, type History } from '../../store/history.ts';
import { link, pathTo, queryOf } from '../html/link.ts';
import { stateBadge } from '../html/state.ts';
import { paging, table } from '../html/table.ts';
import { age, personText, shown } from '../html/text.ts';
import { visibilityOf } from '../html/visibility.ts';
import type { OrganizationState } from '../model/backend.ts';
import { isoTime } from '../model/words.ts';
import { definePage, type Html } from '../page.ts';

export interface AuditEntryView extends Omit<AuditEntry, 'at'> {
  /** Empty for what concerns no single organization. */
  readonly organization: string;
  readonly at: string;
}

export interface AuditView {
  /** Null for all organizations that the viewer may see. */
  readonly organization: string | null;
  readonly entries: readonly AuditEntryView[];
  /** Value of `before` for the next page; null if this is the last one. */
  readonly next: string | null;
}

/** Number of entries in a page. */
const LISTED = 50;

/** Position in the audit: the entry with this time, organization and number. */
interface Position {
  readonly at: number;
  readonly organization: string;
  readonly number: number;
}

/** History of an organization, or of what concerns no single one. */
type AuditedHistory = Pick<OrganizationState, 'id'> & { readonly history: Pick<History, 'audit'> };

/** Returns the entries after a position, as `next` of the page before gave it. Throws StoreError. */
export async function auditView(
  organizations: readonly AuditedHistory[],
  organization: string | null,
  before: string | null,
): Promise<AuditView> {
  const start = before === null ? null : readPosition(before);
  const found: (AuditEntry & { readonly organization: string })[] = [];
  for (const { id, history } of await newestFirst(organizations, start)) {
    // One more than fits shows whether there is another page.
    for (const entry of await history.audit({ before: positionIn(id, start), limit: LISTED + 1 })) {
      found.push({ ...entry, organization: id });
    }
  }
  const rest = found.sort(compare);
  const shown = rest.slice(0, LISTED);
  const last = shown.at(-1);
  return {
    organization,
    entries: shown.map(({ at, ...entry }) => ({ ...entry, at: isoTime(at) })),
    next: rest.length > LISTED && last !== undefined ? `${last.at}-${last.number}-${last.organization}` : null,
  };
}

/**
 * Returns the organizations with the newest entries. A page has entries of few organizations, and reading a page of each of
 * 1,000 organizations takes too long.
 */
async function newestFirst(
  organizations: readonly AuditedHistory[],
  start: Position | null,
): Promise<readonly AuditedHistory[]> {
  const newest: (Position & { readonly state: AuditedHistory })[] = [];
  for (const state of organizations) {
    for (const { at, number } of await state.history.audit({ before: positionIn(state.id, start), limit: 1 })) {
      newest.push({ state, at, number, organization: state.id });
    }
  }
  return newest
    .sort(compare)
    .slice(0, LISTED + 1)
    .map(({ state }) => state);
}

/** Returns where the entries of an organization begin on a page. */
function positionIn(organization: string, start: Position | null): AuditQuery['before'] {
  if (start === null || organization === start.organization) {
    return start ?? undefined;
  }
  // Of entries of the same millisecond, those of other organizations were shown if their id is smaller.
  return { at: start.at, number: organization < start.organization ? 0 : Number.MAX_SAFE_INTEGER };
}

/** Newest first. The numbers of an organization grow with time, unless the clock was set back. */
function compare(a: Position, b: Position): number {
  return (
    b.at - a.at ||
    (a.organization < b.organization ? -1 : Number(a.organization > b.organization)) ||
    b.number - a.number
  );
}

function readPosition(text: string): Position | null {
  const [, at, number, organization] = /^(\d{1,16})-(\d{1,16})-(.*)$/s.exec(text) ?? [];
  return at === undefined || organization === undefined
    ? null
    : { at: Number(at), number: Number(number), organization };
}

export const auditPage = definePage<AuditView>({
  path: '/audit',
  load: async (backend, { viewer, query }) => {
    const visible = backend.organizations().filter(({ id }) => viewer.role(id) !== null);
    const { seesAll } = visibilityOf(backend, viewer);
    const daemon = seesAll ? [{ id: DAEMON_HISTORY, history: backend.history }] : [];
    return auditView([...visible, ...daemon], null, query.before || null);
  },
  title: () => 'Audit',
  render,
  topics: () => ['*'],
});

export const organizationAuditPage = definePage<AuditView>({
  path: '/o/:organization/audit',
  load: async (backend, { params, query }) => {
    const { organization = '' } = params;
    const own = backend.organizations().filter(({ id }) => id === organization);
    return auditView(own, organization, query.before || null);
  },
  title: ({ organization }) => `Audit of ${organization}`,
  render,
  topics: ({ organization }) => (organization === null ? [] : [organization]),
});

function render({ organization, entries, next }: AuditView, { now }: { readonly now: number }): Html {
  const path = organization === null ? '/audit' : pathTo(['o', organization, 'audit']);
  const isOfAll = organization === null;
  const head = ['When', 'Who', 'Action', 'Reason', 'Result', ...(isOfAll ? ['Organization'] : [])];
  const rows = entries.map((entry) => toRow(entry, isOfAll, now));
  return html`<h1>Audit</h1>
<p>What people asked Octavo to do, and how it is known who they are.</p>
${table({ caption: 'Actions, newest first', head, rows, empty: 'Nobody has asked for anything yet.' })}
${paging(null, next === null ? null : `${path}${queryOf({ before: next })}`, 'the audit')}`;
}

function toRow({ actor, organization, ...entry }: AuditEntryView, isOfAll: boolean, now: number): readonly Html[] {
  const cells = auditCells({ ...entry, by: actor.name, method: actor.method }, now);
  const about =
    organization === DAEMON_HISTORY
      ? html`<span class="faint">all</span>`
      : link(pathTo(['o', organization]), shown(organization));
  return isOfAll ? [...cells, about] : cells;
}

/** Entry of the audit, as pages show it. */
export interface AuditLine {
  readonly at: string;
  readonly by: string;
  readonly method: Actor['method'];
  readonly action: string;
  readonly subject: string;
  readonly reason: string;
  readonly outcome: 'done' | 'refused';
  readonly detail: string;
}

/** Returns the cells of an entry: time, person, action, reason and result. */
function auditCells(entry: AuditLine, now: number): readonly Html[] {
  const { outcome, detail, reason, subject, action } = entry;
  const tone = outcome === 'done' ? 'ok' : 'bad';
  return [
    age(entry.at, now),
    personText(entry.by, entry.method),
    html`${shown(action)}${subject === '' ? '' : html` <code>${shown(subject)}</code>`}`,
    html`${shown(reason)}`,
    html`${stateBadge({ tone, word: outcome })} ${shown(detail)}`,
  ];
}
