import { stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { Config, OrganizationConfig } from '../../config/config.ts';
import type { Plan } from '../../core/change.ts';
import { AppError, ConfigError, EXIT, type ExitCode, messageOf, RefusedPlanError } from '../../core/errors.ts';
import { readRegularFile } from '../../core/files/regular-file.ts';
import { isAncestor } from '../../git/commits.ts';
import { type AppliedRefs, appliedRef } from '../../git/refs.ts';
import { readHead } from '../../git/work-tree.ts';
import { kinds } from '../../kinds/registry.ts';
import { createManifestLoader } from '../../manifests/loader.ts';
import { counted, printable } from '../../plan/render/words.ts';
import { idsOf, readOtherScopes, recordApplied, type ScopedDirectory } from '../../reconcile/applied.ts';
import type { ApplyResult } from '../../reconcile/apply.ts';
import { applyParallel, type Planned, type PlanningInput } from '../../reconcile/planning.ts';
import { chooseOrganization, readConfig } from '../cli/config.ts';
import type { CommandContext } from '../cli/context.ts';
import { type PlatformSession, withPlatform } from '../cli/session.ts';
import { runApply } from './apply-run.ts';
import { isAwaited } from './apply-summary.ts';
import { NO_BASE, openRefs } from './desired.ts';
import { approvalFor } from './next-command.ts';
import { renderPlan } from './plan.ts';
import { findDifferences, type PlanFile, readPlanFile } from './plan-file.ts';
import { type CommandInput, type PlanningFlags, planAgainstPlatform, planFolder, policyOf } from './planning.ts';

export interface ApplyFlags extends PlanningFlags {
  readonly organization?: string;
  readonly format: 'text' | 'json';
  readonly yes?: boolean;
  /** Maximum wait for background work of the platform, in milliseconds; 0 disables it. */
  readonly wait: number;
}

/** Runs `octavo apply [DIR | PLANFILE]`: plans, asks for confirmation, and applies. */
export async function applyCommand(target: string, flags: ApplyFlags, context: CommandContext): Promise<ExitCode> {
  const config = await readConfig(flags.config, context, target);
  const file = await planFileAt(resolve(context.terminal.cwd, target), target);
  const organization = chooseOrganization(config, flags.organization ?? file?.organization);
  return withPlatform(config, organization, context, async (session) => {
    const { connection } = session;
    const { input, planned } =
      file === null
        ? await planFolder(
            { folder: target, config, organization, queue: connection.queue, isApplied: true },
            flags,
            session,
            context,
          )
        : await planFile(file, target, { config, organization, session }, flags, context);
    refuseStalePlan(file, planned.plan, input.policy);
    checkApproval(flags, planned.plan);
    const record = flags.record === true ? await openRecord(input, file !== null, context) : null;
    context.terminal.err(renderPlan(planned.plan, 'text', approvalFor(target, flags), withErrAsOut(context)));
    const confirmed = await confirmation(planned.plan, flags, context);
    if (confirmed === 'no') {
      context.terminal.err('\nNot applied.\n');
      return EXIT.failed;
    }
    const { format, wait } = flags;
    const parallel = applyParallel(config.queue.concurrency);
    const options = { format, wait, parallel, appliesPending: confirmed === 'all' };
    const ended = await runApply(input, planned, session, options, context);
    if (record !== null && ended.exit === EXIT.done) {
      await record(ended);
    }
    return ended.exit;
  });
}

async function planFileAt(path: string, name: string): Promise<PlanFile | null> {
  const found = await stat(path).catch(() => null);
  if (found === null) {
    throw new ConfigError(`${name} does not exist; pass the manifest directory or a plan file`);
  }
  if (found.isDirectory()) {
    return null;
  }
  try {
    return readPlanFile(readRegularFile(path, { limit: MAX_PLAN_SIZE }).toString('utf8'), name);
  } catch (error) {
    throw error instanceof AppError ? error : new ConfigError(`cannot read ${name}: ${messageOf(error)}`);
  }
}

/** Size limit of a plan file, in bytes. */
const MAX_PLAN_SIZE = 256 * 1_048_576;

async function planFile(
  file: PlanFile,
  target: string,
  { config, organization, session }: FileContext,
  flags: ApplyFlags,
  context: CommandContext,
): Promise<{ readonly input: CommandInput; readonly planned: Planned }> {
  const known = [flags.base === undefined ? null : '--base', flags.scope === undefined ? null : '--scope'];
  const [given] = known.filter((flag) => flag !== null);
  if (given !== undefined) {
    throw new ConfigError(
      `${given} cannot be combined with a plan file; create a new plan with the ${given === '--base' ? 'base' : 'scope'} you want`,
    );
  }
  if (file.organization !== organization.id) {
    throw new RefusedPlanError(`the plan file is for organization ${file.organization}, not ${organization.id}`);
  }
  const { queue } = session.connection;
  const input: CommandInput = {
    ...file,
    ...(await readRecorded(file, target, flags, context)),
    kinds,
    policy: policyOf(config, organization, flags, context),
    estimate: (work) => queue.estimate(work, applyParallel(config.queue.concurrency)),
  };
  return { input, planned: await planAgainstPlatform(input, session, context.terminal) };
}

interface FileContext {
  readonly config: Config;
  readonly organization: OrganizationConfig;
  readonly session: PlatformSession;
}

/** Reads the applied refs from the repository of the plan file, or else of the working directory. */
async function readRecorded(
  { organization, scope, directory }: PlanFile,
  target: string,
  { record }: ApplyFlags,
  { terminal }: CommandContext,
): Promise<Pick<CommandInput, 'place' | 'refs' | 'otherScopes'>> {
  const head = (await readHead(dirname(resolve(terminal.cwd, target)))) ?? (await readHead(terminal.cwd));
  if (head === null || directory === null) {
    return { place: null, refs: null };
  }
  const place = { organization, scope, directory, repository: head.root };
  const fetch = record === true ? 'always' : 'if-needed';
  const refs = await openRefs(place, { base: NO_BASE, fetch, warn: terminal.err });
  return {
    place,
    refs,
    otherScopes: await readOtherScopes(refs, place, head.commit, () => createManifestLoader(kinds)),
  };
}

/** Throws RefusedPlanError if the current plan differs from that of the plan file. */
function refuseStalePlan(file: PlanFile | null, plan: Plan, policy: PlanningInput['policy']): void {
  if (file === null) {
    return;
  }
  const lines = findDifferences(file, plan, policy).map((line) => `  ${line}`);
  if (file.checksum !== plan.checksum || lines.length > 0) {
    throw new RefusedPlanError(
      ['the plan file is stale: the plan has changed since it was created', ...lines].join('\n'),
    );
  }
}

function checkApproval(flags: ApplyFlags, plan: Plan): void {
  const { approve } = flags;
  if (approve !== undefined && approve !== plan.checksum && approve !== plan.heldChecksum) {
    const held = plan.heldChecksum === null ? '' : ` and its held changes have ${plan.heldChecksum}`;
    throw new RefusedPlanError(
      `--approve ${approve} does not match: the plan has checksum ${plan.checksum}${held}; review the plan again`,
    );
  }
}

/**
 * Returns what is confirmed. `all`: by `--yes` or an answer, including pending changes. `plan`: by the checksum of the
 * plan, or because nothing needs confirmation. `no`: declined. The checksum of the held changes confirms only those.
 * Throws ConfigError if other changes need confirmation and there is no terminal.
 */
async function confirmation(
  plan: Plan,
  { yes, approve, wait }: ApplyFlags,
  { terminal }: CommandContext,
): Promise<'all' | 'plan' | 'no'> {
  const due = plan.changes.filter((change) => change.held === null && change.paused === null);
  // Changes that an approval has released are approvable and no longer held.
  const rest = approve === plan.heldChecksum ? due.filter((change) => !change.approvable) : due;
  if (yes === true) {
    return 'all';
  }
  if (plan.verdict.state !== 'ready' || rest.length === 0 || approve === plan.checksum) {
    return 'plan';
  }
  const count = counted(rest.length, 'change');
  if (terminal.ask === null) {
    throw new ConfigError(
      approve === undefined
        ? 'no terminal to ask for confirmation; pass --yes to apply'
        : `--approve ${approve} covers only the held changes, but ${count} ${rest.length === 1 ? 'is' : 'are'} not held; pass --yes to apply ${rest.length === 1 ? 'it' : 'them'} too`,
    );
  }
  const approvedToo =
    due.length === rest.length ? '' : `, and ${counted(due.length - rest.length, 'approved change')},`;
  const isAwaiting = wait > 0 && plan.pending.some(isAwaited);
  const later = isAwaiting ? `, and pending changes once they are ready,` : '';
  const answer = await terminal.ask(
    `\nApply ${count}${approvedToo}${later} to ${plan.organization}? Enter "yes" to confirm: `,
  );
  return answer.trim().toLowerCase() === 'yes' ? 'all' : 'no';
}

/** Colors the plan for standard error, where it is printed; standard output has only the result of the apply. */
function withErrAsOut(context: CommandContext): CommandContext {
  const { terminal } = context;
  return { ...context, terminal: { ...terminal, isOutTerminal: terminal.isErrTerminal } };
}

/** Records the result of an apply. Throws SourceError if git refuses it. */
type Recorder = (applied: ApplyResult) => Promise<void>;

/** Returns a function that records the result of an apply. Throws ConfigError if it cannot be recorded. */
async function openRecord(
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
    `the plan file is stale: ${recorded.slice(0, 7)} has been recorded as applied since; create a new plan`,
  );
}
