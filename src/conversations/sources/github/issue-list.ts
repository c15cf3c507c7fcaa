import type { Clock } from '../../../core/clock.ts';
import { readAnswer } from '../../model/answers.ts';
import { nextLink, pathBelow } from '../../polling/next-link.ts';
import type { UpdatedList, UpdatedPage } from '../../polling/updated-list.ts';
import { SETTLING } from '../../polling/updated-poll.ts';
import type { GithubClient } from './client.ts';
import { type ListedIssue, listSchema } from './wire.ts';

/** ETag of a page at a URL when it was last read. */
export type Tag = {
  readonly path: string;
  readonly etag: string;
};

export interface IssueListOptions {
  readonly client: GithubClient;
  readonly repository: string;
  /** ETag of the last poll, whose records are all durable. */
  readonly tag: Tag | null;
  readonly clock: Clock;
  readonly baseUrl: string;
  readonly signal: AbortSignal;
}

const NAME = 'list issues';

/** Lists the issues of one repository, including pull requests, in the order of their last change. */
export class IssueList implements UpdatedList<ListedIssue> {
  readonly label: string;
  /** Number of pages after which an endless list is reported as an error. */
  readonly mostPages = 1000;
  /** ETag that can make the next list unnecessary; null: it must be read. */
  tag: Tag | null = null;
  readonly #options: IssueListOptions;
  #pages = 0;

  constructor(options: IssueListOptions) {
    this.#options = options;
    this.label = `GitHub: ${NAME}`;
  }

  first(since: string): string {
    const query = new URLSearchParams({ state: 'all', sort: 'updated', direction: 'asc', since, per_page: '100' });
    return `/repos/${this.#options.repository}/issues?${query}`;
  }

  async page(path: string): Promise<UpdatedPage<ListedIssue>> {
    const { client, tag, clock, baseUrl, signal } = this.#options;
    const isKnown = this.#pages === 0 && tag?.path === path;
    this.#pages += 1;
    const headers: Record<string, string> = isKnown ? { 'if-none-match': tag.etag } : {};
    const answer = await client.get({ name: NAME, path, headers, accepts: isKnown ? [304] : [], signal });
    const date = Date.parse(String(answer.headers.date ?? ''));
    const at = Number.isNaN(date) ? clock.now() : date;
    if (answer.status === 304) {
      this.tag = tag;
      return { items: [], next: null, at };
    }
    const items = readAnswer(listSchema, answer.body, this.label);
    const next = nextLink(answer.headers.link);
    const { etag } = answer.headers;
    const settled = items.every((item) => at - Date.parse(item.updated_at) >= SETTLING);
    // An ETag covers one page only, and recent issues may change without a new ETag.
    const isWhole = this.#pages === 1 && next === null && settled;
    this.tag = isWhole && typeof etag === 'string' ? { path, etag } : null;
    return { items, next: next === null ? null : pathBelow(baseUrl, next, this.label), at };
  }
}
