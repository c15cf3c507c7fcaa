import { type Clock, endsWithin } from '../../core/clock.ts';
import type { OutgoingBatch } from '../../store/outbox/outbox.ts';
import type { Conversation } from '../model/conversation.ts';
import type { Destination } from './destination.ts';
import { classifyError, type SendOutcome } from './outcome.ts';

/** Batch whose request has ended. */
export interface EndedBatch {
  readonly batch: OutgoingBatch;
  /** Number of pauses of the sender before this batch was started. */
  readonly pauses: number;
  readonly outcome: SendOutcome;
}

interface Entry extends Omit<EndedBatch, 'outcome'> {
  /** Null: the request has not ended. */
  outcome: SendOutcome | null;
  /** True if the request has left the queue. */
  isOnTheWay: boolean;
  readonly aborting: AbortController;
  readonly ended: Promise<void>;
}

/** Batches whose outcome is not recorded yet. */
export class InFlightBatches {
  readonly #destination: Destination;
  readonly #onEnd: () => void;
  readonly #entries = new Map<number, Entry>();
  #isStopping = false;

  /** `onEnd` is called when a request ends. */
  constructor(destination: Destination, onEnd: () => void) {
    this.#destination = destination;
    this.#onEnd = onEnd;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** Length of the payloads together, in UTF-16 units. */
  get length(): number {
    const items = [...this.#entries.values()].flatMap(({ batch }) => batch.items);
    return items.reduce((sum, { payload }) => sum + payload.length, 0);
  }

  get ids(): readonly number[] {
    return [...this.#entries.keys()];
  }

  /** Batches whose request has ended. */
  get ended(): readonly EndedBatch[] {
    return [...this.#entries.values()].flatMap(({ batch, pauses, outcome }) =>
      outcome === null ? [] : [{ batch, pauses, outcome }],
    );
  }

  start(batch: OutgoingBatch, pauses: number): void {
    const aborting = new AbortController();
    const { promise: ended, resolve } = Promise.withResolvers<void>();
    const entry: Entry = { batch, pauses, outcome: null, isOnTheWay: false, aborting, ended };
    this.#entries.set(batch.id, entry);
    if (this.#isStopping) {
      aborting.abort();
    }
    void this.#send(entry).then(resolve);
  }

  /** Forgets a batch, after its outcome was recorded. */
  delete(id: number): void {
    this.#entries.delete(id);
  }

  /**
   * Cancels the requests that have not left the queue, and those of batches that are started later. The others get
   * `milliseconds` to end.
   */
  async stop(milliseconds: number, clock: Clock): Promise<void> {
    this.#isStopping = true;
    const entries = [...this.#entries.values()];
    abortAll(entries.filter(({ isOnTheWay }) => !isOnTheWay));
    const ends = entries.map(({ ended }) => ended);
    if (!(await endsWithin(clock, milliseconds, ends))) {
      abortAll(entries);
      await Promise.all(ends);
    }
  }

  async #send(entry: Entry): Promise<void> {
    const bodies = entry.batch.items.map(({ payload }) => JSON.parse(payload) as Conversation);
    const onAttempt = () => {
      entry.isOnTheWay = true;
    };
    try {
      await this.#destination.send(bodies, { signal: entry.aborting.signal, onAttempt });
      entry.outcome = { kind: 'taken' };
    } catch (error) {
      entry.outcome = classifyError(error);
    }
    this.#onEnd();
  }
}

function abortAll(entries: readonly Entry[]): void {
  for (const { aborting } of entries) {
    aborting.abort();
  }
}
