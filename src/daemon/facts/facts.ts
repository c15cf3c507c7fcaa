/** Facts: what is true of the fleet, of tokens and of organizations, in sentences on one line without secrets. */

import type { LastRun } from '../../clusters/events.ts';
import type { IngestionStatus } from '../../conversations/ingestion.ts';
import { type ChangeResult, changeId } from '../../core/change.ts';
import type { ConditionCode } from '../../core/condition-codes.ts';
import { AuthError, DesiredStateError, formatProblem, messageOf, SourceError, StoreError } from '../../core/errors.ts';
import { firstLines, smallest } from '../../core/lists.ts';
import { maskUrls } from '../../core/text/safe-url.ts';
import type { StatusFailure } from '../../notify/status-sender.ts';
import type { Revert } from '../../plan/flapping.ts';
import type { ChangeDocument, PlanDocument } from '../../plan/render/document.ts';
import { heldChanges, waitingDeletions } from '../../plan/render/sentence.ts';
import { counted, printable, shortApproval, spanWords } from '../../plan/render/words.ts';
import type { QueueSnapshot } from '../../queue/snapshot.ts';
import { describePause } from '../../reconcile/waiting.ts';
import type { ManualPause } from '../../store/history.ts';
import { type Fact, factKey, MAX_DETAILS, type Scope } from '../../store/notifications.ts';
import type { ReplicaConfigurationProblem } from '../../web/model/configuration.ts';
import type { FleetState, ReconcilerState } from '../../web/model/page.ts';
import type { Freshness } from '../../web/model/status.ts';
import { isoTime, organizationPath, planPath, resourcePath, withQuery } from '../../web/model/words.ts';

/** Parts of a fact; `subject` and `details` may be empty. */
interface FactParts {
  readonly summary: string;
  readonly since: number;
  readonly subject?: string;
  readonly details?: readonly string[];
  readonly path?: string | null;
}

/** Longest line, in characters. */
const LONGEST = 300;

/** Returns a fact about a scope. */
export function newFact(code: ConditionCode, scope: Scope, parts: FactParts): Fact {
  const { summary, since, subject = '', details = [], path = null } = parts;
  return {
    code,
    scope,
    subject,
    since,
    path,
    summary: oneLine(summary),
    details: detailLines(details),
  };
}

/** Returns lines without secrets: of many, the first ones and the number of the rest. */
export function detailLines(lines: readonly string[]): readonly string[] {
  return firstLines(lines, MAX_DETAILS).map(oneLine);
}

/** Returns the first line of a text without passwords and control characters, cut to a length that fits a message. */
export function oneLine(text: string): string {
  const [first = ''] = text.split(/\r?\n/, 1);
  const line = printable(maskUrls(first));
  return line.length <= LONGEST ? line : `${line.slice(0, LONGEST - 1).toWellFormed()}…`;
}

/** Returns facts with the time at which each one was first reported, if it was true before as well. */
export function keepSince(before: readonly Fact[], now: readonly Fact[]): readonly Fact[] {
  const known = new Map(before.map((fact) => [factKey(fact), fact.since]));
  return now.map((fact) => {
    const since = known.get(factKey(fact)) ?? fact.since;
    return since < fact.since ? { ...fact, since } : fact;
  });
}

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
    const letters = organizationPath(organization, '/refused');
    facts.push(newFact('dead-letters', scope, { summary, since: now, details, path: letters }));
  }
  if (outbox.isFull) {
    const { items } = outbox.stored;
    const summary = `Waiting to be sent is full with ${counted(items, 'conversation')}, so the sources wait until some are sent`;
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
  const summary = `The last run over the questions readers ask failed: ${error ?? 'it was interrupted'}`;
  const path = organizationPath(organization, '/questions');
  return outcome === 'failed' ? [newFact('clusters-failing', scope, { summary, since: endedAt, path })] : [];
}

