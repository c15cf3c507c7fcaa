/** Source of GitHub issues: their lists, their conversion, hints and the webhook. */

import { createPrivateKey, type KeyObject } from 'node:crypto';
import { SignJWT } from 'jose';
import * as z from 'zod';
import { AuthError, ConfigError, NotThePlatformError, RateLimitedError, RejectedError } from '../../core/errors.ts';
import { isObject, type Json, sameJson } from '../../core/json.ts';
import { headerOf, isSignedBy, type WebhookRequest } from '../../core/signature.ts';
import { type RateHeaders, readRateHeaders } from '../../queue/request.ts';
import {
  type Batch,
  jsonWebhook,
  type PollingSource,
  type PollOptions,
  refused,
  type Webhook,
} from '../model/source.ts';
import {
  type AuthorRole,
  firstTime,
  listAttribute,
  type Part,
  PeopleCollector,
  type SourceRecord,
  ticketOrSkipped,
  withoutTicket,
} from '../model/ticket.ts';
import {
  type HeaderRecord,
  nextPath,
  openProviderClient,
  orRejected,
  type ProviderAnswer,
  type ProviderClient,
  type ProviderOptions,
  type ProviderRequest,
  ProviderSource,
  type ProviderTokens,
  pathBelow,
  RenewedToken,
  readAnswer,
  readPages,
  readRecord,
} from './provider.ts';
import {
  type PollPosition,
  pollUpdated,
  positionOf,
  RecentVersions,
  SETTLING,
  type UpdatedPage,
} from './updated-list.ts';

const text = z.string().nullish();
const count = z.number().int().nonnegative();

/** Null if the account was deleted. */
const userSchema = z.object({ login: z.string(), type: text, name: text, email: text }).nullish();

/** Members of an issue that the scan needs; the others are read for each issue. */
const listSchema = z.array(
  z.looseObject({ node_id: z.string(), updated_at: z.string(), pull_request: z.unknown().optional() }),
);
type ListedIssue = z.output<typeof listSchema>[number];

const issueSchema = z.object({
  node_id: z.string().min(1),
  number: count,
  title: text,
  body: text,
  html_url: text,
  state: z.string(),
  state_reason: text,
  labels: z.array(z.union([z.string(), z.object({ name: text })])).nullish(),
  comments: count.nullish(),
  created_at: text,
  updated_at: text,
  closed_at: text,
  user: userSchema,
  assignee: userSchema.catch(null),
  assignees: z.array(userSchema).nullish().catch(null),
  closed_by: userSchema.catch(null),
  author_association: text,
  pull_request: z.unknown().optional(),
});
type GithubIssue = z.output<typeof issueSchema>;

const commentSchema = z.object({
  node_id: z.string(),
  body: text,
  created_at: text,
  user: userSchema,
  author_association: text,
  /** Set if the comment was hidden by the team; not always present. */
  minimized: z.unknown().optional(),
});
type GithubComment = z.output<typeof commentSchema>;

const commentsSchema = z.array(commentSchema);

type GithubOptions = ProviderOptions<'github'>;

/** ETag of a page at a URL when it was last read. */
const tagSchema = z.object({ path: z.string(), etag: z.string() });
type Tag = z.output<typeof tagSchema>;

/** Position in one repository. */
type Place = {
  readonly reached: PollPosition;
  /** ETag of the first page, if everything was read; otherwise null. */
  readonly tag: Tag | null;
};

/** Positions by configured repository name. */
type Places = {
  readonly batch: number;
  readonly repositories: Readonly<Record<string, Place>>;
};

const cursorSchema = z
  .object({
    batch: z.number().catch(0),
    repositories: z
      .record(
        z.string(),
        z
          .object({ reached: z.unknown(), tag: tagSchema.nullable().catch(null) })
          .nullable()
          .catch(null),
      )
      .catch({}),
  })
  .catch({ batch: 0, repositories: {} });

/** Overlap of consecutive polls in milliseconds, because lists are updated late; known versions are not read again. */
const LOOKBACK = 3_600_000;
const GONE = [404, 410];
const REPOSITORY_GONE = new Set([404, 410, 451]);

/**
 * Opens the source of GitHub issues: the issues of each repository in the order of their last change, then the comments
 * of each closed one. Open issues are listed too, because a reopened issue must not be sent. Throws ConfigError for an
 * unreadable key.
 */
