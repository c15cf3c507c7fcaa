/** Page of the questions that readers ask, and of Octavo's change requests for them. JSON calls questions clusters. */
import { html } from 'hono/html';
import type { LastRun } from '../../clusters/events.ts';
import { cronFiring } from '../../config/windows.ts';
import { counted } from '../../plan/render/words.ts';
import { spark } from '../charts/spark.ts';
import { age, link, observed, paging, shown, stateBadge } from '../html/elements.ts';
import { questionItem, requestList, spaceSuggestions, WEEKS } from '../html/question.ts';
import { isOperator } from '../html/visibility.ts';
import type { OrganizationState } from '../model/backend.ts';
import { organizationPath, questionPath, withQuery } from '../model/paths.ts';
import { type QuestionView, questionsOf, questionViews } from '../model/questions.ts';
import { type Freshness, freshness } from '../model/status.ts';
import { isoTime } from '../model/words.ts';
import { defineOrganizationPage, type Html, type PageRequest, wholeNumber } from '../page.ts';

/** Number of questions and of change requests in a page. */
const PER_PAGE = 25;
const SHOWN_REQUESTS = 50;
/** Number of questions from which they can be searched. */
const SEARCHED = 10;
const LONGEST_SEARCH = 200;

/** Kinds of questions that the page can be limited to. */
const FILTERS = {
  '': { words: 'all', has: () => true },
  growing: { words: 'growing', has: ({ trend }) => trend.direction === 'rising' },
  requests: { words: 'with a change request', has: ({ changeRequests }) => changeRequests.length > 0 },
  muted: { words: 'muted', has: ({ muted }) => muted },
} satisfies Record<string, { readonly words: string; readonly has: (cluster: QuestionView) => boolean }>;
type FilterName = keyof typeof FILTERS;
const FILTER_NAMES = Object.keys(FILTERS) as FilterName[];

export type ClustersView = Awaited<ReturnType<typeof load>>;

/** Describes the clusters of an organization that match the query. Throws StoreError. */
async function load(state: OrganizationState, { query, now }: PageRequest) {
  const { id, config, clusters } = state;
  const { enabled, schedule } = config.clusters;
  const { overview } = clusters;
  const { questions: known, requests, spaces } = await questionViews(state, now);
  const show = FILTER_NAMES.find((name) => name === query.show) ?? '';
  const text = (query.q ?? '').trim().slice(0, LONGEST_SEARCH);
  const matching = known.filter((cluster) => FILTERS[show].has(cluster) && includesText(cluster, text));
  const start = wholeNumber(query.start, 0);
  const nextRun = enabled ? cronFiring(schedule, 'next', now) : null;
  const interval = nextRun === null ? null : (cronFiring(schedule, 'next', nextRun) ?? nextRun) - nextRun;
  const age = freshness(overview.lastRun?.endedAt ?? null, now, interval);
  const open = requests.filter(({ state }) => state === 'open').length;
  return {
    organization: id,
    sentence: sentenceOf(state, open, age),
    isEnabled: enabled,
    /** Age of the last run since the daemon started. */
    freshness: age,
    nextRun: isoTime(nextRun),
    /** Null until a run has ended since the daemon started. */
    lastRun: overview.lastRun === null ? null : toRun(overview.lastRun),
    filter: { show, text },
    /** Number of clusters by what the page can be limited to. */
    counts: Object.fromEntries(FILTER_NAMES.map((name) => [name || 'all', known.filter(FILTERS[name].has).length])),
    /** Muted ones last, then by impact; of the same impact, those that grow come first. */
    clusters: matching.slice(start, start + PER_PAGE),
    /** Number of the first cluster of this page, from 0, of all that match, and of all that are known. */
    start,
    matching: matching.length,
    known: known.length,
    /** Less severe clusters that are not kept. */
    omitted: overview.omitted,
    /** Newest first. */
    changeRequests: requests.slice(0, SHOWN_REQUESTS),
    moreChangeRequests: Math.max(0, requests.length - SHOWN_REQUESTS),
    /** Declared spaces, in which a change request can be opened. */
    spaces,
  };
}

