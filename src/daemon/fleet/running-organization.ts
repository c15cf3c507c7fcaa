/** An organization whose lease this replica has: starts its features, and stops them when the lease ends. */
import type { OrganizationConfig } from '../../config/config.ts';
import { type Clock, endsWithin } from '../../core/clock.ts';
import { ConfigError, messageOf } from '../../core/errors.ts';
import type { Logger } from '../../log.ts';
import type { Lease } from '../../store/leases.ts';
import type { ManagedOrganization } from '../organization/managed-organization.ts';

/** Milliseconds that requests in flight may take while an organization stops. */
export const IN_FLIGHT = 6000;
/** Milliseconds after which unfinished work is abandoned: less than 10 s, including closing. */
const STOP_LIMIT = 8000;
/** Milliseconds before an organization that could not be started is started again. */
const RETRY = 5000;

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

export class RunningOrganization {
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
      await this.#clock.sleep(RETRY, signal).catch(() => undefined);
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
        this.#log.error({ organization: id, reason, retryIn: RETRY }, 'cannot start the organization; retrying');
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
