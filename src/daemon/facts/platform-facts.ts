/** Facts about tokens, the platform and the state file. */

import { smallest } from '../../core/lists.ts';
import { spanWords } from '../../plan/render/words.ts';
import type { QueueSnapshot } from '../../queue/snapshot.ts';
import type { Fact, Scope } from '../../store/notifications.ts';
import type { ReplicaConfigurationProblem } from '../../web/model/configuration.ts';
import { newFact, oneLine } from './fact.ts';

/** A request that waits this long counts as waiting for the rate limit. */
const LONG_WAIT = 5 * 60_000;

/** Returns a fact if requests wait long, although the platform answers. */
export function budgetFacts(
  scope: Scope,
  { oldest, waiting, breaker }: Pick<QueueSnapshot, 'oldest' | 'waiting' | 'breaker'>,
  now: number,
): readonly Fact[] {
  const number = Object.values(waiting).reduce((sum, each) => sum + each, 0);
  if (breaker !== 'closed' || number === 0 || oldest === null || oldest < LONG_WAIT) {
    return [];
  }
  const summary = `Requests have waited longer than ${spanWords(LONG_WAIT)} for the rate limit; see the budget page`;
  return [newFact('budget-starved', scope, { summary, since: now - oldest, path: '/budget' })];
}

/** Circuit breaker of a token, as it was observed. Times are milliseconds since the epoch. */
export interface BreakerState {
  /** Time since which requests fail; null if the breaker is closed. */
  readonly failingSince: number | null;
  /** Last answer of the platform; null if there was none since the daemon started. */
  readonly answeredAt: number | null;
}

/**
 * Returns a fact if the platform answers nobody: the circuit breaker of this token is open, and no other token got an answer
 * since. Returns null if that is not known, because nothing was sent since the daemon started.
 */
export function platformFacts(
  scope: Scope,
  own: BreakerState,
  others: readonly BreakerState[],
): readonly Fact[] | null {
  const since = own.failingSince;
  if (since === null) {
    return own.answeredAt === null ? null : [];
  }
  const works = others.some(({ failingSince, answeredAt }) => failingSince === null && (answeredAt ?? 0) > since);
  const summary = `The platform at ${scope.platform ?? ''} does not answer; Octavo continues as soon as it does`;
  return works ? [] : [newFact('platform-failing', scope, { summary, since, path: '/budget' })];
}

/** Maximum number of problems of the configuration that a message lists. */
const LISTED_PROBLEMS = 10;

/** Returns a fact if the files of the configuration cannot be used. `reason` has one problem in each line. */
export function configurationFacts(problems: readonly ReplicaConfigurationProblem[]): readonly Fact[] {
  const scope = { organization: null, token: null, platform: null };
  if (problems.length === 0) {
    return [];
  }
  const replicas = problems.flatMap(({ replica }) => replica ?? []).toSorted();
  const of = replicas.length === 0 ? '' : ` of ${replicas.join(', ')}`;
  const what = problems.every(({ isPartial }) => isPartial)
    ? `The files of some organizations${of} cannot be used, so these organizations keep their last valid settings or do not run`
    : `The new configuration${of} cannot be used, so the earlier one stays in use`;
  const lines = new Set(problems.flatMap(({ reason }) => reason.split('\n')));
  return [
    newFact('configuration-invalid', scope, {
      summary: oneLine(what),
      details: [...lines].slice(0, LISTED_PROBLEMS).map(oneLine),
      since: smallest(problems.map(({ since }) => since)),
    }),
  ];
}

/** Returns a fact if the state file cannot be used. `reason`: the message of the error; null if there is none. */
export function stateFileFacts(reason: string | null, now: number): readonly Fact[] {
  const scope = { organization: null, token: null, platform: null };
  return reason === null
    ? []
    : [
        newFact('state-file-failing', scope, {
          summary: `The store cannot be used: ${oneLine(reason)}`,
          since: now,
        }),
      ];
}
