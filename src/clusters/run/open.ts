import {
  AppError,
  AuthError,
  CancelledError,
  RateLimitedError,
  RejectedError,
  TransientError,
} from '../../core/errors.ts';
import { operations } from '../../platform/operations/index.ts';
import type { TargetSpace } from '../decide/route.ts';
import { type IssueCluster, parseTime } from '../model/cluster.ts';
import { draftSubject } from '../model/ownership-marker.ts';
import type { OwnRequest } from '../read/cluster-store.ts';
import { toReportedNumbers } from '../write/progress-comment.ts';
import type { RunContext } from './context.ts';
import type { Proposal } from './prepare.ts';

/** How a draft was begun. `lost`: no answer came, so that nobody knows yet whether it is there. */
export type DraftResult = { readonly is: 'there' | 'lost' } | { readonly is: 'refused'; readonly why: string };

/**
 * Creates a draft, which claims the cluster. It is recorded before it is requested, and never requested again: where no
 * answer came, a list finds it by its subject. Throws AppError for what is not about this one.
 */
export async function begin(
  context: RunContext,
  { cluster, route, subject, describe }: Proposal,
  space: TargetSpace,
  isManual: boolean,
): Promise<DraftResult> {
  const { writer, book, config, source, time } = context;
  if (writer === null) {
    throw new Error('nothing is begun in a dry run');
  }
  const entry = begunEntry(context, cluster, space, { subject, why: route.why, isManual });
  await book.put(entry);
  const { templateId: template } = config.changeRequest;
  const body = {
    subject: draftSubject(entry.claim, cluster.id),
    ...source.link(cluster.id),
    description: describe(entry.claim),
    ...(template === null ? {} : { template: { id: template } }),
  };
  try {
    const answer = await writer.send(operations.createChangeRequest, { path: { spaceId: space.id }, body });
    const createdAt = parseTime(answer.createdAt);
    if (createdAt !== null) {
      time.observeCreated(createdAt);
    }
    const made: OwnRequest = {
      ...entry,
      id: answer.id,
      url: answer.urls?.app ?? answer.urls?.location ?? null,
      revision: answer.revision ?? null,
      state: 'draft',
    };
    await book.put(made, { skew: time.skew });
    return { is: 'there' };
  } catch (error) {
    return refusalOf(context, entry, error);
  }
}

function begunEntry(
  { clock, random, config }: RunContext,
  cluster: IssueCluster,
  space: TargetSpace,
  { subject, why, isManual }: Pick<OwnRequest, 'subject' | 'why' | 'isManual'>,
): OwnRequest {
  const at = clock.now();
  const { id, label, issues, conversations, impact } = cluster;
  return {
    cluster: id,
    label,
    claim: claimWord(random),
    id: null,
    space: space.id,
    subject,
    url: null,
    revision: null,
    at,
    state: 'begun',
    isManual,
    why,
    reviewersDue: config.changeRequest.reviewers.length > 0,
    told: toReportedNumbers(cluster, at),
    seen: { issues, conversations, impact },
    muteDue: false,
    missingSince: null,
  };
}

/** Letters that are hard to take for each other are left out. */
const LETTERS = 'abcdefghjkmnpqrstuvwxyz23456789';

function claimWord(random: () => number): string {
  return Array.from({ length: 8 }, () => LETTERS[Math.floor(random() * LETTERS.length)] ?? 'a').join('');
}

/** What an error means for a draft that was asked for: it is there for sure, for sure not, or nobody knows. */
async function refusalOf({ book, events }: RunContext, entry: OwnRequest, error: unknown): Promise<DraftResult> {
  const known = book.memory.entries.find(({ claim }) => claim === entry.claim);
  if (known?.id != null || !(error instanceof AppError)) {
    throw error;
  }
  const isNotDone =
    error instanceof RejectedError ||
    error instanceof AuthError ||
    error instanceof RateLimitedError ||
    error instanceof CancelledError ||
    (error instanceof TransientError && !error.maybeDone);
  if (!isNotDone) {
    events.onTrouble?.({
      cluster: entry.cluster,
      message: `the response to a creation was lost; looking for the change request: ${error.message}`,
    });
    return { is: 'lost' };
  }
  await book.remove(entry, { superseded: false });
  if (error instanceof RejectedError || error instanceof AuthError) {
    return { is: 'refused', why: error.message };
  }
  throw error;
}
