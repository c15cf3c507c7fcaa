/** A daemon in which every text from elsewhere is hostile. */
import { ClusterOverview } from '../../src/clusters/events.ts';
import type { OwnRequest } from '../../src/clusters/store.ts';
import type { Plan } from '../../src/core/change.ts';
import { DesiredStateError } from '../../src/core/errors.ts';
import type { RequestHandlers } from '../../src/server/requests.ts';
import { openMemoryStore } from '../../src/store/memory.ts';
import { LogBuffer } from '../../src/web/model/log-buffer.ts';
import type { Backend, NotificationReader, OrganizationState } from '../../src/web/model/page.ts';
import { someCluster } from '../clusters/samples.ts';
import { actual } from '../support/planning.ts';
import { fakeDaemon, NOW, type OrganizationCase, passOf } from './fake-daemon.ts';
import {
  type Asked,
  addNotifications,
  type OrganizationParts,
  someBackend,
  someCondition,
  someDelivery,
  someFact,
  someHandlers,
  someNotifications,
  someSource,
  withParts,
} from './some-backend.ts';

/** An organization whose plan updates a team and holds the deletion of another one. */
export const DELETION: OrganizationCase = {
  plan: {
    manifests: 'teams: { a: { title: New } }',
    base: 'teams: { a: { title: A }, b: { title: B } }',
    ids: { 'team/a': 't1', 'team/b': 't2' },
    actuals: [actual('team', 't1', { title: 'A' }), actual('team', 't2', { title: 'B' }, { facts: { members: 3 } })],
    policy: { requireApproval: ['team'] },
  },
};

/** Returns a text as the state file keeps it: without halves of surrogate pairs and NUL. */
const stored = (text: string) => text.toWellFormed().replaceAll('\u0000', '');

/** Address with a text. */
export function addressWith(text: string): string {
  return `team/${stored(text)}`;
}

export interface HostileDaemon {
  readonly backend: Backend;
  readonly handlers: RequestHandlers;
  readonly checksum: string;
}

/**
 * Creates a daemon of the organization `org_1`, with something of every type for each of the texts. `reconciled`: its
 * plan; by default one with texts that manifests cannot have.
 */
export async function hostileDaemon(
  texts: readonly string[],
  { asked = [], reconciled }: { asked?: Asked[]; reconciled?: OrganizationCase } = {},
): Promise<HostileDaemon> {
  const fake = await fakeDaemon(reconciled ?? hostileCase(texts));
  const [plan = null] = fake.plans;
  const state = withParts(fake.backend.organizations()[0] as OrganizationState, hostileParts(texts));
  await fillHistory(state, plan, texts);
  const log = new LogBuffer();
  const time = new Date(NOW).toISOString();
  for (const text of texts) {
    log.add(JSON.stringify({ level: 50, time, msg: text, organization: 'org_1', field: text }));
  }
  const notifications = await hostileNotifications(texts);
  const answer = { conversation: { subject: texts.join(' ') } };
  return {
    backend: someBackend([state], { log, notifications }),
    handlers: someHandlers(asked, answer),
    checksum: plan?.checksum ?? '',
  };
}

/** A plan that updates and deletes a resource with each text, and manifests that are invalid since then. */
function hostileCase(texts: readonly string[]): OrganizationCase {
  const all = texts.join(' ');
  const sourceOf = (text: string) => ({ file: text, line: 3, column: 1 });
  const pausedBy = (text: string) => ({ reason: text, until: text });
  const problems = texts.map((text) => ({ file: text, line: 1, column: 1, address: text, message: text }));
  return {
    ...DELETION,
    edit: (plan, declared) => [
      {
        ...plan,
        title: all,
        verdict: { state: 'held', reasons: texts },
        changes: texts.flatMap((text) =>
          plan.changes.map((change) => ({
            ...change,
            address: addressWith(text),
            ...{ source: sourceOf(text), impact: text, held: text, paused: pausedBy(text) },
            fields: [{ path: text, to: text }],
          })),
        ),
        access: texts.map((text) => ({ person: text, from: null, to: text, role: text, change: addressWith(text) })),
        notes: texts.map((text) => ({ address: addressWith(text), text })),
        pending: texts.map((text) => ({ address: addressWith(text), reason: text })),
        unmanaged: texts.map((text) => ({ kind: 'team', id: text, title: text })),
      },
      new Map(
        texts.flatMap((text) =>
          [...declared.values()].map((each) => [
            addressWith(text),
            {
              ...each,
              ...{
                address: addressWith(text),
                fields: { title: text },
                source: sourceOf(text),
                paused: pausedBy(text),
              },
            },
          ]),
        ),
      ),
    ],
    end: { error: new DesiredStateError(problems), outcome: 'failed' },
  };
}

