/** Records in git what an apply has done: the commit, and the ids of its resources. */
import { ConfigError, RefusedPlanError } from '../../core/errors.ts';
import { type AppliedRefs, appliedRef } from '../../git/applied-refs.ts';
import { isAncestor } from '../../git/make-commit.ts';
import { printable } from '../../plan/render/words.ts';
import { idsOf, recordApplied, type ScopedFolder } from '../../reconcile/applied.ts';
import type { ApplyResult } from '../../reconcile/change-scheduler.ts';
import type { CommandContext } from '../cli/context.ts';
import { isAwaited } from './apply-summary.ts';
import type { CommandInput } from './planning.ts';

/** Records the result of an apply. Throws SourceError where that is refused. */
type Recorder = (applied: ApplyResult) => Promise<void>;

/** Checks that what is applied can be recorded, and returns what records it. Throws ConfigError where it cannot be. */
export async function openRecord(
  { organization, commit, declared, place, refs, baseCommit }: CommandInput,
  isFile: boolean,
  { terminal }: CommandContext,
): Promise<Recorder> {
  if (commit === null || place === null || refs === null) {
    throw new ConfigError('--record requires all manifests to be committed; commit your changes and run again');
  }
  const { scope, folder } = place;
  const ref = appliedRef(organization, scope);
  if (isFile) {
    await refuseOlderCommit(refs, place, { commit, baseCommit });
  }
  return async ({ results, bindings, pending }) => {
    // What is paused or pending was not applied: recorded as if it were, the next plan would take it for something else.
    const left = [...results.filter(({ status }) => status !== 'applied'), ...pending.filter(isAwaited)];
    if (left.length > 0) {
      const names = left.map(({ address }) => printable(address)).join(', ');
      terminal.err(`${ref} was not updated; still to apply: ${names}\n`);
      return;
    }
    const ids = idsOf(declared, bindings);
    const { pushed } = await recordApplied(refs, { organization, scope, folder, commit, ids });
    terminal.err(`Recorded ${commit.slice(0, 7)} as applied in ${ref}${pushed ? ' and pushed it' : ''}\n`);
  };
}

/** An old plan file may still be the plan, where both change nothing: what was recorded since would lose its owner. */
async function refuseOlderCommit(
  refs: AppliedRefs,
  { organization, scope, repository }: ScopedFolder,
  { commit, baseCommit }: Pick<CommandInput, 'commit' | 'baseCommit'>,
): Promise<void> {
  const tip = refs.tipOf(scope);
  const recorded = tip === null ? null : (await refs.read(tip, appliedRef(organization, scope))).commit;
  const known = baseCommit ?? commit;
  if (
    recorded === null ||
    recorded === commit ||
    recorded === known ||
    (known && (await isAncestor(repository, recorded, known)))
  ) {
    return;
  }
  throw new RefusedPlanError(
    `the plan file is stale: ${recorded.slice(0, 7)} has been recorded as applied since; create a new plan with --base applied`,
  );
}
