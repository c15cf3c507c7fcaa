/** Web page of a daemon in which every text from elsewhere is hostile. */
import { ClusterOverview } from '../../../src/clusters/events.ts';
import type { OwnRequest } from '../../../src/clusters/store.ts';
import { openMemoryStore } from '../../../src/store/memory.ts';
import type { NotificationReader, OrganizationState } from '../../../src/web/model/backend.ts';
import { LogBuffer } from '../../../src/web/model/log-buffer.ts';
import type { PageServer } from '../../../src/web/server/page-server.ts';
import { someCluster } from '../../clusters/samples.ts';
import { HOSTILE_TEXTS } from '../../support/hostile-texts.ts';
import { actual } from '../../support/planning.ts';
import { type Fake, fakeDaemon, NOW, passOf, resultsOf } from '../../views/backend.ts';
import { type OrganizationParts, someBackend, someSource, withParts } from '../../views/some-backend.ts';
import {
  addNotifications,
  someCondition,
  someDelivery,
  someFact,
  someNotifications,
} from '../../views/some-notifications.ts';
import { openPageApp, tokenEntry } from '../page-app.ts';

/** Names from right to left, with characters of no width, and with many marks on one letter. */
const SCRIPTS = [
  'مرحبا بالعالم',
  'שלום (עולם) 1',
  'a\u200bb\u200c\u200d\u2060',
  'Z\u0351\u036b\u0343\u036a\u0302\u036balgo',
  '👩‍👩‍👧 docs',
];
const TEXTS = [...HOSTILE_TEXTS, '"><script>evil()</script>', 'x'.repeat(2000), 'javascript:evil()', ...SCRIPTS];
const MORE = TEXTS.join(' ');
export const TOKEN = 'ana-token';

export interface HostilePage extends AsyncDisposable {
  readonly url: string;
  /** Paths of all pages, by name. */
  readonly paths: ReadonlyMap<string, string>;
}

/** Starts the server of the page. Its person is an approver with a hostile name. */
export async function startHostilePage(): Promise<HostilePage> {
  const fake = await hostileReconciler();
  const [plan] = fake.plans;
  const state = withParts(fake.backend.organizations()[0] as OrganizationState, hostileParts());
  await fillHistory(state, fake);
  const server = await serve(state);
  const url = await server.listen();
  const organization = `/o/${encodeURIComponent(state.id)}`;
  const at = (path: string) => `${organization}/${path}`;
  return {
    url,
    paths: new Map([
      ['organizations', '/'],
      ['organization', organization],
      ['resource', at('r/team/t-40')],
      ['deleted resource', at('r/team/gone-0')],
      ['plan', at(`plans/${encodeURIComponent(plan?.checksum ?? '')}`)],
      ['passes', at('passes')],
      ['pass', at('passes/2')],
      ['conversations', at('conversations')],
      ['dead letters', at('dead-letters')],
      ['dead letter', at(`dead-letters/${encodeURIComponent(TEXTS[46] ?? '')}`)],
      ['clusters', at('clusters')],
      ['audit of an organization', at('audit')],
      ['audit', '/audit'],
      ['conditions', '/conditions'],
      ['deliveries', '/deliveries'],
      ['budget', '/budget'],
      ['log', '/log'],
      ['page that does not exist', `/${encodeURIComponent('<script>evil()</script>')}`],
    ]),
    [Symbol.asyncDispose]: () => server.close(),
  };
}

/** A daemon with a plan that updates and deletes teams. */
function hostileReconciler(): Promise<Fake> {
  const quoted = (text: string) => JSON.stringify(printable(text).slice(0, 60).trim());
  const teams = TEXTS.map((text, index) => `  t-${index}: { title: ${quoted(`${index} ${text}`)} }`);
  const gone = TEXTS.slice(0, 3).map((_text, index) => `  gone-${index}: { title: gone ${index} }`);
  const ids = (keys: readonly string[]) => keys.map((key) => [`team/${key}`, key] as const);
  const all = [...TEXTS.map((_text, index) => `t-${index}`), ...gone.map((_line, index) => `gone-${index}`)];
  return fakeDaemon({
    plan: {
      manifests: `teams:\n${teams.join('\n')}`,
      base: `teams:\n${[...teams, ...gone].join('\n')}`,
      ids: Object.fromEntries(ids(all)),
      actuals: all.map((key, index) => actual('team', key, { title: TEXTS[index % TEXTS.length] ?? '' })),
      policy: { requireApproval: ['team'] },
    },
    end: { outcome: 'failed', error: new Error(MORE) },
  });
}