function includesText({ id, label, examples }: QuestionView, text: string): boolean {
  return [id, label, ...examples].some((each) => each.toLowerCase().includes(text.toLowerCase()));
}

function sentenceOf({ config, clusters }: OrganizationState, open: number, age: Freshness): string {
  const { lastRun } = clusters.overview;
  const requests =
    open === 0 ? 'no change request is open' : `${counted(open, 'change request')} ${open === 1 ? 'is' : 'are'} open`;
  if (!config.clusters.enabled) {
    return `Octavo does not read questions; ${requests}`;
  }
  if (lastRun === null) {
    return `No run has ended since Octavo started; ${requests}`;
  }
  if (lastRun.outcome === 'failed') {
    return `${failureOf(lastRun)}; ${requests}`;
  }
  if (lastRun.outcome === 'unsupported') {
    return `The platform does not group conversations into questions; ${requests}`;
  }
  const opened = lastRun.opened === 0 ? 'no change request' : counted(lastRun.opened, 'change request');
  const did = lastRun.dryRun ? `would have opened ${opened} (dry run)` : `opened ${opened}`;
  const text = `read ${counted(lastRun.read, 'question')} and ${did}; ${requests}`;
  return age.isStale ? `The last run is long ago: it ${text}` : `The last run ${text}`;
}

function failureOf({ error }: LastRun): string {
  return `The last run failed: ${error ?? 'it was interrupted'}`;
}

function toRun(run: LastRun) {
  const { outcome, error, source, read, passing: selected, opened, requests, milliseconds, dryRun, troubles } = run;
  return { outcome, error, source, read, selected, opened, requests, milliseconds, dryRun, troubles };
}

const TITLE = 'Questions readers ask';

export const clustersPage = defineOrganizationPage<ClustersView>({
  path: '/questions',
  load,
  title: () => TITLE,
  render: (view, request) => html`<h1>${TITLE}</h1>
${view.isEnabled ? runSection(view, request.now) : firstSteps(view)}
${view.known === 0 ? '' : questionsSection(view, request)}
${requestsSection(view, request.now)}`,
  topic: ({ organization }) => organization,
});

function runSection({ sentence, freshness, nextRun, lastRun: run, known, organization }: ClustersView, now: number) {
  const next = nextRun === null ? '' : html` Next run: ${age(nextRun, now)}.`;
  const troubles = run?.troubles ?? [];
  const failed = run?.outcome === 'failed' ? html`${stateBadge({ tone: 'bad', word: 'failed' })} ` : '';
  const empty =
    known > 0 || run === null
      ? ''
      : html`<p class="empty">No question is known yet: the platform finds them in ${link(organizationPath(organization, '/conversations'), 'conversations')}.</p>`;
  return html`<p class="lead">${failed}${shown(sentence, 500)}.</p>
<p class="faint">Last run: ${observed(freshness, now, 'none yet')}.${next}</p>
${
  troubles.length === 0
    ? ''
    : html`<section aria-labelledby="troubles"><h2 id="troubles">Problems of the last run</h2>
<ul class="rows problems">${troubles.map((trouble) => html`<li>${shown(trouble, 500)}</li>`)}</ul></section>`
}
${empty}`;
}

function firstSteps({ organization }: ClustersView): Html {
  const conversations = link(organizationPath(organization, '/conversations'), 'conversations');
  return html`<div class="card"><p class="lead">Octavo can turn the questions that readers ask most into change requests.</p>
<p>The platform finds questions in ${conversations}. Once it has some, turn on <code>clusters.enabled</code> in the configuration of Octavo:</p>
<pre class="text">organizations:
  - id: ${shown(JSON.stringify(organization))}
    clusters: { enabled: true, select: { impact: [high, medium] } }</pre></div>`;
}

