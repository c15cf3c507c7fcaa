import { resolve } from 'node:path';
import type { Plan } from '../../core/change.ts';
import { EXIT, type ExitCode } from '../../core/errors.ts';
import { shownJson } from '../../core/json.ts';
import { pathArgument } from '../../core/text/shell.ts';
import { planToJson } from '../../plan/render/json.ts';
import { renderPlanMarkdown } from '../../plan/render/markdown.ts';
import { renderPlanText } from '../../plan/render/text.ts';
import type { Approval } from '../../plan/render/text-layout.ts';
import { printable } from '../../plan/render/words.ts';
import { writePrivateFile } from '../cli/private-file.ts';
import { type CommandContext, chooseOrganization, readConfig, withPlatform } from '../cli/setup.ts';
import { paintFor } from '../cli/terminal.ts';
import { type ApprovalFlags, approval, nextCommand } from './next-command.ts';
import { writePlanFile } from './plan-file.ts';
import { type CommandInput, type PlanningFlags, planLive, planningInput } from './planning.ts';
import { planOverSnapshot } from './snapshot.ts';

export type PlanFormat = 'text' | 'markdown' | 'json';

export interface PlanFlags extends PlanningFlags {
  readonly organization?: string;
  readonly format: PlanFormat;
  readonly out?: string;
  readonly detailedExitcode?: boolean;
}

/** A plan and what it was made from. */
interface Made {
  readonly input: CommandInput;
  readonly plan: Plan;
}

/** `octavo plan [DIR]`: shows what would change, and has no way to change it. */
export async function planCommand(folder: string, flags: PlanFlags, context: CommandContext): Promise<ExitCode> {
  if (flags.comment !== true) {
    const { plan } = await planAndSay(folder, flags, approval(flags.out ?? folder, withoutBase(flags)), context);
    return exitCodeOf(plan, flags);
  }
  // The forges' clients are loaded only where they are needed.
  const { openPlanComment } = await import('./comment.ts');
  const comment = await openPlanComment(context);
  const how = approvalOfComment(folder, flags);
  let plan: Plan;
  try {
    const base = flags.base ?? (await comment.base(folder));
    ({ plan } = await planAndSay(folder, base === undefined ? flags : { ...flags, base }, how, context));
  } catch (error) {
    await comment.showFailure(error, folder, flags);
    throw error;
  }
  const isShown = await comment.show(plan, how);
  return isShown ? exitCodeOf(plan, flags) : EXIT.failed;
}

/** A plan file knows its base and its scope. */
function withoutBase({ base, scope, ...flags }: PlanFlags): ApprovalFlags {
  return flags.out === undefined ? { ...flags, base, scope } : flags;
}

/** The reader of the comment applies what was merged, over what was applied before. */
function approvalOfComment(folder: string, flags: PlanFlags): Approval {
  const { config, organization, scope, base } = flags;
  return base === undefined
    ? approval(folder, { config, organization, scope, base: 'applied', record: true }, 'once merged, ')
    : approval(folder, { config, organization, scope, base });
}

async function planAndSay(folder: string, flags: PlanFlags, how: Approval, context: CommandContext): Promise<Made> {
  const { terminal } = context;
  const { snapshot } = flags;
  const made = await (snapshot === undefined
    ? planOverPlatform(folder, flags, context)
    : planOverSnapshot(folder, { ...flags, snapshot }, context));
  if (flags.out !== undefined) {
    await writePrivateFile(resolve(terminal.cwd, flags.out), writePlanFile(made.input, made.plan));
    terminal.err(
      `Saved the plan to ${printable(flags.out)}; apply it with: ${nextCommand(['apply', pathArgument(flags.out)], flags)}\n`,
    );
  }
  terminal.out(renderPlan(made.plan, flags.format, how, context));
  return made;
}

function exitCodeOf(plan: Plan, flags: PlanFlags): ExitCode {
  return flags.detailedExitcode === true && plan.changes.length > 0 ? EXIT.changes : EXIT.done;
}

async function planOverPlatform(folder: string, flags: PlanFlags, context: CommandContext): Promise<Made> {
  const config = await readConfig(flags.config, context, folder);
  const organization = chooseOrganization(config, flags.organization);
  return withPlatform(config, organization, context, async (session) => {
    const input = await planningInput(
      { folder, config, organization, queue: session.connection.queue },
      flags,
      context,
    );
    const { plan } = await planLive(input, session, context.terminal);
    return { input, plan };
  });
}

/** A plan in the format asked for. */
export function renderPlan(plan: Plan, format: PlanFormat, how: Approval, { terminal }: CommandContext): string {
  if (format === 'json') {
    return `${shownJson(planToJson(plan))}\n`;
  }
  if (format === 'markdown') {
    return renderPlanMarkdown(plan, how);
  }
  return renderPlanText(plan, {
    columns: terminal.columns,
    paint: paintFor(terminal.isOutTerminal, terminal.env),
    approval: how,
  });
}
