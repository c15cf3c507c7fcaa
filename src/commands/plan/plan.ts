/** Plans a folder and prints the plan, for `octavo plan`. */

import { resolve } from 'node:path';
import type { Config, OrganizationConfig } from '../../config/config.ts';
import type { Plan } from '../../core/change.ts';
import { ConfigError, EXIT, type ExitCode, messageOf } from '../../core/errors.ts';
import { readRegularFile } from '../../core/files/disk.ts';
import { shownJson } from '../../core/json.ts';
import { pathArgument } from '../../core/text/shell.ts';
import { kinds } from '../../kinds/registry.ts';
import { planToJson } from '../../plan/render/document.ts';
import { renderPlanMarkdown } from '../../plan/render/markdown.ts';
import { renderCompactPlan, renderPlanText } from '../../plan/render/text.ts';
import type { Approval } from '../../plan/render/text-layout.ts';
import { counted, printable } from '../../plan/render/words.ts';
import { applyParallel, makePlan } from '../../reconcile/planning.ts';
import {
  estimateAtRate,
  MAX_SNAPSHOT_BYTES,
  readSnapshot,
  type Snapshot,
  SnapshotSource,
  takeSnapshot,
  writeSnapshot,
} from '../../reconcile/snapshot.ts';
import { SECRET } from '../../redact.ts';
import { chooseOrganization, readConfigWithoutSecrets, readTarget } from '../cli/config.ts';
import { type CommandContext, paintFor } from '../cli/context.ts';
import { withPlatform } from '../cli/session.ts';
import { type ApprovalFlags, approvalFor, nextCommand } from './next-command.ts';
import { writePlanFile, writePrivateFile } from './plan-file.ts';
import { type CommandInput, type PlanningFlags, planFolder, planningInput, requireApproval } from './planning.ts';
import { readWithProgress } from './progress.ts';

type PlanFormat = 'text' | 'markdown' | 'json';
/** Form in which a plan is shown. A compact one is a text with one line a change. */
type PlanView = PlanFormat | 'compact';

interface PlanFlags extends PlanningFlags {
  readonly organization?: string;
  readonly format: PlanFormat;
  readonly out?: string;
  readonly compact?: boolean;
  readonly detailedExitcode?: boolean;
}

/** Runs `octavo plan [DIR]`: prints the plan, with a client that cannot write. */
export async function planCommand(folder: string, flags: PlanFlags, context: CommandContext): Promise<ExitCode> {
  if (flags.compact === true && flags.format !== 'text') {
    throw new ConfigError(`--compact is for text; leave it out with --format ${flags.format}`);
  }
  if (flags.comment !== true) {
    const { plan } = await planAndPrint(folder, flags, approvalFor(flags.out ?? folder, withoutBase(flags)), context);
    return exitCodeOf(plan, flags);
  }
  // Forge clients are loaded only when needed, to keep other plans fast.
  const { openPlanComment } = await import('./comment.ts');
  const comment = await openPlanComment(context);
  const approval = approvalOfComment(folder, flags);
  let plan: Plan;
  try {
    const base = flags.base ?? (await comment.base(folder));
    ({ plan } = await planAndPrint(folder, base === undefined ? flags : { ...flags, base }, approval, context));
  } catch (error) {
    await comment.showFailure(error, folder, flags);
    throw error;
  }
  const isShown = await comment.show(plan, folder, approval);
  return isShown ? exitCodeOf(plan, flags) : EXIT.failed;
}

/** Leaves out what a plan file contains where the plan is saved. */
function withoutBase({ base, scope, target, ...flags }: PlanFlags): ApprovalFlags {
  return flags.out === undefined ? { ...flags, base, scope, target } : flags;
}

/** The command in a comment applies the merged commit, based on the last applied one. */
function approvalOfComment(folder: string, flags: PlanFlags): Approval {
  const { config, organization, scope, base } = flags;
  return base === undefined
    ? approvalFor(folder, { config, organization, scope, base: 'applied', record: true }, 'once merged, ')
    : approvalFor(folder, { config, organization, scope, base });
}

async function planAndPrint(folder: string, flags: PlanFlags, approval: Approval, context: CommandContext) {
  const { terminal } = context;
  const { snapshot } = flags;
  const result = await (snapshot === undefined
    ? planOverPlatform(folder, flags, context)
    : planOverSnapshot(folder, { ...flags, snapshot }, context));
  requireApproval(result.plan, flags.approve);
  if (flags.out !== undefined) {
    await writePrivateFile(resolve(terminal.cwd, flags.out), writePlanFile(result.input, result.plan));
    terminal.err(
      `Saved the plan to ${printable(flags.out)}; apply it with:\n  ${nextCommand(['apply', pathArgument(flags.out)], flags)}\n`,
    );
  }
  terminal.out(renderPlan(result.plan, flags.compact === true ? 'compact' : flags.format, approval, context));
  return result;
}

function exitCodeOf(plan: Plan, flags: PlanFlags): ExitCode {
  if (plan.notes.some(({ isProblem }) => isProblem === true)) {
    return EXIT.invalid;
  }
  return flags.detailedExitcode === true && plan.changes.length > 0 ? EXIT.changes : EXIT.done;
}

