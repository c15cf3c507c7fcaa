import { readFile, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Config, OrganizationConfig } from '../config/config.ts';
import type { ChangeResult, Plan } from '../core/change.ts';
import { ConfigError, EXIT, type ExitCode, RefusedPlanError } from '../core/errors.ts';
import { shownJson } from '../core/json.ts';
import { appliedRef, fetchRef, headOf, resolveRef, updateRef } from '../git/commit-info.ts';
import { isIn } from '../git/make-commit.ts';
import { kinds } from '../kinds/registry.ts';
import { resultToJson } from '../plan/render-json.ts';
import { summaryLine } from '../plan/render-text.ts';
import { counted } from '../plan/words.ts';
import { openWriter } from '../platform/client.ts';
import type { Connection } from '../platform/connection.ts';
import type { Planned } from '../reconcile/planning.ts';
import { apply, outcomeOf, type PassInput } from '../reconcile/reconcile.ts';
import { approval } from './next-command.ts';
import { renderPlan } from './plan.ts';
import { differences, type PlanFile, readPlanFile } from './plan-file.ts';
import { APPLY_PARALLEL, type PlanningFlags, passInput, planOnly, policyOf } from './planning.ts';
import { showProgress } from './progress.ts';
import { chooseOrganization, RequestCount, readConfig, type Surroundings, type Way, withPlatform } from './setup.ts';

export interface ApplyFlags extends PlanningFlags {
  readonly organization?: string;
  readonly format: 'text' | 'json';
  readonly yes?: boolean;
  readonly record?: boolean;
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
        : inputOfFile(file, config, organization, connection, flags, around);
    const planned = await planOnly(input, way, around.terminal);
    mustStillBe(file, planned.plan, input.policy);
    mustBeApproved(flags, planned.plan);
    const record = flags.record === true ? await recordable(target, input, file !== null, around) : null;
    around.terminal.err(renderPlan(planned.plan, 'text', approval(target, flags), toErr(around)));
    if (!(await isWanted(planned.plan, flags, around))) {
      around.terminal.err('\nNot applied.\n');
      return EXIT.failed;
    }
    const results = await carryOut(input, planned, way, flags, around);
    const exit = exitOf(planned, results, around);
    if (record !== null && exit === EXIT.done) {
      await record(results);
    }
    return exit;
  });
}

async function planFileAt(path: string, name: string): Promise<PlanFile | null> {
  const found = await stat(path).catch(() => null);
  if (found === null) {
    throw new ConfigError(`${name} is neither a folder of manifests nor a plan file`);
  }
  return found.isFile() ? readPlanFile(await readFile(path, 'utf8'), name) : null;
}

function inputOfFile(
  file: PlanFile,
  config: Config,
  organization: OrganizationConfig,
  connection: Connection,
  flags: ApplyFlags,
  around: Surroundings,
): PassInput {
  if (flags.base !== undefined) {
    throw new ConfigError(
      '--base says nothing to a plan file, which was made over a base already; plan again over another',
    );
  }
  if (file.organization !== organization.id) {
    throw new RefusedPlanError(`the plan is for ${file.organization}, and not for ${organization.id}`);
  }
  return {
    ...file,
    kinds,
    policy: policyOf(config, organization, flags, around),
    estimate: (work) => connection.queue.estimate(work, APPLY_PARALLEL),
  };
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
    throw new RefusedPlanError(
      `${approve} is not the checksum of what would be done now (${plan.checksum}); look at the plan again`,
    );
  }
}

/** Moves the ref that says what was applied; only a commit can be recorded. */
async function recordable(
  target: string,
  input: PassInput,
  isFile: boolean,
  around: Surroundings,
): Promise<(results: readonly ChangeResult[]) => Promise<void>> {
  const { commit } = input;
  const head = await headOf(resolve(around.terminal.cwd, target)).catch(() => null);
  const here = head ?? (await headOf(around.terminal.cwd));
  if (commit === null || here === null) {
    throw new ConfigError('--record needs manifests that are all committed: only a commit can be recorded as applied');
  }
  const ref = appliedRef(input.organization);
  if (isFile) {
    await mustNotTakeBack(here.root, ref, input);
  }
  return async (results) => {
    const left = results.filter((result) => result.status !== 'applied');
    if (left.length > 0) {
      // What is paused was not applied: recorded as if it were, it would be taken for something else in the next plan.
      const names = left.map((result) => result.address).join(', ');
      around.terminal.err(`${ref} stays where it is: not applied yet: ${names}\n`);
      return;
    }
    const { pushed } = await updateRef(here.root, ref, commit, { push: true });
    around.terminal.err(`Recorded ${commit.slice(0, 7)} as applied in ${ref}${pushed ? ', and pushed it' : ''}\n`);
  };
}

/** An old plan file may still be the plan, where both change nothing: what was recorded since would lose its owner. */
async function mustNotTakeBack(root: string, ref: string, { commit, baseCommit }: PassInput): Promise<void> {
  const recorded = (await fetchRef(root, ref)) ?? (await resolveRef(root, ref));
  const known = baseCommit ?? commit;
  if (
    recorded === null ||
    recorded === commit ||
    recorded === known ||
    (known && (await isIn(root, recorded, known)))
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
): Promise<readonly ChangeResult[]> {
  const { plan } = planned;
  const count = new RequestCount();
  const progress = showProgress(around.terminal, plan.changes.length);
  const { results } = await apply(input, planned, {
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
  answer(planned, results, count, flags, around);
  return results;
}

/** Whether a person wants it: said beforehand, or now. Throws ConfigError where nobody can be asked. */
async function isWanted(plan: Plan, flags: ApplyFlags, { terminal }: Surroundings): Promise<boolean> {
  const due = plan.changes.filter((change) => change.held === null && change.paused === null).length;
  if (plan.verdict.state !== 'ready' || due === 0 || flags.yes === true || flags.approve !== undefined) {
    return true;
  }
  if (terminal.ask === null) {
    throw new ConfigError('nobody can be asked here whether to apply this; say so with --yes');
  }
  const said = await terminal.ask(`\nApply ${counted(due, 'change')} to ${plan.organization}? Only "yes" is a yes: `);
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
