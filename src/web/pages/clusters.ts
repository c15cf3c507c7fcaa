/** Page of the issue clusters of an organization, and of Octavo's change requests for them. */

import { html } from 'hono/html';
import { clusterFacts } from '../../clusters/cluster.ts';
import type { KnownCluster, LastRun } from '../../clusters/events.ts';
import type { OwnRequest } from '../../clusters/store.ts';
import { cronFiring } from '../../config/windows.ts';
import { counted } from '../../plan/render/words.ts';
import { trendChart } from '../charts/trend.ts';
import { actionForm } from '../html/form.ts';
import { link } from '../html/link.ts';
import { type StateLabel, stateBadge, type Tone } from '../html/state.ts';
import { paging, table } from '../html/table.ts';
import { age, observed, shown } from '../html/text.ts';
import { isOperator } from '../html/visibility.ts';
import type { OrganizationState } from '../model/backend.ts';
import { organizationPath } from '../model/paths.ts';
import { type Freshness, freshness } from '../model/status.ts';
import { isoTime, secondsWords } from '../model/words.ts';
import { defineOrganizationPage, type Html, type PageRequest, wholeNumber } from '../page.ts';

/** Number of clusters and of change requests in a page. */
const CLUSTERS_PER_PAGE = 25;
const SHOWN_REQUESTS = 50;

export type ClustersView = Awaited<ReturnType<typeof load>>;

/** Describes the clusters of an organization, from a number of the query. Throws StoreError. */
async function load(state: OrganizationState, { query, now }: PageRequest) {
  const { id, config, clusters } = state;
  const { enabled, schedule } = config.clusters;
  const { overview } = clusters;
  const start = wholeNumber(query.start, 0);
  const requests = (await clusters.changeRequests()).toReversed().map(toRequest);
  const active = requests.filter(({ state }) => state !== 'merged' && state !== 'archived');
  const byCluster = Map.groupBy(active, ({ cluster }) => cluster);
  const known = overview.clusters;
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
    /** Selected ones first, then by severity. */
    clusters: known
      .slice(start, start + CLUSTERS_PER_PAGE)
      .map((cluster) => toCluster(cluster, byCluster.get(cluster.id) ?? [])),
    /** Number of the first cluster of this page, from 0, and of all clusters that are known. */
    start,
    known: known.length,
    /** Less severe clusters that are not kept. */
    omitted: overview.omitted,
    /** Newest first. */
    changeRequests: requests.slice(0, SHOWN_REQUESTS),
    moreChangeRequests: Math.max(0, requests.length - SHOWN_REQUESTS),
  };
}

function sentenceOf({ config, clusters }: OrganizationState, open: number, age: Freshness): string {
  const { lastRun } = clusters.overview;
  const requests = open === 0 ? 'no change request is open' : `${counted(open, 'change request')} open`;
  if (!config.clusters.enabled) {
    return `Issue clusters are not enabled; ${requests}`;
  }
  if (lastRun === null) {
    return `No run has ended since the daemon started; ${requests}`;
  }
  if (lastRun.outcome === 'failed') {
    return `The last run failed: ${lastRun.error ?? 'it was interrupted'}; ${requests}`;
  }
  if (lastRun.outcome === 'unsupported') {
    return `The platform has no issue clusters; ${requests}`;
  }
  const late = age.isStale ? 'The last run is long ago; ' : '';
  const text = `the last run read ${counted(lastRun.read, 'cluster')}, selected ${lastRun.passing} and opened ${lastRun.opened}`;
  return `${late === '' ? 'T' : `${late}t`}${text.slice(1)}; ${requests}`;
}

function toRun(run: LastRun) {
  const { outcome, error, source, read, passing: selected, opened, requests, milliseconds, dryRun, troubles } = run;
  return { outcome, error, source, read, selected, opened, requests, milliseconds, dryRun, troubles };
}

type ChangeRequestView = ReturnType<typeof toRequest>;

/** Describes a change request. Its id is null until the platform has confirmed it. */
function toRequest({ id, cluster, label, subject, state, space, url, at }: OwnRequest) {
  return { id, cluster, label, subject, state, space, url, requestedAt: isoTime(at) };
}

type ClusterView = ReturnType<typeof toCluster>;

/** Describes a cluster. `changeRequests`: those that are open or being created. */
function toCluster(cluster: KnownCluster, changeRequests: readonly ChangeRequestView[]) {
  const { weeklyPulse, isSelected } = cluster;
  return {
    ...clusterFacts(cluster),
    weeklyPulse,
    isSelected,
    readAt: isoTime(cluster.readAt),
    updatedAt: isoTime(cluster.updatedAt),
    /** Why no change request was opened; null if there is one, or if nothing is known. */
    reason: changeRequests.length > 0 ? null : cluster.why,
    changeRequests,
  };
}

export const clustersPage = defineOrganizationPage<ClustersView>({
  path: '/questions',
  load,
  title: ({ organization }) => `Clusters of ${organization}`,
  render: (view, request) => html`<h1>Clusters</h1>
<p class="sentence">${shown(view.sentence, 500)}.</p>
${view.isEnabled ? lastRun(view, request.now) : html`<p>Set <code>clusters.enabled</code> in the configuration of the daemon to turn issue clusters into change requests.</p>`}
<h2>Issue clusters</h2>
${clusterList(view, request)}
<h2>Change requests</h2>
${requestTable(view, request.now)}`,
  topic: ({ organization }) => organization,
});

