/** View of the rate limits of each token over time, and of the requests that wait for them. */
import { largest, smallest } from '../core/lists.ts';
import { counted, spanWords } from '../plan/render/words.ts';
import { PRIORITIES, type Priority } from '../queue/request.ts';
import type { BudgetSnapshot, QueueSnapshot } from '../queue/snapshot.ts';
import type { OrganizationState } from './model/backend.ts';
import { type BudgetSample, budgetName } from './model/budget-samples.ts';
import { type QueueShare, queueShares, sumQueues } from './queue-shares.ts';

/** State of a budget at one time, summed up over a part of the sampled period. */
export interface BudgetPoint {
  /** ISO 8601 in UTC. */
  readonly at: string;
  /** Least number of remaining requests; null if it was unknown. */
  readonly remaining: number | null;
  /** Requests that the platform refused because of a rate limit (429), of all budgets of the token. */
  readonly refused: number;
}

export interface BudgetView {
  /** Classes of requests that share it, such as `read, write`. */
  readonly name: string;
  readonly limit: number | null;
  readonly remaining: number | null;
  readonly resetInSeconds: number | null;
  /** Remaining pause after a 429, in seconds; 0 if there is none. */
  readonly cooldownSeconds: number;
  /** Oldest first. */
  readonly points: readonly BudgetPoint[];
}

/** Part of a token's requests that one replica sends. */
export interface ShareView {
  /** Host name and process id of the replica. */
  readonly replica: string;
  readonly waiting: number;
  readonly inFlight: number;
  /** In the sampled period. */
  readonly refused: number;
}

export interface QueueView {
  /** Id of one of its organizations. */
  readonly name: string;
  /** Organizations that use the token, of those that the viewer may see. */
  readonly organizations: readonly string[];
  readonly sentence: string;
  readonly breaker: QueueSnapshot['breaker'];
  readonly waiting: Readonly<Record<Priority, number>>;
  readonly inFlight: number;
  readonly oldestSeconds: number | null;
  /** In the sampled period. */
  readonly refused: number;
  /** Estimated seconds until nothing waits; null if it cannot be estimated. */
  readonly idleInSeconds: number | null;
  readonly budgets: readonly BudgetView[];
  /** Shares of the replicas that divide the organizations of the token; empty if one has all of them. */
  readonly replicas: readonly ShareView[];
}

export interface BudgetPageView {
  readonly queues: readonly QueueView[];
  /** Number of the first queue of this page, from 0, and of all queues. */
  readonly start: number;
  readonly known: number;
}

/** Number of queues in a page, and of points of a chart. */
export const QUEUES_PER_PAGE = 10;
const MAX_POINTS = 90;

/**
 * Returns the queues of the organizations that the viewer may see, those with the most waiting requests first, from number
 * `start`. Throws StoreError.
 */
export async function budgetView(
  organizations: readonly OrganizationState[],
  start: number,
  isVisible: (organization: string) => boolean = () => true,
): Promise<BudgetPageView> {
  const all = [...Map.groupBy(organizations, ({ queue }) => queue.name).values()];
  const groups = all.filter((members) => members.some(({ id }) => isVisible(id)));
  const states = groups.map((members) => {
    const shares = queueShares(members).map((share) => ({ ...share, snapshot: share.queue.snapshot() }));
    const visible = members.map(({ id }) => id).filter(isVisible);
    // A queue has the id of an organization, which the viewer may not see.
    const { name } = (members[0] as OrganizationState).queue;
    const [first, ...others] = shares.map(({ snapshot }) => snapshot) as [QueueSnapshot, ...QueueSnapshot[]];
    return {
      name: visible.includes(name) ? name : (visible[0] ?? ''),
      shares,
      snapshot: sumQueues([first, ...others]),
      organizations: visible,
    };
  });
  const sorted = states.sort((a, b) => urgency(b.snapshot) - urgency(a.snapshot) || (a.name < b.name ? -1 : 1));
  return {
    queues: await Promise.all(sorted.slice(start, start + QUEUES_PER_PAGE).map((each) => queueView(each))),
    start,
    known: sorted.length,
  };
}

function urgency({ breaker, budgets, waiting }: QueueSnapshot): number {
  const isPaused = breaker !== 'closed' || budgets.some(({ cooldown }) => cooldown > 0);
  return sum(waiting) + (isPaused ? 1_000_000 : 0);
}

interface QueueInput {
  readonly name: string;
  readonly shares: readonly (QueueShare & { readonly snapshot: QueueSnapshot })[];
  /** Sum of the shares. */
  readonly snapshot: QueueSnapshot;
  readonly organizations: readonly string[];
}

