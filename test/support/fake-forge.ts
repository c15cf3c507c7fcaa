/** Fake APIs of GitHub, GitLab and Gitea for pull requests: comments on pull request 12, and the statuses of its commits. */
import { answerMerges, answerPulls, GITEA_PULLS, GITHUB_PULLS, KeptPulls } from './fake-pulls.ts';
import {
  type Answer,
  type Asked,
  type FakeAccess,
  FakeGiteaStatuses,
  FakeGitHubStatuses,
  FakeGitLabStatuses,
  type FakeStatusForge,
  ForgeServer,
  UNKNOWN,
} from './fake-status-forge.ts';

/** A comment as the fake stores it. */
export interface KeptComment {
  readonly id: number;
  body: string;
  readonly author: number;
  readonly createdAt: number;
  updatedAt: number;
}

/** An account, and its permission in the repository. */
interface Person {
  readonly login: string;
  permission: 'none' | 'read' | 'write' | 'maintain' | 'admin';
  readonly isBot?: boolean;
}

/** User of the fake's token, and the other user who comments. */
const SELF = 41;
export const STRANGER = 7;

/** Differences between the APIs of the forges. */
interface CommentApi {
  /** Paths of the comments of the pull request, and of one comment. */
  readonly comments: string;
  readonly comment: string;
  readonly edit: 'PATCH' | 'PUT';
  /** Longest comment, and the status with which a longer one is rejected. */
  readonly limit: readonly [characters: number, status: number];
}

const seconds = (time: number) => `${new Date(time).toISOString().slice(0, 19)}Z`;

const FORBIDDEN: Answer = { status: 403, body: { message: 'Resource not accessible by integration' } };

/** API of a forge with comments and commit statuses of pull request 12 of `acme/docs`. It stores what is written. */
export abstract class FakeForge extends ForgeServer {
  readonly comments: KeptComment[] = [];
  /** Permissions of the token. */
  readonly may = { comment: true, status: true, identify: true };
  /** User of the token; a workflow token has no user of its own. */
  self = SELF;
  /** Accounts by id; others are outsiders. */
  readonly people = new Map<number, Person>([
    [SELF, { login: 'github-actions[bot]', permission: 'read', isBot: true }],
  ]);
  /** Pull request 12. */
  readonly pull = {
    state: 'open' as 'open' | 'closed' | 'merged',
    mergedAt: 0,
    head: 'b'.repeat(40),
    into: 'main',
    author: STRANGER,
    /** Authors of its commits. */
    authors: [STRANGER],
  };
  /** Milliseconds since the epoch. */
  now = Date.now();
  readonly pulls: KeptPulls;
  /** Answers what is about commits. */
  protected abstract readonly commits: FakeStatusForge;
  protected abstract readonly api: CommentApi;
  #ids = 100;

  /** `repository`: directory with the branches of pull requests. A merge request stays open when its branch is deleted. */
  constructor(repository = '', closesWithBranch = true) {
    super();
    this.pulls = new KeptPulls(repository, closesWithBranch);
  }

  get access(): FakeAccess {
    return this.commits.access;
  }

  get statuses(): FakeStatusForge['statuses'] {
    return this.commits.statuses;
  }

  /** Comments of the token's own user. */
  get own(): readonly KeptComment[] {
    return this.comments.filter(({ author }) => author === this.self);
  }

