/** Reconciliation of one organization in the daemon. */
import { join, resolve } from 'node:path';
import type { ManifestSource } from '../../config/config.ts';
import { kinds } from '../../kinds/registry.ts';
import { openReader, openWriter } from '../../platform/client.ts';
import type { Connection } from '../../platform/connection.ts';
import type { Priority } from '../../queue/request.ts';
import { PlanAuthors } from '../../reconcile/approvals.ts';
import { OrganizationReconciler } from '../../reconcile/organization.ts';
import type { PassEvents } from '../../reconcile/pass.ts';
import { applyParallel } from '../../reconcile/planning.ts';
import { openPushReceiver, type PushReceiver } from '../../reconcile/push-receiver.ts';
import { createSchedule, type Schedule } from '../../reconcile/schedule.ts';
import { type DesiredSource, openSource } from '../../reconcile/source.ts';
import type { KnownResources } from '../../web/model/page.ts';
import type { Feature, OrganizationContext } from './feature.ts';
import { PassRecorder } from './pass-history.ts';

/** Reconciles an organization with its source of manifests: at the start, on a schedule and when the source changes. */
export class Reconciliation implements Feature {
  readonly stage = 1;
  readonly source: DesiredSource;
  readonly reconciler: OrganizationReconciler;
  /** Null if no webhook is configured. */
  readonly pushes: PushReceiver | null;
  readonly #schedule: Schedule;
  readonly #recorder: PassRecorder;

  constructor(context: OrganizationContext, source: ManifestSource) {
    const { organization, config, store, clock, log, stopping, abort, events } = context;
    const { id } = organization;
    const clones = join(resolve(config.runtime.directory), 'checkouts');
    this.source = openSource(source, organization, { clones, signal: abort, clock });
    this.#recorder = new PassRecorder(context);
    this.reconciler = new OrganizationReconciler({
      config: organization,
      user: config.platform.user,
      kinds,
      source: this.source,
      record: store.organization(id),
      pauses: store.history(id),
      reverts: store.note(`flapping/${id}`),
      planAuthors: new PlanAuthors(store.note(`applied/${id}`), this.source),
      clock,
      ...openClients(context),
      signal: stopping,
      abort,
      events: events.publish,
    });
    const onError = (reason: string) => stopping.aborted || log.warn({ reason }, 'cannot follow the source');
    this.#schedule = createSchedule(this.reconciler, this.source, organization.schedule.drift, clock, onError);
    const onCommand = () => events.publish.onCommand?.();
    this.pushes = openPushReceiver(organization, store, clock, () => this.fetchNow(), onCommand);
  }

  /** Subscriptions of the history and of the schedule to the passes. */
  get subscriptions(): readonly PassEvents[] {
    return [
      this.#recorder.events(),
      {
        onPassEnd: ({ retryIn }) => {
          if (retryIn !== null) {
            this.#schedule.retryIn(retryIn);
          }
        },
      },
    ];
  }

  async start(): Promise<void> {
    await this.#schedule.start();
    void this.reconciler.trigger('start');
  }

  /** Resources of the last valid manifests; null before they were read. */
  get resources(): KnownResources | null {
    const { lastDesired, lastCheck } = this.reconciler;
    return lastDesired === null
      ? null
      : { declared: lastDesired.state.declared, ids: lastCheck?.plan.bindings ?? new Map() };
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
