/** Pages of the questions that readers ask: which cannot be answered, and the change requests of Octavo for them. */

import { createHash } from 'node:crypto';
import { html } from 'hono/html';
import { clusterFacts, compareSeverity, impactWeight, trendOf } from '../../clusters/cluster.ts';
import type { KnownCluster, LastRun, SkipReason } from '../../clusters/events.ts';
import type { OwnRequest } from '../../clusters/store.ts';
import { cronFiring } from '../../config/windows.ts';
import type { Address } from '../../core/address.ts';
import { compareText, largest } from '../../core/lists.ts';
import { counted } from '../../plan/render/words.ts';
import { bar, figure, spark } from '../html/charts.ts';
import { age, link, observed, paging, type StateLabel, shown, stateBadge } from '../html/elements.ts';
import { actionForm, lengthField, reasonField } from '../html/form.ts';
import {
  defineOrganizationPage,
  type Html,
  isOperator,
  type KnownResources,
  type OrganizationState,
  type PageRequest,
  wholeNumber,
} from '../model/page.ts';
import { type Freshness, freshness } from '../model/status.ts';
import { isoTime, organizationPath, questionPath, withQuery } from '../model/words.ts';

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

type QuestionPageView = NonNullable<Awaited<ReturnType<typeof loadQuestion>>>;

/** Describes a question; null if it is not known any more. Throws StoreError. */
async function loadQuestion(state: OrganizationState, { params, now }: PageRequest) {
  const { questions, requests, spaces } = await questionViews(state, now);
  const question = questions.find(({ id }) => id === params.cluster);
  return question === undefined
    ? null
    : {
        organization: state.id,
        cluster: question,
        /** All change requests of Octavo for it, newest first. */
        requests: requests.filter(({ cluster }) => cluster === question.id),
        spaces,
      };
}

export const questionPage = defineOrganizationPage<QuestionPageView>({
  path: '/questions/:cluster',
  load: loadQuestion,
  title: ({ cluster }) => shown(cluster.label, 80),
  render,
  topic: ({ organization }) => organization,
});

function render({ organization, cluster, requests, spaces }: QuestionPageView, request: PageRequest): Html {
  const { now } = request;
  const { id, label, url, trend, examples, weeklyPulse } = cluster;
  const back = questionPath(organization, id);
  const frame = { organization, spaces, back, isOperator: isOperator(request, organization), now };
  return html`<div class="head"><h1>${shown(label)}</h1>${frame.isOperator ? questionActions(frame, cluster) : ''}</div>
<p class="lead">${trend.words.charAt(0).toUpperCase()}${trend.words.slice(1)}.</p>
<p class="faint">${numbersText(cluster, now)}${url === null ? '' : html` · ${link(url, 'At the platform')}`}</p>
${answerText(cluster, now)}
${weeklyPulse.length === 0 ? '' : weekChart(weeklyPulse)}
${examples.length === 0 ? '' : html`<h2>Examples</h2><ul>${examples.map((text) => html`<li><q>${shown(text, 500)}</q></li>`)}</ul>`}
${requests.length === 0 ? '' : html`<h2>Change requests</h2>${requestList(requests, now)}`}
${frame.isOperator ? spaceSuggestions(spaces) : ''}
<p>${link(organizationPath(organization, '/questions'), 'All questions')}</p>`;
}

const BAR = 40;
const HEIGHT = 100;

/** Chart of the number of times it was asked by week, the newest week at the right. */
function weekChart(pulse: readonly number[]): Html {
  const most = largest(pulse, 1);
  const shapes = pulse.map((count, index) => {
    const height = (Math.max(0, count) / most) * (HEIGHT - 4);
    return bar(index * BAR + 3, HEIGHT - height, BAR - 6, height, 'busy');
  });
  const weekOf = (index: number) => {
    const ago = pulse.length - 1 - index;
    return ago === 0 ? 'this week' : ago === 1 ? 'last week' : `${ago} weeks ago`;
  };
  return figure({
    id: 'weeks',
    sentence: `Asked by week, at most ${most.toLocaleString('en')} times in one. This week may only have begun.`,
    shapes: html`${shapes}`,
    size: [pulse.length * BAR, HEIGHT],
    ends: [weekOf(0), pulse.length > 1 ? weekOf(pulse.length - 1) : ''],
    table: { columns: ['Week', 'Times'], rows: pulse.map((count, index) => [weekOf(index), count]).toReversed() },
  });
}

/** Weeks that a trend always has room for: three months. */
const WEEKS = 13;

/** Number of spaces up to which each form lists them. */
const LISTED_SPACES = 100;

