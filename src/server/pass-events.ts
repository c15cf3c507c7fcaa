import { changeId, type Plan } from '../core/change.ts';
import { DesiredStateError, formatProblem } from '../core/errors.ts';
import type { Logger } from '../log.ts';
import { cooldownEnd, describeFlapping } from '../plan/identity/flapping.ts';
import { summaryLine } from '../plan/render/text.ts';
import type { QueueEvent, QueueSnapshot } from '../queue/model/snapshot.ts';
import type { PassEvents } from '../reconcile/daemon/pass.ts';
import type { Metrics, QueueObservation } from './metrics.ts';
import { failingChange, reasonOf } from './trouble.ts';

/** Most problems of bad manifests that are logged one by one. */
const LOGGED_PROBLEMS = 20;

/**
 * Tells the log what a pass does: one line for what matters, none for a pass that finds nothing to do. What stays as it
 * is from pass to pass is logged once, and after that only at the debug level. `approve` gives the command that
 * approves a checksum.
 */
export function logEvents(log: Logger, approve: (checksum: string) => string): PassEvents {
  const news = { source: '', plan: '', drift: '', failure: '' };
  const isNews = (about: keyof typeof news, text: string): boolean => {
    const differs = news[about] !== text;
    news[about] = text;
    return differs;
  };
  let badSource: Error | null = null;
  return {
    onPassStart: (trigger) => log.debug({ trigger }, 'pass begins'),
    onSource: ({ commit, subject, forced, state }) => {
      const mended = news.source !== '' && isNews('source', '');
      log[mended ? 'info' : 'debug']({ commit, subject, files: state.files }, 'manifests read');
      if (forced) {
        log.warn({ commit }, 'the branch was rewritten: its last commit is no ancestor of this one');
      }
    },
    onBadSource: (error, lastGood) => {
      badSource = error;
      const kept =
        lastGood === null ? 'nothing is changed' : `the last good commit ${lastGood.slice(0, 7)} stays in force`;
      const level = isNews('source', error.message) ? 'error' : 'debug';
      if (error instanceof DesiredStateError) {
        log[level]({ ...problemsOf(error), lastGood }, `the manifests are wrong; ${kept}`);
      } else {
        log[level]({ lastGood }, `the manifests cannot be read: ${error.message}; ${kept}`);
      }
    },
    onPlan: ({ plan }, drift) => {
      const drifted = drift.map((change) => change.address);
      const driftLevel = isNews('drift', drifted.join()) ? 'warn' : 'debug';
      if (drifted.length > 0) {
        log[driftLevel]({ drift: drifted }, 'the platform was changed behind the repository’s back');
      }
      const isNew = isNews('plan', plan.changes.length === 0 ? '' : `${plan.commit} ${plan.checksum}`);
      const words = { commit: plan.commit, checksum: plan.checksum, cost: plan.cost.requests };
      log[isNew && plan.changes.length > 0 ? 'info' : 'debug'](words, `plan: ${summaryLine(plan)}`);
      logWhatWaits(log, isNew ? 'warn' : 'debug', plan, approve);
    },
    onBaseRestored: (commit, count) =>
      log.warn({ commit, resources: count }, 'the record is empty: what the repository says was applied is owned'),
    onRecordFailed: (error) => log.warn(`what was applied is not kept in the repository: ${error.message}`),
    onWait: (reason) => log.info(`not applied now: ${reason}`),
    onResult: ({ address, action, status, id, error }) => {
      if (status === 'applied') {
        log.info({ address, action, id }, `${action} applied`);
      } else if (status === 'failed') {
        log.error({ address, action, id }, `${action} failed: ${error}`);
      } else if (status === 'skipped') {
        log.info({ address, action }, `${action} skipped: ${error}`);
      }
    },
    onFlapping: logFlapping(log),
    onPassEnd: ({ outcome, milliseconds, requests, trigger, error, retryIn }) => {
      const words = { trigger, outcome, seconds: Math.round(milliseconds) / 1000, requests, retryIn };
      if (error instanceof DesiredStateError && error !== badSource) {
        // The manifests can be read, and yet they fit neither the platform nor the other folders of the organization.
        const level = isNews('failure', error.message) ? 'error' : 'debug';
        log[level]({ ...words, ...problemsOf(error) }, 'the manifests cannot be planned; nothing is changed');
      } else if (error !== null && !(error instanceof DesiredStateError)) {
        log[isNews('failure', error.message) ? 'error' : 'debug'](words, `pass failed: ${error.message}`);
      } else {
        const mended = outcome !== 'failed' && news.failure !== '' && isNews('failure', '');
        log[mended || requests.writes > 0 ? 'info' : 'debug'](words, `pass ended: ${outcome}`);
      }
    },
  };
}

function problemsOf({ problems }: DesiredStateError): { readonly problems: readonly string[]; readonly more: number } {
  const shown = problems.slice(0, LOGGED_PROBLEMS).map(formatProblem);
  return { problems: shown, more: problems.length - shown.length };
}

