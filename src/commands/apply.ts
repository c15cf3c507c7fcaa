import { stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { Config, OrganizationConfig } from '../config/config.ts';
import type { Address } from '../core/address.ts';
import type { ChangeResult, Plan } from '../core/change.ts';
import { AppError, ConfigError, EXIT, type ExitCode, messageOf, RefusedPlanError } from '../core/errors.ts';
import { shownJson } from '../core/json.ts';
import { readRegularFile } from '../core/regular-file.ts';
import { type AppliedRefs, appliedRef } from '../git/applied-refs.ts';
import { headOf } from '../git/commit-info.ts';
import { isIn } from '../git/make-commit.ts';
import { kinds } from '../kinds/registry.ts';
import { createManifestLoader } from '../manifests/loader.ts';
import { resultToJson } from '../plan/render-json.ts';
import { summaryLine } from '../plan/render-text.ts';
import { counted } from '../plan/words.ts';
import { openWriter } from '../platform/client.ts';
import type { Connection } from '../platform/connection.ts';
import { idsOf, readElsewhere, recordApplied, type ScopedFolder } from '../reconcile/applied.ts';
import type { Applied } from '../reconcile/apply.ts';
import type { Planned } from '../reconcile/planning.ts';
import { apply, outcomeOf, type PassInput } from '../reconcile/reconcile.ts';
import { openRefs } from './desired.ts';
import { approval } from './next-command.ts';
import { renderPlan } from './plan.ts';
import { differences, type PlanFile, readPlanFile } from './plan-file.ts';
import { APPLY_PARALLEL, type CommandInput, type PlanningFlags, passInput, planOnly, policyOf } from './planning.ts';
import { showProgress } from './progress.ts';
import { chooseOrganization, RequestCount, readConfig, type Surroundings, type Way, withPlatform } from './setup.ts';

export interface ApplyFlags extends PlanningFlags {
  readonly organization?: string;
  readonly format: 'text' | 'json';
  readonly yes?: boolean;
}

/** `octavo apply [DIR | PLANFILE]`: plans, asks, and makes it so. */
export async function applyCommand(target: string, flags: ApplyFlags, around: Surroundings): Promise<ExitCode> {
  const config = await readConfig(flags.config, around, target);
  const file = await planFileAt(resolve(around.terminal.cwd, target), target);
  const organization = chooseOrganization(config, flags.organization ?? file?.organization);
  return withPlatform(config, organization, around, async (way) => {
    const { connection } = way;
    const input =
      file === null
        ? await passInput(target, flags, config, organization, connection, around)
        : await inputOfFile(file, target, { config, organization, connection }, flags, around);
    const planned = await planOnly(input, way, around.terminal);
    mustStillBe(file, planned.plan, input.policy);
    mustBeApproved(flags, planned.plan);
    const record = flags.record === true ? await openRecord(input, file !== null, around) : null;
    around.terminal.err(renderPlan(planned.plan, 'text', approval(target, flags), toErr(around)));
    if (!(await isWanted(planned.plan, flags, around))) {
      around.terminal.err('\nNot applied.\n');
      return EXIT.failed;
    }
    const { results, bindings } = await carryOut(input, planned, way, flags, around);
    const exit = exitOf(planned, results, around);
    if (record !== null && exit === EXIT.done) {
      await record(results, bindings);
    }
    return exit;
  });
}

async function planFileAt(path: string, name: string): Promise<PlanFile | null> {
  const found = await stat(path).catch(() => null);
  if (found === null) {
    throw new ConfigError(`${name} is neither a folder of manifests nor a plan file`);
  }
  if (found.isDirectory()) {
    return null;
  }
  try {
    return readPlanFile(readRegularFile(path, { limit: LARGEST_PLAN }).toString('utf8'), name);
  } catch (error) {
    throw error instanceof AppError ? error : new ConfigError(`cannot read ${name}: ${messageOf(error)}`);
  }
}

/** A plan file, in bytes. */
const LARGEST_PLAN = 256 * 1_048_576;

async function inputOfFile(
  file: PlanFile,
  target: string,
  { config, organization, connection }: FileContext,
  flags: ApplyFlags,
  around: Surroundings,
): Promise<CommandInput> {
  const known = [flags.base === undefined ? null : '--base', flags.scope === undefined ? null : '--scope'];
  const [given] = known.filter((flag) => flag !== null);
  if (given !== undefined) {
    throw new ConfigError(`${given} cannot be combined with a plan file; create a new plan with the one you want`);
  }
  if (file.organization !== organization.id) {
    throw new RefusedPlanError(`the plan is for ${file.organization}, and not for ${organization.id}`);
  }
  return {
    ...file,
    ...(await recordedBeside(file, target, flags, around)),
    kinds,
    policy: policyOf(config, organization, flags, around),
    estimate: (work) => connection.queue.estimate(work, APPLY_PARALLEL),
  };
}

interface FileContext {
  readonly config: Config;
  readonly organization: OrganizationConfig;
  readonly connection: Connection;
}

/** What the repository around a plan file, or else around the working directory, records of the organization. */
async function recordedBeside(
  { organization, scope, folder }: PlanFile,
  target: string,
  { record }: ApplyFlags,
  { terminal }: Surroundings,
): Promise<Pick<CommandInput, 'place' | 'refs' | 'elsewhere'>> {
  const head = (await headOf(dirname(resolve(terminal.cwd, target)))) ?? (await headOf(terminal.cwd));
  if (head === null || folder === null) {
    return { place: null, refs: null };
  }
  const place = { organization, scope, folder, repository: head.root };
  const fetch = record === true ? 'always' : 'if-needed';
  const refs = await openRefs(place, { base: undefined, fetch, warn: terminal.err });
  return { place, refs, elsewhere: await readElsewhere(refs, place, head.commit, () => createManifestLoader(kinds)) };
}

/** A plan file is applied only if it still is the plan. */
function mustStillBe(file: PlanFile | null, plan: Plan, policy: PassInput['policy']): void {
  if (file === null) {
    return;
  }
  const lines = differences(file, plan, policy).map((line) => `  ${line}`);
  if (file.checksum !== plan.checksum || lines.length > 0) {
    throw new RefusedPlanError(
      ['the plan file is stale: something has changed since it was made', ...lines].join('\n'),
    );
  }
}

function mustBeApproved(flags: ApplyFlags, plan: Plan): void {
  const { approve } = flags;
  if (approve !== undefined && approve !== plan.checksum && approve !== plan.heldChecksum) {
    const held = plan.heldChecksum === null ? '' : `, and only what is held ${plan.heldChecksum}`;
    throw new RefusedPlanError(
      `${approve} is not the checksum of what would be done now: the plan has ${plan.checksum}${held}; review the plan again`,
    );
  }
}

type Record = (results: readonly ChangeResult[], bindings: ReadonlyMap<Address, string>) => Promise<void>;

/** Checks that what is applied can be recorded, and returns what records it. Throws ConfigError where it cannot be. */
async function openRecord(
  { organization, commit, declared, place, refs, baseCommit }: CommandInput,
  isFile: boolean,
  { terminal }: Surroundings,
): Promise<Record> {
  if (commit === null || place === null || refs === null) {
    throw new ConfigError('--record needs manifests that are all committed: only a commit can be recorded as applied');
  }
  const { scope, folder } = place;
  const ref = appliedRef(organization, scope);
  if (isFile) {
    await mustNotTakeBack(refs, place, { commit, baseCommit });
  }
  return async (results, bindings) => {
    const left = results.filter((result) => result.status !== 'applied');
    if (left.length > 0) {
      // What is paused was not applied: recorded as if it were, it would be taken for something else in the next plan.
      const names = left.map((result) => result.address).join(', ');
      terminal.err(`${ref} stays where it is: not applied yet: ${names}\n`);
      return;
    }
    const ids = idsOf(declared, bindings);
    const { pushed } = await recordApplied(refs, { organization, scope, folder, commit, ids });
    terminal.err(`Recorded ${commit.slice(0, 7)} as applied in ${ref}${pushed ? ', and pushed it' : ''}\n`);
  };
}

/** An old plan file may still be the plan, where both change nothing: what was recorded since would lose its owner. */
async function mustNotTakeBack(
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
    (known && (await isIn(repository, recorded, known)))
  ) {
    return;
  }
  throw new RefusedPlanError(
    `the plan file is stale: ${recorded.slice(0, 7)} was recorded as applied since; plan again with --base applied`,
  );
}