async function queueView({ name, shares, snapshot, organizations }: QueueInput): Promise<QueueView> {
  const { breaker, waiting, inFlight, oldest, budgets } = snapshot;
  const sampled = await Promise.all(shares.map(({ queue }) => queue.samples()));
  const samples = sampled.flat().sort((a, b) => a.at - b.at);
  return {
    name,
    organizations,
    sentence: sentenceOf(snapshot),
    breaker,
    waiting: Object.fromEntries(PRIORITIES.map((priority) => [priority, waiting[priority]])) as Record<
      Priority,
      number
    >,
    inFlight,
    oldestSeconds: oldest === null ? null : Math.round(oldest / 1000),
    refused: refusedIn(samples),
    idleInSeconds: estimateIdle(snapshot),
    budgets: budgets.map((budget) => toBudget(budget, samples)),
    replicas: shares.length === 1 ? [] : shares.map((share, index) => toShare(share, sampled[index] ?? [])),
  };
}

function toShare({ address, snapshot }: QueueInput['shares'][number], samples: readonly BudgetSample[]): ShareView {
  const { waiting, inFlight } = snapshot;
  return { replica: address ?? '', waiting: sum(waiting), inFlight, refused: refusedIn(samples) };
}

function refusedIn(samples: readonly BudgetSample[]): number {
  return samples.reduce((total, { refused }) => total + refused, 0);
}

function sentenceOf(snapshot: QueueSnapshot): string {
  const { breaker, budgets, waiting, inFlight } = snapshot;
  const number = sum(waiting);
  const cooldown = largest(
    budgets.map(({ cooldown }) => cooldown),
    0,
  );
  const work =
    number === 0
      ? inFlight === 0
        ? 'idle'
        : 'nothing waits'
      : `${counted(number, 'request')} ${number === 1 ? 'waits' : 'wait'}`;
  if (breaker !== 'closed') {
    return `The platform fails, so only trial requests are sent; ${work}`;
  }
  if (cooldown > 0) {
    return `The platform refused a request (429), so nothing is sent for ${spanWords(cooldown)}; ${work}`;
  }
  const idle = number === 0 ? null : estimateIdle(snapshot);
  const end = idle === null || idle === 0 ? '' : `, for about ${spanWords(idle * 1000)}`;
  return `${work.charAt(0).toUpperCase()}${work.slice(1)}${end}`;
}

/** Estimates the seconds until nothing waits, if nothing is added; null while a limit is unknown or the platform fails. */
function estimateIdle({ breaker, budgets, waiting, inFlight }: QueueSnapshot): number | null {
  const number = sum(waiting);
  if (number + inFlight === 0) {
    return 0;
  }
  const limited = budgets.filter(({ rate, remaining }) => rate !== null && rate > 0 && remaining !== null);
  if (breaker !== 'closed' || limited.length === 0) {
    return null;
  }
  const seconds = limited.map(
    ({ rate, remaining, cooldown }) => cooldown / 1000 + Math.max(0, number - (remaining as number)) / (rate as number),
  );
  return Math.ceil(largest(seconds));
}

function toBudget(budget: BudgetSnapshot, samples: readonly BudgetSample[]): BudgetView {
  const { limit, remaining, resetIn, cooldown } = budget;
  const name = budgetName(budget);
  return {
    name,
    limit,
    remaining: remaining === null ? null : Math.floor(remaining),
    resetInSeconds: resetIn === null ? null : Math.round(resetIn / 1000),
    cooldownSeconds: Math.round(cooldown / 1000),
    points: toPoints(name, samples),
  };
}

/** Sums up the samples of a budget to at most `MAX_POINTS`. */
function toPoints(name: string, samples: readonly BudgetSample[]): readonly BudgetPoint[] {
  const size = Math.max(1, Math.ceil(samples.length / MAX_POINTS));
  const points: BudgetPoint[] = [];
  for (let start = 0; start < samples.length; start += size) {
    const part = samples.slice(start, start + size);
    const remaining = part.flatMap(({ budgets }) => budgets.find((each) => each.name === name)?.remaining ?? []);
    points.push({
      at: new Date((part[0] as BudgetSample).at).toISOString(),
      remaining: remaining.length === 0 ? null : smallest(remaining),
      refused: refusedIn(part),
    });
  }
  return points;
}

function sum(waiting: QueueSnapshot['waiting']): number {
  return Object.values(waiting).reduce((total, number) => total + number, 0);
}
