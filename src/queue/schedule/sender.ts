import { RateLimitedError, TransientError } from '../../core/errors.ts';
import type { Reply } from '../model/request.ts';
import type { Permit } from '../rate-limit/permit.ts';
import type { Proven, RateLimiter } from '../rate-limit/rate-limiter.ts';
import type { CircuitBreaker } from './circuit-breaker.ts';
import type { Job } from './job.ts';
import type { QueueOptions } from './queue-contract.ts';
import type { QueueStatistics } from './statistics.ts';

/** Makes single attempts, and tells gate, breaker and tally what came of them. */
export class Sender {
  readonly #limiter: RateLimiter;
  readonly #breaker: CircuitBreaker;
  readonly #statistics: QueueStatistics;
  readonly #options: QueueOptions;
  readonly #onSplit: () => void;

  /** `onSplit`: the operations of a class no longer wait in one line. */
  constructor(
    limiter: RateLimiter,
    breaker: CircuitBreaker,
    statistics: QueueStatistics,
    options: QueueOptions,
    onSplit: () => void,
  ) {
    this.#onSplit = onSplit;
    this.#limiter = limiter;
    this.#breaker = breaker;
    this.#statistics = statistics;
    this.#options = options;
  }

  /** Resolves with the answer's value, rejects with its error. `sentAt` is monotonic milliseconds. */
  send(job: Job, sentAt: number, probe: boolean): Promise<unknown> {
    const permit = this.#limiter.onSent(job.request, sentAt, probe);
    return this.#breaker.run(async () => {
      const { result } = await this.#attempt(job, permit);
      if (!result.ok) {
        throw result.error;
      }
      return result.value;
    });
  }

  async #attempt(job: Job, permit: Permit): Promise<Reply<unknown>> {
    let reply: Reply<unknown>;
    try {
      reply = await job.request.attempt(job.controller.signal);
    } catch (error) {
      if (error instanceof TransientError && !error.maybeDone) {
        this.#limiter.onUnsent(permit);
      } else {
        this.#limiter.onLost(permit);
      }
      throw error;
    }
    this.#statistics.observe(reply.receivedAt - permit.sentAt);
    this.#learn(permit, reply);
    return reply;
  }

  #tell({ call }: Permit, proven: Proven): void {
    if (proven === 'split') {
      this.#onSplit();
      this.#options.onEvent?.({ kind: 'split', class: call.class });
    } else if (proven === 'joined') {
      this.#options.onEvent?.({ kind: 'joined', classes: [...this.#limiter.budget(call).classes] });
    }
  }

  #learn(permit: Permit, { headers, receivedAt, result }: Reply<unknown>): void {
    const error = result.ok ? null : result.error;
    if (error instanceof RateLimitedError) {
      this.#limiter.onRefused(permit, headers, receivedAt, this.#options.random());
    } else if (error instanceof TransientError && headers.remaining === null) {
      // A fault without headers comes from something in between, and says nothing about the limit.
      this.#limiter.onLost(permit);
    } else {
      this.#tell(permit, this.#limiter.onResponse(permit, headers, receivedAt));
    }
  }
}
