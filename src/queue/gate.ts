import { Budget, type Decision, type Ticket } from './budget.ts';
import type { RateHeaders } from './rate-headers.ts';
import { REQUEST_CLASSES, type RequestClass } from './request.ts';
import type { ServerClock } from './server-clock.ts';

/** Answers in a row that must agree before two classes are taken for one budget. */
const PROOF = 3;

/**
 * Decides when a request may be sent, from what the answers say. Pure: time is passed in (monotonic milliseconds),
 * nothing waits in here.
 *
 * | state of the class | next request |
 * |---|---|
 * | nothing known, or the window is over | one probe, the others wait for its answer |
 * | more left than wait | goes |
 * | less left than wait | goes if urgent; else as the window's end comes nearer |
 * | nothing certain left | one at a time while something may be left |
 * | nothing left | waits for the reset |
 * | refused (429) | waits for Retry-After, else the reset; then one probe |
 */
export interface Gate {
  /** The budget a class draws on: the same for classes that proved to share one. */
  budget(requestClass: RequestClass): Budget;
  budgets(): readonly Budget[];
  /** `waiting`: requests that wait for the same budget. */
  decide(requestClass: RequestClass, now: number, waiting: number, urgent: boolean): Decision;
  onSent(requestClass: RequestClass, now: number, probe: boolean): Ticket;
  /** An answer that is no refusal. Returns true when it proved two classes to share one budget. */
  onResponse(ticket: Ticket, headers: RateHeaders, receivedAt: number): boolean;
  /** A 429. `jitter` from 0 to 1 spreads the wait where the platform names none. */
  onRefused(ticket: Ticket, headers: RateHeaders, receivedAt: number, jitter: number): void;
  /** Sent, and no answer. */
  onLost(ticket: Ticket): void;
  /** It never reached the platform. */
  onUnsent(ticket: Ticket): void;
}

/** Every class starts with a budget of its own. */
export function createGate(clock: ServerClock): Gate {
  const byClass = new Map<RequestClass, Budget>(REQUEST_CLASSES.map((name) => [name, new Budget(name, clock)]));
  const proofs = new Map<string, number>();

  function budget(requestClass: RequestClass): Budget {
    return byClass.get(requestClass) as Budget;
  }

  function join(into: Budget, other: Budget): void {
    into.absorb(other);
    for (const name of other.classes) {
      byClass.set(name, into);
    }
  }

  /** Looks for another budget that this answer proves to be the same. */
  function joinProven(own: Budget): boolean {
    for (const other of new Set(byClass.values())) {
      const verdict = other === own ? 'none' : compare(own, other);
      if (verdict === 'none') {
        continue;
      }
      const pair = [own.classes[0], other.classes[0]].sort().join(' ');
      const proof = verdict === 'same' ? (proofs.get(pair) ?? 0) + 1 : 0;
      proofs.set(pair, proof);
      if (proof >= PROOF) {
        join(own, other);
        return true;
      }
    }
    return false;
  }

  return {
    budget,
    budgets: () => [...new Set(byClass.values())],
    decide: (requestClass, now, waiting, urgent) => budget(requestClass).decide(now, waiting, urgent),
    onSent: (requestClass, now, probe) => budget(requestClass).onSent(requestClass, now, probe),
    onResponse(ticket, headers, receivedAt) {
      clock.observe(headers, ticket.sentAt, receivedAt);
      const own = budget(ticket.class);
      own.onResponse(ticket, headers, receivedAt);
      return headers.remaining !== null && joinProven(own);
    },
    onRefused(ticket, headers, receivedAt, jitter) {
      clock.observe(headers, ticket.sentAt, receivedAt);
      budget(ticket.class).onRefused(ticket, headers, receivedAt, jitter);
    },
    onLost: (ticket) => budget(ticket.class).onLost(ticket),
    onUnsent: (ticket) => budget(ticket.class).onUnsent(ticket),
  };
}

/**
 * Two budgets look like one when limit and reset agree, one fell by more than its own calls, and it stands about
 * where the other does.
 */
function compare(own: Budget, other: Budget): 'same' | 'different' | 'none' {
  if (own.remaining === null || other.remaining === null) {
    return 'none';
  }
  if (own.limit !== other.limit) {
    return 'different';
  }
  if (own.resetAt !== other.resetAt) {
    return 'none';
  }
  const slack = own.inFlight + other.inFlight + 2;
  // Inside a window what is left only falls, so that a later answer cannot show more than an earlier one.
  if (own.remaining > other.remaining + slack) {
    return 'different';
  }
  return own.unexplained >= 1 && own.remaining >= other.remaining - slack ? 'same' : 'none';
}
