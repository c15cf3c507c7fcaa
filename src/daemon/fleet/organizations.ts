/** Organizations of this replica: started when they are configured and their lease is claimed, and stopped otherwise. */
import type { OrganizationConfig } from '../../config/config.ts';
import { endsWithin } from '../../core/clock.ts';
import { ConfigError, messageOf, StoreError } from '../../core/errors.ts';
import type { LeaseWork } from '../../fleet/fleet-leases.ts';
import { type Lease, organizationLease } from '../../store/leases.ts';
import type { DaemonContext } from '../organization/feature.ts';
import type { ManagedOrganization } from '../organization/managed-organization.ts';

/** Milliseconds that requests in flight may take while an organization stops. */
export const IN_FLIGHT = 6000;
/** Milliseconds after which unfinished work of an organization is abandoned. */
const STOP_LIMIT = 8000;
/** Milliseconds before an organization that could not be started is started again. */
const START_RETRY = 5000;

/** Input for opening an organization. */
export interface OrganizationStart {
  readonly config: OrganizationConfig;
  readonly lease: Lease;
  /** Aborts when the organization stops: nothing new is started. */
  readonly stopping: AbortSignal;
  /** Aborts its requests in flight: at once if the lease is lost, otherwise only if they take long. */
  readonly abort: AbortSignal;
}

export interface OrganizationOpener {
  /** Opens an organization without starting it. Throws AppError. */
  open(start: OrganizationStart): Promise<ManagedOrganization>;
  /** Releases what `open` has opened, after all features have stopped. */
  close(organization: ManagedOrganization): Promise<void>;
}

type OpenerContext = Pick<DaemonContext, 'clock' | 'log' | 'events'>;

type RunningOrganization = Awaited<ReturnType<typeof openOrganization>>;

/** Opens an organization. Throws AppError. */
async function openOrganization(
  config: OrganizationConfig,
  lease: Lease,
  { clock, log }: OpenerContext,
  opener: OrganizationOpener,
) {
  const [end, cancel] = [new AbortController(), new AbortController()];
  const stopping = AbortSignal.any([end.signal, lease.lost]);
  const abort = AbortSignal.any([cancel.signal, lease.lost]);
  const managed = await opener.open({ config, lease, stopping, abort });
  const organization = managed.id;
  /** Number of features that have started. */
  let started = 0;
  /** Checks what only the manifests and the platform can verify. Throws ConfigError. */
  const check = () => managed.clusters.check();
  /** Starts the features, in their order. After a failure, another call starts the rest. */
  const start = async () => {
    for (const feature of managed.features.slice(started)) {
      if (stopping.aborted) {
        return;
      }
      await feature.start();
      started += 1;
    }
  };
  return {
    managed,
    check,
    start,
    /** Checks and starts, again and again until it succeeds or the organization stops. Never rejects. */
    startAlone: async (): Promise<void> => {
      while (!stopping.aborted) {
        try {
          await check().catch((error: unknown) => {
            if (!(error instanceof ConfigError)) {
              throw error;
            }
            log.error({ organization, reason: error.message }, 'settings cannot be used');
          });
          await start();
          return;
        } catch (error) {
          if (!stopping.aborted) {
            const reason = messageOf(error);
            log.error({ organization, reason, retryIn: START_RETRY }, 'cannot start the organization; retrying');
          }
          await clock.sleep(START_RETRY, stopping).catch(() => undefined);
        }
      }
    },
    /** Stops the features, and closes the organization. Never rejects. */
    stop: async (): Promise<void> => {
      end.abort();
      managed.queue.recheck();
      const all = Promise.all(managed.features.map((feature) => feature.stop(IN_FLIGHT))).catch((error: unknown) => {
        log.error({ organization, reason: messageOf(error) }, 'cannot stop the organization');
      });
      if (!(await endsWithin(clock, IN_FLIGHT, [all]))) {
        cancel.abort();
        if (!(await endsWithin(clock, STOP_LIMIT - IN_FLIGHT, [all]))) {
          log.warn({ organization }, 'shutdown timed out; abandoning unfinished work');
        }
      }
      await opener.close(managed).catch((error: unknown) => {
        log.error({ organization, reason: messageOf(error) }, 'cannot close the organization');
      });
    },
  };
}

