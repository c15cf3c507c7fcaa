// Changes the state of a rate limit that no header describes.
import { AdaptiveRate } from './adaptive-rate.ts';
import {
  type Acceptance,
  decideInferred,
  type NextRequest,
  onAccepted,
  onRefused,
  startInference,
} from './limit-inference.ts';
import { isInferred, type LimitState } from './limit-state.ts';
import type { Decision } from './pacing.ts';
import type { ServerClock } from './server-clock.ts';
import { type BareRefusal, WindowCandidates } from './window-candidates.ts';

/** 429 without a reset, and the requests in flight. */
export interface HeaderlessRefusal extends BareRefusal {
  /** True if the request was sent after the last 429 arrived. */
  readonly isNew: boolean;
  readonly rtt: number;
  readonly inFlight: number;
}

/** Decides about the next request; null if 429s do not show when it may be sent. */
export function decideHeaderless(state: LimitState, now: number, next: NextRequest): Decision | null {
  if (isInferred(state)) {
    return decideInferred(state, now, next);
  }
  return state.kind === 'unpredictable' ? (state.pace?.decide(now, next.inFlight, next.isUrgent) ?? null) : null;
}

/** Returns the state after a response other than 429. */
export function acceptHeaderless(state: LimitState, answer: Acceptance, clock: ServerClock): LimitState {
  if (isInferred(state)) {
    return onAccepted(state, answer) ?? startUnlimited(answer, null, clock);
  }
  if (state.kind === 'unpredictable') {
    state.pace?.onAccepted();
    return state;
  }
  if (state.kind === 'unlimited') {
    count(state.candidates, answer);
    return state;
  }
  return startUnlimited(answer, state.limit, clock);
}

function startUnlimited(answer: Acceptance, limit: number | null, clock: ServerClock): LimitState {
  const candidates = new WindowCandidates(clock);
  count(candidates, answer);
  return { kind: 'unlimited', limit, candidates };
}

function count(candidates: WindowCandidates, { sentAt, receivedAt, rtt, minRtt }: Acceptance): void {
  candidates.minRtt = minRtt;
  candidates.onAccepted(sentAt, receivedAt, rtt);
}

/** Returns the state after a 429 without a reset; null: it shows nothing but its `Retry-After`. */
export function refuseHeaderless(state: LimitState, refusal: HeaderlessRefusal, clock: ServerClock): LimitState | null {
  const { receivedAt, retryAfter, isNew } = refusal;
  if (retryAfter !== null && (state.kind === 'unpredictable' || (retryAfter === 0 && !isInferred(state)))) {
    return null;
  }
  if (!isNew) {
    return state;
  }
  if (state.kind === 'unpredictable') {
    state.pace?.onRefused(receivedAt, refusal);
    return state;
  }
  if (!isInferred(state)) {
    const candidates = state.kind === 'unlimited' ? state.candidates : new WindowCandidates(clock);
    return startInference(candidates, refusal);
  }
  const { candidates } = state;
  const pace = retryAfter === null ? new AdaptiveRate(candidates.rate(receivedAt), candidates.firstCount) : null;
  return onRefused(state, refusal) ?? { kind: 'unpredictable', limit: null, pace };
}