/** Returns null before a pass has ended: what is true is not known. */
export function passFacts(
  organization: string,
  scope: Scope,
  { lastEnd, failingSince }: Pick<ReconcilerState, 'lastEnd' | 'failingSince'>,
): readonly Fact[] | null {
  if (lastEnd === null) {
    return null;
  }
  const { error, endedAt } = lastEnd;
  // A state file that cannot be used is a fact about the daemon.
  if (error === null || error instanceof StoreError) {
    return [];
  }
  const since = failingSince ?? endedAt;
  return [failureFact(organization, scope, error, since), ...refusalFacts(organization, scope, error, since)];
}

function failureFact(organization: string, scope: Scope, error: unknown, since: number): Fact {
  if (error instanceof DesiredStateError) {
    const { problems } = error;
    const what = problems.length === 0 ? oneLine(error.message) : counted(problems.length, 'problem');
    const summary = `The manifests are invalid (${what}); the last valid ones stay in use until they are corrected`;
    const path = organizationPath(organization);
    return newFact('manifests-invalid', scope, { summary, since, details: problems.map(formatProblem), path });
  }
  const path = organizationPath(organization, '/history');
  const reason = oneLine(messageOf(error));
  return error instanceof SourceError
    ? newFact('source-unreadable', scope, { summary: `The manifests cannot be read: ${reason}`, since, path })
    : newFact('pass-failing', scope, { summary: `Passes fail: ${reason}`, since, path });
}

/**
 * Returns a fact about the token if the platform refuses it. Each owner of an organization with this token reports the same
 * fact, with its organization: the store shows it once, with all of them.
 */
function refusalFacts(organization: string, scope: Scope, error: unknown, since: number): readonly Fact[] {
  if (!(error instanceof AuthError && error.status === 401)) {
    return [];
  }
  const summary = `The platform refuses the token; replace it in the configuration: ${oneLine(messageOf(error))}`;
  const ofToken = { ...scope, organization: null };
  return [newFact('token-refused', ofToken, { summary, since, details: [organization], path: '/limits' })];
}

interface PlanFactsInput {
  readonly organization: string;
  readonly scope: Scope;
  readonly reconciler: Pick<ReconcilerState, 'lastCheck' | 'lastEnd' | 'isRunning'>;
  /** Fields that are flapping since the last pass. */
  readonly flapping: readonly Revert[];
}

/** Number of flapping fields that are conditions of their own. */
const MAX_FIELDS = 10;

/** Returns null unless the last pass made a plan: then what was true of the last plan still is. */
export function planFacts({ organization, scope, reconciler, flapping }: PlanFactsInput): readonly Fact[] | null {
  const { lastCheck, lastEnd } = reconciler;
  // A pass that runs may be about to change all of it.
  if (lastEnd === null || lastCheck === null || lastEnd.plan !== lastCheck.plan) {
    return null;
  }
  const { plan, drift, at } = lastCheck;
  const input = { organization, scope, plan, at, results: lastEnd.results };
  return [
    ...verdictFacts(input),
    ...problemFacts(input),
    ...failureFacts(input, lastEnd.endedAt),
    ...driftFacts(input, drift),
    ...flapping.slice(0, MAX_FIELDS).map((field) => flappingFact(input, field)),
  ];
}

interface PlanInput {
  readonly organization: string;
  readonly scope: Scope;
  readonly plan: PlanDocument;
  /** Time of the check. */
  readonly at: number;
  readonly results: readonly ChangeResult[];
}

function verdictFacts({ organization, scope, plan, at }: PlanInput): readonly Fact[] {
  const { verdict, checksum, heldChecksum, changes } = plan;
  const path = planPath(organization, checksum);
  if (verdict.state === 'refused') {
    const summary = `The plan is refused and nothing is applied: ${verdict.reasons.join('; ')}`;
    return [newFact('plan-refused', scope, { summary, since: at, path, details: changes.map(changeLine) })];
  }
  const held = heldChanges(plan);
  if (held === 0) {
    return [];
  }
  const isWhole = verdict.state === 'held';
  const why = isWhole ? ` (${verdict.reasons.join('; ')})` : '';
  const id = isWhole ? checksum : (heldChecksum ?? checksum);
  const waits = held === 1 ? 'waits' : 'wait';
  const deletions = waitingDeletions(plan);
  const deletes = deletions === null ? '' : `: ${deletions}`;
  const summary = `${counted(held, 'change')} ${waits} for approval${deletes}${why}; approve with: octavo approve ${shortApproval(id)}`;
  const shown = isWhole ? changes : changes.filter((each) => each.held !== null && each.approvable);
  return [newFact('waiting-for-approval', scope, { summary, since: at, path, details: shown.map(changeLine) })];
}

