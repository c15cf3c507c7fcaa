import { isObject, type Json } from '../../../core/json.ts';

/** Window of update times: from `from` inclusive to `until` exclusive, in seconds since the epoch. */
export interface Window {
  readonly from: number;
  readonly until: number;
  /** Intercom's cursor inside the window, verbatim; null: the start. */
  readonly after: string | null;
}

/**
 * Progress of polling. Between windows it is the time up to which everything is read: the start of the last poll, never
 * the latest update seen. Inside a window it is the window itself, so that reading can continue. Source:
 * docs/helpdesk-notes.md#intercom
 */
export type SearchProgress = { readonly bookmark: number } | Window;

/** Reads a cursor of this workspace; null if it is missing or belongs to another. */
export function readProgress(cursor: Json, account: string): SearchProgress | null {
  if (!isObject(cursor) || cursor.account !== account) {
    return null;
  }
  const { bookmark, from, until, after } = cursor;
  if (typeof from === 'number' && typeof until === 'number') {
    return { from, until, after: typeof after === 'string' ? after : null };
  }
  return typeof bookmark === 'number' ? { bookmark } : null;
}

/** Returns the next window. It starts `lookback` seconds before the bookmark, for late indexing, and ends now. */
export function openWindow(bookmark: number, lookback: number, now: number): Window {
  // Leave no gap if the clock was set back.
  return { from: Math.max(0, Math.min(bookmark, now) - lookback), until: now, after: null };
}
