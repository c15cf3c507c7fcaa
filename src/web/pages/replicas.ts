/** Page of the replicas of a fleet, of the organizations that none of them has, and of the database. */

import { html } from 'hono/html';
import { compareText } from '../../core/lists.ts';
import { counted, spanWords } from '../../plan/render/words.ts';
import { age, link, organizationName, type StateLabel, shown, stateBadge } from '../html/elements.ts';
import { configurationViews } from '../model/configuration.ts';
import {
  type Backend,
  definePage,
  type FleetState,
  type Html,
  type PageRequest,
  type Visibility,
  visibilityOf,
} from '../model/page.ts';
import { isoTime, organizationPath } from '../model/words.ts';

const SHOWN_UNOWNED = 100;

export type ReplicasView = Awaited<ReturnType<typeof load>>;

/** Describes the fleet, or that the state is in a file, which one process uses. */
async function load(
  backend: Pick<Backend, 'organizations' | 'fleet' | 'configurationProblems'>,
  { viewer }: PageRequest,
) {
  const fleet = backend.fleet();
  const visibility = visibilityOf(backend, viewer);
  /** Configurations that cannot be used, of all replicas. */
  const configuration = configurationViews(backend.configurationProblems(), () => visibility);
  if (fleet === null) {
    const sentence = 'One process uses the state file. A fleet needs PostgreSQL';
    return { isFleet: false, sentence, replicas: [], unowned: [], unownedTotal: 0, configuration, database: null };
  }
  const visible = fleet.unowned
    .filter(({ organization }) => visibility.isVisible(organization))
    .toSorted((a, b) => (b.age ?? Number.POSITIVE_INFINITY) - (a.age ?? Number.POSITIVE_INFINITY));
  return {
    isFleet: true,
    sentence: sentenceOf(fleet, visible.length, visibility),
    replicas: fleet.replicas
      .map((replica) => toReplica(replica, fleet.replica))
      .toSorted((a, b) => compareText(a.address, b.address) || compareText(a.id, b.id)),
    /** Those that have waited longest, of the ones that the person may see. */
    unowned: visible.slice(0, SHOWN_UNOWNED).map(({ organization, age, isConfigured }) => ({
      organization,
      /** Null if this replica has no page of it, because only other replicas have it configured. */
      path: isConfigured ? organizationPath(organization) : null,
      /** Seconds since a replica had it; null if none has had it since the fleet began. */
      seconds: age === null ? null : Math.floor(age / 1000),
    })),
    unownedTotal: visible.length,
    configuration,
    database: databaseView(fleet),
  };
}

function databaseView({ failure, latency, left }: FleetState) {
  return {
    state: failure === null ? ('working' as const) : ('failing' as const),
    reason: failure,
    /** Average duration of a transaction; null before the first one. */
    milliseconds: latency === null ? null : Math.round(latency * 10) / 10,
    /** Seconds that the leases of this replica last if it cannot renew them. */
    leaseSeconds: Math.max(0, Math.floor(left / 1000)),
  };
}

/** Labels of the states of replicas. `late`: it did not renew in time, and will be evicted. */
const LABELS = {
  working: { tone: 'ok', word: 'working' },
  draining: { tone: 'busy', word: 'draining' },
  late: { tone: 'bad', word: 'not renewed' },
} as const satisfies Record<string, StateLabel>;

function toReplica(
  { id, address, version, weight, isDraining, startedAt, seenAt, left, organizations }: FleetState['replicas'][number],
  own: string,
) {
  const state: keyof typeof LABELS = left <= 0 ? 'late' : isDraining ? 'draining' : 'working';
  return {
    id,
    address,
    version,
    weight,
    organizations,
    state,
    startedAt: isoTime(startedAt),
    seenAt: isoTime(seenAt),
    /** True for the replica that shows this. */
    isThis: id === own,
  };
}

/** Describes how long a replica goes on without its database; null while it can use it, and without a fleet. */
export function databaseWarning(fleet: FleetState | null): string | null {
  if (fleet === null || fleet.failure === null) {
    return null;
  }
  const { left } = fleet;
  const rest = left > 0 ? `its leases last for ${spanWords(left)} more` : 'its leases are lost, so it sends nothing';
  return `This replica cannot use the database; ${rest}`;
}

/** Returns a sentence about the most urgent problem of a fleet, or its size. */
function sentenceOf(fleet: FleetState, unowned: number, { seesAll }: Visibility): string {
  const { replicas, notificationsUnowned } = fleet;
  const warning = databaseWarning(fleet);
  if (warning !== null) {
    return warning;
  }
  const number = counted(replicas.length, 'replica');
  if (unowned > 0) {
    return `No replica has ${counted(unowned, 'organization')}; ${number} in the fleet`;
  }
  return notificationsUnowned === null
    ? `${number}, and every organization ${seesAll ? '' : 'that you may see '}has an owner`
    : `${number}; nobody sends notifications for ${spanWords(notificationsUnowned)}`;
}

export const replicasPage = definePage<ReplicasView>({
  path: '/replicas',
  load,
  title: () => 'Replicas',
  render: (view, request) => html`<h1>Replicas</h1>
<p class="lead">${view.sentence}.</p>
${view.isFleet ? content(view, request) : ''}`,
  topics: () => ['replicas'],
});

const LONGEST_REASON = 400;

function content({ replicas, unowned, unownedTotal, database }: ReplicasView, { titleOf, now }: PageRequest): Html {
  const more = unownedTotal - unowned.length;
  return html`${databaseSection(database)}
<section aria-labelledby="replicas"><div class="head"><h2 id="replicas">Replicas of the fleet</h2>
<p class="count">${counted(replicas.length, 'replica')}</p></div>
${replicas.length === 0 ? html`<p class="empty">None has joined.</p>` : html`<ul class="rows">${replicas.map((each) => replicaItem(each, now))}</ul>`}</section>
<section aria-labelledby="unowned"><h2 id="unowned">Organizations without a replica</h2>
${unowned.length === 0 ? html`<p class="empty">Every organization has one.</p>` : html`<ul class="rows">${unowned.map((each) => unownedItem(each, titleOf(each.organization)))}</ul>`}
${more === 0 ? '' : html`<p class="faint">${more.toLocaleString('en')} more are not shown.</p>`}</section>`;
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

/** `working host-1 42 1f3a — 3 organizations, version 1.2.3, started 2 days ago`, and when it was seen last. */
function replicaItem(replica: ReplicasView['replicas'][number], now: number): Html {
  const { id, address, state, organizations, weight, version, startedAt, seenAt, isThis } = replica;
  return html`<li>${stateBadge(LABELS[state])} <b>${shown(address)}</b> <code class="address">${shown(id)}</code>${isThis ? html` <span>shows this page</span>` : ''}
<span class="faint">${counted(organizations, 'organization')}${weight === 1 ? '' : `, weight ${weight}`}, version ${shown(version)}, started ${age(startedAt, now)}</span>
<span class="end faint">seen ${age(seenAt, now)}</span></li>
`;
}

function unownedItem({ organization, path, seconds }: ReplicasView['unowned'][number], title: string): Html {
  const name = organizationName(organization, title);
  const since = seconds === null ? 'never had one' : `for ${spanWords(seconds * 1000)}`;
  return html`<li>${path === null ? html`<b>${name}</b> <span class="faint">configured only at other replicas</span>` : link(path, name, { class: 'name' })}
<span class="end faint">${since}</span></li>
`;
}
