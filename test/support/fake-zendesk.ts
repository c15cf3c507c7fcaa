/** Fake API of Zendesk Support. */
import type { VirtualClock } from '../queue/virtual-clock.ts';
import { FakeProvider, onlyParameters, type ProviderReply, Refusal, type SeenRequest } from './fake-provider.ts';

export interface FakeUser {
  readonly id: number;
  readonly name: string;
  readonly email: string | null;
  readonly role: 'end-user' | 'agent' | 'admin';
}

function newComment(id: number, author: number, text: string, isPublic: boolean, now: string) {
  const body = { plain_body: text as string | null, body: `**${text}**` };
  return { id, author_id: author, public: isPublic, ...body, created_at: now };
}

export interface FakeEvent {
  readonly type: string;
  readonly author: Record<string, unknown>;
  readonly content: Record<string, unknown>;
  readonly metadata: Record<string, unknown>;
}

function newTicket(id: number, requester: number, subject: string, at: number) {
  const now = new Date(at).toISOString();
  return {
    id,
    subject,
    status: 'new' as 'new' | 'open' | 'pending' | 'hold' | 'solved' | 'closed' | 'deleted',
    created_at: now,
    updated_at: now,
    /** Seconds since the epoch. */
    generated_timestamp: Math.floor(at / 1000),
    requester_id: requester,
    submitter_id: requester,
    assignee_id: null as number | null,
    collaborator_ids: [] as number[],
    tags: [] as string[],
    brand_id: 7,
    via: { channel: 'web' } as { channel: string; source?: Record<string, unknown> },
    comments: [] as ReturnType<typeof newComment>[],
    log: [] as FakeEvent[],
    solvedAt: null as string | null,
    /** Leaves no trace, not even in the export. */
    purged: false,
  };
}
export type FakeTicket = ReturnType<typeof newTicket>;

export interface FakeZendeskOptions {
  readonly clock: VirtualClock;
  /** Largest page of the export; 1000 where absent. */
  readonly page?: number;
  /** Calls per minute of the account, and of the export. */
  readonly limit?: number;
  readonly exportLimit?: number;
  /** OAuth client; if set, only its access tokens are accepted. `life`: seconds, null: they do not expire. */
  readonly oauth?: { readonly clientId: string; readonly clientSecret: string; readonly life: number | null };
}

const TOKEN = 'zd-T0ken-that-nobody-may-see';
const EMAIL = 'owner@acme.example';
const MINUTE = 60_000;

/** Zendesk's Support API for reading tickets. */
export class FakeZendesk extends FakeProvider {
  static readonly token = TOKEN;
  static readonly email = EMAIL;
  readonly tickets = new Map<number, FakeTicket>();
  readonly users = new Map<number, FakeUser>();
  readonly #options: FakeZendeskOptions;
  #id = 100;
  /** Generation of the cursors: a cursor of an earlier generation has expired. */
  #generation = 0;
  /** The refresh token that has not been used yet. */
  #refreshToken: string | null = null;
  /** The access token that was issued with it, and its expiry. */
  #access: { readonly token: string; readonly until: number } | null = null;

  constructor(options: FakeZendeskOptions) {
    super(options.clock);
    this.#options = options;
  }

  // Events in the helpdesk.

