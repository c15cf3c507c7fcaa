/** A backend whose parts a test chooses. */

import { ClusterOverview } from '../../src/clusters/events.ts';
import type { OwnRequest } from '../../src/clusters/store.ts';
import type { IngestionStatus } from '../../src/conversations/ingestion.ts';
import type { JsonObject } from '../../src/core/json.ts';
import { openMemoryStore } from '../../src/store/memory.ts';
import type { DeadLetter } from '../../src/store/outbox/outbox.ts';
import type { Backend, NotificationReader, OrganizationState, QueueState } from '../../src/web/model/backend.ts';
import { LogBuffer } from '../../src/web/model/log-buffer.ts';
import type { PageRequest, ViewerRole } from '../../src/web/page.ts';
import { settingsOf } from '../clusters/samples.ts';
import { someQueue } from './queue-samples.ts';
import { someNotifications } from './some-notifications.ts';

export const NOW = Date.parse('2026-11-21T12:00:00Z');
export const MINUTE = 60_000;

export interface OrganizationParts {
  readonly sources?: readonly object[];
  readonly clusters?: object;
  readonly status?: Partial<IngestionStatus>;
  readonly outdated?: ReadonlyMap<string, number>;
  readonly deadLetters?: readonly DeadLetter[];
  readonly overview?: ClusterOverview;
  readonly changeRequests?: readonly OwnRequest[];
  readonly queue?: Partial<QueueState>;
}

export function someSource(over: Partial<IngestionStatus['sources'][number]> = {}): IngestionStatus['sources'][number] {
  return {
    ...{ source: 'help', cursor: null, polledAt: NOW - MINUTE, waiting: 0, waitingSince: null, sending: 0, inDoubt: 0 },
    ...{ deadLetters: 0, hints: 0, counts: {}, pollAgeSeconds: 60, oldestWaitSeconds: null, error: null },
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
  } = parts;
  created += 1;
  const limit = { items: 1000, bytes: 1_000_000 };
  const config = {
    id,
    conversations: { sources },
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
    resources: async () => null,
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
    },
    clusters: {
      overview: parts.overview ?? new ClusterOverview({ now: () => NOW }),
      changeRequests: async () => changeRequests,
    },
    pollInterval: null,
    webhook: null,
    statuses: null,
  };
}

/** Adds what daemons of `backend.ts` do not have: conversations, clusters and a queue. */
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

export function someBackend(
  organizations: readonly OrganizationState[],
  {
    answer = {},
    asked = [],
    log = new LogBuffer(),
    notifications = someNotifications(),
  }: {
    answer?: JsonObject;
    asked?: Asked[];
    log?: LogBuffer;
    notifications?: NotificationReader;
  } = {},
): Backend {
  const handle = (name: string) => async (_by: unknown, organization: string | null, request: object) => {
    asked.push([name, organization, request]);
    return answer;
  };
  return {
    version: '0',
    clock: { now: () => NOW, monotonic: () => NOW, sleep: () => new Promise(() => undefined) },
    organizations: () => organizations,
    refresh: async () => undefined,
    fleet: () => null,
    configurationProblems: () => [],
    actions: {
      ...{ act: handle('act'), conversations: handle('conversations'), clusters: handle('clusters') },
      deliveries: (by, request) => handle('deliveries')(by, null, request),
      sessions: (by, request) => handle('sessions')(by, null, request),
    },
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
    viewer: { actor, role: typeof role === 'function' ? role : () => role },
    now: NOW,
  };
}