export function openGithub(options: GithubOptions): PollingSource {
  return new Github(options, openGithubClient(options));
}

class Github extends ProviderSource<GithubOptions> {
  readonly #rules: IssueRules = {
    team: new Set(this.options.teamMembers.map((login) => login.toLowerCase())),
    declined: this.options.includeNotPlanned,
  };
  readonly #seen = new Map(this.options.repositories.map((repository) => [repository, new RecentVersions()]));

  /** Polls every repository. The error of one is thrown after all others are done. */
  async *poll({ cursor, since, signal }: PollOptions): AsyncIterable<Batch> {
    let places = placesOf(cursor, since, this.options.repositories);
    for (const seen of this.#seen.values()) {
      seen.startAfter(places.batch);
    }
    let missing: RejectedError | null = null;
    for (const repository of this.options.repositories) {
      try {
        for await (const { found, batch, place } of this.#pollOne(repository, places, signal)) {
          places = { batch, repositories: { ...places.repositories, [repository]: place } };
          yield { found, cursor: places };
        }
      } catch (error) {
        if (!(error instanceof RejectedError)) {
          throw error;
        }
        missing ??= rejectionOf(repository, error);
      }
    }
    if (missing !== null) {
      throw missing;
    }
  }

  async fetch(id: string, signal: AbortSignal): Promise<SourceRecord> {
    const hint = readHint(id);
    const repository = this.options.repositories.find((one) => one.toLowerCase() === hint?.repository.toLowerCase());
    if (hint?.nodeId != null && repository === undefined) {
      // The repository was removed from the configuration.
      return { kind: 'gone', key: keyOf(hint.nodeId) };
    }
    if (hint === null || repository === undefined) {
      return { kind: 'rejected', place: id, reason: 'not an issue of a repository of this source' };
    }
    return orRejected(id, async () => {
      const issue = await this.#issue(repository, hint.number, signal);
      if (issue === null) {
        await this.#mustBeReadable(repository, signal);
      }
      if (hint.nodeId !== null && issue?.node_id !== hint.nodeId) {
        return { kind: 'gone', key: keyOf(hint.nodeId) };
      }
      if (issue === null || issue.pull_request != null) {
        return { kind: 'rejected', place: id, reason: 'no issue with this number' };
      }
      return this.#thread(repository, issue, signal);
    });
  }

  async *#pollOne(repository: string, { batch: last, repositories }: Places, signal: AbortSignal) {
    const place = repositories[repository] as Place;
    const list = this.#list(repository, place.tag, signal);
    const seen = this.#seen.get(repository) as RecentVersions;
    let { reached } = place;
    let batch = last;
    for await (const { found, ...now } of pollUpdated(list, { reached, batch, lookback: LOOKBACK }, seen, signal)) {
      ({ reached, batch } = now);
      yield { found, batch, place: { reached, tag: null } satisfies Place };
    }
    // Yield the ETag last: by then, all records that it covers were yielded and become durable with this cursor or
    // before.
    if (list.tag !== null && !sameJson(list.tag, place.tag)) {
      yield { found: [], batch, place: { reached, tag: list.tag } satisfies Place };
    }
  }

  /**
   * Lists the issues of one repository, including pull requests, in the order of their last change. `known` is the ETag
   * of the last poll, whose records are all durable.
   */
  #list(repository: string, known: Tag | null, signal: AbortSignal) {
    const name = 'list issues';
    const label = `GitHub: ${name}`;
    let pages = 0;
    const list = {
      label,
      /** Number of pages after which an endless list is reported as an error. */
      mostPages: 1000,
      /** ETag that can make the next list unnecessary; null: it must be read. */
      tag: null as Tag | null,
      idOf: (issue: ListedIssue) => (issue.pull_request == null ? issue.node_id : null),
      read: (issue: ListedIssue, ended: AbortSignal) => this.#read(repository, issue, ended),
      first: (since: string) => {
        const query = new URLSearchParams({ state: 'all', sort: 'updated', direction: 'asc', since, per_page: '100' });
        return `/repos/${repository}/issues?${query}`;
      },
      page: async (path: string): Promise<UpdatedPage<ListedIssue>> => {
        const isKnown = pages === 0 && known?.path === path;
        pages += 1;
        const headers: Record<string, string> = isKnown ? { 'if-none-match': known.etag } : {};
        const answer = await this.client.request({ name, path, headers, accepts: isKnown ? [304] : [], signal });
        const { at } = answer;
        if (answer.status === 304) {
          list.tag = known;
          return { items: [], next: null, at };
        }
        const items = readAnswer(listSchema, answer.body, label);
        const { etag, link } = answer.headers;
        const next = nextPath(link, this.options.baseUrl, label);
        const settled = items.every((item) => at - Date.parse(item.updated_at) >= SETTLING);
        // An ETag covers one page only, and recent issues may change without a new ETag.
        const isWhole = pages === 1 && next === null && settled;
        list.tag = isWhole && typeof etag === 'string' ? { path, etag } : null;
        return { items, next, at };
      },
    };
    return list;
  }

  #read(repository: string, record: ListedIssue, signal: AbortSignal): Promise<SourceRecord> {
    return orRejected(keyOf(record.node_id), async () => {
      return this.#thread(repository, readRecord(issueSchema, record), signal);
    });
  }

  /**
   * Reads an issue with its comments, unless it is skipped. If comments are missing, one may have been deleted: the issue
   * is read again.
   */
  async #thread(repository: string, listed: GithubIssue, signal: AbortSignal): Promise<SourceRecord> {
    const decided = decidedByIssue(listed, this.#rules);
    if (decided !== null) {
      return decided;
    }
    let issue: GithubIssue | null = listed;
    let comments = await this.#comments(repository, listed.number, signal);
    if (comments !== null && comments.length < (listed.comments ?? 0)) {
      issue = await this.#issue(repository, listed.number, signal);
      comments = await this.#comments(repository, listed.number, signal);
    }
    if (issue === null || comments === null || issue.node_id !== listed.node_id) {
      return { kind: 'gone', key: keyOf(listed.node_id) };
    }
    return decidedByIssue(issue, this.#rules) ?? ticketOf(repository, issue, comments, this.#rules);
  }

  /** Throws RejectedError if the whole repository is inaccessible: then nothing is known about one issue. */
  async #mustBeReadable(repository: string, signal: AbortSignal): Promise<void> {
    try {
      await this.client.request({ name: 'list issues', path: `/repos/${repository}/issues?per_page=1`, signal });
    } catch (error) {
      throw error instanceof RejectedError ? rejectionOf(repository, error) : error;
    }
  }

  /** Returns an issue, or null if it no longer exists. */
  async #issue(repository: string, number: number, signal: AbortSignal): Promise<GithubIssue | null> {
    const path = `/repos/${repository}/issues/${number}`;
    const answer = await this.find({ name: 'get issue', path, signal }, GONE);
    return answer === null ? null : readRecord(issueSchema, answer.body);
  }

  /** Returns all comments; null if the issue no longer exists. */
  async #comments(repository: string, number: number, signal: AbortSignal): Promise<GithubComment[] | null> {
    const name = 'list comments';
    const label = `GitHub: ${name}`;
    const first = `/repos/${repository}/issues/${number}/comments?per_page=100`;
    const all = await readPages(label, first, async (path: string) => {
      const answer = await this.find({ name, path, signal }, GONE);
      return answer === null
        ? null
        : {
            items: readRecord(commentsSchema, answer.body),
            next: nextPath(answer.headers.link, this.options.baseUrl, label),
          };
    });
    return all === null ? null : [...new Map(all.map((comment) => [comment.node_id, comment])).values()];
  }
}