  /** Adds a comment of another user. */
  comment(author: number, body: string): KeptComment {
    this.#ids += 1;
    const comment = { id: this.#ids, body, author, createdAt: this.now, updatedAt: this.now };
    this.comments.push(comment);
    return comment;
  }

  /** A comment as the forge returns it. */
  protected abstract show(comment: KeptComment): object;
  /** Answers a request about other pull requests; null if it is about something else. */
  protected abstract answerPull(asked: Asked): Answer | null;
  /** Answers a request about pull request 12 and who may approve it; null if it is about something else. */
  protected abstract answerReview(asked: Asked): Answer | null;

  handle(asked: Asked): Answer {
    const { method, path } = asked;
    const { comments, comment, edit } = this.api;
    const id = new RegExp(`^${comment}/(\\d+)$`).exec(path)?.[1];
    if (path === comments) {
      return method === 'POST' ? this.#write(asked, null) : this.list(asked);
    }
    if (id !== undefined && method === edit) {
      return this.#write(asked, Number(id));
    }
    if (id !== undefined && method === 'DELETE') {
      return this.#remove(Number(id));
    }
    return (
      this.answerReview(asked) ?? this.answerPull(asked) ?? (this.may.status ? this.commits.handle(asked) : FORBIDDEN)
    );
  }

  protected list(asked: Asked): Answer {
    return this.page(this.comments.map(this.show), asked, Number(asked.query.get('per_page') ?? 20));
  }

  #write({ body }: Asked, id: number | null): Answer {
    const [longest, refusal] = this.api.limit;
    const text = body.body;
    if (typeof text !== 'string' || text === '' || text.length > longest) {
      return { status: refusal, body: { message: 'body is too long or blank' } };
    }
    if (!this.may.comment) {
      return FORBIDDEN;
    }
    const comment = id === null ? this.comment(this.self, text) : this.comments.find((one) => one.id === id);
    if (comment === undefined) {
      return UNKNOWN;
    }
    comment.body = text;
    comment.updatedAt = this.now;
    return { status: id === null ? 201 : 200, body: this.show(comment) };
  }

  #remove(id: number): Answer {
    const at = this.comments.findIndex((one) => one.id === id);
    if (at === -1) {
      return UNKNOWN;
    }
    this.comments.splice(at, 1);
    return { status: 204 };
  }
}

/** Paths that GitHub and Gitea share. */
const GITHUB_API = {
  comments: '/repos/acme/docs/issues/12/comments',
  comment: '/repos/acme/docs/issues/comments',
  edit: 'PATCH',
} as const;

/** GitHub Enterprise Server: a workflow token may ask GraphQL, which is not below the REST API, for its user. */
export class FakeGitHubPull extends FakeForge {
  protected readonly commits = new FakeGitHubStatuses();
  protected readonly api: CommentApi = { ...GITHUB_API, limit: [65_536, 422] };

  protected show = ({ id, body, author, createdAt, updatedAt }: KeptComment) => ({
    id,
    body,
    user: this.#user(author),
    created_at: seconds(createdAt),
    updated_at: seconds(updatedAt),
  });

