/** Page of the replicas of a fleet, of the organizations that none of them has, and of the database. */

import { html } from 'hono/html';
import { counted, spanWords } from '../../plan/render/words.ts';
import { link } from '../html/link.ts';
import { type StateLabel, stateBadge } from '../html/state.ts';
import { table } from '../html/table.ts';
import { age, shown } from '../html/text.ts';
import { type Visibility, visibilityOf } from '../html/visibility.ts';
import type { FleetState } from '../model/backend.ts';
import {
  type ConfigurationView,
  configurationViews,
  type ReplicaConfigurationProblem,
} from '../model/configuration.ts';
import { organizationPath } from '../model/paths.ts';
import { isoTime } from '../model/words.ts';
import { definePage, type Html } from '../page.ts';

export interface ReplicaView {
  readonly id: string;
  readonly address: string;
  readonly version: string;
  /** `late`: it did not renew in time, and will be evicted. */
  readonly state: 'working' | 'draining' | 'late';
  readonly weight: number;
  readonly organizations: number;
  readonly startedAt: string;
  readonly seenAt: string;
  /** True for the replica that shows this. */
  readonly isThis: boolean;
}

export interface UnownedView {
  readonly organization: string;
  /** Null if this replica has no page of it, because only other replicas have it configured. */
  readonly path: string | null;
  /** Seconds since a replica had it; null if none has had it since the fleet began. */
  readonly seconds: number | null;
}

export interface ReplicasView {
  readonly isFleet: boolean;
  readonly sentence: string;
  readonly replicas: readonly ReplicaView[];
  /** Those that have waited longest, of the ones that the person may see. */
  readonly unowned: readonly UnownedView[];
  readonly unownedTotal: number;
  /** Configurations that cannot be used, of all replicas. */
  readonly configuration: readonly ConfigurationView[];
  /** Null for a state file. */
  readonly database: {
    readonly state: 'working' | 'failing';
    readonly reason: string | null;
    /** Average duration of a transaction; null before the first one. */
    readonly milliseconds: number | null;
    /** Seconds that the leases of this replica last if it cannot renew them. */
    readonly leaseSeconds: number;
  } | null;
}

const SHOWN_UNOWNED = 100;

/** Describes the fleet; `null`: the state is in a file, which one process uses. */
export function replicasView(
  fleet: FleetState | null,
  visibility: Visibility,
  problems: readonly ReplicaConfigurationProblem[] = [],
): ReplicasView {
  const configuration = configurationViews(problems, () => visibility);
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
      .toSorted((a, b) => (a.address < b.address ? -1 : a.address > b.address ? 1 : a.id < b.id ? -1 : 1)),
    unowned: visible.slice(0, SHOWN_UNOWNED).map(({ organization, age, isConfigured }) => ({
      organization,
      path: isConfigured ? organizationPath(organization) : null,
      seconds: age === null ? null : Math.floor(age / 1000),
    })),
    unownedTotal: visible.length,
    configuration,
    database: {
      state: fleet.failure === null ? 'working' : 'failing',
      reason: fleet.failure,
      milliseconds: fleet.latency === null ? null : Math.round(fleet.latency * 10) / 10,
      leaseSeconds: Math.max(0, Math.floor(fleet.left / 1000)),
    },
  };
}

function toReplica(
  { id, address, version, weight, isDraining, startedAt, seenAt, left, organizations }: FleetState['replicas'][number],
  own: string,
): ReplicaView {
  return {
    id,
    address,
    version,
    weight,
    organizations,
    state: left <= 0 ? 'late' : isDraining ? 'draining' : 'working',
    startedAt: isoTime(startedAt),
    seenAt: isoTime(seenAt),
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