/** Logs a flapping field when it starts to flap, and after each further revert. */
function logFlapping(log: Logger): NonNullable<PassEvents['onFlapping']> {
  let known: ReadonlyMap<string, number> = new Map();
  return (flapping) => {
    const before = known;
    known = new Map(flapping.map(({ address, path, times }) => [`${address} ${path}`, times]));
    for (const field of flapping) {
      const { address, path, times, seen } = field;
      if (before.get(`${address} ${path}`) !== times) {
        const until = new Date(cooldownEnd(field)).toISOString();
        log.warn(
          { address, field: path, times, seen, until },
          `${address}: ${describeFlapping(field)}; paused until ${until}`,
        );
      }
    }
  };
}

function logWhatWaits(log: Logger, level: 'warn' | 'debug', plan: Plan, command: (checksum: string) => string): void {
  const held = plan.changes.filter((change) => change.held !== null);
  if (plan.verdict.state !== 'ready') {
    const approve = plan.verdict.state === 'held' ? command(plan.checksum) : undefined;
    log[level]({ reasons: plan.verdict.reasons, approve }, `the whole plan is ${plan.verdict.state}`);
  } else if (held.length > 0) {
    const approve = held.some((change) => change.approvable) ? command(plan.heldChecksum ?? plan.checksum) : undefined;
    const reasons = held.map((change) => `${change.address}: ${change.held}`);
    log[level]({ held: reasons, approve }, 'changes wait for a person');
  }
}

/** Keeps the metrics of one organization. */
export function metricEvents(organization: string, metrics: Metrics): PassEvents {
  let lastGood: string | null = null;
  let drifted: ReadonlySet<string> = new Set();
  return {
    onSource: ({ commit }) => {
      lastGood = commit;
      metrics.source({ organization, good: true, commit });
    },
    onBadSource: () => metrics.source({ organization, good: false, commit: lastGood }),
    onPlan: (_planned, drift) => {
      // Drift that is only reported is found again by every pass, and is still the same drift.
      const found = new Set(drift.map((change) => `${change.action} ${change.address}`));
      const fresh = drift.filter((change) => !drifted.has(`${change.action} ${change.address}`));
      drifted = found;
      for (const [kind, changes] of Map.groupBy(fresh, (change) => change.kind)) {
        metrics.drift(organization, kind, changes.length);
      }
    },
    onFlapping: (flapping) =>
      metrics.fights(
        organization,
        flapping.map(({ kind }) => kind),
      ),
    onResult: ({ action, status }, change) => {
      metrics.change({ organization, kind: change?.kind ?? 'unknown', action, status });
    },
    onPassEnd: ({ outcome, milliseconds, plan, results, error, endedAt }) => {
      const failed = results.filter((result) => result.status === 'failed');
      metrics.pass({ organization, outcome, seconds: milliseconds / 1000, at: endedAt });
      metrics.trouble(organization, reasonOf(outcome, error, failed.length));
      if (plan === null) {
        // It got no further: what failed or waits is what did so before.
        return;
      }
      const changes = new Map(plan.changes.map((change) => [changeId(change), change]));
      metrics.failing(
        organization,
        failed.map((result) => failingChange(result, changes.get(changeId(result)))),
      );
      metrics.pending(organization, {
        held: plan.changes.filter((change) => change.held !== null).length,
        paused: plan.changes.filter((change) => change.held === null && change.paused !== null).length,
        failed: failed.length,
      });
    },
  };
}

/** Keeps the metrics of one queue. */
export function observeQueue(metrics: Metrics): (event: QueueEvent) => void {
  return (event) => {
    if (event.kind !== 'attempt') {
      return;
    }
    metrics.request({ class: event.class, outcome: event.outcome, waitedSeconds: event.waited / 1000 });
    if (event.outcome === 'refused') {
      metrics.rateLimited(event.class);
    }
  };
}

/** What metrics show of a queue that goes by this name. */
export function queueObservation(queue: string, snapshot: QueueSnapshot): QueueObservation {
  const { waiting, oldest, breaker, budgets } = snapshot;
  return {
    queue,
    waiting,
    oldestSeconds: (oldest ?? 0) / 1000,
    broken: breaker !== 'closed',
    budgets: budgets.map(({ classes, operations, limit, left, closedFor }) => ({
      class: [classes.join('+'), ...operations].join(' '),
      limit,
      remaining: left,
      closedSeconds: closedFor / 1000,
    })),
  };
}

/** Tells every listener, in order. */
export function combineEvents(listeners: readonly PassEvents[]): PassEvents {
  return {
    onPassStart: (...told) => listeners.forEach((each) => void each.onPassStart?.(...told)),
    onSource: (...told) => listeners.forEach((each) => void each.onSource?.(...told)),
    onBadSource: (...told) => listeners.forEach((each) => void each.onBadSource?.(...told)),
    onPlan: (...told) => listeners.forEach((each) => void each.onPlan?.(...told)),
    onBaseRestored: (...told) => listeners.forEach((each) => void each.onBaseRestored?.(...told)),
    onRecordFailed: (...told) => listeners.forEach((each) => void each.onRecordFailed?.(...told)),
    onWait: (...told) => listeners.forEach((each) => void each.onWait?.(...told)),
    onResult: (...told) => listeners.forEach((each) => void each.onResult?.(...told)),
    onFlapping: (...told) => listeners.forEach((each) => void each.onFlapping?.(...told)),
    onPassEnd: (...told) => listeners.forEach((each) => void each.onPassEnd?.(...told)),
  };
}
