import { LeaseLostError, RateLimitedError, TransientError } from '../../core/errors.ts';
import type { Reply } from '../model/request.ts';
import type { Permit } from '../rate-limit/permit.ts';
import type { BudgetChange, RateLimiter } from '../rate-limit/rate-limiter.ts';
import type { CircuitBreaker } from './circuit-breaker.ts';
import type { Job } from './job.ts';
import type { QueueOptions } from './request-queue.ts';
import type { QueueStatistics } from './statistics.ts';

/** Makes single attempts, and reports their results to rate limiter, circuit breaker and statistics. */
export class Sender {
  readonly #limiter: RateLimiter;
  readonly #breaker: CircuitBreaker;
  readonly #statistics: QueueStatistics;
  readonly #options: QueueOptions;
  readonly #onSplit: () => void;

  /** `onSplit` is called when a class is split into one budget per operation. */
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

  /** Resolves with the value of the response, or rejects with its error. `sentAt` is monotonic milliseconds. */
  send(job: Job, sentAt: number, probe: boolean): Promise<unknown> {
    const permit = this.#limiter.onSent(job.request, sentAt, probe);
    return this.#breaker.run(() => this.#attempt(job, permit));
  }

  async #attempt(job: Job, permit: Permit): Promise<unknown> {
    let reply: Reply<unknown>;
    try {
      reply = await job.request.attempt(job.signal);
    } catch (error) {
      if ((error instanceof TransientError && !error.maybeDone) || error instanceof LeaseLostError) {
        this.#limiter.onUnsent(permit);
      } else {
        this.#limiter.onLost(permit);
      }
      throw error;
    }
    this.#statistics.observe(reply.receivedAt - permit.sentAt);
    this.#learn(permit, reply);
    if (!reply.result.ok) {
      throw reply.result.error;
    }
    return reply.result.value;
  }

  #publish({ call }: Permit, change: BudgetChange): void {
    if (change === 'split') {
      this.#onSplit();
      this.#options.onEvent?.({ kind: 'split', class: call.class });
    } else if (change === 'joined') {
      this.#options.onEvent?.({ kind: 'joined', classes: [...this.#limiter.budget(call).classes] });
    }
  }

  #learn(permit: Permit, { headers, receivedAt, result }: Reply<unknown>): void {
    const error = result.ok ? null : result.error;
    if (error instanceof RateLimitedError) {
      this.#limiter.onRefused(permit, headers, receivedAt, this.#options.random());
    } else if (error instanceof TransientError && headers.remaining === null) {
      // A failure without rate-limit headers comes from a proxy and carries no information about the limit.
      this.#limiter.onLost(permit);
    } else {
      this.#publish(permit, this.#limiter.onResponse(permit, headers, receivedAt));
    }
  }
}
