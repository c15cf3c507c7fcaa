/** Page of the questions that readers ask, and of Octavo's change requests for them. JSON calls questions clusters. */
import { createHash } from 'node:crypto';
import { html } from 'hono/html';
import type { LastRun } from '../../clusters/events.ts';
import type { OwnRequest } from '../../clusters/store.ts';
import { cronFiring } from '../../config/windows.ts';
import { counted } from '../../plan/render/words.ts';
import { spark } from '../charts/spark.ts';
import { actionForm } from '../html/form.ts';
import { link } from '../html/link.ts';
import { type StateLabel, stateBadge } from '../html/state.ts';
import { paging } from '../html/table.ts';
import { age, observed, shown } from '../html/text.ts';
import { isOperator } from '../html/visibility.ts';
import type { OrganizationState } from '../model/backend.ts';
import { organizationPath, withQuery } from '../model/paths.ts';
import { type Question, type QuestionSpace, questionsOf, spacesOf } from '../model/questions.ts';
import { type Freshness, freshness } from '../model/status.ts';
import { isoTime } from '../model/words.ts';
import { defineOrganizationPage, type Html, type PageRequest, wholeNumber } from '../page.ts';

/** Number of questions and of change requests in a page. */
const PER_PAGE = 25;
const SHOWN_REQUESTS = 50;
/** Number of questions from which they can be searched, and of spaces up to which each form lists them. */
const SEARCHED = 10;
const LISTED_SPACES = 100;
const LONGEST_SEARCH = 200;

/** Kinds of questions that the page can be limited to. */
const FILTERS = {
  '': { words: 'all', has: () => true },
  growing: { words: 'growing', has: ({ trend }) => trend.direction === 'rising' },
  requests: { words: 'with a change request', has: ({ changeRequests }) => changeRequests.length > 0 },
  muted: { words: 'muted', has: ({ muted }) => muted },
} satisfies Record<string, { readonly words: string; readonly has: (cluster: ClusterView) => boolean }>;
type FilterName = keyof typeof FILTERS;
const FILTER_NAMES = Object.keys(FILTERS) as FilterName[];

/** Weeks that a trend always has room for: three months. */
const WEEKS = 13;

export type ClustersView = Awaited<ReturnType<typeof load>>;

