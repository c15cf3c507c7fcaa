/** Work that exists once in a fleet: notifications, and facts that belong to no organization. */
import type { Clock } from '../core/clock.ts';
import { messageOf } from '../core/errors.ts';
import type { LeaseWork } from '../fleet/fleet-leases.ts';
import type { Logger } from '../log.ts';
import type { Lease } from '../store/leases.ts';
import { IN_FLIGHT } from './fleet/running-organization.ts';
import type { DaemonNotifications } from './notifications.ts';

export interface SharedWorkOptions {
  readonly notifications: Pick<DaemonNotifications, 'start' | 'retain' | 'pause'>;
  /** Returns the names of the reporters of the configuration; null if not all are known. */
  readonly reporters: () => readonly string[] | null;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Milliseconds before work that could not be started is started again. */
const RETRY = 5000;

export class SharedWork implements LeaseWork {
  readonly #options: SharedWorkOptions;
  #lease: Lease | null = null;
  #hasStarted = false;
  /** Settles when the last start or end has been carried out. */
  #last: Promise<void> = Promise.resolve();

  constructor(options: SharedWorkOptions) {
    this.#options = options;
  }

  /** Lease of the work; null if this replica does not have it, or has not started. */
  get lease(): Lease | null {
    return this.#hasStarted && this.#lease?.lost.aborted === false ? this.#lease : null;
  }

  begin(lease: Lease): void {
    this.#lease = lease;
    if (this.#hasStarted) {
      void this.#startAlone(lease);
    }
  }

  async end(): Promise<void> {
    this.#lease = null;
    await this.#last.catch(() => undefined);
    await this.#options.notifications.pause(IN_FLIGHT);
  }

  /** Starts the work, now or once the lease is claimed. Throws StoreError. */
  async start(): Promise<void> {
    this.#hasStarted = true;
    if (this.#lease !== null) {
      await this.#start(this.#lease);
    }
  }

  /** Forgets what organizations have reported that are not configured any more. */
  async forgetRemoved(): Promise<void> {
    const { notifications, reporters } = this.#options;
    const { lease } = this;
    if (lease !== null) {
      await notifications.retain(lease, reporters());
    }
  }

  /** Starts the work, again and again until it succeeds or the lease ends. Never rejects. */
  async #startAlone(lease: Lease): Promise<void> {
    const { clock, log } = this.#options;
    while (this.#lease === lease && !lease.lost.aborted) {
      try {
        await this.#start(lease);
        return;
      } catch (error) {
        log.error({ reason: messageOf(error), retryIn: RETRY }, 'notifications cannot be started; retrying');
        await clock.sleep(RETRY, lease.lost).catch(() => undefined);
      }
    }
  }

  #start(lease: Lease): Promise<void> {
    const { notifications, reporters } = this.#options;
    this.#last = this.#last.catch(() => undefined).then(() => notifications.start(lease, reporters()));
    return this.#last;
  }
}
