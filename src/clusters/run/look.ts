import type { IssueCluster } from '../model/cluster.ts';
import { decideOpening } from './choice.ts';
import type { RunContext } from './context.ts';
import { follow } from './follow.ts';
import { listOpenRequests, listRequests, type RequestList } from './requests.ts';
import { archiveAbandoned, draftIds } from './settle.ts';

/** What a run sees of change requests before it begins anything. */
export interface Look {
  /** All change requests; null in a quiet run, which needs none of them. */
  readonly listing: RequestList | null;
  /** Drafts that were archived, because nobody went on with them. */
  readonly superseded: number;
}

const DAY = 86_400_000;
/** Change requests that are read one by one, before a list of all is cheaper. */
const MOST_ASKED = 5;

/**
 * Lists all change requests where something may be opened, a draft is not decided about, or a day is over. Otherwise one
 * list shows what became of what is open, so that a quiet run costs the same however many spaces there are. Throws
 * AppError.
 */
export async function look(context: RunContext, passing: readonly IssueCluster[]): Promise<Look> {
  const { book } = context;
  const isNews = () => passing.some((cluster) => decideOpening(context, cluster, null).may);
  if (isNews() || isUnsettled(context, passing)) {
    return lookAtAll(context);
  }
  if (book.live.length === 0) {
    return { listing: null, superseded: 0 };
  }
  const open = await listOpenRequests(context);
  const missing = book.live.filter(
    ({ id, missingSince }) => missingSince === null && open?.answers.has(id ?? '') !== true,
  );
  if (open === null || missing.length > MOST_ASKED) {
    return lookAtAll(context);
  }
  await follow(following(context), open);
  return isNews() ? lookAtAll(context) : { listing: null, superseded: 0 };
}

function isUnsettled({ book, clock }: RunContext, passing: readonly IssueCluster[]): boolean {
  const { hasStrayDrafts, listedAt } = book.memory;
  const isDue = listedAt === null || Math.abs(clock.now() - listedAt) >= DAY;
  const isPending = book.live.some(
    ({ state, missingSince }) => missingSince === null && (state === 'draft' || state === 'begun'),
  );
  return isPending || hasStrayDrafts || (isDue && (passing.length > 0 || book.live.length > 0));
}

async function lookAtAll(context: RunContext): Promise<Look> {
  const quiet = following(context);
  const listing = await follow(quiet, await listRequests(quiet, draftIds(quiet)));
  return { listing, superseded: (await archiveAbandoned(quiet, listing)).length };
}

/** In a dry run nothing is kept, so that every run would tell it again. */
function following(context: RunContext): RunContext {
  return context.writer === null ? { ...context, events: {} } : context;
}