/** Returns the id of the element of a question, which stays the same when the order changes. */
function elementOf(cluster: string): string {
  return `q-${createHash('sha256').update(cluster).digest('hex').slice(0, 12)}`;
}

/** Surroundings of a question: the organization, the spaces for a change request, and the page to return to. */
interface QuestionFrame {
  readonly organization: string;
  readonly spaces: readonly QuestionSpace[];
  readonly back: string;
  readonly isOperator: boolean;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** Returns a question as a row of a list. */
function questionItem(frame: QuestionFrame, question: QuestionView): Html {
  const { id, label, weeklyPulse, trend, examples } = question;
  return html`<li id="${elementOf(id)}"><div class="question">
<h3>${link(questionPath(frame.organization, id), shown(label))}</h3>
<p class="trend"><span class="${trend.direction === 'rising' ? '' : 'faint'}">${trend.words}</span> ${spark(weeklyPulse, 'busy', null, WEEKS)}</p>
<p class="faint">${numbersText(question, frame.now)}</p>
${examples.length === 0 ? '' : html`<p>${examples.map((text) => html`<q>${shown(text)}</q> `)}</p>`}
${answerText(question, frame.now)}
${frame.isOperator ? questionActions(frame, question) : ''}
</div></li>
`;
}

/** Age from which numbers are said to be old: every question is read once a day. */
const OLD = 2 * 86_400_000;

const IMPACTS: ReadonlyMap<string | null, string> = new Map([
  ['high', 'High impact'],
  ['medium', 'Medium impact'],
  ['low', 'Low impact'],
  [null, 'Impact unknown'],
]);

/** `High impact, 5 conversations in all`, and when that was read, if it is old. */
function numbersText({ impact, conversations, readAt }: QuestionView, now: number): Html {
  const old = now - Date.parse(readAt) < OLD ? '' : html`, read ${age(readAt, now)}`;
  const words = IMPACTS.get(impact) ?? `Impact ${shown(impact ?? '', 40)}`;
  return html`${words}, ${counted(conversations, 'conversation')} in all${old}`;
}

/** The change requests that are open; without one, the last one that was, and why there is no other. */
function answerText(question: QuestionView, now: number): Html {
  const { changeRequests, closed, reason, isSelected, mute } = question;
  if (changeRequests.length > 0) {
    return html`${changeRequests.map((each) => html`<p>${stateBadge(STATES[each.state])} ${requestText(each)}</p>`)}`;
  }
  const until = mute === null || mute.until === null ? '' : html` It is unmuted ${age(mute.until, now)}.`;
  const why = mute === null || mute.reason === '' ? '' : html` “${shown(mute.reason, 500)}”`;
  const text = reason ?? (closed !== null ? null : isSelected ? 'Not opened yet: the next run decides' : 'Not opened');
  return html`${closed === null ? '' : html`<p>${closedBadge(closed, question, now)} ${requestText(closed)}</p>`}
${text === null ? '' : html`<p>${shown(text, 500)}.${until}${why}</p>`}`;
}

/** `merged 3 days ago, still asked`. */
function closedBadge(closed: QuestionRequest, { isStillAsked }: QuestionView, now: number): Html {
  const { state, mergedAt } = closed;
  const when = mergedAt === null ? '' : html` ${age(mergedAt, now)}`;
  return html`${stateBadge(STATES[state])}${when}${isStillAsked ? html`, <b>still asked</b>` : ''}:`;
}

const STATES: Readonly<Record<QuestionRequest['state'], StateLabel>> = {
  begun: { tone: 'busy', word: 'being created' },
  draft: { tone: 'busy', word: 'draft' },
  open: { tone: 'wait', word: 'open' },
  merged: { tone: 'ok', word: 'merged' },
  archived: { tone: 'none', word: 'archived' },
};

/** The subject of a change request, with its page on the platform, and its space. */
function requestText({ url, subject, label, space, spaceTitle }: QuestionRequest): Html {
  const text = shown(subject === '' ? label : subject);
  const place = spaceTitle === null ? html`<code>${shown(space, 80)}</code>` : html`${shown(spaceTitle, 80)}`;
  return html`${url === null ? html`${text}` : link(url, text)} <span class="faint">in ${place}</span>`;
}

/** Returns a list of change requests, with what happened to each last, as far as it is known. */
function requestList(requests: readonly QuestionRequest[], now: number): Html {
  const items = requests.map(
    (
      request,
    ) => html`<li>${stateBadge(STATES[request.state])} <span>${requestText(request)}</span><span class="end faint">${
      request.mergedAt === null
        ? html`created ${age(request.requestedAt, now)}`
        : html`merged ${age(request.mergedAt, now)}`
    }</span></li>
`,
  );
  return html`<ul class="rows">${items}</ul>`;
}

/** Lengths of a mute; the values are those of `octavo pause --for`. */
const LENGTHS = [
  ['7d', '1 week'],
  ['30d', '30 days'],
  ['90d', '90 days'],
  ['forever', 'until somebody unmutes it'],
] as const;

/** Returns the buttons of an operator. */
function questionActions({ organization, spaces, back }: QuestionFrame, question: QuestionView): Html {
  const { id, label, muted, changeRequests } = question;
  const element = elementOf(id);
  const common = { organization, back };
  const of = html`<span class="hidden">: ${shown(label)}</span>`;
  const open = html`<details class="menu" id="${element}-open" name="${element}"><summary>Open change request…${of}</summary>
<p>Octavo describes the question <q>${shown(label)}</q> for a writer, in a change request of the space.</p>
${actionForm({
  ...common,
  action: 'cluster-open',
  hidden: { cluster: id },
  fields: spaceField(`${element}-space`, spaces),
  button: 'Open change request',
  label: `Open change request: ${shown(label)}`,
  class: 'primary',
})}
</details>`;
  const mute = html`<details class="menu" id="${element}-mute" name="${element}"><summary>Mute…${of}</summary>
<p>Octavo opens no change request for <q>${shown(label)}</q> while it is muted. Its numbers are still read, and a change request that is open stays open.</p>
${actionForm({
  ...common,
  action: 'cluster-mute',
  fields: html`${reasonField(`${element}-reason`, false)}${lengthField(`${element}-for`, LENGTHS, 'forever')}`,
  button: 'Mute',
  hidden: { cluster: id, muted: 'true' },
  label: `Mute: ${shown(label)}`,
})}
</details>`;
  const unmute = actionForm({
    ...common,
    action: 'cluster-mute',
    hidden: { cluster: id, muted: 'false' },
    button: 'Unmute',
    label: `Unmute: ${shown(label)}`,
  });
  return html`<div class="actions">${changeRequests.length === 0 && !muted ? open : ''}${muted ? unmute : mute}</div>`;
}

/** A list of the spaces; of many, a field that suggests them. Without declared spaces, people know the id. */
function spaceField(field: string, spaces: readonly QuestionSpace[]): Html {
  if (spaces.length === 0 || spaces.length > LISTED_SPACES) {
    const list = spaces.length === 0 ? '' : html` list="spaces"`;
    const what = spaces.length === 0 ? 'its id' : 'its key';
    return html`<p class="field"><label for="${field}">Space (${what}); if it is empty, Octavo chooses</label> <input id="${field}" name="space" maxlength="200" autocomplete="off"${list}></p>`;
  }
  return html`<p class="field"><label for="${field}">Space</label> <select id="${field}" name="space"><option value="">Octavo chooses</option>
${spaces.map(spaceOption)}</select></p>`;
}

/** Returns the suggestions that fields for one of many spaces share; a page has them once. */
function spaceSuggestions(spaces: readonly QuestionSpace[]): Html {
  return spaces.length > LISTED_SPACES ? html`<datalist id="spaces">${spaces.map(spaceOption)}</datalist>` : html``;
}

function spaceOption({ key, title }: QuestionSpace): Html {
  return html`<option value="${key}">${shown(title, 80)}</option>`;
}

type Question = ReturnType<typeof toQuestion>;

/** Returns the questions that are known: muted ones last, then by impact, and of the same impact those that grow first. */
function questionsOf({ clusters }: OrganizationState) {
  const rank = (each: KnownCluster) => (trendOf(each.weeklyPulse).direction === 'rising' ? 1 : 0);
  return clusters.overview.clusters
    .toSorted(
      (a, b) =>
        Number(a.muted) - Number(b.muted) ||
        impactWeight(b.impact) - impactWeight(a.impact) ||
        rank(b) - rank(a) ||
        compareSeverity(a, b),
    )
    .map(toQuestion);
}

function toQuestion(cluster: KnownCluster) {
  const { weeklyPulse, isSelected } = cluster;
  return {
    ...clusterFacts(cluster),
    label: cluster.label === '' ? cluster.id : cluster.label,
    weeklyPulse,
    trend: trendOf(weeklyPulse),
    isSelected,
    readAt: isoTime(cluster.readAt),
    updatedAt: isoTime(cluster.updatedAt),
    /** Why no change request was opened; null if one was, or if nothing is known. */
    reason: reasonOf(cluster),
  };
}

/** Beginnings of the sentence about what was skipped; without one, the reason is a sentence. */
const NOT_OPENED: Readonly<Partial<Record<SkipReason, string>>> = {
  archived: 'Not opened: it ',
  merged: 'No other is opened: it ',
  unrouted: 'Not opened, because no space was found: ',
  waiting: 'Not opened yet: ',
  'limit-run': 'Not opened yet: ',
  'limit-open': 'Not opened yet: ',
  'limit-space': 'Not opened yet: ',
  'limit-day': 'Not opened yet: ',
  failed: 'Not opened, because the platform refused it: ',
};

function reasonOf({ muted, why, skipped }: KnownCluster): string | null {
  if (muted) {
    return 'Muted: Octavo opens no change request for it';
  }
  return why === null ? null : `${(skipped === null ? undefined : NOT_OPENED[skipped]) ?? 'Not opened: '}${why}`;
}

type QuestionRequest = ReturnType<typeof requestView>;

/** Describes a change request. Its id is null until the platform has confirmed it. */
function requestView(request: OwnRequest, titles: ReadonlyMap<string, string>) {
  const { id, cluster, label, subject, state, space, url, at, mergedAt } = request;
  /** Null if no manifest declares the space. */
  const spaceTitle = titles.get(space) ?? null;
  return {
    id,
    cluster,
    label,
    subject,
    state,
    space,
    spaceTitle,
    url,
    requestedAt: isoTime(at),
    mergedAt: isoTime(mergedAt),
  };
}

type QuestionView = Awaited<ReturnType<typeof questionViews>>['questions'][number];

/** Returns the questions with what is stored of them, all change requests, newest first, and the spaces. Throws StoreError. */
async function questionViews(state: OrganizationState, now: number) {
  const { changeRequests, examples, issuesAtMerge, mutes } = await state.clusters.stored();
  const spaces = spacesOf(await state.resources());
  const titles = new Map(spaces.flatMap(({ id, title }) => (id === null ? [] : [[id, title] as const])));
  const requests = changeRequests.toReversed().map((request) => requestView(request, titles));
  const byCluster = Map.groupBy(requests, ({ cluster }) => cluster);
  const questions = questionsOf(state).map((question) => {
    const own = byCluster.get(question.id) ?? [];
    const active = own.filter(({ state }) => state !== 'merged' && state !== 'archived');
    const closed = active.length > 0 ? null : (own[0] ?? null);
    const mute = question.muted ? mutes.get(question.id) : undefined;
    return {
      ...question,
      reason: active.length > 0 ? null : question.reason,
      /** Titles of issues, if a run has read them. */
      examples: examples.get(question.id) ?? [],
      /** Those that are open or being created. */
      changeRequests: active,
      /** The last one that was merged or archived, if none is open. */
      closed,
      /** True if it was asked since that was merged; null if nothing was merged. */
      isStillAsked: closed?.state === 'merged' ? isAskedSince(question, closed, issuesAtMerge, now) : null,
      /** Why and until when a person muted it; null if it is not muted, or neither is known. */
      mute: mute === undefined ? null : { reason: mute.reason, until: isoTime(mute.until) },
    };
  });
  return { questions, requests, spaces };
}

const WEEK = 7 * 86_400_000;

/** Returns true if there are more issues than at the merge, or some in the weeks that began after it. */
function isAskedSince(
  { issues, weeklyPulse }: Question,
  { id, mergedAt }: QuestionRequest,
  issuesAtMerge: ReadonlyMap<string, number>,
  now: number,
): boolean {
  const weeks = mergedAt === null ? 0 : Math.floor((now - Date.parse(mergedAt)) / WEEK);
  const since = weeks < 1 ? [] : weeklyPulse.slice(-weeks);
  return issues > (issuesAtMerge.get(id ?? '') ?? Number.POSITIVE_INFINITY) || since.some((count) => count > 0);
}

/** A space that a change request may be opened in. */
interface QuestionSpace {
  readonly key: string;
  readonly title: string;
  /** Null before it was found on the platform. */
  readonly id: string | null;
}

const SPACE = 'space/';

/** Returns the declared spaces by title; the key tells those with the same title apart. */
function spacesOf(resources: KnownResources | null): readonly QuestionSpace[] {
  const declared = [...(resources?.declared ?? new Map<Address, never>())].filter(([, { kind }]) => kind === 'space');
  const spaces = declared.map(([address, { id, fields }]): QuestionSpace => {
    const key = address.slice(SPACE.length);
    const title = typeof fields.title === 'string' && fields.title.trim() !== '' ? fields.title : key;
    return { key, title, id: resources?.ids.get(address) ?? id };
  });
  const counts = Map.groupBy(spaces, ({ title }) => title);
  return spaces
    .map((space) =>
      (counts.get(space.title)?.length ?? 0) > 1 ? { ...space, title: `${space.title} (${space.key})` } : space,
    )
    .sort((a, b) => compareText(a.title, b.title));
}