async function fillHistory(state: OrganizationState, plan: Plan | null, texts: readonly string[]): Promise<void> {
  const { history, record } = state;
  const all = texts.join(' ');
  for (const [index, text] of texts.entries()) {
    const endedAt = NOW - 60_000 * (texts.length - index);
    const pass = { subject: text, endedAt };
    const counts = { [text]: 1, update: 1 };
    await history.addPass(
      passOf(plan, { ...pass, trigger: text, author: text, outcome: 'failed', error: all, counts }),
    );
    const changes = [{ address: addressWith(text), action: text, status: text, error: text }];
    await history.addPass(passOf(plan, { ...pass, writes: 1, changes }));
    await history.addAudit({
      ...{ at: NOW - 1000, actor: { name: text, method: 'oidc' }, action: 'approve', subject: text, reason: text },
      ...{ outcome: index % 2 === 0 ? 'refused' : 'done', detail: text },
    });
  }
  const by = { name: all.slice(0, 300), method: 'oidc' } as const;
  for (const address of ['', 'team/other']) {
    await history.pause({ address, reason: all, by, since: NOW - 1000, until: NOW + 60_000 });
  }
  await record.decide({ checksum: plan?.checksum ?? '', verdict: 'approved', by, reason: all, at: NOW });
}

/** Conversations and clusters. */
function hostileParts(texts: readonly string[]): OrganizationParts {
  const url = 'https://app.example/c';
  const all = texts.join(' ');
  const overview = new ClusterOverview({ now: () => NOW });
  const events = overview.events();
  events.onRead?.(
    texts.map((text, index) => ({
      cluster: someCluster({ id: text, label: text, impact: text, url: index % 2 === 0 ? `javascript:${text}` : url }),
      verdict: { passes: true },
    })),
  );
  for (const text of texts) {
    events.onSkipped?.({ cluster: text, label: text, reason: 'unrouted', why: text });
  }
  events.onTrouble?.({ cluster: null, message: all });
  events.onRunEnd?.({
    ...{ outcome: 'failed', error: new Error(all), source: 'clusters', read: 1, passing: 1, opened: 0, superseded: 0 },
    ...{ commented: 0, skipped: {}, open: 1, requests: 1, milliseconds: 1, dryRun: false },
  });
  const requests = texts.map((text, index) => ({
    ...{ cluster: text, label: text, id: text, space: text, subject: text, url, at: NOW },
    ...(index % 2 === 0 ? { state: 'open', mergedAt: null } : { state: 'merged', mergedAt: NOW - 1000 }),
  }));
  return {
    sources: texts.map((name) => ({ name, zendesk: {}, pollInterval: 1000 })),
    clusters: { enabled: true },
    status: {
      sender: { kind: 'failing', reason: all },
      sources: texts.map((source) =>
        someSource({ source, error: source, waiting: 1, deadLetters: 1, counts: { [`skipped.${source}`]: 1 } }),
      ),
    },
    recent: {
      days: new Map(texts.map((text) => [`skipped.${text}`, Array<number>(30).fill(1)])),
      leftOut: new Map(texts.map((text) => [text, [text, text]])),
    },
    deadLetters: texts.map((text) => ({ key: text, source: text, reason: text, at: NOW, bytes: 5 })),
    overview,
    mutes: new Map(texts.map((text) => [text, { reason: text, until: NOW + 1000 }])),
    changeRequests: requests as unknown as readonly OwnRequest[],
  };
}

/** Conditions and deliveries. */
async function hostileNotifications(texts: readonly string[]): Promise<NotificationReader> {
  const all = texts.join(' ');
  const notifications = openMemoryStore().notifications();
  const conditions = texts.map((text, index) =>
    someCondition(
      `c${index}`,
      someFact({
        ...{
          subject: text,
          summary: text,
          details: [text, all],
          path: index % 2 === 0 ? `javascript:${text}` : '/o/org_1',
        },
        ...{ organization: index % 3 === 0 ? null : text, since: NOW - index * 1000 },
      }),
      index % 2 === 0 ? {} : { state: 'pending' },
    ),
  );
  const platform = someFact({ code: 'platform-failing', organization: null });
  const cause = { ...platform, scope: { ...platform.scope, token: null }, summary: all };
  await addNotifications(
    notifications,
    NOW,
    [someCondition('cause', cause), ...conditions],
    texts.map((text, index) =>
      someDelivery(`d${index}`, { channel: stored(text), about: [`c${index}`], createdAt: NOW }),
    ),
  );
  return someNotifications(notifications, texts.map(stored));
}
