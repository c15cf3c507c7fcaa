// Infers a rate limit from 429s, for a platform that sends no rate-limit headers.
import { AFTER_RESPONSE, type Decision, releaseInWindow, SEND } from './pacing.ts';
import type { BareRefusal, WindowCandidates } from './window-candidates.ts';

/** Members of both states of an inferred limit. */
interface Inference {
  readonly candidates: WindowCandidates;
  /** Requests per window when the current window opened. */
  readonly limit: number;
  /** Windows until requests beyond the limit are tried; 0: in the current window. */
  readonly exploreIn: number;
  /** Windows between two tries that found nothing. */
  readonly exploreEvery: number;
  /** Consecutive windows in which requests beyond the limit were accepted and none was refused. */
  readonly raises: number;
  /** Windows with a 429 before the predicted count, less those with one at this count. */
  readonly misses: number;
}

/** Window that is open: requests were accepted in it, and none was refused. Times are monotonic milliseconds. */
export interface InferredOpen extends Inference {
  readonly kind: 'inferred';
  /** Time at which the request that opened the window was sent, and its response arrived. */
  readonly sentAt: number;
  readonly openedAt: number;
}

/** Window in which a request was refused. */
export interface InferredClosed extends Inference {
  readonly kind: 'exhausted';
  /** Time of the last 429. */
  readonly closedAt: number;
  /** Time of the next probe. */
  readonly probeAt: number;
}

export type InferredLimit = InferredOpen | InferredClosed;

/** Response other than a 429. Times are monotonic milliseconds. */
export interface Acceptance {
  readonly sentAt: number;
  readonly receivedAt: number;
  /** Average and shortest round trip in milliseconds. */
  readonly rtt: number;
  readonly minRtt: number;
}

/** Own traffic under the limit, and the next request. */
export interface NextRequest {
  readonly waiting: number;
  readonly isUrgent: boolean;
  readonly inFlight: number;
  readonly rtt: number;
}

/**
 * Windows until requests beyond the limit are first tried, between that try and the next one if it found nothing, and
 * the maximum between two tries.
 */
const FIRST_TRY = 4;
const FIRST_PAUSE = 8;
const MAX_PAUSE = 64;
/** Share of a window after which the limit is reached, if requests beyond it are to be tried in the rest. */
const EXPLORED_SHARE = 0.5;
/** Requests accepted beyond the limit for each one that is tried at the same time. */
const ACCEPTED_PER_TRY = 4;
/**
 * Maximum requests in flight, because all of them may get a 429 at once; more after a raise, or if the limit needs
 * more.
 */
const MAX_IN_FLIGHT = 4;
const NEEDED_IN_FLIGHT = 2;
/** Round trips at the end of a window in which no request is sent, so that none arrives in the next window. */
const LAG = 1.5;
/** Minimum share of a window in which requests are sent, however long a round trip is. */
const MIN_SHARE = 0.25;
/** Number of consecutive windows with a raise after which the 429 counts as an exception: there is no limit. */
const ENOUGH_RAISES = 12;
/** Number of misses after which the limit counts as unpredictable, and the tolerance, in requests and as a share. */
const MAX_MISSES = 3;
const MISS = 2;
const MISS_SHARE = 0.1;
/** Tolerance within which the limit counts as unchanged, in requests and as a share. */
const NOISE = 1;
const NOISE_SHARE = 0.02;

/** Starts the inference at the first 429. */
export function startInference(candidates: WindowCandidates, refusal: BareRefusal): InferredClosed {
  candidates.onRefused(refusal);
  const { limit } = candidates.best();
  const tries = { exploreIn: FIRST_TRY, exploreEvery: FIRST_PAUSE / 2, raises: 0, misses: 0 };
  return close({ candidates, limit, ...tries }, refusal);
}

/** Returns the state after a response other than 429; null: there is no limit. */
export function onAccepted(state: InferredLimit, answer: Acceptance): InferredLimit | null {
  const { candidates } = state;
  const before = candidates.best();
  candidates.minRtt = answer.minRtt;
  candidates.onAccepted(answer.sentAt, answer.receivedAt, answer.rtt);
  if (state.kind === 'exhausted') {
    const exploreIn = Math.max(0, state.exploreIn - 1);
    return answer.sentAt < state.closedAt ? state : open({ ...state, exploreIn }, answer);
  }
  const { count, end } = before;
  if (answer.sentAt < end && candidates.best().count >= count) {
    return state;
  }
  const raises = count > state.limit ? state.raises + 1 : 0;
  const exploreIn = count >= state.limit ? Math.max(0, state.exploreIn - 1) : state.exploreIn;
  return raises >= ENOUGH_RAISES ? null : open({ ...state, raises, exploreIn }, answer);
}

function open(state: Inference, { sentAt, receivedAt }: Acceptance): InferredOpen {
  const { candidates, exploreIn, exploreEvery, raises, misses } = state;
  const { limit } = candidates.best();
  return {
    ...{ kind: 'inferred', candidates, limit, exploreIn, exploreEvery, raises, misses },
    ...{ sentAt, openedAt: receivedAt },
  };
}

