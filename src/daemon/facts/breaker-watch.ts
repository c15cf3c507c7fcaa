/** Observes the circuit breakers of all tokens, to find out whether the platform answers anybody. */
import type { QueueSnapshot } from '../../queue/snapshot.ts';
import type { BreakerState } from './platform-facts.ts';

interface Observed extends BreakerState {
  /** Requests that the platform had answered at that time. */
  readonly answers: number;
}

export class BreakerWatch {
  readonly #observed = new Map<string, Observed>();

  /** Forgets all but these tokens: another process uses them now, and this one may use them again later. */
  retain(tokens: ReadonlySet<string>): void {
    for (const token of this.#observed.keys()) {
      if (!tokens.has(token)) {
        this.#observed.delete(token);
      }
    }
  }

  /** Adds an observation of a token, and returns its state. */
  observe(
    token: string,
    { breaker, outcomes }: Pick<QueueSnapshot, 'breaker' | 'outcomes'>,
    now: number,
  ): BreakerState {
    const before = this.#observed.get(token) ?? { failingSince: null, answeredAt: null, answers: 0 };
    const answers = outcomes.answered + outcomes.rejected + outcomes.refused;
    const state = {
      failingSince: breaker === 'closed' ? null : (before.failingSince ?? now),
      answeredAt: answers > before.answers ? now : before.answeredAt,
      answers,
    };
    this.#observed.set(token, state);
    return state;
  }
}
