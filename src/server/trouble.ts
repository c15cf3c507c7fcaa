import { createHash } from 'node:crypto';
import type { Registry } from 'prom-client';
import { keyOf, kindOf } from '../core/address.ts';
import type { Change, ChangeResult } from '../core/change.ts';
import { AppError, CancelledError } from '../core/errors.ts';
import { ChangingGauge, gauge } from './instruments.ts';

/** A change that failed, as metrics may name it. */
export interface FailingChange {
  readonly kind: string;
  /** Shows no email. */
  readonly address: string;
}

/** Why a pass failed, in one of a few words. */
export type Reason =
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

/** The metrics that name what fails. */
export interface TroubleMetrics {
  /** The changes of an organization that failed in its last pass. */
  failing(organization: string, changes: readonly FailingChange[]): void;
  /** Why an organization's last pass failed; null: it did not. */
  trouble(organization: string, reason: Reason | null): void;
}

/** Changes of one organization that are named at most; `octavo_changes_pending` has them all. */
const MOST_NAMED = 100;

/** Makes them in a registry. */
export function troubleMetrics(registry: Registry): TroubleMetrics {
  const changes = new ChangingGauge(
    gauge(
      registry,
      'change_failing',
      `1 for each change that failed in the last pass; at most ${MOST_NAMED} per organization. octavo_changes_pending counts all.`,
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
      const named = failed.slice(0, MOST_NAMED).map((each) => ({ labels: { organization, ...each }, value: 1 }));
      changes.show(organization, named);
    },
    trouble: (organization, reason) => {
      organizations.show(organization, reason === null ? [] : [{ labels: { organization, reason }, value: 1 }]);
    },
  };
}

const REASONS: Readonly<Record<string, Reason>> = {
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

/** Why a pass failed; null where it did not, or was only stopped. */
export function reasonOf(outcome: 'done' | 'held' | 'failed', error: Error | null, failed: number): Reason | null {
  if (outcome !== 'failed') {
    return null;
  }
  if (error instanceof AppError) {
    // What was given up after failing again and again failed for what it failed of.
    const first = error instanceof CancelledError && error.cause instanceof AppError ? error.cause : error;
    return REASONS[first.code] ?? 'unknown';
  }
  return error !== null ? 'unknown' : failed > 0 ? 'changes' : null;
}

/** What metrics may show of a failed change: an address with an email in it becomes one with an id, or a short hash. */
export function failingChange({ address, id }: ChangeResult, change: Change | undefined): FailingChange {
  const kind = change?.kind ?? kindOf(address);
  if (!address.includes('@')) {
    return { kind, address };
  }
  const name = id ?? createHash('sha256').update(keyOf(address)).digest('hex').slice(0, 8);
  return { kind, address: `${kindOf(address)}/${name}` };
}
