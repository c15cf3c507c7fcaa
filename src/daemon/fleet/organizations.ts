/** Organizations of this replica: started when they are configured and their lease is claimed, and stopped otherwise. */
import type { OrganizationConfig } from '../../config/config.ts';
import { type Clock, endsWithin } from '../../core/clock.ts';
import { ConfigError, messageOf, StoreError } from '../../core/errors.ts';
import type { EventBus } from '../../core/event-bus.ts';
import type { LeaseWork } from '../../fleet/fleet-leases.ts';
import type { Logger } from '../../log.ts';
import { type Lease, organizationLease } from '../../store/leases.ts';
import type { DaemonEvents } from '../organization/feature.ts';
import type { ManagedOrganization } from '../organization/managed-organization.ts';

/** Milliseconds that requests in flight may take while an organization stops. */
export const IN_FLIGHT = 6000;
/** Milliseconds after which unfinished work is abandoned: less than 10 s, including closing. */
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

interface Controllers {
  readonly stopping: AbortController;
  readonly abort: AbortController;
  /** Aborts when the organization has stopped. */
  readonly ended: AbortController;
}

class RunningOrganization {
  readonly managed: ManagedOrganization;
  readonly #stopping: AbortController;
  readonly #abort: AbortController;
  readonly #ended: AbortController;
  readonly #opener: OrganizationOpener;
  readonly #clock: Clock;
  readonly #log: Logger;
  #starting: Promise<void> | null = null;
  /** Number of features that have started. */
  #started = 0;

  private constructor(
    managed: ManagedOrganization,
    { stopping, abort, ended }: Controllers,
    { opener, clock, log }: { readonly opener: OrganizationOpener; readonly clock: Clock; readonly log: Logger },
  ) {
    this.managed = managed;
    this.#stopping = stopping;
    this.#abort = abort;
    this.#ended = ended;
    this.#opener = opener;
    this.#clock = clock;
    this.#log = log;
  }

  /** Opens an organization. Throws AppError. */
  static async open(
    config: OrganizationConfig,
    lease: Lease,
    context: { readonly opener: OrganizationOpener; readonly clock: Clock; readonly log: Logger },
  ): Promise<RunningOrganization> {
    const controllers = { stopping: new AbortController(), abort: new AbortController(), ended: new AbortController() };
    const { stopping, abort, ended } = controllers;
    const onLost = () => {
      stopping.abort();
      abort.abort();
    };
    lease.lost.addEventListener('abort', onLost, { once: true, signal: ended.signal });
    try {
      const managed = await context.opener.open({ config, lease, stopping: stopping.signal, abort: abort.signal });
      return new RunningOrganization(managed, controllers, context);
    } catch (error) {
      ended.abort();
      throw error;
    }
  }

  /** Checks what only the manifests and the platform can verify. Throws ConfigError. */
  async check(): Promise<void> {
    await Promise.all(this.managed.features.map((feature) => feature.check?.()));
  }

