/** Drift that comes back: reverts of fields, and when a flapping field may be reverted again. */
import type { Address } from '../core/address.ts';
import type { Change } from '../core/change.ts';
import { type Json, sameJson } from '../core/json.ts';
import { compareText, smallest } from '../core/lists.ts';
import type { Pause } from '../core/resource.ts';
import { valueText } from './render/field-text.ts';
import { counted } from './render/words.ts';

/** Drift of one field that was reverted, and how often it came back. */
export interface Revert {
  readonly address: Address;
  readonly kind: string;
  /** The field; empty if the resource itself was deleted and created again. */
  readonly path: string;
  /** Number of consecutive reverts. */
  readonly times: number;
  /** The last revert, in milliseconds since the epoch. */
  readonly at: number;
  /** The last values found instead of the declared one, newest last; `at` as above. */
  readonly seen: readonly { readonly at: number; readonly value: Json }[];
}

const MINUTE = 60_000;
/** Number of reverts from which a field is flapping: one may be an accident, two a correction. */
const FLAPPING_FROM = 3;
/** Milliseconds from the first revert of a flapping field to the next; doubled each time. */
const FIRST_COOLDOWN = 10 * MINUTE;
const MAX_COOLDOWN = 6 * 60 * MINUTE;
/** Milliseconds without a change after which the reverts of a field are forgotten. */
const FORGOTTEN_AFTER = 24 * 60 * MINUTE;
const MAX_SEEN = 5;

/** Returns true if something else keeps changing the field back. */
export function isFlapping({ times }: Revert): boolean {
  return times >= FLAPPING_FROM;
}

/** Returns when a flapping field may be reverted again, in milliseconds since the epoch. */
export function cooldownEnd(revert: Revert): number {
  const cooldown = isFlapping(revert)
    ? Math.min(FIRST_COOLDOWN * 2 ** (revert.times - FLAPPING_FROM), MAX_COOLDOWN)
    : 0;
  return revert.at + cooldown;
}

/**
 * Returns the pause of a change whose fields are all flapping and in their cooldown; null if one of them is not. A
 * clock that was set back ends the cooldown.
 */
export function flappingPause(change: Change, reverts: readonly Revert[], now: number): Pause | null {
  const paths = pathsOf(change);
  const flapping = paths.flatMap((path) => {
    const known = reverts.find((each) => each.address === change.address && each.path === path);
    return known !== undefined && isFlapping(known) && now >= known.at && now < cooldownEnd(known) ? [known] : [];
  });
  if (flapping.length === 0 || flapping.length < paths.length) {
    return null;
  }
  const until = smallest(flapping.map(cooldownEnd));
  return { reason: flapping.map(describeFlapping).join('; '), until: instant(until) };
}

/** `title is flapping: reverted 3 times and changed back each time, last to "Y", before that to "X"`. */
export function describeFlapping({ path, times, seen }: Revert): string {
  if (path === '') {
    return `the resource is flapping: created again ${counted(times, 'time')} and deleted each time`;
  }
  const [last, ...before] = seen.map(({ value }) => valueText(value)).toReversed();
  const earlier = before.length === 0 ? '' : `, before that to ${before.join(', ')}`;
  return `${path} is flapping: reverted ${counted(times, 'time')} and changed back each time, last to ${last}${earlier}`;
}

/**
 * Adds the drift that a pass found, and the changes that it applied, to the reverts. Forgets a field that a commit has
 * changed, or that has not changed for long enough.
 */
export function updateReverts(
  before: readonly Revert[],
  { drift, applied, now }: { drift: ReadonlySet<Change>; applied: readonly Change[]; now: number },
): readonly Revert[] {
  const found = new Map<string, { change: Change; path: string; value: Json }>();
  for (const change of drift) {
    for (const path of change.action === 'delete' ? [] : pathsOf(change)) {
      const value = change.fields.find((field) => field.path === path)?.from ?? null;
      found.set(keyOf({ address: change.address, path }), { change, path, value });
    }
  }
  const decided = new Set(
    applied
      .filter((change) => !drift.has(change))
      .flatMap((change) => pathsOf(change).map((path) => keyOf({ address: change.address, path }))),
  );
  const done = new Set(applied);
  const known = new Map(before.map((each) => [keyOf(each), each]));
  const kept = before.filter((each) => {
    const isRecent = now - each.at < Math.max(FORGOTTEN_AFTER, 2 * (cooldownEnd(each) - each.at));
    return isRecent && !decided.has(keyOf(each)) && !found.has(keyOf(each));
  });
  const fresh = [...found].flatMap(([key, { change, path, value }]): readonly Revert[] => {
    const last = known.get(key);
    const before = last?.seen ?? [];
    const others = before.filter((each) => !sameJson(each.value, value));
    const seen = [...others, { at: now, value }].slice(-MAX_SEEN);
    if (done.has(change)) {
      const { address, kind } = change;
      return [{ address, kind, path, times: (last?.times ?? 0) + 1, at: now, seen }];
    }
    const isSame = sameJson(before.at(-1)?.value, value);
    return last === undefined ? [] : [isSame ? last : { ...last, seen }];
  });
  return [...kept, ...fresh].toSorted((a, b) => compareText(keyOf(a), keyOf(b)));
}

/** The fields of a change; an empty one for a change that creates or deletes the resource. */
function pathsOf(change: Change): readonly string[] {
  return change.action === 'create' || change.action === 'delete' ? [''] : change.fields.map(({ path }) => path);
}

function keyOf({ address, path }: Pick<Revert, 'address' | 'path'>): string {
  return `${address} ${path}`;
}

/** Formats an instant, rounded up to the minute. */
function instant(at: number): string {
  return `${new Date(Math.ceil(at / MINUTE) * MINUTE).toISOString().slice(0, 16)}Z`;
}
