import { resolve } from 'node:path';
import { EXIT, type ExitCode } from '../../core/errors.ts';
import { callControl, controlSocketPath } from '../../server/control.ts';
import { readTrustedConfig } from '../cli/config.ts';
import type { CommandContext } from '../cli/context.ts';

/** Runs `octavo approve CHECKSUM`: approves the held plan with this checksum, and no other. */
export async function approveCommand(
  checksum: string,
  flags: { readonly config?: string },
  context: CommandContext,
): Promise<ExitCode> {
  const { terminal } = context;
  const config = await readTrustedConfig(flags.config, context);
  const socket = controlSocketPath(resolve(terminal.cwd, config.store.path));
  const answer = await callControl(socket, { command: 'approve', checksum });
  const approved = Array.isArray(answer.approved) ? answer.approved.map(String) : [];
  terminal.out(`Approved for ${String(answer.organization)}: ${approved.join(', ') || 'the whole plan'}\n`);
  return EXIT.done;
}
