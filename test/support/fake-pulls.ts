/** Fake pull requests and merge requests of a forge. */
import { runGit } from '../git/repository.ts';
import { type Answer, type Asked, UNKNOWN } from './fake-status-forge.ts';

/** A pull request as a fake stores it. */
export interface KeptPull {
  readonly number: number;
  readonly from: string;
  readonly into: string;
  /** True if it is from a branch of that name in a fork. */
  readonly isForks: boolean;
  title: string;
  body: string;
  state: 'open' | 'closed' | 'merged';
  sha: string;
  readonly comments: string[];
}

type Text = 'title' | 'body';

/** Pull requests of an existing repository: their branches are those of a bare repository on disk. */
export class KeptPulls {
  readonly all: KeptPull[] = [];
  /** Permissions of the token. */
  readonly may = { open: true, comment: true };
  readonly #repository: string;
  /** True if a pull request is closed when its branch is deleted. */
  readonly #closesWithBranch: boolean;
  #number = 30;

  constructor(repository: string, closesWithBranch: boolean) {
    this.#repository = repository;
    this.#closesWithBranch = closesWithBranch;
  }

  get open(): readonly KeptPull[] {
    return this.all.filter(({ state }) => state === 'open');
  }

  /** Commit of a branch; null if the branch does not exist. */
  tipOf(branch: string): string | null {
    const tip = runGit(this.#repository, ['for-each-ref', '--format=%(objectname)', `refs/heads/${branch}`]).trim();
    return tip === '' ? null : tip;
  }

  /** Adds a pull request from a fork, whose branch may have any name. */
  addForks(from: string, into: string): KeptPull {
    return this.#add({ from, into, isForks: true, title: 'From a fork', body: '', sha: 'f'.repeat(40) });
  }

  /**
   * Merges a pull request as its button does. `deletes`: the branch is deleted; `squashes`: merged as one new commit,
   * which is not on the branch.
   */
  merge(pull: KeptPull, deletes: boolean, squashes = false): void {
    const work = `${this.#repository}-merging`;
    runGit(this.#repository, ['clone', '--quiet', this.#repository, work]);
    runGit(work, ['checkout', '--quiet', pull.into]);
    if (squashes) {
      runGit(work, ['merge', '--quiet', '--squash', `origin/${pull.from}`]);
      runGit(work, ['commit', '--quiet', '-m', pull.title]);
    } else {
      runGit(work, ['merge', '--quiet', '--no-ff', '-m', `Merge ${pull.from}`, `origin/${pull.from}`]);
    }
    pull.sha = this.tipOf(pull.from) ?? pull.sha;
    runGit(work, ['push', '--quiet', 'origin', pull.into, ...(deletes ? [`:${pull.from}`] : [])]);
    pull.state = 'merged';
  }

  find(number: number): KeptPull | undefined {
    return this.all.find((pull) => pull.number === number);
  }

  /** Updates the pull requests after changes of the branches. */
  look(): void {
    for (const pull of this.open.filter(({ isForks }) => !isForks)) {
      const tip = this.tipOf(pull.from);
      pull.sha = tip ?? pull.sha;
      pull.state = tip === null && this.#closesWithBranch ? 'closed' : 'open';
    }
  }

  create(input: { from: unknown; into: unknown; title: unknown; body: unknown }, taken: number): Answer | KeptPull {
    if (!this.may.open) {
      return { status: 403, body: { message: 'GitHub Actions is not permitted to create or approve pull requests.' } };
    }
    const [from, into, title, body] = [input.from, input.into, input.title, input.body].map(String) as [
      string,
      string,
      string,
      string,
    ];
    const sha = this.tipOf(from);
    if (sha === null || this.tipOf(into) === null || title === '') {
      return { status: 422, body: { message: 'Validation Failed' } };
    }
    const isThere = this.open.some((pull) => !pull.isForks && pull.from === from && pull.into === into);
    return isThere
      ? { status: taken, body: { message: 'A pull request already exists' } }
      : this.#add({ from, into, isForks: false, title, body, sha });
  }

  edit(number: number, text: Readonly<Partial<Record<Text, unknown>>>, closes: boolean): KeptPull | undefined {
    const pull = this.find(number);
    if (pull !== undefined) {
      pull.title = text.title === undefined ? pull.title : String(text.title);
      pull.body = text.body === undefined ? pull.body : String(text.body);
      pull.state = closes ? 'closed' : pull.state;
    }
    return pull;
  }

  say(number: number, body: unknown): Answer {
    const pull = this.find(number);
    if (!this.may.comment || pull === undefined) {
      return { status: pull === undefined ? 404 : 403, body: { message: 'no' } };
    }
    pull.comments.push(String(body));
    return { status: 201, body: { id: 1 } };
  }

  #add(pull: Pick<KeptPull, 'from' | 'into' | 'isForks' | 'title' | 'body' | 'sha'>): KeptPull {
    this.#number += 1;
    const kept: KeptPull = { ...pull, number: this.#number, state: 'open', comments: [] };
    this.all.push(kept);
    return kept;
  }
}

const isAnswer = (made: Answer | KeptPull): made is Answer => 'status' in made;
const isClosed = ({ state }: KeptPull) => state !== 'open';

/** A pull request as GitHub and Gitea return it. */
const shown = (url: string) => (pull: KeptPull) => ({
  number: pull.number,
  html_url: `${url}/acme/docs/pulls/${pull.number}`,
  title: pull.title,
  body: pull.body,
  state: pull.state === 'open' ? 'open' : 'closed',
  merged: pull.state === 'merged',
  merged_at: pull.state === 'merged' ? '2026-01-01T00:00:00Z' : null,
  head: { ref: pull.from, sha: pull.sha, repo: { full_name: pull.isForks ? 'eve/docs' : 'acme/docs' } },
  base: { ref: pull.into },
});

/** The forge of an answer about pull requests. */
interface PullHost {
  readonly pulls: KeptPulls;
  readonly url: string;
  page(all: readonly object[], asked: Asked, size: number): Answer;
}

/** Differences between the pull requests of GitHub and Gitea. */
interface PullDialect {
  /** Status if there is an open pull request of the branch. */
  readonly taken: number;
  /** Status after an update. */
  readonly edited: number;
  /** Query parameter with the size of a page. */
  readonly limit: string;
  /** Returns the pull requests that a list contains. */
  readonly list: (all: readonly KeptPull[], query: URLSearchParams) => readonly KeptPull[];
}

/** Answers a request about pull requests as GitHub and Gitea do; null if it is about something else. */
export function answerPulls(host: PullHost, asked: Asked, dialect: PullDialect): Answer | null {
  const { method, path, query, body } = asked;
  const { pulls } = host;
  const show = shown(host.url);
  pulls.look();
  const number = Number(/^\/repos\/acme\/docs\/(?:pulls|issues)\/(\d+)/.exec(path)?.[1] ?? 0);
  if (path === '/repos/acme/docs/pulls' && method === 'POST') {
    const input = { from: body.head, into: body.base, title: body.title, body: body.body };
    const made = pulls.create(input, dialect.taken);
    return isAnswer(made) ? made : { status: 201, body: show(made) };
  }
  if (path === '/repos/acme/docs/pulls') {
    return host.page(dialect.list(pulls.all, query).map(show), asked, Number(query.get(dialect.limit) ?? 30));
  }
  if (pulls.find(number) !== undefined && path.endsWith('/comments') && method === 'POST') {
    return pulls.say(number, body.body);
  }
  if (path === `/repos/acme/docs/pulls/${number}` && method === 'PATCH') {
    const changed = pulls.edit(number, body, body.state === 'closed');
    return changed === undefined ? UNKNOWN : { status: dialect.edited, body: show(changed) };
  }
  return null;
}

const withState = (all: readonly KeptPull[], query: URLSearchParams) =>
  all.filter((pull) => isClosed(pull) === (query.get('state') === 'closed'));

export const GITHUB_PULLS: PullDialect = {
  ...{ taken: 422, edited: 200, limit: 'per_page' },
  list: (all, query) => {
    const [owner, from] = (query.get('head') ?? '').split(/:(.*)/s);
    const isAsked = ({ isForks, ...pull }: KeptPull) =>
      (owner === 'acme') === !isForks && pull.from === from && pull.into === query.get('base');
    return withState(all, query).filter(isAsked).toReversed();
  },
};
export const GITEA_PULLS: PullDialect = { taken: 409, edited: 201, limit: 'limit', list: withState };

/** Answers a request about merge requests as GitLab does; null if it is about something else. */
export function answerMerges(host: PullHost, asked: Asked): Answer | null {
  const { method, path, query, body } = asked;
  const { pulls } = host;
  const show = (pull: KeptPull) => ({
    iid: pull.number,
    web_url: `${host.url}/acme/docs/-/merge_requests/${pull.number}`,
    title: pull.title,
    description: pull.body,
    source_branch: pull.from,
    target_branch: pull.into,
    source_project_id: pull.isForks ? 6 : 5,
    target_project_id: 5,
    sha: pull.sha,
  });
  pulls.look();
  const number = Number(/^\/projects\/5\/merge_requests\/(\d+)/.exec(path)?.[1] ?? 0);
  if (path === '/projects/5/merge_requests' && method === 'POST') {
    const { source_branch: from, target_branch: into, title, description } = body;
    const made = pulls.create({ from, into, title, body: description }, 409);
    return isAnswer(made) ? made : { status: 201, body: show(made) };
  }
  if (path === '/projects/5/merge_requests') {
    const state = { opened: 'open', closed: 'closed', merged: 'merged' }[query.get('state') ?? ''];
    const found = pulls.all.filter(
      (pull) =>
        pull.state === state && pull.from === query.get('source_branch') && pull.into === query.get('target_branch'),
    );
    return host.page(found.toReversed().map(show), asked, Number(query.get('per_page') ?? 30));
  }
  if (pulls.find(number) !== undefined && path.endsWith('/notes') && method === 'POST') {
    return pulls.say(number, body.body);
  }
  if (path === `/projects/5/merge_requests/${number}` && method === 'PUT') {
    const text = { title: body.title, body: body.description };
    const changed = pulls.edit(number, text, body.state_event === 'close');
    return changed === undefined ? UNKNOWN : { status: 200, body: show(changed) };
  }
  return null;
}
