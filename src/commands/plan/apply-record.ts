/** Records an applied commit and the ids of its resources in git. */
import { ConfigError, RefusedPlanError } from '../../core/errors.ts';
import { type AppliedRefs, appliedRef } from '../../git/applied-refs.ts';
import { isAncestor } from '../../git/make-commit.ts';
import { printable } from '../../plan/render/words.ts';
import { idsOf, recordApplied, type ScopedDirectory } from '../../reconcile/applied.ts';
import type { ApplyResult } from '../../reconcile/change-scheduler.ts';
import type { CommandContext } from '../cli/context.ts';
import { isAwaited } from './apply-summary.ts';
import type { CommandInput } from './planning.ts';

/** Records the result of an apply. Throws SourceError if git refuses it. */
type Recorder = (applied: ApplyResult) => Promise<void>;

/** Returns a function that records the result of an apply. Throws ConfigError if it cannot be recorded. */
export async function openRecord(
  { organization, commit, declared, place, refs, baseCommit }: CommandInput,
  isFile: boolean,
  { terminal }: CommandContext,
): Promise<Recorder> {
  if (commit === null || place === null || refs === null) {
    throw new ConfigError('--record requires all manifests to be committed; commit your changes and run again');
  }
  const { scope, directory } = place;
  const ref = appliedRef(organization, scope);
  if (isFile) {
    await refuseOlderCommit(refs, place, { commit, baseCommit });
  }
  return async ({ results, bindings, pending }) => {
    // A record of paused or pending changes would mislead the next plan, because they were not applied.
    const left = [...results.filter(({ status }) => status !== 'applied'), ...pending.filter(isAwaited)];
    if (left.length > 0) {
      const names = left.map(({ address }) => printable(address)).join(', ');
      terminal.err(`${ref} was not updated; still to apply: ${names}\n`);
      return;
    }
    const ids = idsOf(declared, bindings);
    const { pushed } = await recordApplied(refs, { organization, scope, directory, commit, ids });
    terminal.err(`Recorded ${commit.slice(0, 7)} as applied in ${ref}${pushed ? ' and pushed it' : ''}\n`);
  };
}

/** Refuses an older plan file that changes nothing: recording it would drop ownership that was recorded later. */
async function refuseOlderCommit(
  refs: AppliedRefs,
  { organization, scope, repository }: ScopedDirectory,
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
