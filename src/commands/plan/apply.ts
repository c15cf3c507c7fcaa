/** Plans, asks for confirmation, applies, and waits for the background work of the platform. */
import { stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { ChangeResult, Plan } from '../../core/change.ts';
import { AppError, ConfigError, EXIT, type ExitCode, messageOf, RefusedPlanError } from '../../core/errors.ts';
import { readRegularFile } from '../../core/files/disk.ts';
import { shownJson } from '../../core/json.ts';
import { maskUrls } from '../../core/text/safe-url.ts';
import { isAncestor } from '../../git/commits.ts';
import { type AppliedRefs, appliedRef } from '../../git/refs.ts';
import { readHead } from '../../git/work-tree.ts';
import { kinds } from '../../kinds/registry.ts';
import { resultToJson } from '../../plan/render/document.ts';
import { summaryLine } from '../../plan/render/text.ts';
import { counted, printable, printableLines, shortened } from '../../plan/render/words.ts';
import { PeopleAddresses } from '../../plan/rules.ts';
import { openReader, openWriter } from '../../platform/client.ts';
import { idsOf, readOtherScopes, recordApplied, type ScopedDirectory } from '../../reconcile/applied.ts';
import { type ApplyResult, apply, outcomeOf } from '../../reconcile/apply.ts';
import { planFollowUp, unfinishedWork, waitForWork } from '../../reconcile/follow-up.ts';
import { applyParallel, type Planned, type PlanningInput } from '../../reconcile/planning.ts';
import { chooseOrganization, type OrganizationTarget, readConfig } from '../cli/config.ts';
import type { CommandContext } from '../cli/context.ts';
import { type PlatformSession, withPlatform } from '../cli/session.ts';
import { NO_BASE, openRefs } from './desired.ts';
import { approvalFor } from './next-command.ts';
import { renderPlan } from './plan.ts';
import { findDifferences, type PlanFile, readPlanFile } from './plan-file.ts';
import {
  approvedIn,
  type CommandInput,
  type PlanningFlags,
  planAgainstPlatform,
  planFolder,
  policyOf,
  recordedTargets,
  requireApproval,
} from './planning.ts';
import { elapsed, showProgress, showWaiting } from './progress.ts';

interface ApplyFlags extends PlanningFlags {
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
  return withPlatform({ config, organization }, context, async (session) => {
    const { connection } = session;
    const made =
      file === null
        ? await planFolder(
            { folder: target, config, organization, queue: connection.queue, isApplied: true },
            flags,
            session,
            context,
          )
        : await planFile(file, target, { config, organization, session }, flags, context);
    const { planned } = made;
    const approved = approvedIn(planned.plan, flags.approve);
    const input = withApproval(made.input, approved);
    refuseStalePlan(file, planned.plan, input.policy);
    requireApproval(planned.plan, flags.approve);
    const record = flags.record === true ? await openRecord(input, file !== null, context) : null;
    context.terminal.err(renderPlan(planned.plan, 'text', approvalFor(target, flags), withErrAsOut(context)));
    const confirmed = await confirmation(planned.plan, approved, flags, context);
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
  { config, organization, session }: OrganizationTarget & { readonly session: PlatformSession },
  flags: ApplyFlags,
  context: CommandContext,
): Promise<{ readonly input: CommandInput; readonly planned: Planned }> {
  const given = (['base', 'scope', 'target'] as const).find((name) => flags[name] !== undefined);
  if (given !== undefined) {
    throw new ConfigError(
      `--${given} cannot be combined with a plan file; create a new plan with the ${given} you want`,
    );
  }
  if (file.targets !== undefined && flags.record === true) {
    throw recordedTargets();
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
  return { place, refs, otherScopes: await readOtherScopes(refs, place, head.commit) };
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

/** Replaces what a person typed by the whole checksum that it means: it must not approve what is planned later. */
function withApproval(input: CommandInput, approved: string | null): CommandInput {
  const policy = { ...input.policy, typedApproval: undefined, approved: approved === null ? [] : [approved] };
  return { ...input, policy };
}

/**
 * Returns what is confirmed. `all`: by `--yes` or an answer, including pending changes. `plan`: by the checksum of the
 * plan, or because nothing needs confirmation. `no`: declined. The checksum of the held changes confirms only those.
 * Throws ConfigError if other changes need confirmation and there is no terminal.
 */
async function confirmation(
  plan: Plan,
  approved: string | null,
  { yes, approve, wait }: ApplyFlags,
  { terminal }: CommandContext,
): Promise<'all' | 'plan' | 'no'> {
  const due = plan.changes.filter((change) => change.held === null && change.paused === null);
  // Changes that an approval has released are approvable and no longer held.
  const rest = approved !== null && approved === plan.heldChecksum ? due.filter((change) => !change.approvable) : due;
  if (yes === true) {
    return 'all';
  }
  if (plan.verdict.state !== 'ready' || rest.length === 0 || approved === plan.checksum) {
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
  const name = shortened(printable(maskUrls(plan.title)), MAX_NAME);
  const answer = await terminal.ask(`\nType yes to apply ${count}${approvedToo}${later} to ${name}: `);
  return answer.trim().toLowerCase() === 'yes' ? 'all' : 'no';
}

/** Longest name of an organization in a question, in characters. */
const MAX_NAME = 60;

/** Colors the plan for standard error, where it is printed; standard output has only the result of the apply. */
function withErrAsOut(context: CommandContext): CommandContext {
  const { terminal } = context;
  return { ...context, terminal: { ...terminal, isOutTerminal: terminal.isErrTerminal } };
}

/**
 * Returns a function that records the result of an apply, and throws SourceError if git refuses it. Throws ConfigError if
 * it cannot be recorded.
 */
async function openRecord(
  { organization, commit, declared, place, refs, baseCommit }: CommandInput,
  isFile: boolean,
  { terminal }: CommandContext,
): Promise<(applied: ApplyResult) => Promise<void>> {
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

interface RunOptions {
  readonly format: 'text' | 'json';
  /** Maximum number of changes that are applied concurrently. */
  readonly parallel: number;
  /** Maximum wait after the last write, in milliseconds; 0 disables it. */
  readonly wait: number;
  /** True if changes that become possible during the wait are applied too. */
  readonly appliesPending: boolean;
}

type Pending = Plan['pending'];

/**
 * Applies a plan and reports the result. It waits for the background work that this apply has started and for the work
 * that the plan found unfinished; then it applies the changes that depended on the results, and no others.
 */
async function runApply(
  input: CommandInput,
  planned: Planned,
  { connection, signal }: PlatformSession,
  { format, parallel, wait, appliesPending }: RunOptions,
  { terminal, clock }: CommandContext,
): Promise<ApplyResult & { readonly exit: ExitCode }> {
  const { plan } = planned;
  const count = { reads: 0, writes: 0 };
  /** Time of the last write, in monotonic milliseconds; the wait starts then. */
  let lastWrite = clock.monotonic();
  let hasWaited = false;
  const client = {
    organization: input.organization,
    priority: 'apply',
    onRequest: ({ method }: { readonly method: string }) => {
      if (method === 'GET') {
        count.reads += 1;
      } else {
        count.writes += 1;
        lastWrite = clock.monotonic();
      }
    },
  } as const;
  const writer = openWriter(connection, client);
  // Its requests are cancelled when the process is stopped.
  const poller = openReader(connection, { ...client, signal });

  const applyPlan = (which: Planned, longest: number): Promise<ApplyResult> => {
    const progress = showProgress(terminal, which.plan, connection.queue, clock);
    return apply(input, which, {
      writer,
      poller,
      wait: longest,
      clock,
      parallel,
      signal,
      abort: new AbortController().signal,
      record: null,
      onStart: progress.start,
      onWait: longest > 0 ? progress.wait : () => undefined,
      onResult: progress.result,
    }).finally(progress.end);
  };

  /** Plans and applies the pending changes that became possible; `working` lists unfinished background work. */
  const applyFollowUp = async (
    first: ApplyResult,
    working: Pending,
    finished: ReadonlySet<string>,
  ): Promise<ApplyResult> => {
    let next: Planned;
    try {
      next = await planFollowUp(input, first.bindings, finished, writer);
    } catch (error) {
      if (!(error instanceof AppError)) {
        throw error;
      }
      terminal.err(`Cannot plan the pending changes: ${printableLines(error.message)}\n`);
      return first;
    }
    const longest = Math.max(0, lastWrite + wait - clock.monotonic());
    const then = next.plan.changes.length === 0 ? null : await applyPlan(next, longest);
    const results = then?.results ?? [];
    const handled = new Set([...results.map(({ address }) => address), ...next.identity.bound.keys()]);
    const missed = plan.pending
      .filter((each) => isAwaited(each) && !handled.has(each.address))
      .map(({ address }) => ({ address, reason: 'a resource that it depends on has changed; run apply again' }));
    return {
      results: [...first.results, ...results],
      bindings: new Map([...next.plan.bindings, ...first.bindings, ...(then?.bindings ?? [])]),
      pending: merged(next.plan.pending, working, then?.pending ?? [], missed),
    };
  };

  const applyAll = async (): Promise<ApplyResult> => {
    const first = await applyPlan(planned, wait);
    if (plan.verdict.state !== 'ready') {
      return { ...first, pending: plan.pending };
    }
    // Work that somebody else has started matters only if changes that depend on it may be applied.
    const earlier = appliesPending ? planned.identity.bound : new Map();
    const work = unfinishedWork(input, earlier, plan.pending, first);
    hasWaited = wait > 0 && work.length + first.pending.length > 0;
    const progress = showWaiting(terminal, clock, wait);
    const waited = await waitForWork(work, poller, {
      clock,
      signal,
      deadline: lastWrite + wait,
      onPoll: wait > 0 ? progress.step : () => undefined,
    }).finally(progress.end);
    const all = { ...first, pending: merged(plan.pending, first.pending, waited.pending) };
    if (waited.finished.size === 0 || wait === 0 || signal.aborted) {
      return all;
    }
    if (appliesPending) {
      return applyFollowUp(all, merged(first.pending, waited.pending), waited.finished);
    }
    if (plan.pending.some(isAwaited)) {
      terminal.err('Pending changes may be possible now, but were not confirmed; run apply again\n');
    }
    return all;
  };

  const applied = await applyAll();
  const exit = exitOf(planned, applied, { wait, isStopped: signal.aborted }, terminal.err);
  const requests = { reads: plan.cost.requests.reads + count.reads, writes: count.writes };
  if (format === 'json') {
    terminal.out(`${shownJson(resultToJson(plan, applied.results, requests, applied.pending))}\n`);
  } else {
    const waited = hasWaited ? clock.monotonic() - lastWrite : null;
    terminal.out(resultLine(plan, applied, count.writes, waited));
  }
  return { ...applied, exit };
}

/** Merges lists to one entry per address; the first one wins. */
function merged(...lists: readonly Pending[]): Pending {
  const lastFirst = lists.flat().toReversed();
  return [...new Map(lastFirst.map((each) => [each.address, each])).values()].toReversed();
}

/** Returns success only if everything declared exists, unless waiting was disabled. */
function exitOf(
  planned: Planned,
  { results, pending }: ApplyResult,
  { wait, isStopped }: { readonly wait: number; readonly isStopped: boolean },
  err: (text: string) => void,
): ExitCode {
  const skipped = results.filter((result: ChangeResult) => result.status === 'skipped').length;
  if (isStopped && skipped > 0) {
    err(`Stopped: ${counted(skipped, 'change')} not started; run it again to continue\n`);
    return EXIT.failed;
  }
  const open = planned.plan.verdict.state === 'ready' ? pending.filter(isAwaited) : [];
  for (const { address, reason } of open) {
    err(`Pending: ${printable(address)}: ${printable(reason)}\n`);
  }
  const outcome = outcomeOf(planned, results);
  if (outcome !== 'done') {
    return outcome === 'failed' ? EXIT.failed : EXIT.held;
  }
  return open.length > 0 && wait > 0 ? EXIT.pending : EXIT.done;
}

/** Maximum number of pending resources that the line lists. */
const SHOWN = 3;

/**
 * Renders the line, such as `12 applied, 1 still pending after 5 minutes: translation/guides-fr; 14 writes`. `waited`:
 * milliseconds from the last write to the end of the wait; null without a wait.
 */
function resultLine(
  plan: Plan,
  { results, pending }: Pick<ApplyResult, 'results' | 'pending'>,
  writes: number,
  waited: number | null,
): string {
  const ended = (status: ChangeResult['status']) => results.filter((result) => result.status === status).length;
  const parts = (['applied', 'failed', 'skipped', 'held'] as const)
    .filter((status) => ended(status) > 0)
    .map((status) => `${ended(status)} ${status}`);
  const open = pending.length === 0 ? [] : [pendingText(pending, waited)];
  return parts.length === 0
    ? `${[summaryLine(plan), ...open].join(', ')}\n`
    : `${[...parts, ...open].join(', ')}; ${counted(writes, 'write')}\n`;
}

const people = new PeopleAddresses(kinds);

/** Reports whether the platform's own work makes a resource available. Nobody waits for people to join. */
function isAwaited({ address }: Plan['pending'][number]): boolean {
  return !people.isPerson(address);
}

function pendingText(pending: Plan['pending'], waited: number | null): string {
  const names = pending.slice(0, SHOWN).map(({ address }) => printable(address));
  const rest = pending.length - names.length;
  const list = rest === 0 ? names.join(', ') : `${names.join(', ')} and ${rest} more`;
  return waited === null || !pending.some(isAwaited)
    ? `${pending.length} pending: ${list}`
    : `${pending.length} still pending after ${elapsed(waited)}: ${list}`;
}