/** Removes what a manifest cannot have. */
function printable(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cs}\uFEFF\uFFFE\uFFFF\u2028\u2029]/gu, ' ');
}

async function fillHistory(state: OrganizationState, { plans: [plan = null] }: Fake): Promise<void> {
  for (const [index, text] of TEXTS.entries()) {
    await state.history.addPass(
      passOf(plan, {
        ...{
          subject: text,
          author: text,
          outcome: 'failed',
          error: MORE,
          endedAt: NOW - 60_000 * (TEXTS.length - index),
        },
        changes: (plan === null ? [] : resultsOf(plan, 'failed', text)).slice(0, 20),
      }),
    );
    await state.history.addAudit({
      ...{ at: NOW - 1000, actor: { name: text, method: 'oidc' }, action: 'approve', subject: text, reason: text },
      ...{ outcome: index % 2 === 0 ? 'refused' : 'done', detail: text },
    });
  }
  const by = { name: MORE.slice(0, 300), method: 'oidc' } as const;
  await state.history.pause({ address: '', reason: MORE, by, since: NOW - 1000, until: NOW + 60_000 });
  await state.history.pause({ address: 'team/t-40', reason: MORE, by, since: NOW - 1000, until: null });
}

/** Conversations, clusters and budget. */
function hostileParts(): OrganizationParts {
  const url = 'https://app.example/c';
  const overview = new ClusterOverview({ now: () => NOW });
  const events = overview.events();
  events.onRead?.(
    TEXTS.map((text, index) => ({
      cluster: someCluster({ id: `c_${index}`, label: text, impact: text, url: index % 2 === 0 ? url : text }),
      verdict: { passes: true },
    })),
  );
  TEXTS.forEach((text, index) => {
    events.onSkipped?.({ cluster: `c_${index}`, label: text, reason: 'unrouted', why: text });
  });
  events.onTrouble?.({ cluster: null, message: MORE });
  const requests = TEXTS.map((text, index) => ({
    ...{ cluster: `c_${index}`, label: text, id: `r_${index}`, space: text, subject: text, url, at: NOW },
    state: index % 2 === 0 ? 'open' : 'merged',
  }));
  return {
    sources: TEXTS.map((name) => ({ name, zendesk: {}, pollInterval: 1000 })),
    clusters: { enabled: true },
    status: {
      sender: { kind: 'failing', reason: MORE },
      sources: TEXTS.map((source) =>
        someSource({ source, error: source, waiting: 1, deadLetters: 1, counts: { [`skipped.${source}`]: 1 } }),
      ),
    },
    deadLetters: TEXTS.map((text) => ({ key: text, source: text, reason: text, at: NOW, bytes: 5 })),
    overview,
    changeRequests: requests as unknown as readonly OwnRequest[],
  };
}

/** Conditions and deliveries with each of the texts. */
async function hostileNotifications(): Promise<NotificationReader> {
  const notifications = openMemoryStore().notifications();
  const facts = TEXTS.map((text, index) =>
    someFact({
      ...{ subject: text, summary: text, details: [text, MORE], path: index % 2 === 0 ? text : '/o/org_1' },
      ...{ organization: index % 3 === 0 ? null : text, since: NOW - index * 1000 },
    }),
  );
  const platform = someFact({ code: 'platform-failing', organization: null });
  const cause = { ...platform, scope: { ...platform.scope, token: null }, summary: MORE };
  await addNotifications(
    notifications,
    NOW,
    [
      someCondition('cause', cause),
      ...facts.map((fact, index) => someCondition(`c${index}`, fact, index % 2 === 0 ? {} : { state: 'pending' })),
    ],
    TEXTS.map((text, index) => someDelivery(`d${index}`, { channel: text, about: [`c${index}`], createdAt: NOW })),
  );
  return someNotifications(notifications, TEXTS);
}

/** Serves the organization to a person with a hostile name. */
async function serve(state: OrganizationState): Promise<PageServer> {
  const log = new LogBuffer();
  for (const text of TEXTS) {
    log.add(
      JSON.stringify({ level: 50, time: new Date(NOW).toISOString(), msg: text, organization: 'org_1', field: text }),
    );
  }
  const answer = { conversation: { subject: MORE } };
  const backend = someBackend([state], { answer, log, notifications: await hostileNotifications() });
  const name = '<b>"Ana"</b> \u202e\u200bשלום';
  const { server } = await openPageApp({
    ui: { tokens: [tokenEntry(name, TOKEN)], roles: [{ role: 'approver', people: [name] }] },
    organizations: [state.id],
    backend: () => ({ ...backend, clock: { ...backend.clock, now: () => NOW } }),
  });
  return server;
}
