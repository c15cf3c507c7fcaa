/** Moves conditions through their lifecycle: pending, firing, resolved. */
import { CONDITION_RULES, type ConditionCode } from '../core/condition-codes.ts';
import { type Condition, type Fact, factKey, type Scope } from '../store/notifications.ts';

/** A condition that started this often within FLAPPING_SPAN is flapping: it resolves after FLAPPING_HOLD without it. */
const FLAPPING_STARTS = 3;
const FLAPPING_SPAN = 60 * 60_000;
const FLAPPING_HOLD = 30 * 60_000;

/** Returns true if a condition started and ended so often that each turn would be noise. */
export function isFlapping({ starts }: Pick<Condition, 'starts'>): boolean {
  return starts.length >= FLAPPING_STARTS;
}

/** Returns the facts that other facts explain: each with the fact that explains it. */
export function inhibited(facts: readonly Fact[]): ReadonlyMap<Fact, Fact> {
  const byCode = Map.groupBy(facts, ({ code }) => code);
  const found = new Map<Fact, Fact>();
  for (const fact of facts) {
    const cause = CONDITION_RULES[fact.code].inhibitedBy
      .flatMap((code) => byCode.get(code) ?? [])
      .find((each) => covers(each.scope, fact.scope));
    if (cause !== undefined) {
      found.set(fact, cause);
    }
  }
  return found;
}

function covers(outer: Scope, inner: Scope): boolean {
  return (['organization', 'token', 'platform'] as const).every(
    (name) => outer[name] === null || outer[name] === inner[name],
  );
}

interface ConditionInput {
  /** Everything that is true now, once per key. */
  readonly facts: readonly Fact[];
  /** Last episode of each condition that is known. */
  readonly conditions: readonly Condition[];
  /** Milliseconds that a condition has to last, where it differs from the rule. */
  readonly durations: Readonly<Partial<Record<ConditionCode, number>>>;
  readonly now: number;
  /** Returns the id of a new episode. */
  readonly newId: () => string;
}

/** Moves conditions on: returns those that exist now, with a time at which this function has to be called again. */
export function advanceConditions(input: ConditionInput): {
  readonly conditions: readonly Condition[];
  readonly wakeAt: number | null;
} {
  const { facts, now } = input;
  const causes = inhibited(facts);
  const known = new Map(input.conditions.map((each) => [factKey(each.fact), each]));
  const kept: Condition[] = [];
  let wakeAt: number | null = null;
  const wake = (at: number) => {
    wakeAt = wakeAt === null ? at : Math.min(wakeAt, at);
  };
  for (const fact of facts) {
    const key = factKey(fact);
    const next = present(known.get(key) ?? null, fact, causes.has(fact), input);
    known.delete(key);
    kept.push(next);
    if (next.state === 'pending' && !causes.has(fact)) {
      wake(next.since + durationOf(fact.code, input));
    }
  }
  for (const condition of known.values()) {
    const next = absent(condition, now);
    if (next !== null) {
      kept.push(next);
      if (next.state === 'firing' && next.clearSince !== null) {
        wake(next.clearSince + FLAPPING_HOLD);
      }
    }
  }
  return { conditions: kept, wakeAt };
}

function durationOf(code: ConditionCode, { durations }: ConditionInput): number {
  return durations[code] ?? CONDITION_RULES[code].for;
}

function present(last: Condition | null, fact: Fact, isInhibited: boolean, input: ConditionInput): Condition {
  const { now } = input;
  if (last?.state === 'firing') {
    return { ...last, fact, clearSince: null };
  }
  const episode: Condition =
    last?.state === 'pending'
      ? { ...last, fact }
      : {
          id: input.newId(),
          fact,
          state: 'pending',
          since: Math.min(fact.since, now),
          firedAt: null,
          resolvedAt: null,
          clearSince: null,
          isInhibited,
          starts: recent(last?.starts ?? [], now),
        };
  if (isInhibited) {
    return { ...episode, isInhibited };
  }
  if (episode.isInhibited) {
    return present({ ...episode, since: now, isInhibited }, fact, isInhibited, input);
  }
  return now < episode.since + durationOf(fact.code, input)
    ? episode
    : { ...episode, state: 'firing', firedAt: now, starts: [...recent(episode.starts, now), now] };
}

/** Returns null if nobody needs the condition any more. */
function absent(condition: Condition, now: number): Condition | null {
  if (condition.state === 'pending') {
    return condition.starts.length === 0 ? null : { ...condition, state: 'resolved', resolvedAt: now };
  }
  if (condition.state === 'firing') {
    const clearSince = condition.clearSince ?? now;
    return isFlapping(condition) && now < clearSince + FLAPPING_HOLD
      ? { ...condition, clearSince }
      : { ...condition, state: 'resolved', resolvedAt: now, clearSince };
  }
  return { ...condition, starts: recent(condition.starts, now) };
}

function recent(starts: readonly number[], now: number): readonly number[] {
  return starts.filter((at) => at > now - FLAPPING_SPAN);
}