function close(state: Inference, { receivedAt }: BareRefusal): InferredClosed {
  const { candidates, limit, exploreIn, exploreEvery, raises, misses } = state;
  return {
    ...{ kind: 'exhausted', candidates, limit, exploreIn, exploreEvery, raises, misses },
    ...{ closedAt: receivedAt, probeAt: candidates.probeAt() },
  };
}

/** Returns the state after a 429 to a request that was sent after the last 429 arrived; null: it is unpredictable. */
export function onRefused(state: InferredLimit, refusal: BareRefusal): InferredLimit | null {
  const { candidates, limit } = state;
  if (state.kind === 'inferred' && refusal.sentAt < state.sentAt) {
    return state;
  }
  const { count, end } = candidates.best();
  candidates.onRefused(refusal);
  if (state.kind === 'exhausted' || refusal.sentAt >= end) {
    return close({ ...state, raises: 0 }, refusal);
  }
  const difference = count - limit;
  const tolerance = Math.max(MISS, MISS_SHARE * limit);
  const isHit = Math.abs(difference) <= tolerance;
  const misses = Math.max(0, state.misses + (difference < -tolerance ? 1 : 0) - (isHit ? 1 : 0));
  const isChanged = Math.abs(difference) > Math.max(NOISE, NOISE_SHARE * limit);
  const tries = isChanged || state.exploreIn === 0 ? nextTries(state, isChanged) : {};
  return misses >= MAX_MISSES ? null : close({ ...state, raises: 0, misses, ...tries }, refusal);
}

/** Tries more soon after the limit has changed, and ever more rarely while it stays the same. */
function nextTries({ exploreEvery }: Inference, isChanged: boolean): Pick<Inference, 'exploreIn' | 'exploreEvery'> {
  const next = Math.min(MAX_PAUSE, 2 * exploreEvery);
  return isChanged ? { exploreIn: FIRST_TRY, exploreEvery: FIRST_PAUSE / 2 } : { exploreIn: next, exploreEvery: next };
}

/** Returns the most probable window for reports; `remaining` is null while it is closed or over. */
export function describeInferred(state: InferredLimit, now: number, inFlight: number) {
  const { limit, count, length, end } = state.candidates.best();
  const isOpen = state.kind === 'inferred' && now < end;
  const remaining = isOpen ? Math.max(0, limit - count - inFlight) : null;
  const inferredAge = now - state.candidates.refusedAt;
  const rate = (limit / length) * 1000;
  return { limit, window: length, rate, remaining, resetIn: isOpen ? end - now : null, inferredAge };
}

/** Decides about the next request; null: a probe, because the window is over. */
export function decideInferred(state: InferredLimit, now: number, demand: NextRequest): Decision | null {
  if (state.kind === 'exhausted') {
    const why = 'refused by the platform (429), which does not report its rate limit';
    return now < state.probeAt ? { kind: 'wait', until: state.probeAt, why } : null;
  }
  const { candidates } = state;
  const { limit, count, end } = candidates.best();
  const { inFlight, waiting, isUrgent, rtt } = demand;
  const raw = Math.min(limit, state.limit) - count - inFlight;
  if (now >= end) {
    return null;
  }
  if (raw < 1) {
    return decideBeyond(state, now, inFlight);
  }
  const all = candidates.consensus(now);
  if (all.room - inFlight < 1) {
    // A window that is not improbable is used up, so one request checks it.
    return inFlight === 0 ? SEND : AFTER_RESPONSE;
  }
  const needed = (NEEDED_IN_FLIGHT * limit * rtt) / usableTime(end - state.openedAt, rtt);
  if (inFlight + 1 > Math.max(MAX_IN_FLIGHT * (1 + state.raises), needed)) {
    return AFTER_RESPONSE;
  }
  if (isUrgent || waiting <= raw) {
    return SEND;
  }
  const length = usableTime(all.end - state.openedAt, rtt) * (state.exploreIn === 0 ? EXPLORED_SHARE : 1);
  return releaseInWindow(now, raw, limit, { end: state.openedAt + length, length });
}

/** Returns the time in a window in which requests are sent. */
function usableTime(length: number, rtt: number): number {
  return Math.max(MIN_SHARE * length, length - LAG * rtt);
}

/** Decides about a request beyond the limit. */
function decideBeyond({ candidates, exploreIn, limit, raises }: InferredOpen, now: number, inFlight: number) {
  if (exploreIn === 0) {
    const more = Math.max(0, candidates.best().count - limit) / ACCEPTED_PER_TRY;
    return inFlight + 1 > Math.min(MAX_IN_FLIGHT * (1 + raises), 1 + more) ? AFTER_RESPONSE : SEND;
  }
  if (inFlight > 0) {
    return AFTER_RESPONSE;
  }
  const until = candidates.probeAt();
  return now < until ? { kind: 'wait' as const, until, why: 'the rate limit is used up' } : null;
}
