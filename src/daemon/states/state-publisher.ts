/** Writes the states of the organizations of this replica for the others, soon after they have changed. */
import { hash } from 'node:crypto';
import { type Clock, WakeUpSignal } from '../../core/clock.ts';
import { LeaseLostError, messageOf } from '../../core/errors.ts';
import type { Logger } from '../../log.ts';
import type { Lease } from '../../store/leases.ts';
import type { OrganizationStates, StatePart } from '../../store/organization-states.ts';
import { type OwnedState, SUMMARY_PART, sectionsOf, summaryOf } from './state-parts.ts';

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

interface WrittenState {
  /** Parts that differ from what was written before. */
  readonly parts: readonly StatePart[];
  readonly removed: readonly string[];
  /** Hashes by part, of all parts. */
  readonly hashes: ReadonlyMap<string, string>;
}

/** Writes the states of one organization, one after the other. */
export class StateWriter {
  #written: ReadonlyMap<string, string>;
  readonly #known = new Map<
    string,
    { readonly of: readonly unknown[]; readonly hashes: readonly (readonly [string, string])[] }
  >();

  /** `written`: hashes of the parts that exist, by part. */
  constructor(written: ReadonlyMap<string, string>) {
    this.#written = written;
  }

  /** Returns the parts that have changed since the last state that was stored; none if nothing has. */
  async write(state: OwnedState, now: number): Promise<WrittenState> {
    const hashes = new Map<string, string>();
    const parts: StatePart[] = [];
    const add = (part: string, content: string): readonly [string, string] => {
      const digest = hash('sha256', content, 'base64url').slice(0, 22);
      if (this.#written.get(part) !== digest) {
        parts.push({ part, hash: digest, content });
      }
      return [part, digest];
    };
    for (const { name, of, write } of sectionsOf(state, now)) {
      const known = this.#known.get(name);
      const isSame = known?.of.length === of.length && known.of.every((each, index) => each === of[index]);
      const current = isSame ? known.hashes : (await write()).map(({ part, content }) => add(part, content));
      this.#known.set(name, { of, hashes: current });
      for (const [part, digest] of current) {
        hashes.set(part, digest);
      }
    }
    hashes.set(...add(SUMMARY_PART, summaryOf(state, hashes)));
    return { parts, hashes, removed: [...this.#written.keys()].filter((part) => !hashes.has(part)) };
  }

  /** Records that a state was stored. */
  stored({ hashes }: WrittenState): void {
    this.#written = hashes;
  }

  /** Records that a state could not be stored: the next one is written from the beginning. */
  failed(): void {
    this.#known.clear();
  }
}
