/** Summary of an organization: its state in one sentence, with the age of what it says. */
import type { ManualPause } from '../../store/history.ts';
import type { Backend, OrganizationState } from './backend.ts';
import { checkTimes } from './checks.ts';
import type { Freshness } from './freshness.ts';
import { organizationPath } from './paths.ts';
import { describeStatus, heldChanges, type OrganizationStatus } from './status.ts';
import { isoTime } from './words.ts';

export interface OrganizationSummary {
  readonly id: string;
  /** Title on the platform; the id before it is known. */
  readonly title: string;
  readonly path: string;
  /** Address of the replica that has it; null if there is no fleet, or none has it. */
  readonly replica: string | null;
  readonly state: OrganizationStatus;
  readonly sentence: string;
  /** Commit of the last check; null if there is none. */
  readonly commit: string | null;
  readonly freshness: Freshness;
  readonly nextCheck: string | null;
  /** Declared resources; null before the manifests were read. */
  readonly resources: number | null;
  /** Changes that wait for approval. */
  readonly held: number;
  /** Checksum whose approval releases them; null if there are none. */
  readonly approval: string | null;
  /** Changes of the last pass that failed. */
  readonly failed: number;
}

/** Summarizes an organization. `pauses`: those that have not ended. */
export async function summarize(
  backend: Backend,
  state: OrganizationState,
  pauses: readonly ManualPause[],
  now: number,
): Promise<OrganizationSummary> {
  const { id, reconciler, owner } = state;
  const { freshness, next } = await checkTimes(backend, state, now);
  const plan = reconciler?.lastCheck?.plan ?? null;
  const held = plan === null ? 0 : heldChanges(plan);
  const checksum = plan?.verdict.state === 'held' ? plan.checksum : (plan?.heldChecksum ?? null);
  const results = reconciler?.lastEnd?.results ?? [];
  return {
    id,
    title: plan?.title ?? id,
    path: organizationPath(id),
    replica: owner.kind === 'replica' ? owner.address : null,
    ...describeStatus({ state, pauses, freshness, lastValid: await lastValid(state), now }),
    commit: plan?.commit ?? null,
    freshness,
    nextCheck: isoTime(next),
    resources: reconciler?.lastDesired?.state.declared.size ?? null,
    held,
    approval: held === 0 ? null : checksum,
    failed: results.filter(({ status }) => status === 'failed').length,
  };
}

/** Number of passes that are searched for the last valid commit. */
const SEARCHED = 20;

/** Returns the commit of the last valid manifests. After a restart, the history knows it. */
async function lastValid({ reconciler, history }: OrganizationState): Promise<string | null> {
  const { lastEnd, lastDesired } = reconciler ?? {};
  if (lastEnd?.error == null || lastDesired != null) {
    return lastDesired?.commit ?? null;
  }
  const passes = await history.passes({ limit: SEARCHED });
  return passes.find(({ checksum }) => checksum !== null)?.commit ?? null;
}
