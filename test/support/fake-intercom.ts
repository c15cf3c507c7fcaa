/** Fake API of Intercom. */
import type { VirtualClock } from '../queue/virtual-clock.ts';
import { FakeProvider, onlyParameters, type ProviderReply, Refusal, type SeenRequest } from './fake-provider.ts';

export interface FakeAuthor {
  readonly type: 'user' | 'lead' | 'contact' | 'admin' | 'team' | 'bot';
  readonly id: string;
  readonly name: string | null;
  readonly email: string | null;
  readonly from_ai_agent?: boolean;
}

/** The body is plain text, and is returned as HTML unless the request asks for plain text. Times are in seconds. */
function newPart(id: string, author: FakeAuthor, body: string | null, now: number) {
  return { id, part_type: 'comment', body, created_at: now, redacted: false, author };
}

function newConversation(id: string, author: FakeAuthor, body: string, now: number) {
  const source = {
    type: 'conversation',
    delivered_as: 'customer_initiated',
    subject: '',
    body,
    author,
    redacted: false,
  };
  return {
    id,
    state: 'open' as 'open' | 'closed' | 'snoozed',
    title: null as string | null,
    created_at: now,
    updated_at: now,
    source,
    tags: [] as string[],
    parts: [] as ReturnType<typeof newPart>[],
    /** When it was last closed. */
    closedAt: null as number | null,
    deletedAt: null as number | null,
    /** The search returns the earlier state until then. */
    indexedAt: 0,
    indexed: null as { updated_at: number; state: string } | null,
  };
}
export type FakeConversation = ReturnType<typeof newConversation>;

export interface FakeIntercomOptions {
  readonly clock: VirtualClock;
  /** Largest page of a search; 150 where absent. */
  readonly page?: number;
  /** Calls per ten seconds. */
  readonly limit?: number;
  /** `>` and `<` include equality. */
  readonly inclusive?: boolean;
  /** Seconds until the search includes a change. */
  readonly indexing?: number;
  /** True if there is a list of deleted conversations. */
  readonly lists?: boolean;
}

const TOKEN = 'ic-T0ken-that-nobody-may-see';
const WINDOW = 10_000;
const NEWEST = 500;

interface Filter {
  readonly field?: unknown;
  readonly operator?: unknown;
  readonly value?: unknown;
}

/** Intercom's REST API for reading conversations. */
export class FakeIntercom extends FakeProvider {
  static readonly token = TOKEN;
  readonly conversations = new Map<string, FakeConversation>();
  readonly #options: FakeIntercomOptions;
  #id = 1000;
  #lists: boolean;
  #generation = 0;

  constructor(options: FakeIntercomOptions) {
    super(options.clock);
    this.#options = options;
    this.#lists = options.lists !== false;
  }

  // Events in the helpdesk.

