/** Page of the rate limits of each token over time, and of the requests that wait for them. */

import { html } from 'hono/html';
import { largest, smallest } from '../../core/lists.ts';
import { counted, spanWords } from '../../plan/render/words.ts';
import { PRIORITIES } from '../../queue/request.ts';
import type { BudgetSnapshot, Outcome, QueueSnapshot } from '../../queue/snapshot.ts';
import { stepLine } from '../html/charts.ts';
import {
  organizationLink,
  organizationName,
  paging,
  type StateLabel,
  shown,
  stateBadge,
  table,
} from '../html/elements.ts';
import { type BudgetSample, budgetName } from '../model/budget-samples.ts';
import {
  type Backend,
  definePage,
  type Html,
  type OrganizationState,
  type PageRequest,
  wholeNumber,
} from '../model/page.ts';
import { isoTime } from '../model/words.ts';

/** Returns the queues that organizations with the same token use: one for each replica that has some of them. */
function queueShares(members: readonly OrganizationState[]) {
  const byOwner = Map.groupBy(members, ({ owner }) => (owner.kind === 'replica' ? owner.id : null));
  // What nobody has was last seen at a replica that may be gone.
  const owned = [...byOwner].filter(([replica]) => replica !== null || byOwner.size === 1);
  return owned.map(([, some]) => {
    const [first] = some as [OrganizationState, ...OrganizationState[]];
    const { owner, queue } = some.find((each) => each.queue.isKnown) ?? first;
    return {
      queue,
      snapshot: queue.snapshot(),
      /** Host name and process id of the replica; null without a fleet, and while no replica has the organizations. */
      address: owner.kind === 'replica' ? owner.address : null,
    };
  });
}

/** Returns the sum of queues of one token. They share the budgets, so these are not added up. */
function sumQueues(snapshots: readonly [QueueSnapshot, ...QueueSnapshot[]]): QueueSnapshot {
  const [first] = snapshots;
  const add = <K extends string>(keys: readonly K[], counts: (each: QueueSnapshot) => Readonly<Record<K, number>>) =>
    Object.fromEntries(keys.map((key) => [key, snapshots.reduce((sum, each) => sum + counts(each)[key], 0)])) as Record<
      K,
      number
    >;
  const ages = snapshots.flatMap(({ oldest }) => oldest ?? []);
  const breakers = snapshots.map(({ breaker }) => breaker);
  const budgets = Map.groupBy(
    snapshots.flatMap((each) => each.budgets),
    budgetName,
  );
  return {
    ...first,
    budgets: [...budgets.values()].map((same) => joinBudgets(same as [BudgetSnapshot, ...BudgetSnapshot[]])),
    waiting: add(PRIORITIES, ({ waiting }) => waiting),
    outcomes: add(Object.keys(first.outcomes) as Outcome[], ({ outcomes }) => outcomes),
    inFlight: snapshots.reduce((sum, { inFlight }) => sum + inFlight, 0),
    oldest: ages.length === 0 ? null : largest(ages),
    breaker: breakers.includes('open') ? 'open' : breakers.includes('half-open') ? 'half-open' : 'closed',
  };
}

/** Returns the state of a budget that several replicas have seen: the least that remains of a window that lasts. */
function joinBudgets(budgets: readonly [BudgetSnapshot, ...BudgetSnapshot[]]): BudgetSnapshot {
  const known = budgets.filter(({ remaining }) => remaining !== null);
  const current = known.filter(({ resetIn }) => (resetIn ?? 0) > 0);
  const [least = budgets[0]] = (current.length > 0 ? current : known).toSorted(
    (a, b) => (a.remaining ?? 0) - (b.remaining ?? 0),
  );
  return { ...least, cooldown: largest(budgets.map(({ cooldown }) => cooldown)) };
}

/** Number of queues in a page, and of points of a chart. */
const QUEUES_PER_PAGE = 10;
const MAX_POINTS = 90;

export type BudgetPageView = Awaited<ReturnType<typeof load>>;

/**
 * Returns the queues of the organizations that the viewer may see, those with the most waiting requests first, from a number
 * of the query. Throws StoreError.
 */
