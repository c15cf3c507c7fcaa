import { isObject, type Json } from '../../../core/json.ts';

/** Conversations updated from `from` on and before `until`, in seconds since the epoch. */
export interface Window {
  readonly from: number;
  readonly until: number;
  /** Intercom's own position inside the window, verbatim; null: at its beginning. */
  readonly after: string | null;
}

/**
 * Progress of polling. Between windows it is the time up to which everything is read: the start of the last window,
 * never the latest update seen. Inside a window it is the window itself, so that reading can continue.
 * Source: docs/helpdesk-notes.md#intercom
 */
export type Stand = { readonly bookmark: number } | Window;

/** What a cursor of this workspace says; null where it is of another, or none. */
export function standOf(cursor: Json, account: string): Stand | null {
  if (!isObject(cursor) || cursor.account !== account) {
    return null;
  }
  const { bookmark, from, until, after } = cursor;
  if (typeof from === 'number' && typeof until === 'number') {
    return { from, until, after: typeof after === 'string' ? after : null };
  }
  return typeof bookmark === 'number' ? { bookmark } : null;
}

/** The next window: it begins before the bookmark, for what was indexed late, and ends now. `lookback` is seconds. */
export function openWindow(bookmark: number, lookback: number, now: number): Window {
  // A clock that was set back must not leave a gap.
  return { from: Math.max(0, Math.min(bookmark, now) - lookback), until: now, after: null };
}
