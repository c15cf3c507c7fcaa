/** Commands that print pages of the daemon as JSON. */
import type { ZodType } from 'zod';
import { printable } from '../../plan/render/words.ts';
import { callControl, controlSocketPath } from '../../server/control-client.ts';
import { readTrustedConfig } from '../cli/config.ts';
import type { CommandContext } from '../cli/context.ts';
import { userName } from '../cli/control-call.ts';
import { shortAge } from '../cli/table.ts';
import { nextCommand } from '../plan/next-command.ts';

export interface ViewFlags {
  readonly config?: string;
  readonly organization?: string;
  readonly format: 'text' | 'json';
}

/** Views of the running daemon. */
export interface Views {
  /** The only organization of the configuration; null if there are several. */
  readonly only: string | null;
  /** Path of the control socket. */
  readonly socket: string;
  /** Returns the view model of a page. Throws ConfigError if no daemon runs, or if it answers in an unknown form. */
  load<V>(path: string, answer: ZodType<V>): Promise<V>;
}

/** Finds the running daemon. Throws ConfigError. */
export async function openViews({ config: file }: Pick<ViewFlags, 'config'>, context: CommandContext): Promise<Views> {
  const config = await readTrustedConfig(file, context);
  const socket = controlSocketPath(config);
  const [first, second] = config.organizations;
  return {
    only: first !== undefined && second === undefined && config.invalidFiles.length === 0 ? first.id : null,
    socket,
    load: (path, answer) =>
      callControl(socket, { command: 'views', user: userName(), path }, { answer, version: context.version }),
  };
}

/** Prints a view as text or JSON. */
export function print(
  view: object,
  { format }: ViewFlags,
  { terminal }: CommandContext,
  lines: () => readonly string[],
): void {
  terminal.out(format === 'json' ? `${JSON.stringify(view, null, 2)}\n` : `${lines().join('\n')}\n`);
}

/** Returns the age of a time in ISO 8601. */
export function ageOf(at: string, { clock }: CommandContext): string {
  return shortAge(clock.now() - Date.parse(at));
}

/** Returns the command that approves what an organization holds; none without a checksum. */
export function approvalLine(checksum: string | null, organization: string, { config }: ViewFlags): string[] {
  return checksum === null ? [] : [`approve with: ${nextCommand(['approve', checksum], { config, organization })}`];
}

/** Joins the parts that are present, without control characters. */
export function line(parts: readonly (string | null | undefined)[]): string {
  return printable(parts.filter((part) => part !== null && part !== undefined && part !== '').join(' '));
}