  addUser(role: FakeUser['role'], name: string, email: string | null = null): FakeUser {
    const user = { id: this.#id++, name, email, role };
    this.users.set(user.id, user);
    return user;
  }

  addTicket(requester: FakeUser, subject: string, text: string, more: Partial<FakeTicket> = {}): FakeTicket {
    const ticket = { ...newTicket(this.#id++, requester.id, subject, this.clock.now()), ...more };
    this.tickets.set(ticket.id, ticket);
    if (text !== '') {
      this.comment(ticket, requester, text);
    }
    return ticket;
  }

  comment(ticket: FakeTicket, author: { readonly id: number }, text: string, isPublic = true): void {
    ticket.comments.push(newComment(this.#id++, author.id, text, isPublic, this.#now()));
    this.touch(ticket);
  }

  solve(ticket: FakeTicket): void {
    ticket.status = 'solved';
    ticket.solvedAt = this.#now();
    this.touch(ticket);
  }

  edit(ticket: FakeTicket, change: Partial<FakeTicket>): void {
    Object.assign(ticket, change);
    this.touch(ticket);
  }

  /** Change by an automation: only the timestamp of the export changes. */
  systemEdit(ticket: FakeTicket, change: Partial<FakeTicket>): void {
    Object.assign(ticket, change);
    ticket.generated_timestamp = this.seconds;
  }

  remove(ticket: FakeTicket): void {
    this.edit(ticket, { status: 'deleted' });
  }

  merge(ticket: FakeTicket): void {
    this.edit(ticket, { status: 'closed', tags: [...ticket.tags, 'closed_by_merge'] });
  }

  touch(ticket: FakeTicket): void {
    ticket.updated_at = this.#now();
    ticket.generated_timestamp = this.seconds;
  }

  /** Invalidates all earlier cursors. */
  expireCursors(): void {
    this.#generation += 1;
  }

  /** Authorizes the client. Returns the first refresh token. */
  authorize(): string {
    this.#refreshToken = `zd-refresh-${this.#id++}`;
    return this.#refreshToken;
  }

  /** Expires the access token early. */
  withdrawAccess(): void {
    this.#access = null;
  }

  /** All tokens so far: none of them may appear anywhere. */
  get tokens(): readonly string[] {
    return [this.#refreshToken, this.#access?.token].filter((token) => token != null);
  }

  // Its API.

  protected override admit(request: SeenRequest): ProviderReply {
    if (request.path === '/oauth/tokens') {
      return { status: 200 };
    }
    if (!this.#isKnown(request.headers.authorization ?? '')) {
      return { status: 401, body: { error: 'Couldn’t authenticate you' } };
    }
    const account = this.use('account', this.#options.limit ?? 700, MINUTE);
    const isExport = request.path.startsWith('/api/v2/incremental/');
    const own = isExport ? this.use('export', this.#options.exportLimit ?? 10, MINUTE) : null;
    const limitHeaders = {
      'X-Rate-Limit': String(this.#options.limit ?? 700),
      'X-Rate-Limit-Remaining': String(account.remaining),
      'ratelimit-limit': String(this.#options.limit ?? 700),
      'ratelimit-remaining': String(account.remaining),
      'ratelimit-reset': String(account.resetsIn),
      ...(own === null
        ? {}
        : {
            'zendesk-ratelimit-incremental-exports': `total=${this.#options.exportLimit ?? 10}; remaining=${own.remaining}; resets=${own.resetsIn}`,
          }),
    };
    const refused = [account, own].find((budget) => budget?.accepted === false);
    return refused == null
      ? { status: 200, headers: limitHeaders }
      : {
          status: 429,
          headers: { ...limitHeaders, 'Retry-After': String(refused.resetsIn) },
          body: { error: 'APIRateLimitExceeded' },
        };
  }

  #isKnown(authorization: string): boolean {
    if (this.#options.oauth !== undefined) {
      const access = this.#access;
      return access !== null && access.until > this.clock.now() && authorization === `Bearer ${access.token}`;
    }
    const basic = `Basic ${Buffer.from(`${EMAIL}/token:${TOKEN}`).toString('base64')}`;
    return [basic, `Bearer ${TOKEN}`].includes(authorization);
  }

  /** Refresh token grant: each refresh token works once, and invalidates the earlier access token. */
  #grant({ method, body, headers }: SeenRequest): ProviderReply {
    const { oauth } = this.#options;
    const asked = body as Record<string, unknown>;
    if (method !== 'POST' || headers.authorization !== undefined || asked.grant_type !== 'refresh_token') {
      throw new Refusal(400, { error: 'invalid_request', error_description: 'Something is missing.' });
    }
    if (asked.client_id !== oauth?.clientId || asked.client_secret !== oauth?.clientSecret) {
      throw new Refusal(401, { error: 'invalid_client', error_description: 'Client authentication failed.' });
    }
    if (this.#refreshToken === null || asked.refresh_token !== this.#refreshToken) {
      throw new Refusal(400, { error: 'invalid_grant', error_description: 'Invalid, expired, or revoked.' });
    }
    const { life = null } = oauth ?? {};
    const token = `zd-access-${this.#id++}`;
    this.#access = { token, until: life === null ? Number.POSITIVE_INFINITY : this.clock.now() + life * 1000 };
    const refreshToken = this.authorize();
    const grant = { access_token: token, refresh_token: refreshToken, token_type: 'bearer', scope: 'read' };
    return { status: 200, body: { ...grant, expires_in: life, refresh_token_expires_in: 7_776_000 } };
  }

  protected override handle(request: SeenRequest): ProviderReply {
    const { method, path, query } = request;
    if (path === '/oauth/tokens') {
      return this.#grant(request);
    }
    if (method !== 'GET') {
      throw new Refusal(405, { error: 'MethodNotAllowed' });
    }
    if (path === '/api/v2/incremental/tickets/cursor') {
      return this.#export(query);
    }
    const [, id, child] = /^\/api\/v2\/tickets\/(\d+)(?:\/(comments|conversation_log))?$/.exec(path) ?? [];
    const ticket = this.tickets.get(Number(id));
    if (ticket === undefined || ticket.purged || ticket.status === 'deleted') {
      throw new Refusal(404, { error: 'RecordNotFound', description: 'Not found' });
    }
    if (child === 'comments') {
      return this.#comments(ticket, query);
    }
    return child === 'conversation_log' ? this.#log(ticket, query) : this.#show(ticket, query);
  }

  #export(query: URLSearchParams): ProviderReply {
    onlyParameters(query, {
      start_time: /^\d+$/,
      cursor: /./,
      per_page: /^(?:\d{1,3}|1000)$/,
      include: /^(?:(?:users|metric_sets|comment_count)(?:,|$))+$/,
    });
    if (query.has('start_time') === query.has('cursor')) {
      throw new Refusal(400, { error: 'InvalidParameter', description: 'either start_time or cursor' });
    }
    const from = query.has('cursor') ? this.#after(query.get('cursor') ?? '') : [Number(query.get('start_time')), -1];
    const [time = 0, last = -1] = from;
    if (!query.has('cursor') && time > this.seconds - 60) {
      throw new Refusal(422, { error: 'StartTimeTooRecent', description: 'Too recent start_time' });
    }
    const ready = [...this.tickets.values()]
      .filter(({ purged, generated_timestamp: at }) => !purged && at <= this.seconds - 60)
      .filter(({ id, generated_timestamp: at }) => at > time || (at === time && id > last))
      .sort((a, b) => a.generated_timestamp - b.generated_timestamp || a.id - b.id);
    const size = Math.min(Number(query.get('per_page') ?? 1000), this.#options.page ?? 1000);
    const page = ready.slice(0, size);
    const end = page.at(-1);
    const include = (query.get('include') ?? '').split(',');
    const cursor = end === undefined ? query.get('cursor') : this.#cursor(end.generated_timestamp, end.id);
    return {
      status: 200,
      body: {
        tickets: page.map((ticket) => this.#ticket(ticket, include)),
        ...(include.includes('users') ? { users: this.#peopleOf(page) } : {}),
        after_cursor: cursor,
        after_url: cursor === null ? null : `${this.url}/api/v2/incremental/tickets/cursor?cursor=${cursor}`,
        before_cursor: null,
        end_of_stream: ready.length <= size,
      },
    };
  }

  #comments(ticket: FakeTicket, query: URLSearchParams): ProviderReply {
    onlyParameters(query, { 'page[size]': /^(?:\d{1,2}|100)$/, 'page[after]': /./, include: /^users$/ });
    const { page, meta } = slice(ticket.comments, query);
    const authors = new Set(page.map((comment) => comment.author_id));
    const users = [...authors].flatMap((id) => this.users.get(id) ?? []);
    return { status: 200, body: { comments: page, ...(query.has('include') ? { users } : {}), meta, links: {} } };
  }

  #log(ticket: FakeTicket, query: URLSearchParams): ProviderReply {
    onlyParameters(query, { 'page[size]': /^(?:\d{1,2}|100)$/, 'page[after]': /./ });
    const { page, meta } = slice(ticket.log, query);
    return { status: 200, body: { events: page, meta, links: {} } };
  }

  #show(ticket: FakeTicket, query: URLSearchParams): ProviderReply {
    onlyParameters(query, { include: /^(?:(?:users|metric_sets|comment_count)(?:,|$))+$/ });
    const include = (query.get('include') ?? '').split(',');
    return { status: 200, body: { ticket: this.#ticket(ticket, include), users: this.#peopleOf([ticket]) } };
  }

  #ticket({ comments, log: _log, solvedAt, purged: _purged, ...ticket }: FakeTicket, include: readonly string[]) {
    return {
      ...ticket,
      description: comments[0]?.plain_body ?? '',
      satisfaction_rating: { score: 'unoffered' },
      ...(include.includes('comment_count') ? { comment_count: comments.length } : {}),
      ...(include.includes('metric_sets') ? { metric_set: { ticket_id: ticket.id, solved_at: solvedAt } } : {}),
    };
  }

  #peopleOf(tickets: readonly FakeTicket[]): FakeUser[] {
    const ids = tickets.flatMap((one) => [
      one.requester_id,
      one.submitter_id,
      one.assignee_id,
      ...one.collaborator_ids,
    ]);
    return [...new Set(ids)].flatMap((id) => this.users.get(id ?? -1) ?? []);
  }

  #cursor(time: number, id: number): string {
    return Buffer.from(`${time}.0||${id}|${this.#generation}`).toString('base64');
  }

  #after(cursor: string): [number, number] {
    const [, time, id, generation] = /^(\d+)\.0\|\|(\d+)\|(\d+)$/.exec(Buffer.from(cursor, 'base64').toString()) ?? [];
    if (time === undefined || Number(generation) < this.#generation) {
      throw new Refusal(422, { error: 'InvalidCursor', description: 'cursor is not valid' });
    }
    return [Number(time), Number(id)];
  }

  #now(): string {
    return new Date(this.clock.now()).toISOString();
  }
}

function slice<T>(items: readonly T[], query: URLSearchParams) {
  const size = Number(query.get('page[size]') ?? 100);
  const start = query.has('page[after]')
    ? Number(Buffer.from(query.get('page[after]') ?? '', 'base64url').toString())
    : 0;
  const end = start + size;
  const after = Buffer.from(String(end)).toString('base64url');
  return {
    page: items.slice(start, end),
    meta: { has_more: end < items.length, after_cursor: after, before_cursor: null },
  };
}
