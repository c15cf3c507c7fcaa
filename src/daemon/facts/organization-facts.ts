/** Facts about an organization that do not depend on its last pass: its age, pauses, conversations and clusters. */
import type { LastRun } from '../../clusters/events.ts';
import type { IngestionStatus } from '../../conversations/ingestion/ingestion-status.ts';
import type { StatusFailure } from '../../notify/status-sender.ts';
import { counted, spanWords } from '../../plan/render/words.ts';
import { describePause } from '../../reconcile/waiting.ts';
import type { ManualPause } from '../../store/history.ts';
import type { Fact, Scope } from '../../store/notifications.ts';
import { organizationPath, resourcePath } from '../../web/model/paths.ts';
import type { Freshness } from '../../web/model/status.ts';
import { isoTime } from '../../web/model/words.ts';
import { newFact, oneLine } from './fact.ts';

/** Nobody is notified of a pause that ends within this time of its start. */
const LONG_PAUSE = 4 * 3_600_000;

/**
 * Returns a fact if the last check is older than twice the interval. `activeAt`: time at which the pass that runs last made
 * progress; null if none runs. All times are milliseconds since the epoch.
 */
export function staleFacts(
  organization: string,
  scope: Scope,
  { asOf, isStale, intervalSeconds }: Freshness,
  { activeAt, now }: { readonly activeAt: number | null; readonly now: number },
): readonly Fact[] {
  const limit = 2000 * (intervalSeconds ?? 0);
  // Before the first check, the pass that fails is the fact.
  if (asOf === null || !isStale || (activeAt !== null && now - activeAt <= limit)) {
    return [];
  }
  const at = Date.parse(asOf);
  // Texts without the present time stay the same from check to check.
  const summary = `Not checked since ${isoTime(at)}, although a check is due every ${spanWords(limit / 2)}; see the log of the daemon`;
  return [newFact('stale', scope, { summary, since: at + limit, path: organizationPath(organization) })];
}

/** Returns a fact for each pause that lasts longer than usual. */
export function pauseFacts(organization: string, scope: Scope, pauses: readonly ManualPause[]): readonly Fact[] {
  const isLong = ({ since, until }: ManualPause) => until === null || until - since > LONG_PAUSE;
  return pauses.filter(isLong).map((pause) => {
    const { address, since } = pause;
    const about = address === '' ? 'Changes are' : `Changes of ${address} are`;
    const path = address === '' ? organizationPath(organization) : resourcePath(organization, address);
    return newFact('paused', scope, { summary: `${about} ${describePause(pause)}`, subject: address, since, path });
  });
}

/** Returns a fact about commit statuses that cannot be set. */
export function commitStatusFacts(organization: string, scope: Scope, failure: StatusFailure | null): readonly Fact[] {
  if (failure === null) {
    return [];
  }
  const { reason, since } = failure;
  const path = organizationPath(organization);
  return [newFact('status-failing', scope, { summary: `Commit statuses cannot be set: ${reason}`, since, path })];
}

/** Returns facts about the ingestion of conversations. */
export function conversationFacts(
  organization: string,
  scope: Scope,
  { sources, outbox, sender }: Pick<IngestionStatus, 'sources' | 'outbox' | 'sender'>,
  now: number,
): readonly Fact[] {
  const path = organizationPath(organization, '/conversations');
  const facts = sources.flatMap(({ source, error }) => {
    const summary = `The source ${source} cannot be read: ${error ?? ''}`;
    return error === null
      ? []
      : [newFact('connector-failing', scope, { summary: oneLine(summary), subject: source, since: now, path })];
  });
  const refused = sources.filter(({ deadLetters }) => deadLetters > 0);
  if (refused.length > 0) {
    const number = refused.reduce((sum, { deadLetters }) => sum + deadLetters, 0);
    const were = number === 1 ? 'conversation was' : 'conversations were';
    const summary = `${number} ${were} refused by the platform; retry or discard ${number === 1 ? 'it' : 'them'}`;
    const details = refused.map(({ source, deadLetters }) => `${source}: ${deadLetters}`);
    const letters = organizationPath(organization, '/dead-letters');
    facts.push(newFact('dead-letters', scope, { summary, since: now, details, path: letters }));
  }
  if (outbox.isFull) {
    const { items } = outbox.stored;
    const summary = `The outbox is full with ${counted(items, 'conversation')}, so the sources wait until some are sent`;
    facts.push(newFact('outbox-full', scope, { summary, since: now, path }));
  }
  if (sender.kind === 'refused') {
    const summary = `The platform refuses the token for conversations: ${sender.reason}`;
    facts.push(newFact('token-refused', scope, { summary, subject: 'conversations', since: now, path }));
  }
  return facts;
}

/** Returns null before a run has ended: what is true is not known. */
export function clusterFacts(organization: string, scope: Scope, lastRun: LastRun | null): readonly Fact[] | null {
  if (lastRun === null) {
    return null;
  }
  const { outcome, error, endedAt } = lastRun;
  const summary = `The last run over issue clusters failed: ${error ?? 'it was interrupted'}`;
  const path = organizationPath(organization, '/clusters');
  return outcome === 'failed' ? [newFact('clusters-failing', scope, { summary, since: endedAt, path })] : [];
}