function rejectionOf(repository: string, error: RejectedError): RejectedError {
  const words = REPOSITORY_GONE.has(error.status)
    ? `GitHub: ${repository}: the repository does not exist, has no issues, or the token cannot read them`
    : error.message;
  return new RejectedError(`${words} (status ${error.status})`, error.status, { cause: error });
}

function placesOf(cursor: Json, since: number, names: readonly string[]): Places {
  const { batch, repositories: kept } = cursorSchema.parse(cursor);
  const places = names.map((name): [string, Place] => {
    const { reached, tag = null } = kept[name] ?? {};
    return [name, { reached: positionOf(reached, since), tag }];
  });
  return { batch, repositories: Object.fromEntries(places) };
}

interface IssueRules {
  /**
   * Logins of the team, in lower case: private members appear as contributors. Source: docs/helpdesk-notes.md#github
   */
  readonly team: ReadonlySet<string>;
  /** True if issues that were closed as not planned or as duplicates are sent too. */
  readonly declined: boolean;
}

const TEAM = new Set(['OWNER', 'MEMBER', 'COLLABORATOR']);
const DECLINED = new Set(['not_planned', 'duplicate']);

/** Returns the key of an issue, which stays the same when the repository is renamed. */
function keyOf(nodeId: string): string {
  return `github/${nodeId}`;
}

