import type { Address } from '../../core/address.ts';
import type { Change } from '../../core/change.ts';
import { type Json, sameJson } from '../../core/json.ts';
import { smallest } from '../../core/lists.ts';
import type { Pause } from '../../core/resource.ts';
import { valueText } from '../render/field-text.ts';
import { counted } from '../render/words.ts';

/** What was found where the declared value should have been, and when, in milliseconds since the epoch. */
export interface Seen {
  readonly at: number;
  readonly value: Json;
}

/** Drift of one field that was undone, and how often it came back. */
export interface Undone {
  readonly address: Address;
  readonly kind: string;
  /** The field; empty where the resource itself was deleted and made again. */
  readonly path: string;
  /** How often in a row. */
  readonly times: number;
  /** When last, in milliseconds since the epoch. */
  readonly at: number;
  /** The last values found there, newest last. */
  readonly seen: readonly Seen[];
}

const MINUTE = 60_000;
/** Undone so often and changed back again, it is a fight: accidents come once, and corrections twice. */
const FIGHT_FROM = 3;
/** From the first undoing in a fight to the next; doubled each time. */
const FIRST_REST = 10 * MINUTE;
const LONGEST_REST = 6 * 60 * MINUTE;
/** Left alone for so long, a field is at peace, and what comes later is a new story. */
const PEACE = 24 * 60 * MINUTE;
const SEEN_KEPT = 5;

/** Whether something else keeps changing the field back. */
export function isFight(undone: Undone): boolean {
  return undone.times >= FIGHT_FROM;
}

/** When a field of a fight is undone again if it has to be, in milliseconds since the epoch. */
export function restEnds(undone: Undone): number {
  const rest = isFight(undone) ? Math.min(FIRST_REST * 2 ** (undone.times - FIGHT_FROM), LONGEST_REST) : 0;
  return undone.at + rest;
}

/**
 * The pause of a change that would go on with a fight too soon: every field of it was undone lately, and came back. A
 * clock that was set back ends the rest.
 */
export function fightPause(change: Change, undone: readonly Undone[], now: number): Pause | null {
  const resting = pathsOf(change).map((path) => {
    const known = undone.find((each) => each.address === change.address && each.path === path);
    return known !== undefined && isFight(known) && now >= known.at && now < restEnds(known) ? known : null;
  });
  if (resting.length === 0 || resting.includes(null)) {
    return null;
  }
  const fights = resting.filter((each) => each !== null);
  const until = smallest(fights.map(restEnds));
  return { reason: fights.map(fightWords).join('; '), until: instant(until) };
}

/** `a fight over title: undone 3 times and changed back each time, last to "Y", before that to "X"`. */
export function fightWords({ path, times, seen }: Undone): string {
  if (path === '') {
    return `a fight: made again ${counted(times, 'time')}, and deleted again each time`;
  }
  const [last, ...before] = seen.map(({ value }) => valueText(value)).toReversed();
  const earlier = before.length === 0 ? '' : `, before that to ${before.join(', ')}`;
  return `a fight over ${path}: undone ${counted(times, 'time')}, and changed back each time, last to ${last}${earlier}`;
}

/** What a pass has learned: the drift it found, and which changes were applied. */
export interface PassNews {
  readonly drift: ReadonlySet<Change>;
  readonly applied: readonly Change[];
  readonly now: number;
}

/** What was undone, after one more pass. A field that a commit has changed, or that was left in peace, is forgotten. */
export function undoneAfter(before: readonly Undone[], { drift, applied, now }: PassNews): readonly Undone[] {
  const found = new Map<string, { change: Change; path: string; value: Json }>();
  for (const change of drift) {
    for (const path of change.action === 'delete' ? [] : pathsOf(change)) {
      const value = change.fields.find((field) => field.path === path)?.from ?? null;
      found.set(keyOf(change.address, path), { change, path, value });
    }
  }
  const decided = new Set(
    applied
      .filter((change) => !drift.has(change))
      .flatMap((change) => pathsOf(change).map((path) => keyOf(change.address, path))),
  );
  const done = new Set(applied);
  const known = new Map(before.map((each) => [keyOf(each.address, each.path), each]));
  const kept = before.filter((each) => {
    const key = keyOf(each.address, each.path);
    return !decided.has(key) && !found.has(key) && now - each.at < Math.max(PEACE, 2 * (restEnds(each) - each.at));
  });
  const fresh = [...found].flatMap(([key, { change, path, value }]): readonly Undone[] => {
    const last = known.get(key);
    const seen = last?.seen ?? [];
    if (done.has(change)) {
      const { address, kind } = change;
      return [
        { address, kind, path, times: (last?.times ?? 0) + 1, at: now, seen: withSeen(seen, { at: now, value }) },
      ];
    }
    const isNew = !sameJson(seen.at(-1)?.value, value);
    return last === undefined ? [] : [isNew ? { ...last, seen: withSeen(seen, { at: now, value }) } : last];
  });
  return [...kept, ...fresh].toSorted((a, b) => (keyOf(a.address, a.path) < keyOf(b.address, b.path) ? -1 : 1));
}

/** What a change is about; of one that makes or deletes a resource, that it is there. */
function pathsOf(change: Change): readonly string[] {
  return change.action === 'create' || change.action === 'delete' ? [''] : change.fields.map(({ path }) => path);
}

function keyOf(address: Address, path: string): string {
  return `${address} ${path}`;
}

function withSeen(seen: readonly Seen[], now: Seen): readonly Seen[] {
  return [...seen.filter(({ value }) => !sameJson(value, now.value)), now].slice(-SEEN_KEPT);
}

/** An instant to the minute, the one that begins after it. */
function instant(at: number): string {
  return `${new Date(Math.ceil(at / MINUTE) * MINUTE).toISOString().slice(0, 16)}Z`;
}
