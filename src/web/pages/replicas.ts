/** Page of the replicas of a fleet. */
import { html } from 'hono/html';
import { spanWords } from '../../plan/render/words.ts';
import { type ReplicasView, type ReplicaView, replicasView, type UnownedView } from '../../views/replicas.ts';
import { age } from '../html/age.ts';
import { link } from '../html/link.ts';
import { type StateLabel, stateBadge } from '../html/state.ts';
import { table } from '../html/table.ts';
import { shown } from '../html/text.ts';
import { visibilityOf } from '../html/visibility.ts';
import { definePage, type Html } from '../page.ts';

export const replicasPage = definePage<ReplicasView>({
  path: '/replicas',
  load: async (backend, { viewer }) =>
    replicasView(backend.fleet(), visibilityOf(backend, viewer), backend.configurationProblems()),
  title: () => 'Replicas',
  render: (view, { now }) => html`<h1>Replicas</h1>
<p class="sentence">${view.sentence}.</p>
${view.isFleet ? content(view, now) : ''}`,
  topics: () => ['replicas'],
});

const LABELS: Readonly<Record<ReplicaView['state'], StateLabel>> = {
  working: { tone: 'ok', word: 'working' },
  draining: { tone: 'busy', word: 'draining' },
  late: { tone: 'bad', word: 'not renewed' },
};
const LONGEST_REASON = 400;

function content({ replicas, unowned, unownedTotal, database }: ReplicasView, now: number): Html {
  const more = unownedTotal - unowned.length;
  return html`${databaseSection(database)}
<h2>Replicas of the fleet</h2>
${table({
  caption: 'Replicas',
  head: ['Replica', 'State', 'Organizations', 'Weight', 'Version', 'Started', 'Last seen'],
  rows: replicas.map((each) => replicaRow(each, now)),
  empty: 'None has joined.',
})}
<h2>Organizations without a replica</h2>
${table({
  caption: 'Organizations that no replica has, the longest first',
  head: ['Organization', 'For'],
  rows: unowned.map(unownedRow),
  empty: 'Every organization has one.',
})}
${more === 0 ? '' : html`<p>${more.toLocaleString('en')} more are not shown.</p>`}`;
}

function databaseSection(database: ReplicasView['database']): Html {
  if (database === null) {
    return html``;
  }
  const { state, reason, milliseconds, leaseSeconds } = database;
  const label: StateLabel = state === 'working' ? { tone: 'ok', word: 'working' } : { tone: 'bad', word: 'failing' };
  return html`<dl class="facts">
<div><dt>Database</dt><dd>${stateBadge(label)}${reason === null ? '' : html` ${shown(reason, LONGEST_REASON)}`}</dd></div>
${milliseconds === null ? '' : html`<div><dt>Transaction</dt><dd>${milliseconds} ms on average</dd></div>`}
<div><dt>Leases of this replica</dt><dd>last for ${spanWords(leaseSeconds * 1000)} without the database</dd></div>
</dl>`;
}

function replicaRow(replica: ReplicaView, now: number) {
  const { id, address, state, organizations, weight, version, startedAt, seenAt, isThis } = replica;
  return [
    html`${shown(address)} <code>${shown(id)}</code>${isThis ? html` <span class="faint">shows this page</span>` : ''}`,
    stateBadge(LABELS[state]),
    organizations,
    weight,
    html`${shown(version)}`,
    age(startedAt, now),
    age(seenAt, now),
  ];
}

function unownedRow({ organization, path, seconds }: UnownedView) {
  const name = shown(organization);
  const here = html`${name} <span class="faint">configured only at other replicas</span>`;
  return [path === null ? here : link(path, name), seconds === null ? 'always' : spanWords(seconds * 1000)];
}