async function planOverPlatform(folder: string, flags: PlanFlags, context: CommandContext) {
  const target = await readTarget(flags, context, folder);
  return withPlatform(target, context, async (session) => {
    const { queue } = session.connection;
    const { input, planned } = await planFolder({ folder, ...target, queue }, flags, session, context);
    return { input, plan: planned.plan };
  });
}

/** Renders a plan. */
export function renderPlan(plan: Plan, format: PlanView, approval: Approval, { terminal }: CommandContext): string {
  if (format === 'json') {
    return `${shownJson(planToJson(plan))}\n`;
  }
  if (format === 'markdown') {
    return renderPlanMarkdown(plan, approval);
  }
  const render = format === 'compact' ? renderCompactPlan : renderPlanText;
  return render(plan, {
    columns: terminal.columns,
    paint: paintFor(terminal.isOutTerminal, terminal.env),
    approval,
    hasSentence: true,
  });
}

interface SnapshotFlags {
  readonly config?: string;
  readonly organization?: string;
  readonly out?: string;
}

/** Runs `octavo snapshot`: saves the actual state without secrets and certificates. */
export async function snapshotCommand(flags: SnapshotFlags, context: CommandContext): Promise<ExitCode> {
  const { terminal } = context;
  const target = await readTarget(flags, context);
  const taken = await withPlatform(target, context, (session) =>
    readWithProgress(target.organization.id, session, terminal, (reader) =>
      takeSnapshot(kinds, reader, context.clock.now(), () => session.connection.queue.snapshot()),
    ),
  );
  const text = without(context.secrets ?? [], writeSnapshot(taken));
  for (const [kind, of] of Object.entries(taken.kinds)) {
    if ('error' in of) {
      terminal.err(`${kind} could not be read: ${printable(of.error)}; plans that need it will report this\n`);
    }
  }
  if (flags.out === undefined) {
    terminal.out(text);
  } else {
    await writePrivateFile(resolve(terminal.cwd, flags.out), text);
    const { config, out } = flags;
    const next = nextCommand(['plan', '--snapshot', pathArgument(out)], { config, organization: flags.organization });
    terminal.err(`Saved the snapshot to ${printable(out)}; plan from it with:\n  ${next}\n`);
  }
  return EXIT.done;
}

/**
 * Removes secrets of the configuration from the snapshot, in case the platform has one. Other text that resembles a
 * secret is kept, because it may be a title.
 */
function without(secrets: Iterable<string>, text: string): string {
  const known = [...secrets].filter((secret) => secret.length >= MIN_SECRET_LENGTH);
  return known.reduce((clean, secret) => clean.replaceAll(secret, SECRET), text);
}

/** Minimum length; shorter secrets would also match parts of words. */
const MIN_SECRET_LENGTH = 8;

/** Plans against a snapshot, without a token and without requests to the platform. */
async function planOverSnapshot(
  folder: string,
  flags: PlanningFlags & { readonly organization?: string; readonly snapshot: string },
  context: CommandContext,
): Promise<{ readonly input: CommandInput; readonly plan: Plan }> {
  const { terminal, clock } = context;
  const snapshot = await openSnapshot(flags.snapshot, terminal.cwd);
  const config = await readConfigWithoutSecrets(flags.config, snapshot.organization, context, folder);
  const organization = organizationOf(snapshot, config, flags);
  const age = clock.now() - Date.parse(snapshot.takenAt);
  const estimate = estimateAtRate(
    snapshot.requestRate,
    config.queue.concurrency,
    applyParallel(config.queue.concurrency),
  );
  const input = await planningInput({ folder, config, organization, queue: { estimate } }, flags, context);
  const { plan } = await makePlan(input, new SnapshotSource(snapshot));
  terminal.err(`Planned from the snapshot of ${snapshot.takenAt}${ageWords(age)}\n`);
  return { input, plan };
}

async function openSnapshot(file: string, cwd: string): Promise<Snapshot> {
  const path = resolve(cwd, file);
  let text: string;
  try {
    text = readRegularFile(path, { limit: MAX_SNAPSHOT_BYTES }).toString('utf8');
  } catch (error) {
    throw new ConfigError(`cannot read --snapshot ${file}: ${messageOf(error)}`, { cause: error });
  }
  return readSnapshot(text, file, kinds);
}

function organizationOf(
  { organization: of }: Snapshot,
  config: Config,
  flags: { readonly organization?: string },
): OrganizationConfig {
  const wanted = flags.organization ?? (config.organizations.some(({ id }) => id === of) ? of : undefined);
  const organization = chooseOrganization(config, wanted);
  if (organization.id !== of) {
    const names = `${JSON.stringify(of)}, but the plan is for ${JSON.stringify(organization.id)}`;
    throw new ConfigError(`--snapshot is of organization ${names}; take a snapshot of that organization`);
  }
  return organization;
}

const HOUR = 3_600_000;

/** Age of a snapshot, from one hour on; it does not show later changes. */
function ageWords(age: number): string {
  return age < HOUR ? '' : `, ${counted(Math.floor(age / HOUR), 'hour')} old`;
}
