/** Page of issue clusters and of the change requests for them. */
import { html } from 'hono/html';
import {
  type ChangeRequestView,
  CLUSTERS_PER_PAGE,
  type ClusterRunView,
  type ClustersView,
  type ClusterView,
  clustersView,
} from '../../views/clusters.ts';
import { secondsWords } from '../../views/model/words.ts';
import { trendChart } from '../charts/trend.ts';
import { age } from '../html/age.ts';
import { actionForm } from '../html/form.ts';
import { link, pathTo } from '../html/link.ts';
import { observed } from '../html/observed.ts';
import { isOperator } from '../html/operator.ts';
import { paging } from '../html/paging.ts';
import { wholeNumber } from '../html/query.ts';
import { type StateLabel, stateBadge, type Tone } from '../html/state.ts';
import { table } from '../html/table.ts';
import { shown } from '../html/text.ts';
import { definePage, type Html, type PageRequest } from '../page.ts';

export const clustersPage = definePage<ClustersView>({
  path: '/o/:organization/clusters',
  load: async (backend, { params, query, now }) => {
    const state = backend.organizations().find(({ id }) => id === params.organization);
    return state === undefined ? null : clustersView(state, wholeNumber(query.start, 0), now);
  },
  title: ({ organization }) => `Clusters of ${organization}`,
  render: (view, request) => html`<h1>Clusters</h1>
<p class="sentence">${shown(view.sentence, 500)}.</p>
${view.isEnabled ? lastRun(view, request.now) : html`<p>Set <code>clusters.enabled</code> in the configuration of the daemon to turn issue clusters into change requests.</p>`}
<h2>Issue clusters</h2>
${clusterList(view, request)}
<h2>Change requests</h2>
${requestTable(view, request.now)}`,
  topics: ({ organization }) => [organization],
});

function lastRun({ freshness, nextRun, lastRun: run }: ClustersView, now: number): Html {
  const next = nextRun === null ? '' : html` Next run ${age(nextRun, now)}.`;
  return html`<p>Last run: ${observed(freshness, now, 'none yet')}.${next}</p>
${run === null ? '' : describeRun(run)}`;
}

function describeRun({ outcome, error, requests, milliseconds, dryRun, troubles }: ClusterRunView): Html {
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
  const path = pathTo(['o', view.organization, 'clusters']);
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
  const back = `${pathTo(['o', organization, 'clusters'])}${start === 0 ? '' : `?start=${start}`}`;
  const form = (action: string, button: string, hidden: Record<string, string>, fields?: Html) =>
    actionForm({
      ...{ organization, action, button, back },
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
