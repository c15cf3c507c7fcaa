import type { Clock, Random } from '../../../core/clock.ts';
import { TransientError } from '../../../core/errors.ts';
import { isObject } from '../../../core/json.ts';
import { append } from '../../../core/lists.ts';
import { readRateHeaders } from '../../../queue/request.ts';
import { orRejected, readAll, readAnswer, readRecord } from '../../model/answers.ts';
import type { Batch, PollingSource, PollOptions } from '../../model/source.ts';
import type { SourceRecord } from '../../model/ticket.ts';
import { openProviderClient, type ProviderAnswer, type ProviderClient } from '../../polling/provider-client.ts';
import { decidedByState, keyOf, ticketOf, type Workspace } from './ticket.ts';
import { openWindow, readProgress, type Window } from './window.ts';
import { conversationSchema, deletedSchema, itemSchema, searchSchema } from './wire.ts';

export interface IntercomOptions {
  readonly name: string;
  readonly appId: string;
  readonly token: string;
  readonly region: 'us' | 'eu' | 'au';
  /** Overlap of consecutive polls, in milliseconds. */
  readonly lookback: number;
  readonly baseUrl?: string;
  readonly userAgent: string;
  readonly clock: Clock;
  readonly random: Random;
  /** Maximum number of requests in flight; default 4. */
  readonly concurrency?: number;
}

/**
 * API version that is pinned; otherwise the workspace's setting would apply. Source: docs/helpdesk-notes.md#intercom
 */
const VERSION = '2.16';
const PAGE = 50;
const DELETED_PAGE = 60;
/** Maximum number of pages with deleted conversations. */
const MAX_DELETED_PAGES = 1000;
/** Maximum number of consecutive empty pages of a search. */
const MAX_EMPTY = 3;
/** Statuses for an expired cursor. */
const EXPIRED_CURSOR = [400, 404, 422];

/**
 * Opens the Intercom source. A poll reads the conversations that were deleted since the start of a fixed window of
 * update times, then searches the window, oldest first, and reads each closed conversation in full. A deletion during
 * the poll is found by the next one, whose window overlaps.
 */
export function openIntercom(options: IntercomOptions): PollingSource {
  const suffix = options.region === 'us' ? '' : `${options.region}.`;
  const client = openProviderClient({
    label: 'Intercom',
    baseUrl: options.baseUrl ?? `https://api.${suffix}intercom.io`,
    userAgent: options.userAgent,
    headers: async () => ({ authorization: `Bearer ${options.token}`, 'intercom-version': VERSION }),
    rate: readRateHeaders,
    concurrency: options.concurrency ?? 4,
    clock: options.clock,
    random: options.random,
  });
  return new Intercom(options, { appId: options.appId, inbox: `https://app.${suffix}intercom.com` }, client);
}

class Intercom implements PollingSource {
  readonly name: string;
  readonly #workspace: Workspace;
  /** In seconds. */
  readonly #lookback: number;
  readonly #clock: Clock;
  readonly #client: ProviderClient;
  /** True if the workspace has a list of deleted conversations. */
  #hasDeletionList = false;

  constructor({ name, lookback, clock }: IntercomOptions, workspace: Workspace, client: ProviderClient) {
    this.name = name;
    this.#lookback = Math.ceil(lookback / 1000);
    this.#workspace = workspace;
    this.#clock = clock;
    this.#client = client;
  }

