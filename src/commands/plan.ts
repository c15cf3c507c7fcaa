import { writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Plan } from '../core/change.ts';
import { ConfigError, EXIT, type ExitCode, messageOf } from '../core/errors.ts';
import { planToJson } from '../plan/render-json.ts';
import { renderPlanMarkdown } from '../plan/render-markdown.ts';
import { renderPlanText } from '../plan/render-text.ts';
import { writePlanFile } from './plan-file.ts';
import { type PlanningFlags, passInput, planOnly } from './planning.ts';
import { chooseOrganization, readConfig, type Surroundings, withPlatform } from './setup.ts';
import { paintFor } from './terminal.ts';

export type PlanFormat = 'text' | 'markdown' | 'json';

export interface PlanFlags extends PlanningFlags {
  readonly organization?: string;
  readonly format: PlanFormat;
  readonly out?: string;
  readonly detailedExitcode?: boolean;
}

/** `octavo plan [DIR]`: shows what would change, and has no way to change it. */
export async function planCommand(folder: string, flags: PlanFlags, around: Surroundings): Promise<ExitCode> {
  const { terminal } = around;
  const config = await readConfig(flags.config, around);
  const organization = chooseOrganization(config, flags.organization);
  return withPlatform(config, organization, around, async (way) => {
    const input = await passInput(folder, flags, config, organization, way.connection, around);
    const { plan } = await planOnly(input, way, terminal);
    if (flags.out !== undefined) {
      await save(resolve(terminal.cwd, flags.out), writePlanFile(input, plan));
      terminal.err(`The plan is in ${flags.out}; apply it with: octavo apply ${flags.out}\n`);
    }
    terminal.out(renderPlan(plan, flags.format, around));
    return flags.detailedExitcode === true && plan.changes.length > 0 ? EXIT.changes : EXIT.done;
  });
}

/** A plan in the format asked for. */
export function renderPlan(plan: Plan, format: PlanFormat, { terminal }: Surroundings): string {
  if (format === 'json') {
    return `${JSON.stringify(planToJson(plan), null, 2)}\n`;
  }
  if (format === 'markdown') {
    return renderPlanMarkdown(plan);
  }
  return renderPlanText(plan, { columns: terminal.columns, paint: paintFor(terminal.isOutTerminal, terminal.env) });
}

async function save(path: string, text: string): Promise<void> {
  try {
    await writeFile(path, text, { mode: 0o600 });
  } catch (error) {
    throw new ConfigError(`cannot write ${path}: ${messageOf(error)}`, { cause: error });
  }
}