async function load(backend: Backend, { viewer, query }: PageRequest) {
  const start = wholeNumber(query.start, 0);
  const isVisible = (id: string) => viewer.role(id) !== null;
  const all = [...Map.groupBy(backend.organizations(), ({ queue }) => queue.name).values()];
  const groups = all.filter((members) => members.some(({ id }) => isVisible(id)));
  const states = groups.map((members) => {
    const shares = queueShares(members);
    const visible = members.map(({ id }) => id).filter(isVisible);
    // A queue has the id of an organization, which the viewer may not see.
    const { name } = (members[0] as OrganizationState).queue;
    return {
      name: visible.includes(name) ? name : (visible[0] ?? ''),
      shares,
      snapshot: sumQueues(shares.map(({ snapshot }) => snapshot) as [QueueSnapshot, ...QueueSnapshot[]]),
      organizations: visible,
    };
  });
  const sorted = states.sort((a, b) => urgency(b.snapshot) - urgency(a.snapshot) || (a.name < b.name ? -1 : 1));
  return {
    queues: await Promise.all(sorted.slice(start, start + QUEUES_PER_PAGE).map((each) => queueView(each))),
    /** Number of the first queue of this page, from 0, and of all queues. */
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
  readonly shares: ReturnType<typeof queueShares>;
  /** Sum of the shares. */
  readonly snapshot: QueueSnapshot;
  readonly organizations: readonly string[];
}

type QueueView = Awaited<ReturnType<typeof queueView>>;

async function queueView({ name, shares, snapshot, organizations }: QueueInput) {
  const { breaker, waiting, inFlight, oldest, budgets } = snapshot;
  const sampled = await Promise.all(shares.map(({ queue }) => queue.samples()));
  const samples = sampled.flat().sort((a, b) => a.at - b.at);
  return {
    /** Id of one of its organizations. */
    name,
    /** Organizations that use the token, of those that the viewer may see. */
    organizations,
    sentence: sentenceOf(snapshot),
    breaker,
    waiting: Object.fromEntries(PRIORITIES.map((priority) => [priority, waiting[priority]])) as typeof waiting,
    inFlight,
    oldestSeconds: oldest === null ? null : Math.round(oldest / 1000),
    /** In the sampled period. */
    refused: refusedIn(samples),
    /** Estimated seconds until nothing waits; null if it cannot be estimated. */
    idleInSeconds: estimateIdle(snapshot),
    budgets: budgets.map((budget) => toBudget(budget, samples)),
    /** Shares of the replicas that divide the organizations of the token; empty if one has all of them. */
    replicas:
      shares.length === 1
        ? []
        : shares.map(({ address, snapshot: { waiting, inFlight } }, index) => ({
            /** Host name and process id of the replica. */
            replica: address ?? '',
            waiting: sum(waiting),
            inFlight,
            refused: refusedIn(sampled[index] ?? []),
          })),
  };
}

function refusedIn(samples: readonly { readonly refused: number }[]): number {
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

type BudgetView = ReturnType<typeof toBudget>;

function toBudget(budget: BudgetSnapshot, samples: readonly BudgetSample[]) {
  const { limit, remaining, resetIn, cooldown } = budget;
  const name = budgetName(budget);
  return {
    /** Classes of requests that share it, such as `read, write`. */
    name,
    limit,
    remaining: remaining === null ? null : Math.floor(remaining),
    resetInSeconds: resetIn === null ? null : Math.round(resetIn / 1000),
    /** Remaining pause after a 429, in seconds; 0 if there is none. */
    cooldownSeconds: Math.round(cooldown / 1000),
    /** Oldest first. */
    points: toPoints(name, samples),
  };
}

/** Sums up the samples of a budget to at most `MAX_POINTS`. */
function toPoints(name: string, samples: readonly BudgetSample[]) {
  const size = Math.max(1, Math.ceil(samples.length / MAX_POINTS));
  return Array.from({ length: Math.ceil(samples.length / size) }, (_, index) => {
    const part = samples.slice(index * size, (index + 1) * size);
    const remaining = part.flatMap(({ budgets }) => budgets.find((each) => each.name === name)?.remaining ?? []);
    return {
      at: isoTime((part[0] as BudgetSample).at),
      /** Least number of remaining requests; null if it was unknown. */
      remaining: remaining.length === 0 ? null : smallest(remaining),
      /** Requests that the platform refused because of a rate limit (429), of all budgets of the token. */
      refused: refusedIn(part),
    };
  });
}

function sum(waiting: QueueSnapshot['waiting']): number {
  return Object.values(waiting).reduce((total, number) => total + number, 0);
}

export const budgetPage = definePage<BudgetPageView>({
  path: '/limits',
  load,
  title: () => 'API limits',
  render: (view, request) => html`<h1>API limits</h1>
<p class="faint">The platform limits the requests of each token. Organizations with the same token share what it allows.</p>
${view.queues.map((queue, index) => queueSection(queue, index, view.known, request))}
${pages(view)}`,
  topics: () => ['budget'],
});

function pages({ queues, start, known }: BudgetPageView): Html {
  const next = start + queues.length < known ? `/limits?start=${start + QUEUES_PER_PAGE}` : null;
  return paging(start === 0 ? null : '/limits', next, 'tokens');
}

/** States of the circuit breaker, in words. */
const FLOW: Readonly<Record<QueueSnapshot['breaker'], StateLabel>> = {
  closed: { tone: 'ok', word: 'Requests can be sent' },
  open: { tone: 'bad', word: 'Requests are stopped, because the platform fails' },
  'half-open': { tone: 'busy', word: 'One request tries whether the platform works again' },
};

/** Organizations that the heading of a queue names. */
const NAMED = 5;

function queueSection(queue: QueueView, index: number, known: number, { titleOf }: PageRequest): Html {
  const { organizations, sentence, refused, inFlight, breaker } = queue;
  const names = organizations
    .slice(0, NAMED)
    .map((id, at) => html`${at === 0 ? '' : ', '}${organizationLink(id, titleOf(id))}`);
  const more = organizations.length > NAMED ? html` and ${organizations.length - NAMED} more` : '';
  const heading = known === 1 ? 'Token' : html`Token of ${organizationName(queue.name, titleOf(queue.name))}`;
  return html`<section aria-labelledby="queue-${index}">
<h2 id="queue-${index}">${heading}</h2>
<p class="lead">${stateBadge(FLOW[breaker])}. ${shown(sentence)}.</p>
<p>Used by ${names}${more}. ${inFlight.toLocaleString('en')} being sent, ${refused.toLocaleString('en')} refused (429) in the last 6 hours.</p>
${limits(queue, index)}
${waitingTable(queue)}
${sharesTable(queue)}
</section>`;
}

function limits({ budgets }: QueueView, index: number): Html {
  if (budgets.length === 0) {
    return html`<p>Its limits are known after the first response.</p>`;
  }
  const charted = budgets.filter((budget) => !isUnknown(budget));
  const names = budgets.filter(isUnknown).map(({ name, points }) => {
    const refused = refusedIn(points);
    return `${shown(name)}${refused === 0 ? '' : ` (${counted(refused, 'refusal')})`}`;
  });
  return html`${charted.map((budget, at) => budgetChart(budget, `budget-${index}-${at}`))}
${names.length === 0 ? '' : html`<p>The platform has reported no limit for these requests: ${names.join(', ')}.</p>`}`;
}

function isUnknown({ limit, remaining, points }: BudgetView): boolean {
  return limit === null && remaining === null && points.every((point) => point.remaining === null);
}

function budgetChart(
  { name, limit, remaining, resetInSeconds, cooldownSeconds, points }: BudgetView,
  id: string,
): Html {
  const refused = refusedIn(points);
  const left = remaining === null ? 'An unknown number' : remaining.toLocaleString('en');
  // The platform says both: it may allow more than its limit.
  const most = limit === null || (remaining ?? 0) > limit ? '' : ` of ${limit.toLocaleString('en')}`;
  const reset = resetInSeconds === null ? '' : `, full again in ${spanWords(resetInSeconds * 1000)}`;
  const pause = cooldownSeconds === 0 ? '' : `; nothing is sent for ${spanWords(cooldownSeconds * 1000)}`;
  return html`<h3>${shown(name)}</h3>${stepLine({
    id,
    sentence: `${left}${most} requests remain${reset}${pause}; ${refused.toLocaleString('en')} were refused since ${points[0] === undefined ? 'the start' : `${points[0].at.slice(11, 16)} UTC`}.`,
    steps: points.map((point) => ({ at: Date.parse(point.at), value: point.remaining, marks: point.refused })),
    top: limit,
    names: ['remaining requests', 'refused (429)'],
  })}`;
}

function waitingTable({ waiting, oldestSeconds }: QueueView): Html {
  if (PRIORITIES.every((priority) => waiting[priority] === 0)) {
    return html`<p>No request is waiting.</p>`;
  }
  const rows = PRIORITIES.map((priority) => [PRIORITY_WORDS[priority], waiting[priority].toLocaleString('en')]);
  return html`<h3>Waiting requests</h3>${table({ caption: 'Waiting requests', head: ['Priority, highest first', 'Waiting'], rows, empty: '' })}
${oldestSeconds === null ? '' : html`<p>The oldest request has waited for ${spanWords(oldestSeconds * 1000)}.</p>`}`;
}

function sharesTable({ replicas }: QueueView): Html | '' {
  if (replicas.length === 0) {
    return '';
  }
  const rows = replicas.map(({ replica, waiting, inFlight, refused }) => [
    shown(replica),
    ...[waiting, inFlight, refused].map((number) => number.toLocaleString('en')),
  ]);
  return html`<h3>Replicas</h3><p>These replicas divide the organizations of the token, and share its limits.</p>
${table({ caption: 'Requests of each replica', head: ['Replica', 'Waiting', 'Being sent', 'Refused (429)'], rows, empty: '' })}`;
}

const PRIORITY_WORDS = {
  person: 'commands of people',
  apply: 'applying changes',
  clusters: 'questions readers ask',
  ingestion: 'sending conversations',
  drift: 'checks for drift',
} as const;