async function carryOut(
  input: PassInput,
  planned: Planned,
  { connection, signal }: Way,
  flags: ApplyFlags,
  around: Surroundings,
): Promise<Applied> {
  const { plan } = planned;
  const count = new RequestCount();
  const progress = showProgress(around.terminal, plan.changes.length);
  const applied = await apply(input, planned, {
    writer: openWriter(connection, {
      organization: input.organization,
      priority: 'apply',
      onRequest: count.onRequest,
    }),
    clock: around.clock,
    parallel: APPLY_PARALLEL,
    signal,
    abort: new AbortController().signal,
    record: null,
    onStart: progress.start,
    onResult: progress.result,
  }).finally(progress.end);
  answer(planned, applied.results, count, flags, around);
  return applied;
}

/**
 * Whether the plan is confirmed: by `--yes`, by its checksum, or by an answer. The checksum of what is held confirms only
 * that. Throws ConfigError where the rest is not confirmed and nobody can be asked.
 */
async function isWanted(plan: Plan, { yes, approve }: ApplyFlags, { terminal }: Surroundings): Promise<boolean> {
  const due = plan.changes.filter((change) => change.held === null && change.paused === null);
  // What an approval has released is approvable, and not held any more.
  const rest = approve === plan.heldChecksum ? due.filter((change) => !change.approvable) : due;
  if (plan.verdict.state !== 'ready' || rest.length === 0 || yes === true || approve === plan.checksum) {
    return true;
  }
  const count = counted(rest.length, 'change');
  if (terminal.ask === null) {
    throw new ConfigError(
      approve === undefined
        ? 'no terminal to ask for confirmation; pass --yes to apply'
        : `${approve} approves only what is held, and ${count} ${rest.length === 1 ? 'is' : 'are'} not; pass --yes to apply ${rest.length === 1 ? 'it' : 'them'} too`,
    );
  }
  const besides = due.length === rest.length ? '' : `, and ${counted(due.length - rest.length, 'approved change')},`;
  const said = await terminal.ask(`\nApply ${count}${besides} to ${plan.organization}? Only "yes" is a yes: `);
  return said.trim().toLowerCase() === 'yes';
}

