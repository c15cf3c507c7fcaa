import { describeReachedLimit, UNLIMITED } from '../decide/claims.ts';
import { decideReopen, type ReopenDecision } from '../decide/reopen-policy.ts';
import { isOfCluster } from '../model/change-request.ts';
import type { IssueCluster } from '../model/cluster.ts';
import type { KnownSkip } from '../read/cluster-store.ts';
import type { RunContext } from './context.ts';
import type { SkipReason } from './events.ts';
import type { RequestList } from './requests.ts';

/** Whether a cluster that passes may have a change request opened now. */
export type OpeningDecision =
  | { readonly may: true }
  | {
      readonly may: false;
      readonly reason: SkipReason;
      readonly why: string;
      /** It stays so until the cluster is updated, or for long: it need not be looked at again before. */
      readonly lasts: boolean;
    };

const DAY = 86_400_000;

/** What is known of a cluster that passes. Without a list, what was found out earlier and still holds counts. */
export function decideOpening(
  context: RunContext,
  cluster: IssueCluster,
  listing: RequestList | null,
): OpeningDecision {
  const { book, clock } = context;
  const own = book.liveOf(cluster.id);
  if (own !== null) {
    const is = own.state === 'begun' ? 'was requested, but the response was lost' : `is ${own.state}`;
    const why = `its change request ${own.id === null ? '' : `${own.id} `}${is}`;
    return { may: false, reason: 'exists', why, lasts: own.state === 'open' };
  }
  const fate = listing === null ? null : fateIn(context, cluster, listing);
  if (fate?.may === false) {
    const { status } = fate.request;
    const reason = status === 'archived' || status === 'merged' ? status : 'exists';
    return { may: false, reason, why: fate.why, lasts: status !== 'draft' };
  }
  const known = book.memory.settled[cluster.id];
  const holds = known !== undefined && isAsKnown(known, cluster) && Math.abs(clock.now() - known.at) < DAY;
  return holds && (listing === null || known.reason === 'unrouted')
    ? { may: false, reason: known.reason, why: known.why, lasts: true }
    : { may: true };
}

/** Stamps may be coarse: a cluster is as it was where its numbers are, too. */
export function isAsKnown(known: KnownSkip, { updatedAt, issues }: IssueCluster): boolean {
  return known.updatedAt === updatedAt && known.issues === issues;
}

/** What became of a cluster's change requests, by a list. */
function fateIn({ book, config }: RunContext, { id, issues }: IssueCluster, { requests }: RequestList): ReopenDecision {
  return decideReopen(
    requests.filter((request) => isOfCluster(request, id)),
    {
      issues,
      issuesAtMerge: new Map(Object.entries(book.memory.merges)),
      reopenGrowth: config.afterMerge.reopenGrowth,
    },
  );
}

const WEIGHTS: Readonly<Record<string, number>> = { high: 3, medium: 2, low: 1 };

/** Those that hurt most first: by impact, then by how many issues they have, then the oldest. */
export function compareSeverity(a: IssueCluster, b: IssueCluster): number {
  return (
    weightOf(b) - weightOf(a) ||
    b.issues - a.issues ||
    (a.createdAt ?? 0) - (b.createdAt ?? 0) ||
    (a.id < b.id ? -1 : Number(a.id > b.id))
  );
}

function weightOf({ impact }: IssueCluster): number {
  return WEIGHTS[impact ?? ''] ?? 0;
}

/** The limit that leaves no room for one more change request now, in a space where that is known already. */
export function findReachedLimit(
  { config, clock }: RunContext,
  planned: RequestList['requests'],
  space: string | null,
): { readonly reason: SkipReason; readonly why: string } | null {
  const { maxOpen, maxOpenPerSpace, maxPerDay } = config.limits;
  const limits = [
    ['limit-open', { maxOpen }],
    ['limit-day', { maxPerDay }],
    ...(space === null ? [] : ([['limit-space', { maxOpenPerSpace }]] as const)),
  ] as const;
  for (const [reason, limit] of limits) {
    const why = describeReachedLimit(
      planned,
      { space: space ?? '', createdAt: clock.now() },
      { ...UNLIMITED, ...limit },
    );
    if (why !== null) {
      return { reason, why };
    }
  }
  return null;
}
