import { RateLimitedError, TransientError } from '../../core/errors.ts';
import type { Reply } from '../model/request.ts';
import type { Ticket } from '../rate-limit/permit.ts';
import type { Gate, Proven } from '../rate-limit/rate-limiter.ts';
import type { HostBreaker } from './circuit-breaker.ts';
import type { Job } from './job.ts';
import type { QueueOptions } from './queue-contract.ts';
import type { Tally } from './statistics.ts';

/** Makes single attempts, and tells gate, breaker and tally what came of them. */
export class Sender {
  readonly #gate: Gate;
  readonly #breaker: HostBreaker;
  readonly #tally: Tally;
  readonly #options: QueueOptions;
  readonly #onSplit: () => void;

  /** `onSplit`: the operations of a class no longer wait in one line. */
  constructor(gate: Gate, breaker: HostBreaker, tally: Tally, options: QueueOptions, onSplit: () => void) {
    this.#onSplit = onSplit;
    this.#gate = gate;
    this.#breaker = breaker;
    this.#tally = tally;
    this.#options = options;
  }

  /** Resolves with the answer's value, rejects with its error. `sentAt` is monotonic milliseconds. */
  send(job: Job, sentAt: number, probe: boolean): Promise<unknown> {
    const ticket = this.#gate.onSent(job.request, sentAt, probe);
    return this.#breaker.run(async () => {
      const { result } = await this.#attempt(job, ticket);
      if (!result.ok) {
        throw result.error;
      }
      return result.value;
    });
  }

  async #attempt(job: Job, ticket: Ticket): Promise<Reply<unknown>> {
    let reply: Reply<unknown>;
    try {
      reply = await job.request.attempt(job.controller.signal);
    } catch (error) {
      if (error instanceof TransientError && !error.maybeDone) {
        this.#gate.onUnsent(ticket);
      } else {
        this.#gate.onLost(ticket);
      }
      throw error;
    }
    this.#tally.observe(reply.receivedAt - ticket.sentAt);
    this.#learn(ticket, reply);
    return reply;
  }

  #tell({ call }: Ticket, proven: Proven): void {
    if (proven === 'split') {
      this.#onSplit();
      this.#options.onEvent?.({ kind: 'split', class: call.class });
    } else if (proven === 'joined') {
      this.#options.onEvent?.({ kind: 'joined', classes: [...this.#gate.budget(call).classes] });
    }
  }

  #learn(ticket: Ticket, { headers, receivedAt, result }: Reply<unknown>): void {
    const error = result.ok ? null : result.error;
    if (error instanceof RateLimitedError) {
      this.#gate.onRefused(ticket, headers, receivedAt, this.#options.random());
    } else if (error instanceof TransientError && headers.remaining === null) {
      // A fault without headers comes from something in between, and says nothing about the limit.
      this.#gate.onLost(ticket);
    } else {
      this.#tell(ticket, this.#gate.onResponse(ticket, headers, receivedAt));
    }
  }
}