  /** Starts the features, in their order. After a failure, another call starts the rest. */
  start(): Promise<void> {
    this.#starting ??= this.#start().catch((error: unknown) => {
      this.#starting = null;
      throw error;
    });
    return this.#starting;
  }

  /** Checks and starts, again and again until it succeeds or the organization stops. Never rejects. */
  async startAlone(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted && !(await this.#tryStart())) {
      await this.#clock.sleep(START_RETRY, signal).catch(() => undefined);
    }
  }

  /** Stops the features, and closes the organization. Never rejects. */
  async stop(): Promise<void> {
    const { managed } = this;
    this.#stopping.abort();
    managed.queue.recheck();
    const ended = managed.features.map((feature) => feature.stop(IN_FLIGHT));
    const all = Promise.all(ended).catch((error: unknown) => {
      this.#log.error({ organization: managed.id, reason: messageOf(error) }, 'cannot stop the organization');
    });
    if (!(await endsWithin(this.#clock, IN_FLIGHT, [all]))) {
      this.#abort.abort();
      if (!(await endsWithin(this.#clock, STOP_LIMIT - IN_FLIGHT, [all]))) {
        this.#log.warn({ organization: managed.id }, 'shutdown timed out; abandoning unfinished work');
      }
    }
    await this.#opener.close(managed).catch((error: unknown) => {
      this.#log.error({ organization: managed.id, reason: messageOf(error) }, 'cannot close the organization');
    });
    this.#ended.abort();
  }

  /** Returns false if the start failed, for example because the database could not be used. */
  async #tryStart(): Promise<boolean> {
    const { id } = this.managed;
    try {
      await this.check().catch((error: unknown) => {
        if (!(error instanceof ConfigError)) {
          throw error;
        }
        this.#log.error({ organization: id, reason: error.message }, 'settings cannot be used');
      });
      await this.start();
      return true;
    } catch (error) {
      if (!this.#stopping.signal.aborted) {
        const reason = messageOf(error);
        this.#log.error({ organization: id, reason, retryIn: START_RETRY }, 'cannot start the organization; retrying');
      }
      return false;
    }
  }

  async #start(): Promise<void> {
    for (const feature of this.managed.features.slice(this.#started)) {
      if (this.#stopping.signal.aborted) {
        return;
      }
      await feature.start();
      this.#started += 1;
    }
  }
}

interface FleetOrganizationsOptions {
  readonly opener: OrganizationOpener;
  readonly clock: Clock;
  readonly log: Logger;
  readonly events: EventBus<DaemonEvents>;
}

interface Running {
  readonly config: OrganizationConfig;
  readonly lease: Lease;
  readonly work: RunningOrganization;
}

/** Wanted and actual state of an organization. */
interface Slot {
  readonly id: string;
  /** Null: not configured. */
  config: OrganizationConfig | null;
  /** Null: another replica has it, or nobody. */
  lease: Lease | null;
  running: Running | null;
  /** Settles when the organization is what it should be; null then. */
  settling: Promise<void> | null;
  /** The last attempt to open it; null if it succeeded, or is to be repeated. */
  failed: { readonly config: OrganizationConfig; readonly lease: Lease; readonly error: unknown } | null;
}

/** Milliseconds before an organization that could not be opened is opened again. */
const RETRY = 10_000;

export class FleetOrganizations implements LeaseWork {
  readonly #options: FleetOrganizationsOptions;
  /** By the name of the lease. */
  readonly #slots = new Map<string, Slot>();
  readonly #closed = new AbortController();
  #hasStarted = false;
  /** Null: has to be made again. */
  #list: readonly ManagedOrganization[] | null = null;

  constructor(options: FleetOrganizationsOptions) {
    this.#options = options;
  }

  /** Organizations that are open, in the order of the configuration. The list is another object after each change. */
  get open(): readonly ManagedOrganization[] {
    this.#list ??= this.#running.map(({ managed }) => managed);
    return this.#list;
  }

  find(id: string): ManagedOrganization | undefined {
    return this.#slots.get(organizationLease(id))?.running?.work.managed;
  }