function questionsSection(view: ClustersView, request: PageRequest): Html {
  const { organization, clusters, start, matching, known, omitted, filter } = view;
  const path = organizationPath(organization, '/questions');
  const query = { show: filter.show, q: filter.text };
  const next = start + clusters.length < matching ? withQuery(path, { ...query, start: `${start + PER_PAGE}` }) : null;
  const total = counted(known, 'question');
  const back = withQuery(path, { ...query, start: start === 0 ? '' : `${start}` });
  const frame = {
    organization,
    spaces: view.spaces,
    back,
    isOperator: isOperator(request, organization),
    now: request.now,
  };
  return html`<section aria-labelledby="questions"><div class="head"><h2 id="questions">Questions</h2>
<p class="count" role="status">${matching === known ? total : `${matching} of ${total}`}</p></div>
${filters(view, path)}
${
  clusters.length === 0
    ? html`<p class="empty">No question matches. ${link(path, 'Show all')}</p>`
    : html`<p class="faint small">Each bar is a week. The last of the ${WEEKS} is this week, which may only have begun.</p>
<ul class="rows">${clusters.map((cluster) => questionItem(frame, cluster))}</ul>`
}
${paging(start === 0 ? null : withQuery(path, query), next, 'questions')}
${omitted === 0 ? '' : html`<p class="faint">${omitted.toLocaleString('en')} less severe questions are not shown.</p>`}
${frame.isOperator ? spaceSuggestions(view.spaces) : ''}</section>`;
}

function filters({ filter, counts, known }: ClustersView, path: string): Html {
  const items = FILTER_NAMES.map((name) => {
    const current = name === filter.show ? html` aria-current="true"` : '';
    return html`<li><a href="${withQuery(path, { show: name, q: filter.text })}"${current}><b>${counts[name || 'all'] ?? 0}</b> ${FILTERS[name].words}</a></li>`;
  });
  const search = html`<form class="filter" method="get" action="${path}" role="search">
${filter.show === '' ? '' : html`<input type="hidden" name="show" value="${filter.show}">`}
<p class="field"><label for="q">Words of the question</label> <input id="q" name="q" type="search" value="${filter.text}" autocomplete="off"></p>
<button>Search</button>
</form>`;
  return html`<nav aria-label="Kinds of questions"><ul class="figures">${items}</ul></nav>
${known > SEARCHED || filter.text !== '' ? search : ''}`;
}

function requestsSection({ changeRequests, moreChangeRequests, isEnabled }: ClustersView, now: number): Html {
  if (changeRequests.length === 0) {
    return isEnabled
      ? html`<h2>Change requests</h2>
<p class="empty">Octavo has opened none yet.</p>`
      : html``;
  }
  return html`<section aria-labelledby="requests"><h2 id="requests">Change requests</h2>
${requestList(changeRequests, now)}
${moreChangeRequests === 0 ? '' : html`<p class="faint">${moreChangeRequests.toLocaleString('en')} older ones.</p>`}</section>`;
}

/** Questions that the overview of an organization names. */
const NAMED = 3;

/** Returns the questions that grow, for the overview of the organization. */
export function growingQuestions(state: OrganizationState) {
  const growing = state.config.clusters.enabled
    ? questionsOf(state).filter(({ muted, trend }) => !muted && trend.direction === 'rising')
    : [];
  const path = withQuery(organizationPath(state.id, '/questions'), { show: 'growing' });
  return {
    total: growing.length,
    path,
    first: growing.slice(0, NAMED).map(({ id, label, weeklyPulse, trend }) => ({
      label,
      weeklyPulse,
      words: trend.words,
      path: questionPath(state.id, id),
    })),
  };
}

export function growingSection({ total, path, first }: ReturnType<typeof growingQuestions>): Html {
  const items = first.map(
    ({ label, weeklyPulse, words, path }) =>
      html`<li>${link(path, shown(label, 120), { class: 'name' })} <span class="end faint">${words} ${spark(weeklyPulse, 'busy', null, WEEKS)}</span></li>`,
  );
  return total === 0
    ? html``
    : html`<section aria-labelledby="growing"><div class="head"><h2 id="growing">Questions readers ask more often</h2>
<p>${link(path, total === 1 ? 'The one that grows' : `All ${total} that grow`)}</p></div>
<ul class="rows">${items}</ul></section>`;
}

/** Says why the last run needs a person; null if it does not. */
export function questionsProblem({ config, clusters }: OrganizationState): string | null {
  const { lastRun } = clusters.overview;
  return config.clusters.enabled && lastRun?.outcome === 'failed' ? `${TITLE}: ${failureOf(lastRun)}` : null;
}