function lastRun({ freshness, nextRun, lastRun: run }: ClustersView, now: number): Html {
  const next = nextRun === null ? '' : html` Next run ${age(nextRun, now)}.`;
  return html`<p>Last run: ${observed(freshness, now, 'none yet')}.${next}</p>
${run === null ? '' : describeRun(run)}`;
}

function describeRun({ outcome, error, requests, milliseconds, dryRun, troubles }: ReturnType<typeof toRun>): Html {
  const [tone, word]: readonly [Tone, string] = outcome === 'done' ? ['ok', 'done'] : ['bad', outcome];
  const problems = troubles.map((trouble) => html`<li>${shown(trouble, 500)}</li>`);
  return html`<p>${stateBadge({ tone: tone, word: word })} ${requests} requests in ${secondsWords(milliseconds)}${dryRun ? ', dry run: nothing was written' : ''}${error === null ? '' : html`: ${shown(error, 500)}`}</p>
${problems.length === 0 ? '' : html`<h2>Problems</h2><ul>${problems}</ul>`}`;
}

function clusterList(view: ClustersView, request: PageRequest): Html {
  const { clusters, start, known, omitted, lastRun: run } = view;
  if (clusters.length === 0) {
    return html`<p>${run === null ? 'Clusters are known after the first run.' : 'No cluster was read since the daemon started: none has changed.'}</p>`;
  }
  const items = clusters.map((cluster, index) => clusterItem(view.organization, cluster, start + index, request));
  const path = organizationPath(view.organization, '/questions');
  const next = start + clusters.length < known ? `${path}?start=${start + CLUSTERS_PER_PAGE}` : null;
  return html`<ul class="cards">${items}</ul>
${paging(start === 0 ? null : path, next, 'clusters')}
${omitted === 0 ? '' : html`<p>${omitted.toLocaleString('en')} less severe clusters are not shown.</p>`}`;
}

function clusterItem(organization: string, cluster: ClusterView, index: number, request: PageRequest): Html {
  const { label, impact, issues, conversations, url, muted, isSelected, reason, readAt } = cluster;
  const title = shown(label === '' ? cluster.id : label);
  const numbers = `${issues.toLocaleString('en')} issues in ${conversations.toLocaleString('en')} conversations`;
  const states = [
    stateBadge(isSelected ? { tone: 'ok', word: 'selected' } : { tone: 'none', word: 'not selected' }),
    ...(muted ? [stateBadge({ tone: 'none', word: 'muted' })] : []),
  ];
  return html`<li>
<h3>${url === null ? title : link(url, title)}</h3>
<p>${states} ${impact === null ? '' : html`Impact ${shown(impact)}, `}${numbers}, read ${age(readAt, request.now)}.</p>
${reason === null ? '' : html`<p>No change request: ${shown(reason, 500)}.</p>`}
${cluster.changeRequests.map((each) => html`<p>${requestLink(each)} ${requestBadge(each)}</p>`)}
${cluster.weeklyPulse.length === 0 ? '' : trendChart(`trend-${index}`, cluster.weeklyPulse, 'issues')}
${isOperator(request, organization) ? clusterForms(organization, cluster, index, request) : ''}
</li>`;
}

function clusterForms(organization: string, cluster: ClusterView, index: number, { query }: PageRequest): Html {
  const { id, label, muted, changeRequests } = cluster;
  const start = wholeNumber(query.start, 0);
  const back = organizationPath(organization, `/questions${start === 0 ? '' : `?start=${start}`}`);
  const form = (action: string, button: string, hidden: Record<string, string>, fields?: Html) =>
    actionForm({
      organization,
      action,
      button,
      back,
      hidden: { cluster: id, ...hidden },
      label: `${button}: ${shown(label)}`,
      ...(fields === undefined ? {} : { fields }),
    });
  const field = `space-${index}`;
  const space = html`<label for="${field}">Space (optional)</label><input id="${field}" name="space" autocomplete="off">`;
  const mute = muted
    ? form('cluster-mute', 'Unmute', { muted: 'false' })
    : form('cluster-mute', 'Mute', { muted: 'true' });
  return html`<div class="actions">${changeRequests.length === 0 ? form('cluster-open', 'Open change request', {}, space) : ''}${mute}</div>`;
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

function requestTable({ changeRequests, moreChangeRequests }: ClustersView, now: number): Html {
  const head = ['Change request', 'State', 'Cluster', 'Space', 'Requested'];
  const rows = changeRequests.map((request) => [
    requestLink(request),
    requestBadge(request),
    html`${shown(request.label)}`,
    html`${shown(request.space)}`,
    age(request.requestedAt, now),
  ]);
  return html`${table({ caption: 'Change requests, newest first', head, rows, empty: 'Octavo has opened none yet.' })}
${moreChangeRequests === 0 ? '' : html`<p>${moreChangeRequests.toLocaleString('en')} older ones.</p>`}`;
}
