/** Page of the rate limits of each token over time, and of the requests that wait for them. */
import { html } from 'hono/html';
import { counted, spanWords } from '../../plan/render/words.ts';
import { PRIORITIES } from '../../queue/request.ts';
import {
  type BudgetPageView,
  type BudgetView,
  budgetView,
  QUEUES_PER_PAGE,
  type QueueView,
} from '../../views/budget.ts';
import { stepLine } from '../charts/step-line.ts';
import { link, pathTo } from '../html/link.ts';
import { paging } from '../html/paging.ts';
import { wholeNumber } from '../html/query.ts';
import { stateBadge } from '../html/state.ts';
import { table } from '../html/table.ts';
import { shown } from '../html/text.ts';
import { definePage, type Html } from '../page.ts';

export const budgetPage = definePage<BudgetPageView>({
  path: '/budget',
  load: (backend, { viewer, query }) =>
    budgetView(backend.organizations(), wholeNumber(query.start, 0), (id) => viewer.role(id) !== null),
  title: () => 'Budget',
  render: (view) => html`<h1>Budget</h1>
<p>The platform limits the requests of each token. Organizations with the same token share its budget.</p>
${view.queues.map((queue, index) => queueSection(queue, index, view.known))}
${pages(view)}`,
  topics: () => ['budget'],
});

function pages({ queues, start, known }: BudgetPageView): Html {
  const next = start + queues.length < known ? `/budget?start=${start + QUEUES_PER_PAGE}` : null;
  return paging(start === 0 ? null : '/budget', next, 'tokens');
}

/** Organizations that the heading of a queue names. */
const NAMED = 5;

function queueSection(queue: QueueView, index: number, known: number): Html {
  const { organizations, sentence, refused, inFlight, breaker } = queue;
  const names = organizations
    .slice(0, NAMED)
    .map((id, at) => html`${at === 0 ? '' : ', '}${link(pathTo(['o', id]), shown(id))}`);
  const more = organizations.length > NAMED ? html` and ${organizations.length - NAMED} more` : '';
  const tone = breaker === 'closed' ? 'ok' : 'bad';
  const heading = known === 1 ? 'Token' : `Token of ${shown(queue.name)}`;
  return html`<section aria-labelledby="queue-${index}">
<h2 id="queue-${index}">${heading}</h2>
<p class="sentence">${shown(sentence)}.</p>
<p>Used by ${names}${more}. Circuit breaker ${stateBadge({ tone: tone, word: breaker })}, ${inFlight.toLocaleString('en')} in flight, ${refused.toLocaleString('en')} refused (429) in the last 6 hours.</p>
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

function refusedIn(points: BudgetView['points']): number {
  return points.reduce((total, point) => total + point.refused, 0);
}

function budgetChart(
  { name, limit, remaining, resetInSeconds, cooldownSeconds, points }: BudgetView,
  id: string,
): Html {
  const refused = refusedIn(points);
  const left = remaining === null ? 'An unknown number' : remaining.toLocaleString('en');
  const most = limit === null ? '' : ` of ${limit.toLocaleString('en')}`;
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
${table({ caption: 'Requests of each replica', head: ['Replica', 'Waiting', 'In flight', 'Refused (429)'], rows, empty: '' })}`;
}

const PRIORITY_WORDS = {
  person: 'commands of people',
  apply: 'applying changes',
  clusters: 'issue clusters',
  ingestion: 'sending conversations',
  drift: 'checks for drift',
} as const;