/** Wanted and actual state of an organization. */
interface Assignment {
  readonly id: string;
  /** Null: not configured. */
  config: OrganizationConfig | null;
  /** Null: another replica has it, or nobody. */
  lease: Lease | null;
  running: RunningOrganization | null;
  /** Settles when the organization is what it should be; null then. */
  settling: Promise<void> | null;
  /** The last attempt to open it; null if it succeeded, or is to be repeated. */
  failed: { readonly config: OrganizationConfig; readonly lease: Lease; readonly error: unknown } | null;
}

const UNASSIGNED = { config: null, lease: null, running: null, settling: null, failed: null };

/** Milliseconds before an organization that could not be opened is opened again. */
const RETRY = 10_000;

export class FleetOrganizations implements LeaseWork {
  readonly #context: OpenerContext;
  readonly #opener: OrganizationOpener;
  /** By the name of the lease. */
  #configured: readonly OrganizationConfig[] = [];
  readonly #assignments = new Map<string, Assignment>();
  readonly #closed = new AbortController();
  #hasStarted = false;
  /** Null: has to be made again. */
  #list: readonly ManagedOrganization[] | null = null;

  constructor(context: OpenerContext, opener: OrganizationOpener) {
    this.#context = context;
    this.#opener = opener;
  }

  /** Organizations of the configuration. The list is another object after each change. */
  get configured(): readonly OrganizationConfig[] {
    return this.#configured;
  }

  /** Organizations that are open, in the order of the configuration. The list is another object after each change. */
  get open(): readonly ManagedOrganization[] {
    this.#list ??= this.#running.map(({ managed }) => managed);
    return this.#list;
  }

  find(id: string): ManagedOrganization | undefined {
    return this.#assignments.get(organizationLease(id))?.running?.managed;
  }