/** Decides from the issue alone whether it is skipped; null: its comments must be read. */
function decidedByIssue(issue: GithubIssue, { declined }: IssueRules): SourceRecord | null {
  const key = keyOf(issue.node_id);
  if (issue.state !== 'closed') {
    return withoutTicket(key, 'open');
  }
  if (isBot(issue.user)) {
    return withoutTicket(key, 'bot');
  }
  return withoutTicket(key, !declined && DECLINED.has(issue.state_reason ?? '') ? 'declined' : null);
}

/** Converts an issue and its comments to a ticket. `repository` is the configured name: `acme/product`. */
function ticketOf(
  repository: string,
  issue: GithubIssue,
  comments: readonly GithubComment[],
  rules: IssueRules,
): SourceRecord {
  const written = comments.filter((comment) => !isBot(comment.user) && !isMinimized(comment));
  return ticketOrSkipped({
    key: keyOf(issue.node_id),
    subject: issue.title ?? '',
    createdAt: issue.created_at ?? null,
    settledAt: firstTime(issue.closed_at),
    url: issue.html_url ?? null,
    attributes: attributesOf(repository, issue),
    parts: [issue, ...written].flatMap((one) => partOf(one, rules)),
    people: peopleOf([
      ...[issue, ...comments].map(({ user }) => user),
      issue.assignee,
      ...(issue.assignees ?? []),
      issue.closed_by,
    ]),
    completeness: issue.comments == null ? null : { reported: issue.comments, fetched: comments.length },
    // The list omits deleted, transferred and hidden issues.
    recheck: hintOf(repository, issue),
  });
}

type Written = Pick<GithubIssue, 'body' | 'user' | 'author_association'>;

function partOf({ body, user, author_association: association }: Written, { team }: IssueRules): Part[] {
  const text = (body ?? '').trim();
  const isTeam = TEAM.has(association ?? '') || team.has((user?.login ?? '').toLowerCase());
  const role: AuthorRole = isTeam ? 'team-member' : 'user';
  return text === '' ? [] : [{ role, body: text }];
}

function isBot(user: GithubIssue['user']): boolean {
  return user != null && (user.type === 'Bot' || user.login.endsWith('[bot]'));
}

function isMinimized({ minimized }: GithubComment): boolean {
  return minimized != null && minimized !== false;
}

function attributesOf(repository: string, { number, labels }: GithubIssue): Record<string, string> {
  const names = (labels ?? []).flatMap((label) => (typeof label === 'string' ? label : (label.name ?? [])));
  return { repository, issue_number: String(number), ...listAttribute('labels', names) };
}

function peopleOf(users: readonly GithubIssue['user'][]) {
  const people = new PeopleCollector();
  for (const user of users) {
    if (!isBot(user)) {
      people.add([user?.login, user?.name], [user?.email]);
    }
  }
  return people.all();
}

const EVENTS = new Set(['issues', 'issue_comment']);

const eventSchema = z.object({
  repository: z.object({ full_name: z.string() }),
  issue: z.object({ node_id: z.string(), number: z.number().int(), pull_request: z.unknown().optional() }),
});

/**
 * Webhook of GitHub, signed with the hexadecimal HMAC-SHA256 of the raw body. Every change of an issue is a hint, not
 * only its closing. Source: docs/helpdesk-notes.md#github
 */
