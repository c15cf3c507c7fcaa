/** Text of the weekly digest of an organization. */
import { counted } from '../../plan/render/words.ts';
import type { NotificationEvent } from '../../store/notifications.ts';

/** Numbers of one organization and one week. */
export interface WeeklyDigest {
  /** Changes that were applied, and the commits that they came from. */
  readonly changes: number;
  readonly commits: number;
  /** Authors of those commits, with the number of their commits. */
  readonly authors: ReadonlyMap<string, number>;
  /** Manual changes of the platform that were reverted. */
  readonly reverted: number;
  /** Conversations that were sent to the platform. */
  readonly conversations: number;
  /** Change requests of issue clusters that were opened, and those that were merged or closed. */
  readonly opened: number;
  readonly closed: number;
}

const MOST_AUTHORS = 5;

/** Writes the digest of a week: what changed, by whom, and what Octavo did on its own. */
export function writeDigest(digest: WeeklyDigest): Pick<NotificationEvent, 'summary' | 'details'> {
  const { changes, commits, authors, reverted, conversations, opened, closed } = digest;
  const were = (count: number, what: string, done: string) =>
    count === 0 ? [] : [`${counted(count, what)} ${count === 1 ? 'was' : 'were'} ${done}`];
  const [applied] = were(changes, 'change', `applied in ${counted(commits, 'commit')}`);
  return {
    summary: applied ?? 'Nothing was changed this week',
    details: [
      ...authorLine(authors),
      ...were(reverted, 'manual change', 'reverted'),
      ...were(conversations, 'conversation', 'sent'),
      ...were(opened, 'change request', 'opened for issue clusters'),
      ...were(closed, 'change request', 'merged or closed'),
    ],
  };
}

/** Names the authors, those with the most commits first. */
function authorLine(authors: ReadonlyMap<string, number>): readonly string[] {
  const names = [...authors].toSorted(([a, x], [b, y]) => y - x || a.localeCompare(b)).map(([name]) => name);
  const shown = names.slice(0, MOST_AUTHORS);
  const others = names.length - shown.length;
  return names.length === 0 ? [] : [`By ${shown.join(', ')}${others === 0 ? '' : ` and ${counted(others, 'other')}`}`];
}