  isConfigured(id: string): boolean {
    return (this.#assignments.get(organizationLease(id))?.config ?? null) !== null;
  }

  /** Returns true if this replica has the lease of a configured organization. */
  isHeld(id: string): boolean {
    const lease = this.#assignments.get(organizationLease(id))?.lease ?? null;
    return lease !== null && !lease.lost.aborted && this.isConfigured(id);
  }

  /**
   * Replaces the configuration. Organizations whose settings are the same object continue; others restart, with the
   * requests in flight completed.
   */
  setOrganizations(configs: readonly OrganizationConfig[]): void {
    const before = new Map(this.#assignments);
    this.#configured = configs;
    this.#list = null;
    this.#assignments.clear();
    for (const config of configs) {
      const assignment = before.get(organizationLease(config.id)) ?? { ...UNASSIGNED, id: config.id };
      assignment.config = config;
      this.#assignments.set(organizationLease(config.id), assignment);
    }
    for (const [name, assignment] of before) {
      if (!this.#assignments.has(name)) {
        assignment.config = null;
        this.#assignments.set(name, assignment);
      }
    }
    for (const assignment of before.values()) {
      void this.#settle(assignment);
    }
  }

  begin(lease: Lease): void {
    const assignment = this.#assignments.get(lease.name);
    if (assignment !== undefined) {
      assignment.lease = lease;
      void this.#settle(assignment);
    }
  }

  async end(lease: Lease): Promise<void> {
    const assignment = this.#assignments.get(lease.name);
    if (assignment?.lease === lease) {
      assignment.lease = null;
      await this.#settle(assignment);
    }
  }

  /** Resolves once every organization whose lease was claimed was opened. Returns the errors of those that cannot be. */
  async opened(): Promise<readonly unknown[]> {
    const assignments = [...this.#assignments.values()];
    await Promise.all(assignments.map(({ settling }) => settling));
    return assignments.flatMap(({ failed }) => (failed === null ? [] : [failed.error]));
  }

  /** Checks the settings of the open organizations with the platform. Throws ConfigError. */
  async check(): Promise<void> {
    await Promise.all(this.#running.map((work) => work.check()));
  }

  /** Starts the open organizations, and from then on each that is opened. */
  async start(): Promise<void> {
    this.#hasStarted = true;
    await Promise.all(this.#running.map((work) => work.start()));
  }

  /** Runs the due work of the open organizations once. Returns false if something failed. */
  async once(): Promise<boolean> {
    const all = this.open.flatMap(({ features }) => features);
    let hasSucceeded = true;
    for (const stage of [1, 2]) {
      const features = all.filter((feature) => feature.stage === stage);
      const results = await Promise.all(features.map((feature) => feature.once()));
      hasSucceeded &&= results.every(Boolean);
    }
    return hasSucceeded;
  }

  /** Updates the metrics of the open organizations. */
  observe(): void {
    for (const { conversations } of this.open) {
      void conversations.observe();
    }
  }

  /** Returns what the open organizations still wait for. */
  unready(): readonly string[] {
    return this.open.flatMap(({ id, reconciliation }) => {
      const end = reconciliation?.reconciler.lastEnd;
      if (end === null) {
        return [`${id}: the first pass has not ended`];
      }
      const isStoreFailure = end?.outcome === 'failed' && end.error instanceof StoreError;
      return isStoreFailure ? [`${id}: the last pass could not use the state file; see the log`] : [];
    });
  }

  /** Ends the attempts to open organizations. */
  close(): void {
    this.#closed.abort();
  }

  get #running(): readonly RunningOrganization[] {
    return [...this.#assignments.values()].flatMap(({ running }) => running ?? []);
  }

  #settle(assignment: Assignment): Promise<void> {
    assignment.settling ??= this.#reconcile(assignment);
    return assignment.settling;
  }

  /** Stops and opens the organization until it is what it should be. Never rejects. */
  async #reconcile(assignment: Assignment): Promise<void> {
    // The assignment is marked as settling before the first step.
    await Promise.resolve();
    for (let next = this.#nextStep(assignment); next !== null; next = this.#nextStep(assignment)) {
      await next();
    }
    // Changes after the last check start another run.
    assignment.settling = null;
  }

  /** Returns what has to be done for an organization; null if nothing has to be done now. */
  #nextStep(assignment: Assignment): (() => Promise<void>) | null {
    const { running, config, lease, failed } = assignment;
    if (running !== null) {
      const isWanted = running.managed.config === config && running.managed.lease === lease;
      return isWanted ? null : () => this.#stop(assignment, running);
    }
    const name = organizationLease(assignment.id);
    if (config === null && lease === null && this.#assignments.get(name) === assignment) {
      this.#assignments.delete(name);
    }
    const isOpenable = config !== null && lease !== null && !lease.lost.aborted;
    return isOpenable && !(failed?.config === config && failed.lease === lease)
      ? () => this.#open(assignment, config, lease)
      : null;
  }

  async #stop(assignment: Assignment, running: RunningOrganization): Promise<void> {
    const { lease } = running.managed;
    const isLost = lease.lost.aborted;
    await running.stop();
    assignment.running = null;
    this.#list = null;
    this.#log(assignment, lease, isLost ? 'lease lost; the organization was stopped' : 'organization stopped');
    this.#context.events.publish.onOrganization?.(assignment.id);
  }

  async #open(assignment: Assignment, config: OrganizationConfig, lease: Lease): Promise<void> {
    const { clock, log, events } = this.#context;
    try {
      const running = await openOrganization(config, lease, this.#context, this.#opener);
      assignment.failed = null;
      assignment.running = running;
      this.#list = null;
      this.#log(assignment, lease, 'organization claimed');
      events.publish.onOrganization?.(assignment.id);
      if (this.#hasStarted) {
        void running.startAlone();
      }
    } catch (error) {
      assignment.failed = { config, lease, error };
      log.error({ organization: assignment.id, reason: messageOf(error) }, 'cannot open the organization');
      clock.sleep(RETRY, this.#closed.signal).then(
        () => {
          assignment.failed = null;
          void this.#settle(assignment);
        },
        () => undefined,
      );
    }
  }

  /** Logs who works on an organization, in a fleet. */
  #log({ id }: Assignment, { epoch }: Lease, message: string): void {
    if (epoch > 0) {
      this.#context.log.info({ organization: id, epoch }, message);
    }
  }
}
