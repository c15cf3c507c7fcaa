import { createNames } from '../clusters/read/spaces.ts';
import { ClusterAutomation } from '../clusters/run/automation.ts';
import { type ClusterRequest, handleClusterRequest } from '../clusters/run/control-api.ts';
import type { ClusterEvents } from '../clusters/run/events.ts';
import type { ClientObserver } from '../clusters/run/session.ts';
import type { OrganizationConfig } from '../config/config.ts';
import { createTextRedaction } from '../conversations/redact/text-redaction.ts';
import type { Clock, Random } from '../core/clock.ts';
import { endsWithin } from '../core/clock.ts';
import { messageOf } from '../core/errors.ts';
import type { JsonObject } from '../core/json.ts';
import type { Logger } from '../log.ts';
import { openReader, openWriter } from '../platform/client.ts';
import type { Connection } from '../platform/connection.ts';
import type { ConversationsProbe } from '../platform/conversations-probe.ts';
import type { Priority } from '../queue/model/request.ts';
import { runOnCron } from '../reconcile/daemon/schedule.ts';
import type { DesiredSource } from '../reconcile/daemon/source.ts';
import { logClusters } from '../server/cluster-log.ts';
import { combineListeners } from '../server/listeners.ts';
import type { Metrics } from '../server/metrics.ts';
import { recordedId } from '../store/recorded-id.ts';
import type { Store } from '../store/store.ts';

export interface ClustersOptions {
  readonly organization: OrganizationConfig;
  readonly connection: Connection;
  /** Null where the configuration names no source of manifests. */
  readonly source: DesiredSource | null;
  /** Ids of resources as the last plan found them; null: there is none yet. */
  readonly bindings: () => ReadonlyMap<string, string> | null;
  readonly probe: ConversationsProbe;
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** Told besides the log and the metrics. */
  readonly events: ClusterEvents;
  /** Says what would be opened, and writes nothing. */
  readonly dryRun: boolean;
  /** Begins nothing new once it aborts. */
  readonly stopping: AbortSignal;
  readonly abort: AbortSignal;
}

/** Milliseconds that a look at the settings may keep the daemon from its start. */
const CHECK_LIMIT = 10_000;

/** An organization's issue clusters in the daemon: looked at on their schedule, and seen in the log and the metrics. */
export class OrganizationClusters {
  readonly #options: ClustersOptions;
  readonly #automation: ClusterAutomation;
  readonly #stopping = new AbortController();
  #firing: Promise<void> = Promise.resolve();
  #isRunning = false;

  constructor(options: ClustersOptions) {
    const { organization, connection, store, source, clock, random, log, metrics, events, dryRun, abort } = options;
    const { site } = organization.conversations;
    const client = (priority: Priority, observer: ClientObserver) => ({
      organization: organization.id,
      priority,
      signal: abort,
      ...observer,
    });
    this.#options = options;
    this.#automation = new ClusterAutomation({
      config: organization.clusters,
      openReader: (priority, observer) => openReader(connection, client(priority, observer)),
      openWriter: dryRun ? null : (priority, observer) => openWriter(connection, client(priority, observer)),
      note: store.note(`clusters/${organization.id}`),
      names: createNames({
        record: store.organization(organization.id),
        declared: async () => (source === null ? new Map() : (await source.peek()).declared),
        bindings: options.bindings,
      }),
      site: site === null ? null : () => recordedId(store.organization(organization.id), 'site', site),
      probe: options.probe,
      clock,
      random,
      redaction: createTextRedaction(organization.conversations.redact),
      signal: AbortSignal.any([options.stopping, this.#stopping.signal]),
      events: combineListeners([logClusters(log), metrics.clusters.events(organization.id, () => clock.now()), events]),
    });
  }

  /**
   * Whether every space that the settings name is there, as far as that can be known soon. Throws ConfigError; what
   * cannot be known now is told by the first run.
   */
  async check(): Promise<void> {
    const { clock, log } = this.#options;
    if (!(await endsWithin(clock, CHECK_LIMIT, [this.#automation.checkSpaces()]))) {
      log.debug('whether the spaces of the clusters are there is not known yet');
    }
  }

  start(): void {
    const { organization, clock, stopping } = this.#options;
    const { enabled, schedule } = organization.clusters;
    if (enabled) {
      const signal = AbortSignal.any([stopping, this.#stopping.signal]);
      this.#firing = runOnCron(schedule, clock, signal, () => void this.#run());
    }
  }

  /** One run, where it is asked for. Answers whether nothing failed; what did is in the log. */
  async once(): Promise<boolean> {
    return !this.#options.organization.clusters.enabled || (await this.#automation.run()).outcome !== 'failed';
  }

  /** Throws what `handleClusterRequest` throws. */
  answer(question: ClusterRequest): Promise<JsonObject> {
    return handleClusterRequest(this.#automation, question);
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#firing;
    await this.#automation.idle();
  }

  /** One that is still under way when the next is due is enough. */
  async #run(): Promise<void> {
    if (!this.#isRunning) {
      this.#isRunning = true;
      try {
        await this.#automation.run();
      } catch (error) {
        this.#options.log.error(`issue clusters cannot be worked on: ${messageOf(error)}`);
      } finally {
        this.#isRunning = false;
      }
    }
  }
}
