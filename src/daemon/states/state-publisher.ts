/** Writes the states of the organizations of this replica for the others, soon after they have changed. */
import type { Clock } from '../../core/clock.ts';
import { LeaseLostError, messageOf } from '../../core/errors.ts';
import { WakeUpSignal } from '../../core/wake-up-signal.ts';
import type { Logger } from '../../log.ts';
import type { Lease } from '../../store/leases.ts';
import type { OrganizationStates } from '../../store/organization-states.ts';
import { type OwnedState, StateWriter } from './state-content.ts';

/** An organization of this replica. */
export interface PublishedOrganization {
  readonly id: string;
  readonly lease: Pick<Lease, 'epoch' | 'lost'>;
  /** States, fenced by the lease. */
  readonly states: Pick<OrganizationStates, 'write' | 'versions'>;
  readonly read: () => OwnedState;
}

export interface StatePublisherOptions {
  readonly clock: Clock;
  readonly log: Pick<Logger, 'warn' | 'debug'>;
  /** Called after the state of an organization was written. */
  readonly onWritten: (organization: string) => void;
}

interface Published {
  readonly organization: PublishedOrganization;
  /** Null before the versions that exist were read. */
  writer: StateWriter | null;
  hasChanged: boolean;
  /** Time on the monotonic clock before which nothing is written. */
  notBefore: number;
  isWriting: boolean;
}

/** Least milliseconds between two writes of an organization, and after one that failed. */
const INTERVAL = 1000;
const RETRY = 5000;
/** Organizations that are written at the same time. */
const PARALLEL = 4;
/** Milliseconds until the next check if nothing changes. */
const IDLE = 60_000;

export class StatePublisher {
  readonly #options: StatePublisherOptions;
  readonly #published = new Map<string, Published>();
  readonly #changed = new Set<string>();
  readonly #wake = new WakeUpSignal();
  #writing = 0;

  constructor(options: StatePublisherOptions) {
    this.#options = options;
  }

  /** Publishes an organization from now on. */
  add(organization: PublishedOrganization): void {
    const published = {
      organization,
      writer: null,
      hasChanged: true,
      notBefore: Number.NEGATIVE_INFINITY,
      isWriting: false,
    };
    this.#published.set(organization.id, published);
    this.changed(organization.id);
  }

  /** Stops publishing an organization. Its state stays until the next owner writes. */
  remove(organization: string): void {
    this.#published.delete(organization);
  }

  /** Writes an organization soon. Does nothing for others. */
  changed(organization: string): void {
    const published = this.#published.get(organization);
    if (published !== undefined) {
      published.hasChanged = true;
      this.#changed.add(organization);
      this.#wake.notify();
    }
  }

  /** Writes until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    while (!signal.aborted) {
      const seen = this.#wake.count;
      const wait = this.#writeDue();
      await this.#wake.wait(seen, wait, clock, signal);
    }
  }

  /** Starts to write what is due. Returns the milliseconds until the next check. */
  #writeDue(): number {
    const now = this.#options.clock.monotonic();
    let wait = IDLE;
    for (const id of this.#changed) {
      const published = this.#published.get(id);
      if (published === undefined || !published.hasChanged) {
        this.#changed.delete(id);
      } else if (!published.isWriting && published.notBefore > now) {
        wait = Math.min(wait, published.notBefore - now);
      } else if (!published.isWriting && this.#writing < PARALLEL) {
        void this.#write(published);
      }
    }
    return wait;
  }

  /** Writes an organization. Never rejects. */
  async #write(published: Published): Promise<void> {
    const { clock, log, onWritten } = this.#options;
    const { organization } = published;
    const { id, lease } = organization;
    published.isWriting = true;
    published.hasChanged = false;
    this.#writing += 1;
    try {
      if (!lease.lost.aborted && (await this.#writeParts(published))) {
        onWritten(id);
      }
      published.notBefore = clock.monotonic() + INTERVAL;
    } catch (error) {
      published.writer?.failed();
      if (!(error instanceof LeaseLostError)) {
        log.debug({ organization: id, reason: messageOf(error) }, 'cannot write the state for other replicas');
        published.hasChanged = true;
        published.notBefore = clock.monotonic() + RETRY;
      }
    }
    this.#writing -= 1;
    published.isWriting = false;
    this.#wake.notify();
  }

  /** Returns false if nothing differs from what was written before. */
  async #writeParts(published: Published): Promise<boolean> {
    const { organization } = published;
    const { id, lease, states } = organization;
    const now = this.#options.clock.now();
    if (published.writer === null) {
      const versions = await states.versions(id);
      published.writer = new StateWriter(new Map(versions.map(({ part, hash }) => [part, hash])));
    }
    const { writer } = published;
    const written = await writer.write(organization.read(), now);
    if (written.parts.length === 0 && written.removed.length === 0) {
      return false;
    }
    await states.write(id, { epoch: lease.epoch, at: now, parts: written.parts, removed: written.removed });
    writer.stored(written);
    return true;
  }
}