/** Returns facts about manifests that contradict another file, and are not applied for that reason. */
function problemFacts({ organization, scope, plan, at }: PlanInput): readonly Fact[] {
  return plan.notes
    .filter(({ isProblem }) => isProblem === true)
    .map(({ address, text }) => {
      const path = resourcePath(organization, address);
      return newFact('manifests-invalid', scope, { summary: oneLine(text), subject: address, since: at, path });
    });
}

function failureFacts({ organization, scope, results }: PlanInput, since: number): readonly Fact[] {
  const failed = results.filter(({ status }) => status === 'failed');
  if (failed.length === 0) {
    return [];
  }
  const summary = `${failed.length} of ${counted(results.length, 'change')} failed; Octavo tries again`;
  const details = failed.map(({ action, address, error }) => `${action} ${address}: ${error ?? 'no reason is known'}`);
  const path = withQuery(organizationPath(organization), { state: 'failed' });
  return [newFact('changes-failing', scope, { summary, since, details, path })];
}

function driftFacts(
  { organization, scope, plan, at, results }: PlanInput,
  drift: ReadonlySet<ChangeDocument>,
): readonly Fact[] {
  if (drift.size === 0) {
    return [];
  }
  const applied = new Set(results.filter(({ status }) => status === 'applied').map(changeId));
  const undone = [...drift].filter((change) => applied.has(changeId(change))).length;
  const what = `${counted(drift.size, 'change')} on the platform ${drift.size === 1 ? 'differs' : 'differ'} from the manifests`;
  const then =
    undone === drift.size
      ? 'undone'
      : undone === 0
        ? 'not undone yet'
        : `${undone} undone, ${drift.size - undone} not yet`;
  const summary = `${what} (${then}); to keep a change, make it in the manifests`;
  const details = [...drift].map(changeLine);
  return [newFact('drift', scope, { summary, since: at, details, path: planPath(organization, plan.checksum) })];
}

function flappingFact({ organization, scope }: PlanInput, { address, path: field, times, seen, at }: Revert): Fact {
  const what = field === '' ? `${address} is deleted` : `${field} of ${address} is changed`;
  const summary = `${what} again after each of ${counted(times, 'revert')}; find out what else changes it, or stop declaring it`;
  const since = seen[0]?.at ?? at;
  const path = resourcePath(organization, address);
  return newFact('field-flapping', scope, { summary, since, subject: `${address} ${field}`.trimEnd(), path });
}

/** `update team/docs: title, visibility`. */
function changeLine({ action, address, fields, held }: ChangeDocument): string {
  const what = fields.map(({ path }) => path).join(', ');
  return [`${action} ${address}`, ...(what === '' ? [] : [what]), ...(held === null ? [] : [held])].join(': ');
}

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
  const summary = `Requests have waited longer than ${spanWords(LONG_WAIT)} for the rate limit; see API limits on the web page`;
  return [newFact('budget-starved', scope, { summary, since: now - oldest, path: '/limits' })];
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
  return works ? [] : [newFact('platform-failing', scope, { summary, since, path: '/limits' })];
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

/** Number of organizations that are conditions of their own. */
const MAX_ORGANIZATIONS = 100;

/** Returns a fact for each organization that no replica has. `platform`: origin of the platform. */
export function unownedFacts(
  fleet: { readonly unowned: readonly Pick<FleetState['unowned'][number], 'organization' | 'age'>[] } | null,
  platform: string,
  now: number,
): readonly Fact[] {
  return (fleet?.unowned ?? []).slice(0, MAX_ORGANIZATIONS).map(({ organization, age }) => {
    const since = age === null ? '' : ` for ${spanWords(age)}`;
    const summary = `No replica has had this organization${since}; check the replicas and the database`;
    const scope = { organization, token: null, platform };
    return newFact('unowned-organization', scope, { summary, since: now - (age ?? 0), path: '/replicas' });
  });
}