export function githubWebhook({
  name,
  secret,
  repositories,
}: Pick<GithubOptions, 'name' | 'repositories'> & { readonly secret: string }): Webhook {
  // Events of other repositories are ignored.
  const own = new Map(repositories.map((repository) => [repository.toLowerCase(), repository]));
  const refusal = ({ headers, body }: WebhookRequest) => {
    const signature = /^sha256=([0-9a-f]{64})$/.exec(headerOf(headers, 'x-hub-signature-256') ?? '')?.[1] ?? '';
    return isSignedBy([signature], { algorithm: 'sha256', secret, encoding: 'hex' }, body)
      ? null
      : 'the signature is missing or wrong';
  };
  const anyJson = z.custom((body) => body !== undefined);
  return jsonWebhook(name, refusal, anyJson, 'the body is not JSON', (json, headers) => {
    const delivery = headerOf(headers, 'x-github-delivery');
    if (!EVENTS.has(headerOf(headers, 'x-github-event') ?? '')) {
      return { kind: 'hints', delivery, ids: [] };
    }
    const event = eventSchema.safeParse(json);
    if (!event.success) {
      return refused(400, 'the body is not an issue event');
    }
    const { repository, issue } = event.data;
    const known = own.get(repository.full_name.toLowerCase());
    const ids = known === undefined || issue.pull_request != null ? [] : [hintOf(known, issue)];
    return { kind: 'hints', delivery, ids };
  });
}

/** Formats a hint. The node id reveals a deletion if the number leads nowhere or to another issue. */
function hintOf(repository: string, issue: Pick<GithubIssue, 'number' | 'node_id'>): string {
  return `${repository}#${issue.number}:${issue.node_id}`;
}

/** Parses a hint: `acme/product#12:I_kwDOabc`, or without the node id if a person wrote it. Null if it is invalid. */
function readHint(hint: string) {
  const [, repository, number, nodeId] = /^([\w.-]+\/[\w.-]+)#(\d{1,15})(?::([\w=+/-]{1,200}))?$/.exec(hint) ?? [];
  return repository === undefined ? null : { repository, number: Number(number), nodeId: nodeId ?? null };
}

type ClientOptions = ProviderOptions<'github'>;

const MOVED = [301, 302, 307, 308];
const MAX_MOVES = 5;
/** Consecutive refusals after which the request fails. */
const MAX_REFUSALS = 5;

/**
 * Opens a client of GitHub, which follows renamed repositories, renews tokens, and recognizes secondary rate limits by
 * their text. Throws ConfigError if the key of an app cannot be read.
 */
function openGithubClient(options: ClientOptions): ProviderClient {
  const { app, baseUrl, clock, token = '' } = options;
  const client = openProviderClient(options, {
    label: 'GitHub',
    baseUrl,
    tokens: app === undefined ? null : openAppTokens(options, app),
    headers: async () => ({
      accept: 'application/vnd.github+json',
      'x-github-api-version': '2022-11-28',
      ...(app === undefined ? { authorization: `Bearer ${token}` } : {}),
    }),
    rate: readGithubRate,
    isRefusal: isGithubRefusal,
  });
  let refusals = 0;
  /** Time on the monotonic clock before which no request is sent. */
  let closedUntil = Number.NEGATIVE_INFINITY;
  const remaining = () => Math.max(0, closedUntil - clock.monotonic());

  /** Sends a request. A secondary rate limit pauses all requests: for at least a minute, doubled each time. */
  async function unrefused(request: ProviderRequest): Promise<ProviderAnswer> {
    for (;;) {
      while (remaining() > 0) {
        await clock.sleep(remaining(), request.signal);
      }
      const sentAt = clock.monotonic();
      const answer = await client.request({ ...request, accepts: [...MOVED, 403, ...(request.accepts ?? [])] });
      if (answer.status !== 403) {
        refusals = 0;
        return answer;
      }
      if (!isTextOfRefusal(answer.body)) {
        throw new AuthError(`GitHub: ${request.name}: status 403: the token lacks a permission`, 403);
      }
      if (sentAt >= closedUntil) {
        refusals += 1;
        closedUntil = clock.monotonic() + MIN_WAIT * 2 ** (refusals - 1);
      }
      if (refusals >= MAX_REFUSALS) {
        throw new RateLimitedError(`GitHub: ${request.name}: rate limit exceeded repeatedly`, remaining());
      }
    }
  }

  return {
    async request(request) {
      let { path } = request;
      for (let moves = 0; moves <= MAX_MOVES; moves += 1) {
        const answer = await unrefused({ ...request, path });
        if (!MOVED.includes(answer.status)) {
          return answer;
        }
        path = pathBelow(baseUrl, String(answer.headers.location ?? ''), `GitHub: ${request.name}`);
      }
      throw new NotThePlatformError(`GitHub: ${request.name}: too many redirects`);
    },
    close: client.close,
  };
}

