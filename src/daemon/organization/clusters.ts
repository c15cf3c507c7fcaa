/** Issue clusters of one organization in the daemon. */
import { type ClusterRequest, handleClusterRequest } from '../../clusters/control-api.ts';
import { ClusterOverview } from '../../clusters/events.ts';
import { createNames } from '../../clusters/route.ts';
import { ClusterAutomation } from '../../clusters/run.ts';
import type { ClientObserver } from '../../clusters/session.ts';
import { readStoredClusters, type StoredClusters } from '../../clusters/store.ts';
import { createTextRedaction } from '../../conversations/redact/text-redaction.ts';
import { endsWithin } from '../../core/clock.ts';
import { messageOf } from '../../core/errors.ts';
import type { JsonObject } from '../../core/json.ts';
import { openReader, openWriter } from '../../platform/client.ts';
import type { Priority } from '../../queue/request.ts';
import { runOnCron } from '../../reconcile/schedule.ts';
import { type Note, recordedSite } from '../../store/record.ts';
import type { Feature, OrganizationContext } from './feature.ts';
import type { Reconciliation } from './reconciliation.ts';

/** Milliseconds that the check of the settings may delay the start of the daemon. */
const CHECK_LIMIT = 10_000;

/** Opens change requests for the issue clusters of an organization, on a schedule. */
export class OrganizationClusters implements Feature {
  readonly stage = 2;
  /** Result of the runs since the daemon started. */
  readonly overview: ClusterOverview;
  readonly #note: Note;
  readonly #context: OrganizationContext;
  readonly #automation: ClusterAutomation;
  readonly #stopping = new AbortController();
  #schedule: Promise<void> = Promise.resolve();
  #isRunning = false;

  /** `reconciliation`: names spaces; null if the configuration has no source of manifests. */
  constructor(context: OrganizationContext, reconciliation: Reconciliation | null) {
    const { organization, connection, probe, store, clock, random, dryRun, abort, events } = context;
    const { site } = organization.conversations;
    const client = (priority: Priority, observer: ClientObserver) => ({
      organization: organization.id,
      priority,
      signal: abort,
      ...observer,
    });
    this.#context = context;
    this.#note = store.note(`clusters/${organization.id}`);
    this.overview = new ClusterOverview(clock);
    this.#automation = new ClusterAutomation({
      config: organization.clusters,
      openReader: (priority, observer) => openReader(connection, client(priority, observer)),
      openWriter: dryRun ? null : (priority, observer) => openWriter(connection, client(priority, observer)),
      note: this.#note,
      names: createNames({
        record: store.organization(organization.id),
        declared: async () => (reconciliation === null ? new Map() : (await reconciliation.source.peek()).declared),
        bindings: () => reconciliation?.reconciler.lastPlan?.bindings ?? null,
      }),
      site: site === null ? null : () => recordedSite(store.organization(organization.id), site),
      probe,
      clock,
      random,
      redaction: createTextRedaction(organization.conversations.redact),
      signal: AbortSignal.any([context.stopping, this.#stopping.signal]),
      events: events.publish,
    });
  }

  /**
   * Checks that every space in the settings exists. Throws ConfigError. If the check takes too long, the first run reports
   * unknown spaces.
   */
  async check(): Promise<void> {
    const { clock, log } = this.#context;
    if (!(await endsWithin(clock, CHECK_LIMIT, [this.#automation.checkSpaces()]))) {
      log.debug('spaces of clusters not checked in time');
    }
  }

  async start(): Promise<void> {
    const { organization, clock, stopping } = this.#context;
    const { enabled, schedule } = organization.clusters;
    if (enabled) {
      const signal = AbortSignal.any([stopping, this.#stopping.signal]);
      this.#schedule = runOnCron(schedule, clock, signal, () => void this.#run());
    }
  }

  /** Runs once, if clusters are enabled. */
  async once(): Promise<boolean> {
    return !this.#context.organization.clusters.enabled || (await this.#automation.run()).outcome !== 'failed';
  }

  /** Throws what `handleClusterRequest` throws. */
  async handle(request: ClusterRequest): Promise<JsonObject> {
    const answer = await handleClusterRequest(this.#automation, request);
    if (request.subcommand === 'mute' && !request.dryRun) {
      this.overview.mute(request.cluster, request.muted);
    }
    return answer;
  }

  /** Returns what is stored for people to see. Throws StoreError. */
  stored(): Promise<StoredClusters> {
    return readStoredClusters(this.#note);
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#schedule;
    await this.#automation.idle();
  }

  /** Runs, unless the previous run has not ended. */
  async #run(): Promise<void> {
    if (!this.#isRunning) {
      this.#isRunning = true;
      try {
        await this.#automation.run();
      } catch (error) {
        this.#context.log.error({ reason: messageOf(error) }, 'issue cluster run failed');
      } finally {
        this.#isRunning = false;
      }
    }
  }
}
