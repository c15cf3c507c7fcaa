/** View of one organization: its state, what waits for a person, its resources and its last passes. */
import { DesiredStateError } from '../core/errors.ts';
import { counted } from '../plan/render/words.ts';
import type { ManualPause } from '../store/history.ts';
import type { Backend, OrganizationState } from './model/backend.ts';
import { forgeLinks } from './model/forge-links.ts';
import { organizationPath, planPath, resourcePath, withQuery } from './model/paths.ts';
import { listResources, type ResourceFilter, type ResourcePage } from './model/resource-list.ts';
import { resourceStates } from './model/resource-state.ts';
import { resourceTree } from './model/resource-tree.ts';
import { errorSentence, heldChanges, pauseSentence } from './model/status.ts';
import { type OrganizationSummary, summarize } from './model/summary.ts';
import { type WaitingItem, waitingElsewhere } from './model/waiting.ts';
import { type WebhookView, webhookView } from './model/webhook.ts';
import { isoTime } from './model/words.ts';
import { type PassRow, passRow } from './passes.ts';

/** Pause that a person set. */
export interface PauseView {
  /** Empty for the whole organization. */
  readonly address: string;
  readonly sentence: string;
  readonly by: string;
  readonly reason: string;
  readonly since: string;
  readonly until: string | null;
  /** True if it ends within an hour. */
  readonly endsSoon: boolean;
}

/** Place in the manifests that is wrong. */
export interface ProblemView {
  readonly file: string;
  readonly line: number;
  readonly address: string;
  readonly message: string;
}

export interface OrganizationView extends OrganizationSummary {
  /** Page of the commit at the forge. */
  readonly commitUrl: string | null;
  /** Seconds between checks for new commits; null if changes are noticed as they happen, or there is no source. */
  readonly pollSeconds: number | null;
  /** Null if no webhook is configured. */
  readonly webhook: WebhookView | null;
  readonly waiting: readonly WaitingItem[];
  readonly pauses: readonly PauseView[];
  /** Pass of the first commit whose manifests were invalid; null if they are valid, or have no commit. */
  readonly brokenBy: Pick<PassRow, 'commit' | 'commitUrl' | 'author' | 'subject'> | null;
  /** Problems of the manifests, causes first; of many, the first ones. */
  readonly problems: readonly ProblemView[];
  readonly plan: { readonly checksum: string; readonly path: string; readonly changes: number } | null;
  /** Null before the manifests were read. */
  readonly list: ResourcePage | null;
  /** Newest first. */
  readonly passes: readonly PassRow[];
}

/** Passes that are shown as bars. */
const PASSES = 60;
const PROBLEMS = 50;
const FAILURES = 20;
const SOON = 3_600_000;

/** Describes an organization; null if there is none with this id. */
export async function organizationView(
  backend: Backend,
  id: string,
  { filter, now }: { readonly filter: ResourceFilter; readonly now: number },
): Promise<OrganizationView | null> {
  const state = backend.organizations().find((each) => each.id === id);
  if (state === undefined) {
    return null;
  }
  const { reconciler, history, config } = state;
  const pauses = await history.pauses(now);
  const summary = await summarize(backend, state, pauses, now);
  const passes = await history.passes({ limit: PASSES });
  const links = forgeLinks(config.source);
  const plan = reconciler?.lastCheck?.plan ?? null;
  const desired = reconciler?.lastDesired ?? null;
  const waiting = [
    ...waitingForPerson(state, now),
    ...(await waitingElsewhere(state)),
    ...pauses.map((pause) => pauseItem(id, pause, now)),
  ];
  const rows = passes.map((pass) => passRow(id, pass, links));
  return {
    ...summary,
    commitUrl: summary.commit === null ? null : links.commit(summary.commit),
    pollSeconds: state.pollInterval === null || reconciler === null ? null : Math.round(state.pollInterval / 1000),
    webhook: state.webhook === null ? null : webhookView(await state.webhook.status()),
    waiting,
    pauses: pauses.map((pause) => pauseView(pause, now)),
    brokenBy: brokenBy(state, rows),
    problems: problemsOf(state),
    plan:
      plan === null || plan.changes.length === 0
        ? null
        : { checksum: plan.checksum, path: planPath(id, plan.checksum), changes: plan.changes.length },
    list:
      reconciler === null || desired === null
        ? null
        : listResources(
            id,
            resourceTree(desired.state.declared),
            resourceStates(reconciler, summary.freshness.isStale),
            filter,
          ),
    passes: rows,
  };
}