/** Describes the clusters of an organization that match the query. Throws StoreError. */
async function load(state: OrganizationState, { query, now }: PageRequest) {
  const { id, config, clusters } = state;
  const { enabled, schedule } = config.clusters;
  const { overview } = clusters;
  const { changeRequests, examples } = await clusters.stored();
  const spaces = spacesOf(await state.resources());
  const titles = new Map(spaces.flatMap(({ id, title }) => (id === null ? [] : [[id, title] as const])));
  const requests = changeRequests.toReversed().map((request) => toRequest(request, titles));
  const active = requests.filter(({ state }) => state !== 'merged' && state !== 'archived');
  const byCluster = Map.groupBy(active, ({ cluster }) => cluster);
  const known = questionsOf(state).map((question) =>
    toCluster(question, examples.get(question.id) ?? [], byCluster.get(question.id) ?? []),
  );
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

function includesText({ id, label, examples }: ClusterView, text: string): boolean {
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

type ChangeRequestView = ReturnType<typeof toRequest>;

/** Describes a change request. Its id is null until the platform has confirmed it. */
function toRequest(request: OwnRequest, titles: ReadonlyMap<string, string>) {
  const { id, cluster, label, subject, state, space, url, at } = request;
  /** Null if no manifest declares the space. */
  const spaceTitle = titles.get(space) ?? null;
  return { id, cluster, label, subject, state, space, spaceTitle, url, requestedAt: isoTime(at) };
}

type ClusterView = ReturnType<typeof toCluster>;

/** Describes a cluster. `changeRequests`: those that are open or being created. */
function toCluster(question: Question, examples: readonly string[], changeRequests: readonly ChangeRequestView[]) {
  return {
    ...question,
    reason: changeRequests.length > 0 ? null : question.reason,
    /** Titles of issues, if a run has read them. */
    examples,
    changeRequests,
  };
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
  return html`<section aria-labelledby="questions"><div class="head"><h2 id="questions">Questions</h2>
<p class="count" role="status">${matching === known ? total : `${matching} of ${total}`}</p></div>
${filters(view, path)}
${
  clusters.length === 0
    ? html`<p class="empty">No question matches. ${link(path, 'Show all')}</p>`
    : html`<ul class="rows">${clusters.map((cluster) => questionItem(view, cluster, request))}</ul>`
}
${paging(start === 0 ? null : withQuery(path, query), next, 'questions')}
${omitted === 0 ? '' : html`<p class="faint">${omitted.toLocaleString('en')} less severe questions are not shown.</p>`}
${view.spaces.length > LISTED_SPACES ? html`<datalist id="spaces">${view.spaces.map(spaceOption)}</datalist>` : ''}</section>`;
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

/** Returns the id of the element of a question, which stays the same when the order changes. */
function elementOf(cluster: string): string {
  return `q-${createHash('sha256').update(cluster).digest('hex').slice(0, 12)}`;
}

/** Age from which numbers are said to be old: every question is read once a day. */
const OLD = 2 * 86_400_000;

function questionItem(view: ClustersView, cluster: ClusterView, request: PageRequest): Html {
  const { id, label, conversations, url, weeklyPulse, trend, examples, readAt } = cluster;
  const title = shown(label);
  const old = request.now - Date.parse(readAt) < OLD ? '' : html`, read ${age(readAt, request.now)}`;
  return html`<li id="${elementOf(id)}"><div class="question">
<h3>${url === null ? title : link(url, title, { class: 'name' })}</h3>
<p class="trend"><span class="${trend.direction === 'rising' ? '' : 'faint'}">${trend.words}</span> ${spark(weeklyPulse, 'busy', null, WEEKS)}</p>
<p class="faint">${impactWords(cluster)}, ${counted(conversations, 'conversation')}${old}</p>
${examples.length === 0 ? '' : html`<p>${examples.map((text) => html`<q>${shown(text)}</q> `)}</p>`}
${answer(cluster)}
${isOperator(request, view.organization) ? questionForms(view, cluster, request) : ''}
</div></li>
`;
}

const IMPACTS: ReadonlyMap<string | null, string> = new Map([
  ['high', 'High impact'],
  ['medium', 'Medium impact'],
  ['low', 'Low impact'],
  [null, 'Impact unknown'],
]);

function impactWords({ impact }: ClusterView): string {
  return IMPACTS.get(impact) ?? `Impact ${shown(impact ?? '', 40)}`;
}

/** The change request, or why there is none. */
function answer({ changeRequests, reason, isSelected }: ClusterView): Html {
  if (changeRequests.length > 0) {
    return html`${changeRequests.map((each) => html`<p>${requestBadge(each)} ${requestLink(each)} <span class="faint">in ${spaceText(each)}</span></p>`)}`;
  }
  const text = reason ?? (isSelected ? 'Not opened yet: the next run decides' : 'Not opened');
  return html`<p>${shown(text, 500)}.</p>`;
}

function questionForms(view: ClustersView, cluster: ClusterView, { query }: PageRequest): Html {
  const { organization, filter, spaces } = view;
  const { id, label, muted, changeRequests } = cluster;
  const start = wholeNumber(query.start, 0);
  const path = organizationPath(organization, '/questions');
  const back = withQuery(path, { show: filter.show, q: filter.text, start: start === 0 ? '' : `${start}` });
  const element = elementOf(id);
  const common = { organization, back };
  const of = html`<span class="hidden">: ${shown(label)}</span>`;
  const open = html`<details class="menu" id="${element}-open"><summary>Open change request…${of}</summary>
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
  const mute = html`<details class="menu" id="${element}-mute"><summary>Mute…${of}</summary>
<p>Octavo opens no change request for <q>${shown(label)}</q> until somebody unmutes it. Its numbers are still read, and a change request that is open stays open.</p>
${actionForm({ ...common, action: 'cluster-mute', button: 'Mute', hidden: { cluster: id, muted: 'true' }, label: `Mute: ${shown(label)}` })}
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

function spaceOption({ key, title }: QuestionSpace): Html {
  return html`<option value="${key}">${shown(title, 80)}</option>`;
}

const STATES: Readonly<Record<ChangeRequestView['state'], StateLabel>> = {
  begun: { tone: 'busy', word: 'being created' },
  draft: { tone: 'busy', word: 'draft' },
  open: { tone: 'wait', word: 'open' },
  merged: { tone: 'ok', word: 'merged' },
  archived: { tone: 'none', word: 'archived' },
};

function requestBadge({ state }: ChangeRequestView): Html {
  return stateBadge(STATES[state]);
}

function requestLink({ url, subject, label }: ChangeRequestView): Html {
  const text = shown(subject === '' ? label : subject);
  return url === null ? html`${text}` : link(url, text);
}

function spaceText({ space, spaceTitle }: ChangeRequestView): Html {
  return spaceTitle === null ? html`<code>${shown(space, 80)}</code>` : html`${shown(spaceTitle, 80)}`;
}

function requestsSection({ changeRequests, moreChangeRequests, isEnabled }: ClustersView, now: number): Html {
  if (changeRequests.length === 0) {
    return isEnabled
      ? html`<h2>Change requests</h2>
<p class="empty">Octavo has opened none yet.</p>`
      : html``;
  }
  const items = changeRequests.map(
    (
      request,
    ) => html`<li>${requestBadge(request)} <span>${requestLink(request)}</span> <span class="faint">in ${spaceText(request)}</span><span class="end faint">${age(request.requestedAt, now)}</span></li>
`,
  );
  return html`<section aria-labelledby="requests"><h2 id="requests">Change requests</h2>
<ul class="rows">${items}</ul>
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
      path: `${path}#${elementOf(id)}`,
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