  async *poll({ cursor, since, signal }: PollOptions): AsyncIterable<Batch> {
    const now = Math.floor(this.#clock.now() / 1000);
    const progress = readProgress(cursor, this.#workspace.appId);
    if (progress === null) {
      yield* this.#readWindow({ from: Math.floor(since / 1000), until: now, after: null }, signal);
      return;
    }
    if (!('bookmark' in progress)) {
      // Continue the window of an earlier poll.
      yield* this.#readWindow(progress, signal);
    }
    const bookmark = 'bookmark' in progress ? progress.bookmark : progress.until;
    yield* this.#readWindow(openWindow(bookmark, this.#lookback, now), signal);
  }

  async fetch(id: string, signal: AbortSignal): Promise<SourceRecord> {
    return /^\d{1,30}$/.test(id)
      ? this.#conversation(id, signal)
      : { kind: 'rejected', place: keyOf(this.#workspace, id), reason: 'not a conversation id' };
  }

  close(): Promise<void> {
    return this.#client.close();
  }

  async *#readWindow(window: Window, signal: AbortSignal): AsyncIterable<Batch> {
    const account = this.#workspace.appId;
    const deleted = await this.#deleted(window.from, signal);
    this.#hasDeletionList = deleted !== null;
    let pending: readonly SourceRecord[] = deleted ?? [];
    let position: Window | null = window;
    let empty = 0;
    while (position !== null) {
      const { from, until }: Window = position;
      const { items, next } = await this.#search(position, signal);
      const found = await readAll(items, signal, (item, ended) => this.#read(item, ended));
      const cursor = next === null ? { account, bookmark: until } : { account, from, until, after: next };
      yield { found: [...pending, ...found], cursor };
      pending = [];
      empty = items.length === 0 ? empty + 1 : 0;
      if (next !== null && empty >= MAX_EMPTY) {
        throw new TransientError('Intercom: search conversations: the list does not end: its pages are empty', false);
      }
      position = next === null ? null : { from, until, after: next };
    }
  }

  /** Reads a page of a window, or the first page if the cursor has expired. */
  async #search(position: Window, signal: AbortSignal) {
    let { after } = position;
    let answer = await this.#searchAfter(position, after, signal);
    if (answer.status >= 400) {
      after = null;
      answer = await this.#searchAfter(position, after, signal);
    }
    const { conversations, pages } = readAnswer(searchSchema, answer.body, 'Intercom: search conversations');
    const next = pages?.next?.starting_after ?? null;
    if (next !== null && next === after) {
      throw new TransientError('Intercom: search conversations: the next page has the same cursor', false);
    }
    return { items: conversations, next };
  }

  #searchAfter({ from, until }: Window, after: string | null, signal: AbortSignal): Promise<ProviderAnswer> {
    const field = 'updated_at';
    return this.#client.request({
      name: 'search conversations',
      method: 'POST',
      path: '/conversations/search',
      body: {
        query: {
          operator: 'AND',
          value: [
            // Documentation and behavior differ on whether this includes equality, so the code works with both.
            { field, operator: '>', value: from - 1 },
            { field, operator: '<', value: until },
          ],
        },
        sort: { field, order: 'ascending' },
        pagination: { per_page: PAGE, ...(after === null ? {} : { starting_after: after }) },
      },
      accepts: after === null ? [] : EXPIRED_CURSOR,
      signal,
    });
  }

  #read(record: unknown, signal: AbortSignal): Promise<SourceRecord> {
    const id = isObject(record) && (typeof record.id === 'string' || typeof record.id === 'number') ? record.id : '?';
    return orRejected(keyOf(this.#workspace, String(id)), async () => {
      const item = readRecord(itemSchema, record);
      return decidedByState(this.#workspace, item) ?? (await this.#conversation(item.id, signal));
    });
  }

  #conversation(id: string, signal: AbortSignal): Promise<SourceRecord> {
    const key = keyOf(this.#workspace, id);
    return orRejected(key, async () => {
      const answer = await this.#client.request({
        name: 'get conversation',
        path: `/conversations/${encodeURIComponent(id)}?display_as=plaintext`,
        accepts: [404],
        signal,
      });
      if (answer.status === 404) {
        return { kind: 'gone', key };
      }
      const found = ticketOf(this.#workspace, readRecord(conversationSchema, answer.body));
      return found.kind !== 'ticket' || this.#hasDeletionList
        ? found
        : { kind: 'ticket', ticket: { ...found.ticket, recheck: id } };
    });
  }

  /**
   * Returns the conversations deleted since a time, newest first, so that a deletion in the meantime only moves others
   * to later pages. Null if the workspace has no such list.
   */
  async #deleted(since: number, signal: AbortSignal): Promise<SourceRecord[] | null> {
    const found: SourceRecord[] = [];
    for (let page = 1; page <= MAX_DELETED_PAGES; page += 1) {
      const query = new URLSearchParams({ page: String(page), per_page: String(DELETED_PAGE), order: 'desc' });
      const answer = await this.#client.request({
        name: 'list deleted conversations',
        path: `/conversations/deleted?${query}`,
        // Not every workspace has this list.
        accepts: [404],
        signal,
      });
      if (answer.status === 404) {
        return null;
      }
      const list = readAnswer(deletedSchema, answer.body, 'Intercom: list deleted conversations');
      const recent = list.conversations.filter(({ deleted_at: at }) => at == null || at >= since);
      append(
        found,
        recent.map(({ id }): SourceRecord => ({ kind: 'gone', key: keyOf(this.#workspace, id) })),
      );
      if (recent.length < list.conversations.length || page >= (list.pages?.total_pages ?? 0)) {
        return found;
      }
    }
    throw new TransientError('Intercom: list deleted conversations: the list does not end', false);
  }
}