function isTextOfRefusal(body: unknown): boolean {
  const texts = isObject(body) ? [body.message, body.documentation_url] : [];
  return texts.some((text) => typeof text === 'string' && /rate[ -]limit/i.test(text));
}

/** Seconds by which a claim is backdated, in case GitHub's clock is slow, and the maximum lifetime of a claim. */
const CLOCK_TOLERANCE = 60;
const LIFE = 600;
/** Time before its expiry at which a token is renewed, in milliseconds. */
const RENEWAL_MARGIN = 300_000;

const tokenSchema = z.object({ token: z.string().min(1), expires_at: z.string() });

/**
 * Opens the tokens of an app's installation, valid for an hour each. The key is PEM, PKCS #1 as GitHub issues it or
 * PKCS #8; otherwise throws ConfigError.
 */
function openAppTokens(
  options: ClientOptions,
  { id, installationId, privateKey }: NonNullable<ClientOptions['app']>,
): ProviderTokens {
  const { baseUrl, clock } = options;
  const key = readKey(privateKey);
  const closing = new AbortController();
  const client = openProviderClient(
    { ...options, concurrency: 1 },
    {
      label: 'GitHub',
      baseUrl,
      headers: async () => ({ authorization: `Bearer ${await claim(id, key, clock.now())}` }),
      rate: readGithubRate,
      isRefusal: isGithubRefusal,
    },
  );
  const access = new RenewedToken(clock, async () => {
    const name = 'get an installation token';
    const path = `/app/installations/${installationId}/access_tokens`;
    const { body } = await client.request({ name, method: 'POST', path, signal: closing.signal });
    const { token, expires_at: expires } = readAnswer(tokenSchema, body, `GitHub: ${name}`);
    return { token, until: (Date.parse(expires) || 0) - RENEWAL_MARGIN };
  });
  return {
    access,
    async close() {
      closing.abort();
      await client.close();
    },
  };
}

/** Signs a claim. `now` is milliseconds since the epoch. */
function claim(app: number, key: KeyObject, now: number): Promise<string> {
  const issuedAt = Math.floor(now / 1000) - CLOCK_TOLERANCE;
  return new SignJWT()
    .setProtectedHeader({ alg: 'RS256' })
    .setIssuedAt(issuedAt)
    .setExpirationTime(issuedAt + LIFE)
    .setIssuer(String(app))
    .sign(key);
}

function readKey(pem: string): KeyObject {
  let key: KeyObject | null = null;
  try {
    // Environment variables often contain the key in one line.
    key = createPrivateKey(pem.replaceAll('\\n', '\n'));
  } catch {
    // The error may quote the key.
  }
  if (key?.asymmetricKeyType !== 'rsa') {
    throw new ConfigError('github.app.privateKey: an RSA private key as PEM without a passphrase is expected');
  }
  return key;
}

/**
 * Minimum wait after a rate limit without a wait or reset in the response, in milliseconds. Source:
 * docs/helpdesk-notes.md#github
 */
const MIN_WAIT = 60_000;

/**
 * Reads GitHub's rate-limit headers. `retryAfter` applies if the request was rate limited: without `Retry-After` and
 * with requests left, a secondary limit was exceeded, which has no headers and no reset.
 */
function readGithubRate(headers: HeaderRecord): RateHeaders {
  const read = readRateHeaders(headers);
  const endsAtReset = read.remaining === 0 && read.reset !== null;
  return { ...read, retryAfter: read.retryAfter ?? (endsAtReset ? null : MIN_WAIT) };
}

/**
 * Reports whether a response is due to a rate limit: GitHub also uses 403 for it. Source: docs/helpdesk-notes.md#github
 */
function isGithubRefusal(status: number, headers: HeaderRecord): boolean {
  const { remaining, retryAfter } = readRateHeaders(headers);
  return status === 403 && (remaining === 0 || retryAfter !== null);
}
