/** Plans a folder and prints the plan, for `octavo plan`. */
import { resolve } from 'node:path';
import type { Plan } from '../../core/change.ts';
import { ConfigError, EXIT, type ExitCode } from '../../core/errors.ts';
import { shownJson } from '../../core/json.ts';
import { pathArgument } from '../../core/text/shell.ts';
import { planToJson } from '../../plan/render/document.ts';
import { renderPlanMarkdown } from '../../plan/render/markdown.ts';
import { renderCompactPlan, renderPlanText } from '../../plan/render/text.ts';
import type { Approval } from '../../plan/render/text-layout.ts';
import { printable } from '../../plan/render/words.ts';
import { readTarget } from '../cli/config.ts';
import { type CommandContext, paintFor } from '../cli/context.ts';
import { withPlatform } from '../cli/session.ts';
import { type ApprovalFlags, approvalFor, nextCommand } from './next-command.ts';
import { writePlanFile, writePrivateFile } from './plan-file.ts';
import { type PlanningFlags, planFolder, requireApproval } from './planning.ts';
import { planOverSnapshot } from './snapshot.ts';

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
