/** Prometheus metrics of passes, of the changes that they try, and of what fails. */
import { createHash } from 'node:crypto';
import { keyOf, kindOf } from '../core/address.ts';
import { type Change, type ChangeResult, changeId } from '../core/change.ts';
import { AppError, CancelledError } from '../core/errors.ts';
import type { PassEnd, PassEvents } from '../reconcile/pass.ts';
import type { Instruments } from './instruments.ts';

/** Maximum number of changes that are named per organization; `octavo_changes_pending` counts all. */
const MAX_NAMED = 100;

/** Registers the metrics of passes and sources. */
export function passInstruments({ counter, gauge, changingGauge }: Instruments) {
  return {
    passes: counter('reconcile_passes_total', 'Number of passes, by outcome.', 'organization', 'outcome'),
    seconds: gauge('reconcile_last_duration_seconds', 'Duration of the last pass.', 'organization'),
    success: gauge(
      'reconcile_last_success_timestamp_seconds',
      'Time of the last successful pass, in seconds since the epoch.',
      'organization',
    ),
    changes: counter(
      'changes_total',
      'Number of changes that passes tried, by kind, action and status.',
      'organization',
      'kind',
      'action',
      'status',
    ),
    pending: gauge(
      'changes_pending',
      'Changes that are held, failed or paused after the last pass.',
      'organization',
      'status',
    ),
    drift: counter('drifted_resources_total', 'Number of resources found to have drifted.', 'organization', 'kind'),
    flapping: changingGauge(
      'flapping_fields',
      'Fields that something else keeps changing back.',
      'organization',
      'kind',
    ),
    ready: gauge(
      'source_ready',
      '1 if the last read of the source succeeded and its manifests were valid, otherwise 0.',
      'organization',
    ),
    commit: changingGauge(
      'source_commit_info',
      'The last valid commit, as a label; always 1.',
      'organization',
      'commit',
    ),
  };
}

/** Registers the metrics of failing changes and organizations. */
export function failureInstruments({ changingGauge }: Instruments) {
  return {
    failingChanges: changingGauge(
      'change_failing',
      `1 for each change that failed in the last pass; at most ${MAX_NAMED} per organization. octavo_changes_pending counts all.`,
      'organization',
      'kind',
      'address',
    ),
    failing: changingGauge(
      'organization_failing',
      '1 for each organization whose last pass failed, with the reason.',
      'organization',
      'reason',
    ),
  };
}

type PassInstruments = ReturnType<typeof passInstruments> & ReturnType<typeof failureInstruments>;

/** Returns a listener that counts the passes of an organization. */
export function passListener(organization: string, metrics: PassInstruments): PassEvents {
  let drifted: ReadonlySet<string> = new Set();
  return {
    onSource: ({ commit }) => {
      metrics.ready.set({ organization }, 1);
      if (commit !== null) {
        metrics.commit(organization, [[{ organization, commit }, 1]]);
      }
    },
    onBadSource: () => metrics.ready.set({ organization }, 0),
    onPlan: (_planned, drift) => {
      // Drift that is only reported is found again by every pass; count it once.
      const fresh = drift.filter((change) => !drifted.has(changeId(change)));
      drifted = new Set(drift.map(changeId));
      for (const { kind } of fresh) {
        metrics.drift.inc({ organization, kind });
      }
    },
    onFlapping: (flapping) => {
      const kinds = Map.groupBy(flapping, ({ kind }) => kind);
      metrics.flapping(
        organization,
        [...kinds].map(([kind, same]) => [{ organization, kind }, same.length]),
      );
    },
    onResult: ({ action, status }, change) =>
      metrics.changes.inc({ organization, kind: change?.kind ?? 'unknown', action, status }),
    onPassEnd: (end) => {
      const { outcome, plan, results } = end;
      metrics.passes.inc({ organization, outcome });
      metrics.seconds.set({ organization }, end.milliseconds / 1000);
      if (outcome !== 'failed') {
        metrics.success.set({ organization }, end.endedAt / 1000);
      }
      const failed = results.filter(({ status }) => status === 'failed');
      const reason = reasonOf(end, failed.length);
      metrics.failing(organization, reason === null ? [] : [[{ organization, reason }, 1]]);
      if (plan === null) {
        // The pass ended before planning, so the previous values still apply.
        return;
      }
      const changes = new Map(plan.changes.map((change) => [changeId(change), change]));
      metrics.failingChanges(
        organization,
        failed.slice(0, MAX_NAMED).map((result) => {
          const { kind, address } = nameOf(result, changes.get(changeId(result)));
          return [{ organization, kind, address }, 1];
        }),
      );
      const held = plan.changes.filter((change) => change.held !== null);
      const paused = plan.changes.filter((change) => change.held === null && change.paused !== null);
      for (const [status, list] of Object.entries({ held, failed, paused })) {
        metrics.pending.set({ organization, status }, list.length);
      }
    },
  };
}

/** Reasons of failed passes by the code of the error. */
const REASONS: Readonly<Record<string, string>> = {
  'not-authorized': 'unauthorized',
  transient: 'unreachable',
  timeout: 'unreachable',
  'not-the-platform': 'unreachable',
  rejected: 'rejected',
  'rate-limited': 'rate_limited',
  cancelled: 'timeout',
  'invalid-manifests': 'invalid_manifests',
  source: 'source',
  store: 'state',
  'refused-plan': 'refused',
};

/** Returns why a pass failed; null if it did not fail or was only stopped. */
function reasonOf({ outcome, error }: PassEnd, failed: number): string | null {
  if (outcome !== 'failed') {
    return null;
  }
  if (error instanceof AppError) {
    // Report the original error of work that was cancelled after repeated failures.
    const first = error instanceof CancelledError && error.cause instanceof AppError ? error.cause : error;
    return REASONS[first.code] ?? 'unknown';
  }
  return error !== null ? 'unknown' : failed > 0 ? 'changes' : null;
}

/** Returns the kind and address of a failed change; in place of an email, the address has an id or a short hash. */
function nameOf({ address, id }: ChangeResult, change: Change | undefined) {
  const kind = change?.kind ?? kindOf(address);
  if (!address.includes('@')) {
    return { kind, address };
  }
  const name = id ?? createHash('sha256').update(keyOf(address)).digest('hex').slice(0, 8);
  return { kind, address: `${kindOf(address)}/${name}` };
}