/** Describes a pause. */
export function pauseView(pause: ManualPause, now: number): PauseView {
  const { address, by, reason, since, until } = pause;
  return {
    address,
    sentence: pauseSentence(pause, now),
    by: by.name,
    reason,
    since: isoTime(since),
    until: isoTime(until),
    endsSoon: until !== null && until - now <= SOON,
  };
}

function waitingForPerson({ id, reconciler }: OrganizationState, now: number): readonly WaitingItem[] {
  if (reconciler === null) {
    return [];
  }
  const { lastCheck, lastEnd } = reconciler;
  const plan = lastCheck?.plan;
  const items: WaitingItem[] = [];
  const text = errorSentence(reconciler, now);
  if (text !== null) {
    items.push({ kind: 'problems', text, path: organizationPath(id, '/passes') });
  }
  if (plan?.verdict.state === 'refused') {
    const text = `The plan is refused: ${plan.verdict.reasons.join('; ')}`;
    items.push({ kind: 'refused', text, path: planPath(id, plan.checksum) });
  }
  const held = plan === undefined ? 0 : heldChanges(plan);
  if (plan !== undefined && held > 0) {
    const text = `${counted(held, 'change')} ${held === 1 ? 'waits' : 'wait'} for approval`;
    items.push({ kind: 'approval', text, path: planPath(id, plan.checksum) });
  }
  const failed = (lastEnd?.results ?? []).filter(({ status }) => status === 'failed');
  for (const { address, error } of failed.slice(0, FAILURES)) {
    items.push({ kind: 'failed', text: `${address} failed: ${error ?? ''}`, path: resourcePath(id, address) });
  }
  if (failed.length > FAILURES) {
    const text = `${counted(failed.length - FAILURES, 'more change')} failed`;
    items.push({ kind: 'failed', text, path: withQuery(organizationPath(id), { state: 'failed' }) });
  }
  return items;
}

function pauseItem(id: string, pause: ManualPause, now: number): WaitingItem {
  const { address } = pause;
  const about = address === '' ? '' : `${address}: `;
  const path = address === '' ? organizationPath(id) : resourcePath(id, address);
  return { kind: 'pause', text: `${about}${pauseSentence(pause, now)}`, path };
}

/** A pass that applied something in spite of the problems is recorded with the last valid commit. */
function brokenBy({ reconciler }: OrganizationState, newestFirst: readonly PassRow[]): OrganizationView['brokenBy'] {
  if (!(reconciler?.lastEnd?.error instanceof DesiredStateError)) {
    return null;
  }
  const lastGood = newestFirst.findIndex(({ error }) => error === null);
  const failing = lastGood === -1 ? newestFirst : newestFirst.slice(0, lastGood);
  const valid = reconciler.lastDesired?.commit ?? null;
  const pass = failing.findLast(({ commit }) => commit !== null && commit !== valid);
  return pass === undefined
    ? null
    : { commit: pass.commit, commitUrl: pass.commitUrl, author: pass.author, subject: pass.subject };
}

function problemsOf({ reconciler }: OrganizationState): readonly ProblemView[] {
  const error = reconciler?.lastEnd?.error;
  return error instanceof DesiredStateError
    ? error.problems.slice(0, PROBLEMS).map(({ file, line, address, message }) => ({ file, line, address, message }))
    : [];
}
