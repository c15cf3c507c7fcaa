/** Log lines of reconcile passes. */
import { DesiredStateError, formatProblem } from '../core/errors.ts';
import type { Logger } from '../log.ts';
import { cooldownEnd, describeFlapping } from '../plan/flapping.ts';
import { summaryLine } from '../plan/render/text.ts';
import { shortApproval } from '../plan/render/words.ts';
import type { PassEvents } from '../reconcile/pass.ts';

/** Maximum number of problems of invalid manifests per log line. */
const LOGGED_PROBLEMS = 20;

/** Returns true if the text of a topic differs from the text before; empty at first. */
type HasChanged = (topic: 'source' | 'plan' | 'drift' | 'failure', text: string) => boolean;

/**
 * Logs the passes of an organization. A pass with nothing to do logs at the debug level only. A state that persists is
 * logged once, then at the debug level. `approve` returns the command that approves a checksum.
 */
export function logEvents(log: Logger, approve: (checksum: string) => string): PassEvents {
  const last = new Map<string, string>();
  const hasChanged: HasChanged = (topic, text) => {
    const before = last.get(topic) ?? '';
    last.set(topic, text);
    return before !== text;
  };
  return {
    onPassStart: (trigger) => log.debug({ trigger }, 'pass started'),
    onPlan: logPlan(log, hasChanged, approve),
    onBaseRestored: (commit, resources) =>
      log.warn({ commit, resources }, 'no local record; restored the base from the applied ref'),
    onRecordFailed: (error) =>
      log.warn({ reason: error.message }, 'cannot record the applied commit in the repository'),
    onWait: (reason) => log.info({ reason }, 'plan not applied now'),
    onResult: logResult(log),
    onFlapping: logFlapping(log),
    ...logSourceAndEnd(log, hasChanged),
  };
}

function logSourceAndEnd(
  log: Logger,
  hasChanged: HasChanged,
): Pick<PassEvents, 'onSource' | 'onBadSource' | 'onPassEnd'> {
  let badSource: Error | null = null;
  return {
    onSource: ({ commit, subject, forced, state }) => {
      log[hasChanged('source', '') ? 'info' : 'debug']({ commit, subject, files: state.files }, 'manifests read');
      if (forced) {
        log.warn({ commit }, 'branch was force-pushed');
      }
    },
    onBadSource: (error, lastValidCommit) => {
      badSource = error;
      const level = hasChanged('source', error.message) ? 'error' : 'debug';
      if (error instanceof DesiredStateError) {
        log[level]({ lastValidCommit, ...problemsOf(error) }, 'manifests are invalid; keeping the last valid commit');
      } else {
        log[level]({ lastValidCommit, reason: error.message }, 'cannot read manifests; keeping the last valid commit');
      }
    },
    onPassEnd: ({ outcome, milliseconds, requests, trigger, error, retryIn }) => {
      const fields = { trigger, outcome, seconds: Math.round(milliseconds) / 1000, requests, retryIn };
      if (error === null || (error instanceof DesiredStateError && error === badSource)) {
        const hasRecovered = outcome !== 'failed' && hasChanged('failure', '');
        log[hasRecovered || requests.writes > 0 ? 'info' : 'debug'](fields, 'pass completed');
        return;
      }
      const level = hasChanged('failure', error.message) ? 'error' : 'debug';
      if (error instanceof DesiredStateError) {
        // The manifests are readable, but fit neither the platform nor the other directories of the organization.
        log[level]({ ...fields, ...problemsOf(error) }, 'cannot plan the manifests; nothing is changed');
      } else {
        log[level]({ ...fields, reason: error.message }, 'pass failed');
      }
    },
  };
}

function problemsOf({ problems }: DesiredStateError): { readonly problems: readonly string[]; readonly more: number } {
  const shown = problems.slice(0, LOGGED_PROBLEMS).map(formatProblem);
  return { problems: shown, more: problems.length - shown.length };
}

/** Log level and message by result of a change. A held change is not logged again, because its plan was logged. */
const RESULTS = {
  applied: ['info', 'change applied'],
  failed: ['error', 'change failed'],
  skipped: ['info', 'change skipped'],
  held: null,
} as const;

function logResult(log: Logger): NonNullable<PassEvents['onResult']> {
  return ({ address, action, status, id, error, note }) => {
    const entry = RESULTS[status];
    if (entry !== null) {
      const [level, message] = entry;
      log[level]({ address, action, id, ...(error === null ? {} : { reason: error }) }, message);
    }
    if (note !== undefined) {
      log.warn({ address, action, id, reason: note }, 'the platform stored another value');
    }
  };
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
          { address, field: path, times, seen, until, reason: describeFlapping(field) },
          'field is flapping; reverting it again after a pause',
        );
      }
    }
  };
}

function logPlan(
  log: Logger,
  hasChanged: HasChanged,
  command: (checksum: string) => string,
): NonNullable<PassEvents['onPlan']> {
  return ({ plan }, drift) => {
    const { commit, checksum, changes, cost, verdict } = plan;
    const drifted = drift.map((change) => change.address);
    const driftLevel = hasChanged('drift', drifted.join()) ? 'warn' : 'debug';
    if (drifted.length > 0) {
      log[driftLevel]({ drift: drifted }, 'drift found');
    }
    const isNew = hasChanged('plan', changes.length === 0 ? '' : `${commit} ${checksum}`);
    const fields = { commit, checksum, requests: cost.requests, summary: summaryLine(plan) };
    log[isNew && changes.length > 0 ? 'info' : 'debug'](fields, 'plan created');
    const level = isNew ? 'warn' : 'debug';
    const held = changes.filter((change) => change.held !== null);
    if (verdict.state === 'refused') {
      log[level]({ reasons: verdict.reasons }, 'plan refused');
    } else if (verdict.state === 'held') {
      log[level](
        { reasons: verdict.reasons, approve: command(shortApproval(checksum)) },
        'plan held until it is approved',
      );
    } else if (held.length > 0) {
      const approve = held.some((change) => change.approvable)
        ? command(shortApproval(plan.heldChecksum ?? checksum))
        : undefined;
      log[level]({ held: held.map(({ address, held }) => `${address}: ${held}`), approve }, 'changes held');
    }
  };
}
