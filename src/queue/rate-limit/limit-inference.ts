// Infers a rate limit from 429s, for a platform that sends no rate-limit headers.
import { AFTER_RESPONSE, type Decision, releaseInWindow, SEND } from './pacing.ts';
import type { Permit } from './permit.ts';
import type { ServerClock } from './server-clock.ts';
import { WindowCandidates } from './window-candidates.ts';

/** Members of both states of an inferred limit. */
interface Inference {
  readonly candidates: WindowCandidates;
  /** Windows until requests beyond the limit are tried; 0: in the current window. */
  readonly exploreIn: number;
  /** Windows between two tries that found nothing. */
  readonly exploreEvery: number;
  /** Consecutive windows in which requests beyond the limit were accepted and none was refused. */
  readonly raises: number;
}

/** Window that is open: requests were accepted in it, and none was refused. Times are monotonic milliseconds. */
export interface InferredOpen extends Inference {
  readonly kind: 'inferred';
  /** Time at which the request that opened the window was sent, and its response arrived. */
  readonly sentAt: number;
  readonly openedAt: number;
  /** Requests per window when it opened. */
  readonly limit: number;
}

/** Window in which a request was refused. */
export interface InferredClosed extends Inference {
  readonly kind: 'exhausted';
  /** Time of the first 429 in this window. */
  readonly closedAt: number;
  /** Time of the next probe. */
  readonly probeAt: number;
  /** True if no window has been seen from its start. */
  readonly isFirst: boolean;
  readonly limit: number;
}

export type InferredLimit = InferredOpen | InferredClosed;

/** Response to a request. */
interface Answer {
  readonly permit: Permit;
  readonly receivedAt: number;
  /** Own requests that are still in flight. */
  readonly inFlight: number;
  /** Average and shortest round trip in milliseconds. */
  readonly rtt: number;
  readonly minRtt: number;
}

/** Own traffic under the limit, and the next request. */
interface Demand {
  readonly waiting: number;
  readonly isUrgent: boolean;
  readonly inFlight: number;
  readonly rtt: number;
}

/** Windows between tries after the first try that found nothing, and the maximum. */
const FIRST_PAUSE = 4;
const MAX_PAUSE = 64;
/** Share of a window after which the limit is reached, if requests beyond it are to be tried in the rest. */
const EXPLORED_SHARE = 0.5;
/**
 * Maximum requests in flight, because all of them may get a 429 at once; more after a raise, or if the limit needs
 * more.
 */
const MAX_IN_FLIGHT = 4;
const NEEDED_IN_FLIGHT = 2;
/** Number of consecutive windows with a raise after which the 429 counts as an exception: there is no limit. */
const ENOUGH_RAISES = 12;
/** Tolerance within which the limit counts as unchanged, in requests and as a share. */
const NOISE = 1;
const NOISE_SHARE = 0.02;

/** Starts the inference at a 429, after `accepted` requests since `since`. */
export function startInference(
  receivedAt: number,
  accepted: number,
  since: number,
  clock: ServerClock,
): InferredClosed {
  const candidates = new WindowCandidates(clock, accepted, since, receivedAt);
  const probeAt = candidates.probeAt();
  const closed = { closedAt: receivedAt, probeAt, isFirst: true, limit: accepted };
  return { kind: 'exhausted', candidates, exploreIn: 1, exploreEvery: FIRST_PAUSE / 2, raises: 0, ...closed };
}

/** Returns the state after a response other than 429; null: there is no limit. */
export function onAccepted(state: InferredLimit, { permit, receivedAt, rtt, minRtt }: Answer): InferredLimit | null {
  const { candidates } = state;
  candidates.minRtt = minRtt;
  if (state.kind === 'exhausted') {
    const isLate = permit.sentAt < state.closedAt;
    if (!isLate) {
      candidates.onReopened(receivedAt, rtt, state.isFirst ? receivedAt - state.closedAt : null);
    }
    candidates.onAccepted(permit.sentAt, receivedAt);
    const exploreIn = Math.max(0, state.exploreIn - 1);
    return isLate ? state : open({ ...state, exploreIn }, permit, receivedAt);
  }
  const isOver = permit.sentAt >= candidates.best().end;
  const { count } = candidates.best();
  candidates.onAccepted(permit.sentAt, receivedAt);
  if (!isOver) {
    return state;
  }
  const raises = count > state.limit ? state.raises + 1 : 0;
  const exploreIn = count >= state.limit ? Math.max(0, state.exploreIn - 1) : state.exploreIn;
  return raises >= ENOUGH_RAISES ? null : open({ ...state, raises, exploreIn }, permit, receivedAt);
}

