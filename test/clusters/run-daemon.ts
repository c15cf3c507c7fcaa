/** Daemons for tests of cluster runs. */

import { type ClusterRequest, handleClusterRequest } from '../../src/clusters/control-api.ts';
import type { ClusterEvents, RunEnd } from '../../src/clusters/events.ts';
import type { Redaction } from '../../src/clusters/redaction.ts';
import type { Names } from '../../src/clusters/route.ts';
import { ClusterAutomation } from '../../src/clusters/run.ts';
import type { ClientObserver } from '../../src/clusters/session.ts';
import { readStoredClusters, type StoredClusters } from '../../src/clusters/store.ts';
import type { ClustersConfig } from '../../src/config/clusters.ts';
import { openReader, openWriter } from '../../src/platform/client.ts';
import { openMemoryStore } from '../../src/store/memory.ts';
import type { Note } from '../../src/store/record.ts';
import { type ClusterPlatform, ORGANIZATION } from './run-platform.ts';

export interface TestDaemon {
  readonly automation: ClusterAutomation;
  /** Reported events, as "event cluster". */
  readonly reported: string[];
  run(): Promise<RunEnd>;
  /** Handles a request of a person. */
  // biome-ignore lint/suspicious/noExplicitAny: tests inspect answers of every shape
  ask(request: ClusterRequest): Promise<any>;
  stored(): Promise<StoredClusters>;
}

export interface TestDaemonOptions {
  readonly name?: string;
  readonly dryRun?: boolean;
  /** The platform's own site by default. */
  readonly site?: string | null;
  readonly note?: Note;
  readonly names?: Partial<Names>;
  readonly events?: ClusterEvents;
  readonly random?: () => number;
  readonly redaction?: Redaction;
}

/** No changes to requests. */
export const NO_REDACTION: Redaction = { version: 'none', text: (text) => text, url: (url) => url };

/** Ids of spaces are also their keys. */
const NAMES: Names = {
  recorded: async () => new Map(),
  declared: async () => new Map(),
  observed: () => new Map(),
};

/** A daemon's issue clusters on this platform. */
export function openDaemon(
  platform: ClusterPlatform,
  config: ClustersConfig,
  options: TestDaemonOptions = {},
): TestDaemon {
  const { name = 'one', dryRun = false, note, names = {}, events = {}, random = seeded(name) } = options;
  const { site = platform.site ?? null } = options;
  const connection = platform.connect(name);
  const reported: string[] = [];
  const client = (observer: ClientObserver) => ({
    organization: ORGANIZATION,
    priority: 'clusters' as const,
    ...observer,
  });
  const own = note ?? openMemoryStore().note('clusters');
  const automation = new ClusterAutomation({
    config,
    openReader: (_, observer) => openReader(connection, client(observer)),
    openWriter: dryRun ? null : (_, observer) => openWriter(connection, client(observer)),
    note: own,
    site: site === null ? null : async () => site,
    names: { ...NAMES, ...names },
    clock: platform.clock(name),
    random,
    redaction: options.redaction ?? NO_REDACTION,
    signal: new AbortController().signal,
    events: {
      onOpened: ({ cluster }) => reported.push(`opened ${cluster}`),
      onWouldOpen: ({ cluster, space }) => reported.push(`would open ${cluster} in ${space}`),
      onMerged: ({ cluster }) => reported.push(`merged ${cluster}`),
      onArchived: ({ cluster }) => reported.push(`archived ${cluster}`),
      onReopened: ({ cluster }) => reported.push(`reopened ${cluster}`),
      onSuperseded: ({ cluster, why }) => reported.push(`yielded ${cluster}: ${why}`),
      onCommented: ({ cluster }) => reported.push(`commented ${cluster}`),
      onMuted: ({ cluster }) => reported.push(`muted ${cluster}`),
      onUnmuted: ({ cluster }) => reported.push(`unmuted ${cluster}`),
      onSkipped: ({ cluster, reason }) => reported.push(`skipped ${cluster}: ${reason}`),
      onTrouble: ({ cluster, message }) => reported.push(`trouble ${cluster}: ${message}`),
      ...events,
    },
  });
  const ask = (request: ClusterRequest) => handleClusterRequest(automation, request);
  return { automation, reported, run: () => automation.run(), ask, stored: () => readStoredClusters(own) };
}

/** Random numbers that differ by name. */
export function seeded(name: string): () => number {
  let state = [...name].reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) >>> 0, 7);
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
