import type { ConversationsConfig } from '../../../config/conversations.ts';
import type { Clock, Random } from '../../../core/clock.ts';
import { RejectedError, TransientError } from '../../../core/errors.ts';
import { isObject, type Json, sameJson } from '../../../core/json.ts';
import { orRejected, readRecord } from '../../model/answers.ts';
import type { Batch, PollingSource, PollOptions } from '../../model/source.ts';
import type { SourceRecord } from '../../model/ticket.ts';
import { nextLink, pathBelow } from '../../polling/next-link.ts';
import { RecentVersions } from '../../polling/recent-versions.ts';
import { type PollPosition, pollUpdated, positionOf } from '../../polling/updated-poll.ts';
import { type GithubClient, openGithubClient } from './client.ts';
import { readHint } from './hint.ts';
import { decidedByIssue, type IssueRules, keyOf, ticketOf } from './issue.ts';
import { IssueList, type Tag } from './issue-list.ts';
import { commentsSchema, type GithubComment, type GithubIssue, issueSchema, type ListedIssue } from './wire.ts';

export type GithubSettings = NonNullable<ConversationsConfig['sources'][number]['github']>;

export interface GithubOptions extends Omit<GithubSettings, 'webhookSecret'> {
  readonly name: string;
  readonly userAgent: string;
  readonly clock: Clock;
  readonly random: Random;
  /** Maximum number of requests in flight; default 4. */
  readonly concurrency?: number;
}

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

/** Overlap of consecutive polls in milliseconds, because lists are updated late; known versions are not read again. */
const LOOKBACK = 3_600_000;
/** Maximum number of pages with comments of one issue. */
const MAX_CHILD_PAGES = 1000;
const GONE = [404, 410];
const REPOSITORY_GONE = new Set([404, 410, 451]);

/**
 * Opens the source of GitHub issues: the issues of each repository in the order of their last change, then the comments
 * of each closed one. Open issues are listed too, because a reopened issue must not be sent. Throws ConfigError for an
 * unreadable key.
 */
export function openGithub(options: GithubOptions): PollingSource {
  return new Github(options, openGithubClient({ ...options, concurrency: options.concurrency ?? 4 }));
}

class Github implements PollingSource {
  readonly name: string;
  readonly #options: GithubOptions;
  readonly #rules: IssueRules;
  readonly #client: GithubClient;
  readonly #seen: ReadonlyMap<string, RecentVersions>;

