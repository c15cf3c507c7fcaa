/** Evaluation of cron expressions and sync windows. */
import { CronExpressionParser } from 'cron-parser';
import type { SyncWindow } from './config.ts';

/**
 * Returns when a cron expression fires next (strictly after an instant) or last fired (strictly before it), in
 * milliseconds since the epoch; null if never. `timezone` is an IANA name; default: the time zone of the machine.
 */
export function cronFiring(cron: string, step: 'next' | 'prev', instant: number, timezone?: string): number | null {
  try {
    const currentDate = new Date(instant);
    return CronExpressionParser.parse(cron, timezone === undefined ? { currentDate } : { currentDate, tz: timezone })
      [step]()
      .getTime();
  } catch {
    // The expression never fires, such as one for February 30.
    return null;
  }
}

/** State of the sync windows at an instant. `open`: the daemon may apply. */
interface WindowState {
  readonly open: boolean;
  /** Next time at which the state may change, in milliseconds since the epoch; null if never. */
  readonly until: number | null;
  readonly reason: string;
}

/**
 * Evaluates the sync windows at an instant.
 *
 * | deny covers it | allow windows | allow covers it | open |
 * |---|---|---|---|
 * | yes | any  | any | no  |
 * | no  | none | -   | yes |
 * | no  | some | yes | yes |
 * | no  | some | no  | no  |
 */
export function windowState(windows: readonly SyncWindow[], now: number): WindowState {
  const spans = windows.map((window) => ({ window, ...spanAt(window, now) }));
  const deny = spans.filter(({ window }) => window.effect === 'deny');
  const allow = spans.filter(({ window }) => window.effect === 'allow');
  const until = spans.reduce<number | null>((soonest, span) => earlier(soonest, span.changes), null);
  const denied = deny.find((span) => span.inside);
  if (denied !== undefined) {
    return { open: false, until: latestEnd(deny), reason: `inside the deny window "${denied.window.cron}"` };
  }
  if (allow.length === 0) {
    return { open: true, until, reason: windows.length === 0 ? 'no sync windows' : 'outside every deny window' };
  }
  const allowed = allow.find((span) => span.inside);
  if (allowed === undefined) {
    return { open: false, until, reason: 'outside every allow window' };
  }
  return { open: true, until, reason: `inside the allow window "${allowed.window.cron}"` };
}

interface Span {
  readonly inside: boolean;
  /** Next time at which the window opens, or closes if it is open; null if never. */
  readonly changes: number | null;
}

function spanAt(window: SyncWindow, now: number): Span {
  const last = lastFiring(window, now);
  if (last !== null && now < last + window.duration) {
    return { inside: true, changes: last + window.duration };
  }
  return { inside: false, changes: cronFiring(window.cron, 'next', now, window.timezone) };
}

/** Returns the latest firing at or before now. */
export function lastFiring({ cron, timezone }: Pick<SyncWindow, 'cron' | 'timezone'>, now: number): number | null {
  // `prev` searches strictly before its start. Cron fires on whole seconds, so the next second includes now.
  return cronFiring(cron, 'prev', (Math.floor(now / 1000) + 1) * 1000, timezone);
}

/** Returns when the last of the current deny windows closes. */
function latestEnd(deny: readonly Span[]): number | null {
  return deny.reduce<number | null>(
    (latest, span) => (span.inside && span.changes !== null ? Math.max(latest ?? 0, span.changes) : latest),
    null,
  );
}

function earlier(a: number | null, b: number | null): number | null {
  if (a === null || b === null) {
    return a ?? b;
  }
  return Math.min(a, b);
}
