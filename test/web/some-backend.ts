/** A backend whose parts a test chooses, and how tests ask for its pages. */
import { html } from 'hono/html';
import { ClusterOverview } from '../../src/clusters/events.ts';
import type { StoredClusters } from '../../src/clusters/store.ts';
import type { IngestionStatus } from '../../src/conversations/ingestion.ts';
import type { JsonObject } from '../../src/core/json.ts';
import type { BudgetSnapshot, QueueSnapshot } from '../../src/queue/snapshot.ts';
import type { RequestHandlers } from '../../src/server/requests.ts';
import { openMemoryStore } from '../../src/store/memory.ts';
import type { Condition, Fact, NotificationDelivery, Notifications } from '../../src/store/notifications.ts';
import type { DeadLetter, KnownTicket, RecentCounts } from '../../src/store/outbox/tables.ts';
import { LogBuffer } from '../../src/web/model/log-buffer.ts';
import type {
  Backend,
  KnownResources,
  NotificationReader,
  OrganizationState,
  PageDefinition,
  PageRequest,
  QueueState,
  ViewerRole,
} from '../../src/web/model/page.ts';
import { settingsOf } from '../clusters/samples.ts';

export const NOW = Date.parse('2026-11-21T12:00:00Z');
export const MINUTE = 60_000;

export interface OrganizationParts {
  readonly sources?: readonly object[];
  readonly clusters?: object;
  readonly status?: Partial<IngestionStatus>;
  readonly outdated?: ReadonlyMap<string, number>;
  readonly deadLetters?: readonly DeadLetter[];
  readonly recent?: Partial<RecentCounts>;
  /** Known tickets, by the text that finds them. */
  readonly known?: Readonly<Record<string, readonly KnownTicket[]>>;
  readonly overview?: ClusterOverview;
  readonly changeRequests?: StoredClusters['changeRequests'];
  readonly examples?: StoredClusters['examples'];
  readonly issuesAtMerge?: StoredClusters['issuesAtMerge'];
  readonly mutes?: StoredClusters['mutes'];
  readonly resources?: KnownResources | null;
  readonly queue?: Partial<QueueState>;
}

export function someSource(over: Partial<IngestionStatus['sources'][number]> = {}): IngestionStatus['sources'][number] {
  return {
    ...{ source: 'help', cursor: null, polledAt: NOW - MINUTE, waiting: 0, waitingSince: null, sending: 0, inDoubt: 0 },
    ...{ deadLetters: 0, hints: 0, counts: {}, pollAgeSeconds: 60, oldestWaitSeconds: null, error: null },
    arrivedAt: NOW - 2 * MINUTE,
    ...over,
  };
}

const store = openMemoryStore();
let created = 0;

/** An organization with an empty history of its own. */
export function someOrganization(id: string, parts: OrganizationParts = {}): OrganizationState {
  const {
    sources = [],
    clusters = {},
    status = {},
    outdated = new Map(),
    deadLetters = [],
    changeRequests = [],
    examples = new Map(),
    issuesAtMerge = new Map(),
    mutes = new Map(),
    resources = null,
  } = parts;
  created += 1;
  const limit = { items: 1000, bytes: 1_000_000 };
  const config = {
    id,
    conversations: { sources, redact: { patterns: [], allow: [], disabledTypes: [], phoneRegions: ['US'] } },
    clusters: settingsOf(clusters),
  } as unknown as OrganizationState['config'];
  const readStatus = async (): Promise<IngestionStatus> => ({
    inFlight: 0,
    sender: { kind: 'idle' },
    outbox: { stored: { items: 0, bytes: 0 }, limit, isFull: false },
    sources: [],
    ...status,
  });
  return {
    id,
    config,
    owner: { kind: 'only' },
    reconciler: null,
    resources: async () => resources,
    record: store.organization(`${id} ${created}`),
    history: store.history(`${id} ${created}`),
    queue: { name: id, isKnown: true, snapshot: () => someQueue(), samples: async () => [], ...parts.queue },
    conversations: {
      status: readStatus,
      recentStatus: readStatus,
      outdated: async () => outdated,
      deadLetters: async ({ key, source }, most) =>
        deadLetters
          .filter((each) => (key === undefined || each.key === key) && (source === undefined || each.source === source))
          .slice(0, most),
      recent: async () => ({ days: new Map(), leftOut: new Map(), ...parts.recent }),
      find: async (text) => parts.known?.[text] ?? [],
    },
    clusters: {
      overview: parts.overview ?? new ClusterOverview({ now: () => NOW }),
      stored: async () => ({ changeRequests, examples, issuesAtMerge, mutes }),
    },
    pollInterval: null,
    webhook: null,
    statuses: null,
  };
}

/** Adds what daemons of `fake-daemon.ts` do not have: conversations, clusters and a queue. */
export function withParts(state: OrganizationState, parts: OrganizationParts = {}): OrganizationState {
  const { conversations, clusters, queue, config } = someOrganization(state.id, parts);
  return {
    ...state,
    ...{ conversations, clusters, queue },
    config: { ...state.config, conversations: config.conversations, clusters: config.clusters },
  };
}

/** Requests of actions, as they arrived. */
export type Asked = readonly [name: string, organization: string | null, request: object];