  isConfigured(id: string): boolean {
    return (this.#slots.get(organizationLease(id))?.config ?? null) !== null;
  }

  /** Returns true if this replica has the lease of a configured organization. */
  isHeld(id: string): boolean {
    const lease = this.#slots.get(organizationLease(id))?.lease ?? null;
    return lease !== null && !lease.lost.aborted && this.isConfigured(id);
  }

  /**
   * Replaces the configuration. Organizations whose settings are the same object continue; others restart, with the
   * requests in flight completed.
   */
  setOrganizations(configs: readonly OrganizationConfig[]): void {
    const before = new Map(this.#slots);
    this.#list = null;
    this.#slots.clear();
    for (const config of configs) {
      const slot = before.get(organizationLease(config.id)) ?? newSlot(config.id);
      slot.config = config;
      this.#slots.set(organizationLease(config.id), slot);
    }
    for (const [name, slot] of before) {
      if (!this.#slots.has(name)) {
        slot.config = null;
        this.#slots.set(name, slot);
      }
    }
    for (const slot of before.values()) {
      void this.#settle(slot);
    }
  }

  begin(lease: Lease): void {
    const slot = this.#slots.get(lease.name);
    if (slot !== undefined) {
      slot.lease = lease;
      void this.#settle(slot);
    }
  }

  async end(lease: Lease): Promise<void> {
    const slot = this.#slots.get(lease.name);
    if (slot?.lease === lease) {
      slot.lease = null;
      await this.#settle(slot);
    }
  }

  /** Resolves once every organization whose lease was claimed was opened. Returns the errors of those that cannot be. */
  async opened(): Promise<readonly unknown[]> {
    const slots = [...this.#slots.values()];
    await Promise.all(slots.map(({ settling }) => settling));
    return slots.flatMap(({ failed }) => (failed === null ? [] : [failed.error]));
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
    for (const feature of this.open.flatMap(({ features }) => features)) {
      void feature.observe?.();
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
    return [...this.#slots.values()].flatMap(({ running }) => running?.work ?? []);
  }

  #settle(slot: Slot): Promise<void> {
    slot.settling ??= this.#reconcile(slot);
    return slot.settling;
  }

  /** Stops and opens the organization until it is what it should be. Never rejects. */
  async #reconcile(slot: Slot): Promise<void> {
    // The slot is marked as settling before the first step.
    await Promise.resolve();
    for (let next = this.#nextStep(slot); next !== null; next = this.#nextStep(slot)) {
      await next();
    }
    // Changes after the last check start another run.
    slot.settling = null;
  }

  /** Returns what has to be done for an organization; null if nothing has to be done now. */
  #nextStep(slot: Slot): (() => Promise<void>) | null {
    const { running, config, lease, failed } = slot;
    if (running !== null) {
      return running.config === config && running.lease === lease ? null : () => this.#stop(slot, running);
    }
    if (config === null && lease === null) {
      this.#forget(slot);
    }
    const isOpenable = config !== null && lease !== null && !lease.lost.aborted;
    return isOpenable && !(failed?.config === config && failed.lease === lease)
      ? () => this.#open(slot, config, lease)
      : null;
  }

  async #stop(slot: Slot, { work, lease }: Running): Promise<void> {
    const isLost = lease.lost.aborted;
    await work.stop();
    slot.running = null;
    this.#list = null;
    this.#log(slot, lease, isLost ? 'lease lost; the organization was stopped' : 'organization stopped');
    this.#options.events.publish.onOrganization?.(slot.id);
  }

  async #open(slot: Slot, config: OrganizationConfig, lease: Lease): Promise<void> {
    const { clock, log, events } = this.#options;
    try {
      const work = await RunningOrganization.open(config, lease, this.#options);
      slot.failed = null;
      slot.running = { config, lease, work };
      this.#list = null;
      this.#log(slot, lease, 'organization claimed');
      events.publish.onOrganization?.(slot.id);
      if (this.#hasStarted) {
        void work.startAlone();
      }
    } catch (error) {
      slot.failed = { config, lease, error };
      log.error({ organization: slot.id, reason: messageOf(error) }, 'cannot open the organization');
      clock.sleep(RETRY, this.#closed.signal).then(
        () => {
          slot.failed = null;
          void this.#settle(slot);
        },
        () => undefined,
      );
    }
  }

  /** Logs who works on an organization, in a fleet. */
  #log({ id }: Slot, { epoch }: Lease, message: string): void {
    if (epoch > 0) {
      this.#options.log.info({ organization: id, epoch }, message);
    }
  }

  #forget(slot: Slot): void {
    const name = organizationLease(slot.id);
    if (this.#slots.get(name) === slot) {
      this.#slots.delete(name);
    }
  }
}

function newSlot(id: string): Slot {
  return { id, config: null, lease: null, running: null, settling: null, failed: null };
}
