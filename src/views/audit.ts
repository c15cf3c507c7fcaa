/** View of what people did, newest first, over several organizations. */
import type { AuditEntry, AuditQuery, History } from '../store/history.ts';
import type { OrganizationState } from './model/backend.ts';
import { isoTime } from './model/words.ts';

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