function exitOf(planned: Planned, results: readonly ChangeResult[], { signal, terminal }: Surroundings): ExitCode {
  const outcome = outcomeOf(planned, results);
  const left = results.filter((result) => result.status === 'skipped').length;
  if (signal.aborted && left > 0) {
    terminal.err(`Stopped: ${counted(left, 'change')} not begun\n`);
    return EXIT.failed;
  }
  return outcome === 'failed' ? EXIT.failed : outcome === 'held' ? EXIT.held : EXIT.done;
}

function answer(
  planned: Planned,
  results: readonly ChangeResult[],
  count: RequestCount,
  flags: ApplyFlags,
  { terminal }: Surroundings,
): void {
  const { plan } = planned;
  const requests = { reads: planned.observation.reads + count.reads, writes: count.writes };
  if (flags.format === 'json') {
    terminal.out(`${shownJson(resultToJson(plan, results, requests))}\n`);
    return;
  }
  const how = (status: ChangeResult['status']) => results.filter((result) => result.status === status).length;
  const parts = (['applied', 'failed', 'skipped', 'held'] as const)
    .filter((status) => how(status) > 0)
    .map((status) => `${how(status)} ${status}`);
  terminal.out(
    parts.length === 0 ? `${summaryLine(plan)}\n` : `${parts.join(', ')}; ${counted(requests.writes, 'write')}\n`,
  );
}

/** The plan goes where a person looks; the answer of `apply` is its result. */
function toErr(around: Surroundings): Surroundings {
  const { terminal } = around;
  return { ...around, terminal: { ...terminal, isOutTerminal: terminal.isErrTerminal } };
}