  #user(id: number) {
    const { login = 'somebody', isBot = false } = this.people.get(id) ?? {};
    return { id, login, type: isBot ? 'Bot' : 'User' };
  }

  protected answerReview({ method, path }: Asked): Answer | null {
    const { state, mergedAt, head, into, author, authors } = this.pull;
    const login = /^\/repos\/acme\/docs\/collaborators\/([^/]+)\/permission$/.exec(path)?.[1];
    if (method !== 'GET') {
      return null;
    }
    if (login !== undefined) {
      const [id, person] = [...this.people].find(([, each]) => each.login === decodeURIComponent(login)) ?? [0, null];
      const role = person?.permission ?? 'read';
      const permission = role === 'maintain' ? 'write' : role;
      return { status: 200, body: { permission, role_name: role, user: this.#user(id) } };
    }
    if (path === '/repos/acme/docs/pulls/12/commits') {
      return { status: 200, body: authors.map((id) => ({ author: this.#user(id), committer: null })) };
    }
    const shown = {
      state: state === 'open' ? 'open' : 'closed',
      merged: state === 'merged',
      merged_at: state === 'merged' ? seconds(mergedAt) : null,
      head: { sha: head },
      base: { ref: into },
      user: this.#user(author),
      html_url: `${this.url}/acme/docs/pull/12`,
    };
    return path === '/repos/acme/docs/pulls/12' ? { status: 200, body: shown } : null;
  }

  protected answerPull(asked: Asked): Answer | null {
    return answerPulls(this, asked, GITHUB_PULLS);
  }

  override handle(asked: Asked): Answer {
    if (asked.path !== '/api/graphql' || asked.method !== 'POST') {
      return super.handle(asked);
    }
    return asked.body.query === '{ viewer { databaseId } }' && this.may.identify
      ? { status: 200, body: { data: { viewer: { databaseId: this.self } } } }
      : { status: 200, body: { errors: [{ type: 'FORBIDDEN', message: 'Resource not accessible' }] } };
  }
}

/** GitLab below a path, like a self-managed installation. */
export class FakeGitLabPull extends FakeForge {
  protected readonly commits = new FakeGitLabStatuses();

  constructor(repository = '') {
    super(repository, false);
  }

  protected readonly api: CommentApi = {
    comments: '/projects/5/merge_requests/12/notes',
    comment: '/projects/5/merge_requests/12/notes',
    edit: 'PUT',
    limit: [1_000_000, 400],
  };

  protected show = ({ id, body, author, createdAt, updatedAt }: KeptComment) => ({
    id,
    body,
    author: { id: author, username: this.people.get(author)?.login ?? 'somebody' },
    system: false,
    created_at: new Date(createdAt).toISOString(),
    updated_at: new Date(updatedAt).toISOString(),
  });

  protected answerReview({ method, path }: Asked): Answer | null {
    const { state, mergedAt, head, into, author, authors } = this.pull;
    const id = Number(/^\/(?:users|projects\/5\/members\/all)\/(\d+)$/.exec(path)?.[1] ?? 0);
    const person = this.people.get(id);
    if (method !== 'GET') {
      return null;
    }
    if (id !== 0 && path.startsWith('/users/')) {
      return { status: 200, body: { id, username: person?.login, bot: person?.isBot ?? false, public_email: '' } };
    }
    if (id !== 0) {
      const level = { none: 10, read: 20, write: 30, maintain: 40, admin: 50 }[person?.permission ?? 'none'];
      return person === undefined ? UNKNOWN : { status: 200, body: { id, access_level: level, state: 'active' } };
    }
    if (path === '/projects/5/merge_requests/12/commits') {
      const emails = authors.map((of) => `${of}-${this.people.get(of)?.login}@users.noreply.gitlab.example`);
      return { status: 200, body: emails.map((author_email) => ({ author_email, committer_email: author_email })) };
    }
    const shown = {
      iid: 12,
      state: state === 'open' ? 'opened' : state,
      merged_at: state === 'merged' ? seconds(mergedAt) : null,
      sha: head,
      target_branch: into,
      author: { id: author },
      web_url: `${this.url}/acme/docs/-/merge_requests/12`,
    };
    return path === '/projects/5/merge_requests/12' ? { status: 200, body: shown } : null;
  }

  protected answerPull(asked: Asked): Answer | null {
    return answerMerges(this, asked);
  }

  override handle(asked: Asked): Answer {
    return asked.path === '/user' && asked.method === 'GET'
      ? { status: 200, body: { id: this.self } }
      : super.handle(asked);
  }
}

/**
 * Gitea and Forgejo below a path: the list of comments has no pages; neither a workflow token nor one without the scope
 * read:user can ask for its user.
 */
export class FakeGiteaPull extends FakeForge {
  protected readonly commits = new FakeGiteaStatuses();
  protected readonly api: CommentApi = { ...GITHUB_API, limit: [Number.POSITIVE_INFINITY, 422] };

  protected show({ id, body, author }: KeptComment) {
    return { id, body, user: { id: author } };
  }

  protected answerReview(): Answer | null {
    return null;
  }

  protected answerPull(asked: Asked): Answer | null {
    return answerPulls(this, asked, GITEA_PULLS);
  }

  protected override list(): Answer {
    return { status: 200, body: this.comments.map(this.show) };
  }

  override handle(asked: Asked): Answer {
    if (asked.path !== '/user' || asked.method !== 'GET') {
      return super.handle(asked);
    }
    return this.self < 0 || !this.may.identify
      ? { status: 403, body: { message: 'user required' } }
      : { status: 200, body: { id: this.self } };
  }
}
