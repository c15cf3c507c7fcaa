/** Commands that ask the running daemon: approve, reject, pause, resume and reconcile. */

import type { ZodType } from 'zod';
import { ConfigError, EXIT, type ExitCode } from '../../core/errors.ts';
import type { ActionRequest } from '../../reconcile/approvals.ts';
import { callControl, controlSocketPath } from '../../server/control-client.ts';
import { ACTIONS } from '../cli/answers.ts';
import { readTrustedConfig } from '../cli/config.ts';
import type { CommandContext } from '../cli/context.ts';
import { userName } from '../cli/control-call.ts';

export interface ActionFlags {
  readonly config?: string;
  readonly organization?: string;
  readonly reason?: string;
}

export interface PauseFlags extends ActionFlags {
  readonly reason: string;
  /** Milliseconds. */
  readonly for?: number;
  readonly forever?: boolean;
}

/** Default length of a pause, in milliseconds. */
const DEFAULT_PAUSE = 4 * 3_600_000;

/** Approves the held plan with this checksum, and no other. */
export async function approveCommand(checksum: string, flags: ActionFlags, context: CommandContext): Promise<ExitCode> {
  const request = { subcommand: 'approve', checksum, reason: flags.reason } as const;
  const { organization, approved, isComplete } = await ask(request, ACTIONS.approve, flags, context);
  const more = !isComplete ? '; more people have to approve it' : '';
  context.terminal.out(`Approved for ${organization}: ${approved.join(', ') || 'the whole plan'}${more}\n`);
  return EXIT.done;
}

/** Rejects the held plan with this checksum: it is not applied until somebody approves it again. */
export async function rejectCommand(checksum: string, flags: ActionFlags, context: CommandContext): Promise<ExitCode> {
  const answer = await ask(
    { subcommand: 'reject', checksum, reason: flags.reason },
    ACTIONS.organization,
    flags,
    context,
  );
  context.terminal.out(`Rejected for ${answer.organization}; approve it to change that\n`);
  return EXIT.done;
}

/** Pauses the changes of a resource, or of the whole organization. */
export async function pauseCommand(
  address: string | undefined,
  flags: PauseFlags,
  context: CommandContext,
): Promise<ExitCode> {
  if (flags.for !== undefined && flags.forever === true) {
    throw new ConfigError('--for and --forever exclude each other; use one of them');
  }
  const until = flags.forever === true ? null : context.clock.now() + (flags.for ?? DEFAULT_PAUSE);
  const request = { subcommand: 'pause', address, reason: flags.reason, until } as const;
  const answer = await ask(request, ACTIONS.pause, flags, context);
  const end = answer.until === null ? 'until it is resumed' : `until ${answer.until}`;
  context.terminal.out(`Paused ${nameOf(address, answer)} ${end}\n`);
  return EXIT.done;
}

/** Ends a pause. */
export async function resumeCommand(
  address: string | undefined,
  flags: ActionFlags,
  context: CommandContext,
): Promise<ExitCode> {
  const request = { subcommand: 'resume', address, reason: flags.reason } as const;
  const answer = await ask(request, ACTIONS.organization, flags, context);
  context.terminal.out(`Resumed ${nameOf(address, answer)}\n`);
  return EXIT.done;
}

/** Starts a pass now. */
export async function reconcileCommand(flags: ActionFlags, context: CommandContext): Promise<ExitCode> {
  const answer = await ask({ subcommand: 'reconcile', reason: flags.reason }, ACTIONS.organization, flags, context);
  context.terminal.out(`Started a pass of ${answer.organization}; its result is in octavo status\n`);
  return EXIT.done;
}

function nameOf(address: string | undefined, answer: { readonly organization: string }): string {
  return address === undefined ? `organization ${answer.organization}` : address;
}

async function ask<T>(
  request: ActionRequest,
  answer: ZodType<T>,
  { config: file, organization }: ActionFlags,
  context: CommandContext,
): Promise<T> {
  const config = await readTrustedConfig(file, context);
  const socket = controlSocketPath(config);
  const target = organization === undefined ? {} : { organization };
  const asked = { command: 'actions', ...target, user: userName(), request } as const;
  return callControl(socket, asked, { answer, version: context.version });
}
