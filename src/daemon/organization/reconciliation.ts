import { join, resolve } from 'node:path';
import type { ManifestSource } from '../../config/config.ts';
import { kinds } from '../../kinds/registry.ts';
import { createManifestLoader } from '../../manifests/loader.ts';
import { openReader, openWriter } from '../../platform/client.ts';
import type { Connection } from '../../platform/connection.ts';
import type { Priority } from '../../queue/request.ts';
import { FlappingFields } from '../../reconcile/daemon/flapping-fields.ts';
import { OrganizationReconciler } from '../../reconcile/daemon/organization.ts';
import type { PassEvents } from '../../reconcile/daemon/pass.ts';
import { PlanAuthors } from '../../reconcile/daemon/plan-authors.ts';
import { PushReceiver, pushWebhook } from '../../reconcile/daemon/push-receiver.ts';
import { createSchedule, type Schedule } from '../../reconcile/daemon/schedule.ts';
import { type DesiredSource, openSource } from '../../reconcile/daemon/source.ts';
import { applyParallel } from '../../reconcile/planning.ts';
import { combineListeners } from '../../server/listeners.ts';
import { logEvents, metricEvents } from '../../server/pass-events.ts';
import type { Feature, OrganizationContext } from './feature.ts';
import { type PassRecorder, recordPasses } from './pass-history.ts';

export interface ReconciliationOptions {
  readonly source: ManifestSource;
  /** Returns the command that approves a checksum, for the log. */
  readonly approveCommand: (checksum: string) => string;
  /** Called after every pass. */
  readonly onPassEnd: () => void;
  /** Called after a pass was recorded in the history. */
  readonly onRecorded: (number: number) => void;
  /** Listener in addition to the log and the metrics. */
  readonly events: PassEvents;
}

/** Reconciles an organization with its source of manifests: at the start, on a schedule and when the source changes. */
export class Reconciliation implements Feature {
  readonly stage = 1;
  readonly source: DesiredSource;
  readonly reconciler: OrganizationReconciler;
  /** Null if no webhook is configured. */
  readonly pushes: PushReceiver | null;
  readonly #schedule: Schedule;
  readonly #recorder: PassRecorder;

  constructor(context: OrganizationContext, options: ReconciliationOptions) {
    const { organization, config, connection, store, clock, log, metrics, stopping, abort } = context;
    const { id } = organization;
    const clones = join(resolve(config.runtime.directory), 'checkouts');
    this.source = openSource(options.source, organization, createManifestLoader(kinds), {
      clones,
      signal: abort,
      clock,
    });
    this.#recorder = recordPasses({
      organization: id,
      history: store.history(id),
      log,
      ...{ clock, stopping },
      refusals: () => connection.queue.snapshot().outcomes.refused,
      onRecorded: options.onRecorded,
    });
    this.reconciler = new OrganizationReconciler({
      config: organization,
      user: config.platform.user,
      kinds,
      source: this.source,
      record: store.organization(id),
      pauses: store.history(id),
      flappingFields: new FlappingFields(store.note(`flapping/${id}`)),
      planAuthors: new PlanAuthors({ note: store.note(`applied/${id}`), source: this.source }),
      clock,
      ...openClients(context),
      signal: stopping,
      abort,
      events: combineListeners([
        logEvents(log, options.approveCommand),
        metricEvents(id, metrics),
        this.#recorder.events,
        options.events,
        { onPassEnd: ({ retryIn }) => this.#endPass(retryIn, options.onPassEnd) },
      ]),
    });
    this.#schedule = createSchedule({
      reconciler: this.reconciler,
      source: this.source,
      drift: organization.schedule.drift,
      clock,
      onError: (reason) => stopping.aborted || log.warn({ reason }, 'cannot follow the source'),
    });
    const webhook = pushWebhook(organization);
    this.pushes =
      webhook === null
        ? null
        : new PushReceiver({
            webhook,
            note: (name) => store.note(`push-webhook/${name}/${id}`),
            clock,
            onPush: () => this.fetchNow(),
          });
  }

  async start(): Promise<void> {
    await this.#schedule.start();
    void this.reconciler.trigger('start');
  }

  /** Runs one pass. Its outcome is available as `reconciler.lastEnd`. */
  async once(): Promise<boolean> {
    await this.reconciler.trigger('start');
    await this.#recorder.idle();
    return true;
  }

  /** Checks for a new commit now. */
  fetchNow(): void {
    this.#schedule.fetchNow();
  }

  async stop(): Promise<void> {
    await Promise.all([this.#schedule.stop(), this.reconciler.idle()]);
    await this.#recorder.close();
  }

  #endPass(retryIn: number | null, onPassEnd: () => void): void {
    onPassEnd();
    if (retryIn !== null) {
      this.#schedule.retryIn(retryIn);
    }
  }
}

function openClients({ organization, config, connection, dryRun, abort }: OrganizationContext) {
  const parallel = applyParallel(config.queue.concurrency);
  const client = (count: (method: string) => void, priority: Priority) => ({
    organization: organization.id,
    priority,
    signal: abort,
    onRequest: (operation: { readonly method: string }) => count(operation.method),
  });
  return {
    openReader: (priority: Priority, count: (method: string) => void) =>
      openReader(connection, client(count, priority)),
    openWriter: dryRun
      ? null
      : (priority: Priority, count: (method: string) => void) => openWriter(connection, client(count, priority)),
    estimate: (work: Parameters<Connection['queue']['estimate']>[0]) => connection.queue.estimate(work, parallel),
    parallel,
  };
}