  constructor(options: GithubOptions, client: GithubClient) {
    this.name = options.name;
    this.#options = options;
    this.#rules = {
      team: new Set(options.teamMembers.map((login) => login.toLowerCase())),
      declined: options.includeNotPlanned,
    };
    this.#client = client;
    this.#seen = new Map(options.repositories.map((repository) => [repository, new RecentVersions()]));
  }

  /** Polls every repository. The error of one is thrown after all others are done. */
  async *poll({ cursor, since, signal }: PollOptions): AsyncIterable<Batch> {
    let places = placesOf(cursor, since, this.#options.repositories);
    for (const seen of this.#seen.values()) {
      seen.startAfter(places.batch);
    }
    let missing: RejectedError | null = null;
    for (const repository of this.#options.repositories) {
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
    const repository = this.#options.repositories.find((one) => one.toLowerCase() === hint?.repository.toLowerCase());
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
      return decidedByIssue(issue, this.#rules) ?? (await this.#thread(repository, issue, signal));
    });
  }

  close(): Promise<void> {
    return this.#client.close();
  }

  async *#pollOne(repository: string, { batch: last, repositories }: Places, signal: AbortSignal) {
    const place = repositories[repository] as Place;
    const { clock, baseUrl } = this.#options;
    const list = new IssueList({ client: this.#client, repository, tag: place.tag, clock, baseUrl, signal });
    let { reached } = place;
    let batch = last;
    const progress = pollUpdated<ListedIssue>({
      list,
      reached,
      lookback: LOOKBACK,
      seen: this.#seen.get(repository) as RecentVersions,
      batch,
      isWanted: (issue) => issue.pull_request == null,
      idOf: (issue) => issue.node_id,
      read: (issue, ended) => this.#read(repository, issue, ended),
      signal,
    });
    for await (const { found, ...now } of progress) {
      ({ reached, batch } = now);
      yield { found, batch, place: { reached, tag: null } satisfies Place };
    }
    // Yield the ETag last: by then, all records that it covers were yielded and become durable with this cursor or
    // before.
    if (list.tag !== null && !sameJson(list.tag, place.tag)) {
      yield { found: [], batch, place: { reached, tag: list.tag } satisfies Place };
    }
  }

  #read(repository: string, record: ListedIssue, signal: AbortSignal): Promise<SourceRecord> {
    return orRejected(keyOf(record.node_id), async () => {
      const issue = readRecord(issueSchema, record);
      return decidedByIssue(issue, this.#rules) ?? (await this.#thread(repository, issue, signal));
    });
  }

  /** Reads an issue with its comments. If comments are missing, one may have been deleted: the issue is read again. */
  async #thread(repository: string, listed: GithubIssue, signal: AbortSignal): Promise<SourceRecord> {
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
      await this.#client.get({ name: 'list issues', path: `/repos/${repository}/issues?per_page=1`, signal });
    } catch (error) {
      throw error instanceof RejectedError ? rejectionOf(repository, error) : error;
    }
  }

  /** Returns an issue, or null if it no longer exists. */
  async #issue(repository: string, number: number, signal: AbortSignal): Promise<GithubIssue | null> {
    const path = `/repos/${repository}/issues/${number}`;
    const answer = await this.#client.get({ name: 'get issue', path, accepts: GONE, signal });
    return GONE.includes(answer.status) ? null : readRecord(issueSchema, answer.body);
  }

  /** Returns all comments; null if the issue no longer exists. */
  async #comments(repository: string, number: number, signal: AbortSignal): Promise<GithubComment[] | null> {
    const byId = new Map<string, GithubComment>();
    const name = 'list comments';
    let path: string | null = `/repos/${repository}/issues/${number}/comments?per_page=100`;
    for (let pages = 0; path !== null; pages += 1) {
      if (pages >= MAX_CHILD_PAGES) {
        throw new TransientError(`GitHub: ${name}: the list does not end`, false);
      }
      const answer = await this.#client.get({ name, path, accepts: GONE, signal });
      if (GONE.includes(answer.status)) {
        return null;
      }
      for (const comment of readRecord(commentsSchema, answer.body)) {
        byId.set(comment.node_id, comment);
      }
      const next = nextLink(answer.headers.link);
      path = next === null ? null : pathBelow(this.#options.baseUrl, next, `GitHub: ${name}`);
    }
    return [...byId.values()];
  }
}

function rejectionOf(repository: string, error: RejectedError): RejectedError {
  const words = REPOSITORY_GONE.has(error.status)
    ? `GitHub: ${repository}: the repository does not exist, has no issues, or the token cannot read them`
    : error.message;
  return new RejectedError(`${words} (status ${error.status})`, error.status, { cause: error });
}

function placesOf(cursor: Json, since: number, names: readonly string[]): Places {
  const own = isObject(cursor) ? cursor : {};
  const kept = isObject(own.repositories) ? own.repositories : {};
  const places = names.map((name) => {
    const place = kept[name];
    const { reached, tag } = isObject(place) ? place : {};
    return [name, { reached: positionOf(reached as Json, since), tag: tagOf(tag) } satisfies Place] as const;
  });
  return { batch: typeof own.batch === 'number' ? own.batch : 0, repositories: Object.fromEntries(places) };
}

function tagOf(value: unknown): Tag | null {
  return isObject(value) && typeof value.path === 'string' && typeof value.etag === 'string'
    ? { path: value.path, etag: value.etag }
    : null;
}
