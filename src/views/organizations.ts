/** View of all organizations, worst first. */
import type { Backend } from './model/backend.ts';
import { ORGANIZATION_STATUSES, type OrganizationStatus } from './model/status.ts';
import { type OrganizationSummary, summarize } from './model/summary.ts';

export interface OrganizationsView {
  readonly version: string;
  /** Number of replicas; null if there is no fleet. */
  readonly replicas: number | null;
  readonly filter: { readonly text: string; readonly state: string };
  /** States that occur, with the number of organizations. */
  readonly states: readonly { readonly state: OrganizationStatus; readonly count: number }[];
  readonly organizations: readonly OrganizationSummary[];
  /** Organizations that the filter selects. */
  readonly selected: number;
  readonly total: number;
  /** Value of `after` for the next page; null on the last one. */
  readonly next: string | null;
}

export interface OrganizationsQuery {
  /** Part of an id or title. */
  readonly text: string;
  readonly state: string;
  /** Id of the last organization of the page before. */
  readonly after: string;
  readonly isVisible: (organization: string) => boolean;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** Organizations of one page. */
const PAGE_SIZE = 100;

/** Lists the organizations that a person may see. */
export async function organizationsView(
  backend: Backend,
  { text, state, after, isVisible, now }: OrganizationsQuery,
): Promise<OrganizationsView> {
  const visible = backend.organizations().filter(({ id }) => isVisible(id));
  const all = await Promise.all(
    visible.map(async (each) => summarize(backend, each, await each.history.pauses(now), now)),
  );
  const wanted = text.toLowerCase();
  const selected = all
    .filter((each) => state === '' || each.state === state)
    .filter(({ id, title }) => wanted === '' || `${id}\n${title}`.toLowerCase().includes(wanted))
    .toSorted(compare);
  const start = selected.findIndex(({ id }) => id === after) + 1;
  const organizations = selected.slice(start, start + PAGE_SIZE);
  const isLast = start + organizations.length >= selected.length;
  return {
    version: backend.version,
    replicas: backend.fleet()?.replicas.length ?? null,
    filter: { text, state },
    states: ORGANIZATION_STATUSES.map((each) => ({
      state: each,
      count: all.filter((summary) => summary.state === each).length,
    })).filter(({ count }) => count > 0),
    organizations,
    selected: selected.length,
    total: all.length,
    next: isLast ? null : (organizations.at(-1)?.id ?? null),
  };
}

function compare(a: OrganizationSummary, b: OrganizationSummary): number {
  return ORGANIZATION_STATUSES.indexOf(a.state) - ORGANIZATION_STATUSES.indexOf(b.state) || (a.id < b.id ? -1 : 1);
}
