import { dirname, join, resolve } from 'node:path';
import type { Config, OrganizationConfig, Source } from '../config/config.ts';
import type { Clock } from '../core/clock.ts';
import { kinds } from '../kinds/registry.ts';
import type { Logger } from '../log.ts';
import { createManifestLoader } from '../manifests/loader.ts';
import { openReader, openWriter } from '../platform/client.ts';
import type { Connection } from '../platform/connection.ts';
import type { Priority } from '../queue/model/request.ts';
import { FlappingFields } from '../reconcile/daemon/flapping-fields.ts';
import { OrganizationReconciler } from '../reconcile/daemon/organization.ts';
import type { PassEvents } from '../reconcile/daemon/pass.ts';
import { createSchedule, type Schedule } from '../reconcile/daemon/schedule.ts';
import { type DesiredSource, openSource } from '../reconcile/daemon/source.ts';
import { combineListeners } from '../server/listeners.ts';
import type { Metrics } from '../server/metrics.ts';
import { logEvents, metricEvents } from '../server/pass-events.ts';
import type { Store } from '../store/store.ts';

/** The reconciliation of one organization that has a source of manifests. */
export interface Reconciliation {
  readonly reconciler: OrganizationReconciler;
  readonly schedule: Schedule;
  readonly source: DesiredSource;
}

export interface ReconciliationOptions {
  readonly organization: OrganizationConfig;
  readonly source: Source;
  readonly config: Config;
  readonly connection: Connection;
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** The command that approves a checksum, for the log. */
  readonly approveCommand: (checksum: string) => string;
  /** Called after every pass. */
  readonly onPassEnd: () => void;
  /** Listener in addition to the log and the metrics. */
  readonly events: PassEvents;
  /** Plans and reports, and never writes. */
  readonly dryRun: boolean;
  /** Begins nothing new once it aborts. */
  readonly stopping: AbortSignal;
  readonly abort: AbortSignal;
}

/** Opens the source of an organization, and what reconciles it. */
export function openReconciliation(options: ReconciliationOptions): Reconciliation {
  const { organization, config, store, clock, log, abort, onPassEnd } = options;
  const { id } = organization;
  const clones = join(dirname(resolve(config.store.path)), 'checkouts');
  const source = openSource(options.source, organization, clones, createManifestLoader(kinds), abort);
  let schedule: Schedule | null = null;
  const reconciler = new OrganizationReconciler({
    config: organization,
    user: config.platform.user,
    kinds,
    source,
    record: store.organization(id),
    flappingFields: new FlappingFields(store.note(`flapping/${id}`)),
    clock,
    ...clientsOf(options),
    signal: options.stopping,
    abort,
    events: combineListeners([
      logEvents(log.child({ organization: id }), options.approveCommand),
      metricEvents(id, options.metrics),
      options.events,
      {
        onPassEnd: ({ retryIn }) => {
          onPassEnd();
          if (retryIn !== null) {
            schedule?.retryIn(retryIn);
          }
        },
      },
    ]),
  });
  schedule = createSchedule({
    reconciler,
    source,
    drift: organization.schedule.drift,
    clock,
    onError: (message) => log.warn({ organization: id }, message),
  });
  return { reconciler, schedule, source };
}

function clientsOf({ organization, config, connection, dryRun, abort }: ReconciliationOptions) {
  const parallel = 2 * config.queue.concurrency;
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
