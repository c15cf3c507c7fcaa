/** Prometheus metrics of failures. */
import { createHash } from 'node:crypto';
import type { Registry } from 'prom-client';
import { keyOf, kindOf } from '../core/address.ts';
import type { Change, ChangeResult } from '../core/change.ts';
import { AppError, CancelledError } from '../core/errors.ts';
import { ChangingGauge, gauge } from './instruments.ts';

/** A failed change, in the form that metrics show. */
export interface FailingChange {
  readonly kind: string;
  /** Address without email addresses. */
  readonly address: string;
}

/** Reason of a failed pass, as a metric label. */
export type FailureReason =
  | 'unauthorized'
  | 'unreachable'
  | 'rejected'
  | 'rate_limited'
  | 'timeout'
  | 'invalid_manifests'
  | 'source'
  | 'state'
  | 'refused'
  | 'changes'
  | 'unknown';

/** Metrics of failing organizations and changes. */
export interface FailureMetrics {
  /** Sets the changes that failed in the last pass of an organization. */
  failing(organization: string, changes: readonly FailingChange[]): void;
  /** Sets why the last pass of an organization failed; null if it did not. */
  failureReason(organization: string, reason: FailureReason | null): void;
}

/** Maximum number of changes that are named per organization; `octavo_changes_pending` counts all. */
const MAX_NAMED = 100;

/** Registers the metrics of failures. */
export function failureMetrics(registry: Registry): FailureMetrics {
  const changes = new ChangingGauge(
    gauge(
      registry,
      'change_failing',
      `1 for each change that failed in the last pass; at most ${MAX_NAMED} per organization. octavo_changes_pending counts all.`,
      ['organization', 'kind', 'address'],
    ),
  );
  const organizations = new ChangingGauge(
    gauge(registry, 'organization_failing', '1 for each organization whose last pass failed, with the reason.', [
      'organization',
      'reason',
    ]),
  );
  return {
    failing: (organization, failed) => {
      const named = failed.slice(0, MAX_NAMED).map((each) => ({ labels: { organization, ...each }, value: 1 }));
      changes.show(organization, named);
    },
    failureReason: (organization, reason) => {
      organizations.show(organization, reason === null ? [] : [{ labels: { organization, reason }, value: 1 }]);
    },
  };
}

const REASONS: Readonly<Record<string, FailureReason>> = {
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
export function reasonOf(
  outcome: 'done' | 'held' | 'failed',
  error: Error | null,
  failed: number,
): FailureReason | null {
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

/** Converts a failed change for metrics: replaces an address that contains an email by one with an id or a short hash. */
export function failingChange({ address, id }: ChangeResult, change: Change | undefined): FailingChange {
  const kind = change?.kind ?? kindOf(address);
  if (!address.includes('@')) {
    return { kind, address };
  }
  const name = id ?? createHash('sha256').update(keyOf(address)).digest('hex').slice(0, 8);
  return { kind, address: `${kindOf(address)}/${name}` };
}