/** Handlers that give the same answer to every request, and record it. */
export function someHandlers(asked: Asked[] = [], answer: JsonObject = {}): RequestHandlers {
  const handle = (name: string) => async (_by: unknown, organization: string | null, request: object) => {
    asked.push([name, organization, request]);
    return answer;
  };
  return {
    ...{ act: handle('act'), conversations: handle('conversations'), clusters: handle('clusters') },
    ...{ deliveries: handle('deliveries'), sessions: handle('sessions') },
  };
}

export function someBackend(
  organizations: readonly OrganizationState[],
  {
    log = new LogBuffer(),
    notifications = someNotifications(),
  }: {
    log?: LogBuffer;
    notifications?: NotificationReader;
  } = {},
): Backend {
  return {
    version: '0',
    clock: { now: () => NOW, monotonic: () => NOW, sleep: () => new Promise(() => undefined) },
    organizations: () => organizations,
    refresh: async () => undefined,
    fleet: () => null,
    configurationProblems: () => [],
    log,
    notifications,
    history: store.history('daemon'),
    onChange: () => () => undefined,
  };
}

/** A request of a person with a role for each organization; null: the person may not see it. */
export function someRequest(
  params: PageRequest['params'] = {},
  query: PageRequest['query'] = {},
  role: ViewerRole | ((organization: string) => ViewerRole | null) = 'viewer',
): PageRequest {
  const actor = { name: 'ana@example.com', method: 'token' } as const;
  return {
    params,
    query,
    fields: {},
    viewer: { actor, role: typeof role === 'function' ? role : () => role },
    handlers: someHandlers(),
    titleOf: (id) => id,
    now: NOW,
  };
}

export function someBudget(over: Partial<BudgetSnapshot> = {}): BudgetSnapshot {
  return {
    ...{ classes: ['read'], operations: [], limit: 100, remaining: 40, cooldown: 0, otherClientsRate: 0 },
    ...{ resetIn: null, window: null, refillRate: null, rtt: null, rate: null },
    ...over,
  };
}

export function someQueue(over: Partial<QueueSnapshot> = {}): QueueSnapshot {
  return {
    budgets: [someBudget()],
    waiting: { person: 0, apply: 3, clusters: 0, ingestion: 4, drift: 0 },
    oldest: null,
    inFlight: 2,
    outcomes: { answered: 0, rejected: 0, refused: 5, failed: 0, retried: 0, cancelled: 0 },
    rtt: null,
    clockSkew: null,
    breaker: 'closed',
    retryQuota: 500,
    ...over,
  };
}

/** Fact of an organization of the tests. */
export function someFact(over: Partial<Fact> & { readonly organization?: string | null } = {}): Fact {
  const { organization = 'acme', ...rest } = over;
  return {
    ...{
      code: 'pass-failing',
      subject: '',
      since: 0,
      summary: 'Passes fail: no',
      details: [],
      path: '/o/acme/history',
    },
    scope: { organization, token: 'acme', platform: 'https://api.example' },
    ...rest,
  };
}

/** A firing condition. */
export function someCondition(id: string, fact: Fact, over: Partial<Condition> = {}): Condition {
  return {
    ...{ id, fact, state: 'firing', since: fact.since, firedAt: fact.since, resolvedAt: null, clearSince: null },
    ...{ isInhibited: false, starts: [fact.since] },
    ...over,
  };
}

export function someDelivery(id: string, over: Partial<NotificationDelivery> = {}): NotificationDelivery {
  return {
    ...{ id, channel: 'ops', thread: id, kind: 'firing', about: [], createdAt: 0, state: 'queued' },
    mayHaveArrived: false,
    ...over,
  };
}

/** Stores conditions and deliveries as the notifier does. */
export async function addNotifications(
  notifications: Notifications,
  now: number,
  conditions: readonly Condition[],
  created: readonly NotificationDelivery[] = [],
): Promise<void> {
  const none = { removed: [], cancelled: [], notified: null, events: [] };
  await notifications.advance(now, () => ({ ...none, conditions, created }));
}

/** Notifications, as views read them. */
export function someNotifications(
  from: Notifications = openMemoryStore().notifications(),
  channels: readonly string[] = [],
): NotificationReader {
  return {
    channels,
    conditions: (limit) => from.conditions(limit),
    deliveries: (query) => from.deliveries(query),
    lastSent: () => from.lastSent(),
  };
}

/** Returns the view model of a page. Fails if there is none. */
export async function viewOf<View>(page: PageDefinition, backend: Backend, request: PageRequest): Promise<View> {
  const view = await page.load(backend, request);
  if (view === null) {
    throw new Error(`${page.path} has nothing to show`);
  }
  return view as View;
}

/** Returns the title and the content of a page. */
export async function render(page: PageDefinition, backend: Backend, request: PageRequest): Promise<string> {
  const view = await viewOf<object>(page, backend, request);
  return String(await html`<title>${page.title(view)}</title>${await page.render?.(view, request)}`);
}

/** Returns the tags and the names of their attributes: what a text must not change. */
export function skeleton(text: string): readonly string[] {
  return [...text.matchAll(/<\/?[a-z][^>]*>/g)].map(([tag]) => tag.replaceAll(/="[^"]*"/g, '='));
}

/** Returns the items of all pages of a list, from the first one on. */
export async function allPages<View extends { readonly next: string | null }, Item>(
  load: (after: string) => Promise<View>,
  itemsOf: (view: View) => readonly Item[],
): Promise<Item[]> {
  const items: Item[] = [];
  for (let after: string | null = ''; after !== null; ) {
    const view: View = await load(after);
    items.push(...itemsOf(view));
    after = view.next;
  }
  return items;
}