  author(type: FakeAuthor['type'], name: string, more: Partial<FakeAuthor> = {}): FakeAuthor {
    return { type, id: String(this.#id++), name, email: `${name.toLowerCase()}@${type}.example`, ...more };
  }

  begin(author: FakeAuthor, text: string, more: Partial<FakeConversation> = {}): FakeConversation {
    const conversation = { ...newConversation(String(this.#id++), author, text, this.seconds), ...more };
    this.conversations.set(conversation.id, conversation);
    conversation.indexedAt = this.seconds + (this.#options.indexing ?? 0);
    return conversation;
  }

  add(
    conversation: FakeConversation,
    author: FakeAuthor,
    body: string | null,
    more: Partial<FakeConversation['parts'][0]> = {},
  ): void {
    conversation.parts.push({ ...newPart(String(this.#id++), author, body, this.seconds), ...more });
    this.edit(conversation, {});
  }

  close(conversation: FakeConversation): void {
    this.edit(conversation, { state: 'closed', closedAt: this.seconds });
  }

  edit(conversation: FakeConversation, change: Partial<FakeConversation>): void {
    if (this.seconds >= conversation.indexedAt) {
      conversation.indexed = { updated_at: conversation.updated_at, state: conversation.state };
    }
    Object.assign(conversation, change, { updated_at: this.seconds });
    conversation.indexedAt = this.seconds + (this.#options.indexing ?? 0);
  }

  remove(conversation: FakeConversation): void {
    conversation.deletedAt = this.seconds;
  }

  /** Invalidates all earlier cursors. */
  expirePositions(): void {
    this.#generation += 1;
  }

  /** Enables the list of deleted conversations. */
  getsList(): void {
    this.#lists = true;
  }

  // Its API.

  protected override admit({ headers }: SeenRequest): ProviderReply {
    if (headers.authorization !== `Bearer ${TOKEN}`) {
      return { status: 401, body: { type: 'error.list', errors: [{ code: 'unauthorized' }] } };
    }
    if (!/^2\.\d+$/.test(String(headers['intercom-version']))) {
      return { status: 400, body: { type: 'error.list', errors: [{ code: 'intercom_version_invalid' }] } };
    }
    const most = this.#options.limit ?? 167;
    const budget = this.use('app', most, WINDOW);
    const limitHeaders = {
      'X-RateLimit-Limit': String(most),
      'X-RateLimit-Remaining': String(budget.remaining),
      'X-RateLimit-Reset': String(budget.resetsAt),
    };
    return budget.accepted
      ? { status: 200, headers: limitHeaders }
      : { status: 429, headers: limitHeaders, body: { type: 'error.list', errors: [{ code: 'rate_limit_exceeded' }] } };
  }

  protected override handle({ method, path, query, body }: SeenRequest): ProviderReply {
    if (method === 'POST' && path === '/conversations/search') {
      onlyParameters(query, {});
      return this.#search(body as Record<string, unknown>);
    }
    if (method === 'GET' && path === '/conversations/deleted' && this.#lists) {
      return this.#deleted(query);
    }
    const [, id = ''] = /^\/conversations\/(\w+)$/.exec(path) ?? [];
    const conversation = this.conversations.get(id);
    if (method !== 'GET' || conversation === undefined || conversation.deletedAt !== null) {
      throw new Refusal(404, { type: 'error.list', errors: [{ code: 'not_found' }] });
    }
    onlyParameters(query, { display_as: /^plaintext$/ });
    return { status: 200, body: this.#full(conversation, query.get('display_as') === 'plaintext') };
  }

  #search(body: Record<string, unknown>): ProviderReply {
    const { query, sort, pagination, ...rest } = body;
    const { field, order, ...unsorted } = sort as Record<string, unknown>;
    const { per_page: size = 20, starting_after: after, ...unpaged } = pagination as Record<string, unknown>;
    const unknown = [...Object.keys(rest), ...Object.keys(unsorted), ...Object.keys(unpaged)];
    if (unknown.length > 0 || field !== 'updated_at' || order !== 'ascending') {
      refuse(`cannot sort, or does not know ${unknown}`);
    }
    if (typeof size !== 'number' || size < 1 || size > 150) {
      refuse('per_page is 1 to 150');
    }
    const [time, last] = after === undefined ? [-1, -1] : this.#after(String(after));
    const ready = [...this.conversations.values()]
      .filter((one) => one.deletedAt === null)
      .flatMap((one) => this.#indexed(one) ?? [])
      .filter((one) => this.#matches(query as Filter, one, 1))
      .filter((one) => one.updated_at > time || (one.updated_at === time && Number(one.id) > last))
      .sort((a, b) => a.updated_at - b.updated_at || Number(a.id) - Number(b.id));
    const page = ready.slice(0, Math.min(size as number, this.#options.page ?? 150));
    const end = page.at(-1);
    const hasNext = end !== undefined && page.length < ready.length;
    return {
      status: 200,
      body: {
        type: 'conversation.list',
        total_count: ready.length,
        conversations: page.map(({ id, state, updated_at, created_at }) => ({
          type: 'conversation',
          id,
          state,
          created_at,
          updated_at,
        })),
        pages: {
          type: 'pages',
          per_page: size,
          ...(hasNext ? { next: { page: 2, starting_after: this.#position(end.updated_at, end.id) } } : {}),
        },
      },
    };
  }

  /** A conversation as the search returns it. */
  #indexed(conversation: FakeConversation): FakeConversation | null {
    if (this.seconds >= conversation.indexedAt) {
      return conversation;
    }
    return conversation.indexed === null ? null : ({ ...conversation, ...conversation.indexed } as FakeConversation);
  }

  #matches(filter: Filter, conversation: FakeConversation, depth: number): boolean {
    const { field, operator, value } = filter;
    if (Array.isArray(value) && field === undefined) {
      if (depth > 2 || value.length > 15 || (operator !== 'AND' && operator !== 'OR')) {
        refuse('nested too deep, too many, or no such operator');
      }
      const results = value.map((one) => this.#matches(one, conversation, depth + 1));
      return operator === 'AND' ? results.every(Boolean) : results.some(Boolean);
    }
    if (field !== 'updated_at' || typeof value !== 'number' || (operator !== '>' && operator !== '<')) {
      return refuse(`no such filter: ${JSON.stringify(filter)}`);
    }
    const time = conversation.updated_at;
    return (operator === '>' ? time > value : time < value) || (this.#options.inclusive === true && time === value);
  }

  #deleted(query: URLSearchParams): ProviderReply {
    onlyParameters(query, { page: /^[1-9]\d*$/, per_page: /^(?:[1-9]|[1-5]\d|60)$/, order: /^(?:asc|desc)$/ });
    const sign = query.get('order') === 'asc' ? 1 : -1;
    const all = [...this.conversations.values()]
      .filter((one) => one.deletedAt !== null)
      .sort((a, b) => sign * (Number(a.deletedAt) - Number(b.deletedAt) || Number(a.id) - Number(b.id)));
    const size = Number(query.get('per_page') ?? 20);
    const page = Number(query.get('page') ?? 1);
    return {
      status: 200,
      body: {
        type: 'conversation.list',
        total_count: all.length,
        conversations: all
          .slice((page - 1) * size, page * size)
          .map(({ id, deletedAt }) => ({ type: 'conversation', id, metrics_retained: true, deleted_at: deletedAt })),
        pages: { type: 'pages', page, per_page: size, total_pages: Math.ceil(all.length / size) },
      },
    };
  }

  #full(conversation: FakeConversation, isPlain: boolean) {
    const { parts, closedAt, tags, deletedAt: _deleted, indexedAt: _at, indexed: _indexed, ...wire } = conversation;
    const show = (body: string | null) => (isPlain || body === null ? body : `<p>${body}</p>`);
    return {
      type: 'conversation',
      ...wire,
      source: { ...wire.source, body: show(wire.source.body) },
      tags: { type: 'tag.list', tags: tags.map((name) => ({ type: 'tag', id: name, name })) },
      teammates: { type: 'admin.list', admins: [] },
      statistics: {
        type: 'conversation_statistics',
        count_conversation_parts: parts.length,
        last_close_at: closedAt,
      },
      conversation_parts: {
        type: 'conversation_part.list',
        conversation_parts: parts
          .slice(-NEWEST)
          .map((part) => ({ type: 'conversation_part', ...part, body: show(part.body) })),
        total_count: Math.min(parts.length, NEWEST),
      },
    };
  }

  #position(time: number, id: string): string {
    return Buffer.from(JSON.stringify([time * 1000, Number(id), this.#generation])).toString('base64');
  }

  #after(position: string): [number, number] {
    const read: unknown = JSON.parse(Buffer.from(position, 'base64').toString() || 'null');
    if (!Array.isArray(read) || read[2] !== this.#generation) {
      refuse('starting_after is not valid');
    }
    const [time, id] = read as [number, number];
    return [time / 1000, id];
  }
}

function refuse(message: string): never {
  throw new Refusal(400, { type: 'error.list', errors: [{ code: 'parameter_invalid', message }] });
}