function open({ candidates, exploreIn, exploreEvery, raises }: Inference, permit: Permit, at: number): InferredOpen {
  const { limit } = candidates.best();
  return { kind: 'inferred', candidates, exploreIn, exploreEvery, raises, sentAt: permit.sentAt, openedAt: at, limit };
}

/** Returns the state after a 429 to a request that was sent after the last 429 arrived. */
export function onRefused(state: InferredLimit, { permit, receivedAt }: Answer): InferredLimit {
  const { candidates, limit } = state;
  const known = candidates.best();
  if (state.kind === 'inferred' && permit.sentAt < state.sentAt) {
    return state;
  }
  if (state.kind === 'inferred' && permit.sentAt < known.end) {
    candidates.onUsedUp();
    const probeAt = candidates.probeAt();
    const tries = nextTries(state, Math.abs(known.count - limit) > Math.max(NOISE, NOISE_SHARE * limit));
    return { kind: 'exhausted', candidates, raises: 0, ...tries, closedAt: receivedAt, probeAt, isFirst: false, limit };
  }
  const { closedAt, isFirst } = state.kind === 'exhausted' ? state : { closedAt: receivedAt, isFirst: false };
  candidates.onStillClosed(permit.sentAt);
  const probeAt = candidates.probeAt();
  return { ...state, kind: 'exhausted', closedAt, probeAt, isFirst };
}

/** Tries more soon after the limit has changed, and ever more rarely while it stays the same. */
function nextTries({ exploreEvery }: InferredOpen, isChanged: boolean): Pick<Inference, 'exploreIn' | 'exploreEvery'> {
  const next = Math.min(MAX_PAUSE, 2 * exploreEvery);
  return isChanged ? { exploreIn: 2, exploreEvery: FIRST_PAUSE / 2 } : { exploreIn: next, exploreEvery: next };
}

/** Returns true if a 429 in an open window came long before the limit: concurrent requests may be limited too. */
export function isEarly(state: InferredLimit, { permit, inFlight }: Pick<Answer, 'permit' | 'inFlight'>): boolean {
  const { count, end } = state.candidates.best();
  return state.kind === 'inferred' && permit.sentAt < end && count + inFlight + 1 < state.limit;
}

/** Returns the most probable window for reports; `remaining` is null while it is closed or over. */
export function describeInferred(state: InferredLimit, now: number, inFlight: number) {
  const { limit, count, length, end } = state.candidates.best();
  const isOpen = state.kind === 'inferred' && now < end;
  const remaining = isOpen ? Math.max(0, limit - count - inFlight) : null;
  return { limit, window: length, rate: (limit / length) * 1000, remaining, resetIn: isOpen ? end - now : null };
}

/** Decides about the next request; null: a probe, because the window is over. */
export function decideInferred(state: InferredLimit, now: number, demand: Demand): Decision | null {
  if (state.kind === 'exhausted') {
    const why = 'refused by the platform (429), which does not report its rate limit';
    return now < state.probeAt ? { kind: 'wait', until: state.probeAt, why } : null;
  }
  const { limit, count, end } = state.candidates.best();
  if (now >= end) {
    return null;
  }
  const { inFlight, waiting, isUrgent, rtt } = demand;
  const isExploring = state.exploreIn === 0;
  const length = end - state.openedAt;
  const raw = Math.min(limit, state.limit) - count - inFlight;
  const few = MAX_IN_FLIGHT * (1 + state.raises);
  const needed = (NEEDED_IN_FLIGHT * limit * rtt) / length;
  const most = raw >= 1 ? Math.max(few, needed) : Math.min(few, 1 + Math.max(0, count - state.limit) / 2);
  if ((raw >= 1 || isExploring) && inFlight + 1 > most) {
    return AFTER_RESPONSE;
  }
  if (raw >= 1 && !isUrgent && waiting > raw) {
    const paced = length * (isExploring ? EXPLORED_SHARE : 1);
    return releaseInWindow(now, raw, limit, { end: state.openedAt + paced, length: paced });
  }
  if (raw >= 1 || isExploring) {
    return SEND;
  }
  return { kind: 'wait', until: end, why: 'the rate limit is used up' };
}
