/** Writes the states of the organizations of this replica for the others, soon after they have changed. */
import { hash } from 'node:crypto';
import { WakeUpSignal } from '../../core/clock.ts';
import { LeaseLostError, messageOf } from '../../core/errors.ts';
import type { Lease } from '../../store/leases.ts';
import type { OrganizationStates, StatePart } from '../../store/organization-states.ts';
import type { DaemonContext } from '../organization/feature.ts';
import { type OwnedState, SUMMARY_PART, sectionsOf, summaryOf } from './state-parts.ts';

/** An organization of this replica. */
export interface PublishedOrganization {
  readonly id: string;
  readonly lease: Pick<Lease, 'epoch' | 'lost'>;
  /** States, fenced by the lease. */
  readonly states: Pick<OrganizationStates, 'write' | 'versions'>;
  readonly read: () => OwnedState;
}

interface Published {
  readonly writer: StateWriter;
  /** Aborts when this replica does not have the organization any more. */
  readonly lost: AbortSignal;
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
  readonly #context: Pick<DaemonContext, 'clock' | 'log'>;
  readonly #onWritten: (organization: string) => void;
  readonly #published = new Map<string, Published>();
  /** Ids of the organizations that have to be written. */
  readonly #changed = new Set<string>();
  readonly #wake = new WakeUpSignal();
  #writing = 0;

  /** `onWritten` is called after the state of an organization was written. */
  constructor(context: Pick<DaemonContext, 'clock' | 'log'>, onWritten: (organization: string) => void) {
    this.#context = context;
    this.#onWritten = onWritten;
  }

  /** Publishes an organization from now on. */
  add(organization: PublishedOrganization): void {
    const { id, lease } = organization;
    const writer = new StateWriter(organization);
    this.#published.set(id, { writer, lost: lease.lost, notBefore: Number.NEGATIVE_INFINITY, isWriting: false });
    this.changed(id);
  }

  /** Stops publishing an organization. Its state stays until the next owner writes. */
  remove(organization: string): void {
    this.#published.delete(organization);
  }

  /** Writes an organization soon. Does nothing for others. */
  changed(organization: string): void {
    if (this.#published.has(organization)) {
      this.#changed.add(organization);
      this.#wake.notify();
    }
  }

  /** Writes until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#context;
    while (!signal.aborted) {
      const seen = this.#wake.count;
      const wait = this.#writeDue();
      await this.#wake.wait(seen, wait, clock, signal);
    }
  }

  /** Starts to write what is due. Returns the milliseconds until the next check. */
  #writeDue(): number {
    const now = this.#context.clock.monotonic();
    let wait = IDLE;
    for (const id of this.#changed) {
      const published = this.#published.get(id);
      if (published === undefined) {
        this.#changed.delete(id);
      } else if (!published.isWriting && published.notBefore > now) {
        wait = Math.min(wait, published.notBefore - now);
      } else if (!published.isWriting && this.#writing < PARALLEL) {
        this.#changed.delete(id);
        void this.#write(id, published);
      }
    }
    return wait;
  }

  /** Writes an organization. Never rejects. */
  async #write(organization: string, published: Published): Promise<void> {
    const { clock, log } = this.#context;
    published.isWriting = true;
    this.#writing += 1;
    try {
      if (!published.lost.aborted && (await published.writer.write(clock.now()))) {
        this.#onWritten(organization);
      }
      published.notBefore = clock.monotonic() + INTERVAL;
    } catch (error) {
      if (!(error instanceof LeaseLostError)) {
        log.debug({ organization, reason: messageOf(error) }, 'cannot write the state for other replicas');
        published.notBefore = clock.monotonic() + RETRY;
        this.#changed.add(organization);
      }
    }
    this.#writing -= 1;
    published.isWriting = false;
    this.#wake.notify();
  }
}

/** Writes the states of one organization, one after the other. */
export class StateWriter {
  readonly #organization: PublishedOrganization;
  /** Hashes of the parts that exist, by part; null before they were read. */
  #written: ReadonlyMap<string, string> | null = null;
  readonly #known = new Map<
    string,
    { readonly of: readonly unknown[]; readonly hashes: readonly (readonly [string, string])[] }
  >();

  constructor(organization: PublishedOrganization) {
    this.#organization = organization;
  }

  /** Writes the parts that have changed since the last state that was stored. Returns false if none has. */
  async write(now: number): Promise<boolean> {
    const { id, lease, states, read } = this.#organization;
    const written = this.#written ?? new Map((await states.versions(id)).map(({ part, hash }) => [part, hash]));
    const hashes = new Map<string, string>();
    const parts: StatePart[] = [];
    const add = (part: string, content: string): readonly [string, string] => {
      const digest = hash('sha256', content, 'base64url').slice(0, 22);
      if (written.get(part) !== digest) {
        parts.push({ part, hash: digest, content });
      }
      return [part, digest];
    };
    const state = read();
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
    const removed = [...written.keys()].filter((part) => !hashes.has(part));
    if (parts.length > 0 || removed.length > 0) {
      await states.write(id, { epoch: lease.epoch, at: now, parts, removed }).catch((error: unknown) => {
        // The next state is written from the beginning.
        this.#known.clear();
        throw error;
      });
    }
    this.#written = hashes;
    return parts.length > 0 || removed.length > 0;
  }
}
