import { PeopleCollector } from '../../model/people.ts';
import type { AuthorRole, Part, SourceRecord } from '../../model/ticket.ts';
import { hintOf } from './hint.ts';
import type { GithubComment, GithubIssue } from './wire.ts';

export interface IssueRules {
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
export function keyOf(nodeId: string): string {
  return `github/${nodeId}`;
}

/** Decides from the issue alone whether it is skipped; null: its comments must be read. */
export function decidedByIssue(issue: GithubIssue, { declined }: IssueRules): SourceRecord | null {
  const key = keyOf(issue.node_id);
  if (issue.state !== 'closed') {
    return { kind: 'skipped', key, reason: 'open' };
  }
  if (isBot(issue.user)) {
    return { kind: 'skipped', key, reason: 'bot' };
  }
  return !declined && DECLINED.has(issue.state_reason ?? '') ? { kind: 'skipped', key, reason: 'declined' } : null;
}

/** Converts an issue and its comments to a ticket. `repository` is the configured name: `acme/product`. */
export function ticketOf(
  repository: string,
  issue: GithubIssue,
  comments: readonly GithubComment[],
  rules: IssueRules,
): SourceRecord {
  const key = keyOf(issue.node_id);
  const written = comments.filter((comment) => !isBot(comment.user) && !isMinimized(comment));
  const parts = [issue, ...written].flatMap((one) => partOf(one, rules));
  if (!parts.some(({ role }) => role === 'user')) {
    return { kind: 'skipped', key, reason: parts.length === 0 ? 'empty' : 'no-customer' };
  }
  const closed = Date.parse(issue.closed_at ?? '');
  return {
    kind: 'ticket',
    ticket: {
      key,
      subject: issue.title ?? '',
      createdAt: issue.created_at ?? null,
      settledAt: Number.isNaN(closed) ? null : closed,
      url: issue.html_url ?? null,
      attributes: attributesOf(repository, issue),
      parts,
      people: peopleOf([issue, ...comments]),
      completeness: issue.comments == null ? null : { reported: issue.comments, fetched: comments.length },
      // The list omits deleted, transferred and hidden issues.
      recheck: hintOf(repository, issue),
    },
  };
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
  return {
    repository,
    issue_number: String(number),
    ...(names.length === 0 ? {} : { labels: names.sort().join(', ') }),
  };
}

function peopleOf(written: readonly Written[]) {
  const people = new PeopleCollector();
  for (const { user } of written) {
    if (!isBot(user)) {
      people.add([user?.login, user?.name], [user?.email]);
    }
  }
  return people.all();
}
