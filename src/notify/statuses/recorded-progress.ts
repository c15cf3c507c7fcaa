/** Finds in the history what became of a commit, for a daemon that died before it could show it. */
import { counted } from '../../plan/render/words.ts';
import type { PassDetails, PassRecord } from '../../store/history.ts';
import type { StatusProgress } from './pass-progress.ts';

/** Returns the number of changes of a commit that these passes applied, without those that undid manual changes. */
export function countApplied(passes: readonly PassRecord[], commit: string): number {
  const own = passes.filter((pass) => pass.commit === commit);
  return own.reduce((sum, { counts }) => sum + (counts.applied ?? 0) - (counts.reverted ?? 0), 0);
}

/**
 * Describes a commit by its last pass. `applied`: number of its changes that all passes have applied. Returns null if
 * something of it was left to do, or if the pass could not say.
 */
export function recordedProgress({ pass, changes }: PassDetails, applied: number): StatusProgress | null {
  const { counts, error, outcome } = pass;
  if (error !== null) {
    return null;
  }
  const planned = ['create', 'update', 'move', 'delete'].reduce((sum, action) => sum + (counts[action] ?? 0), 0);
  if ((counts.failed ?? 0) > 0) {
    const first = changes.find(({ status }) => status === 'failed');
    const reason = first === undefined ? '' : `: ${first.address}: ${first.error ?? 'failed'}`;
    const total = applied + planned - (counts.applied ?? 0);
    return { state: 'failure', description: `${counts.failed} of ${counted(total, 'change')} failed${reason}` };
  }
  const isComplete = outcome === 'done' && (counts.applied ?? 0) === planned;
  const description = applied === 0 ? 'nothing to do' : `${counted(applied, 'change')} applied`;
  return isComplete ? { state: 'success', description } : null;
}
