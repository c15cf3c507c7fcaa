/** Commands that ask the running daemon to do something: approve, reject, pause, resume, reconcile and end sessions. */
import { ConfigError, EXIT, type ExitCode } from '../../core/errors.ts';
import { maskUrls } from '../../core/text/safe-url.ts';
import { wrap } from '../../plan/render/text-layout.ts';
import { counted, printable } from '../../plan/render/words.ts';
import type { ActionRequest } from '../../reconcile/approvals.ts';
import { readTrustedConfig } from '../cli/config.ts';
import type { CommandContext } from '../cli/context.ts';
import { askDaemon } from '../cli/control-call.ts';

interface ActionFlags {
  readonly config?: string;
  readonly organization?: string;
  readonly reason?: string;
}

interface PauseFlags extends ActionFlags {
  readonly reason: string;
  /** Milliseconds. */
  readonly for?: number;
  readonly forever?: boolean;
}

/** Default length of a pause, in milliseconds. */
const DEFAULT_PAUSE = 4 * 3_600_000;

/** Approves the held plan with this checksum, and no other. */
export function approveCommand(checksum: string, flags: ActionFlags, context: CommandContext): Promise<ExitCode> {
  const request = { subcommand: 'approve', checksum, reason: flags.reason } as const;
  return act(request, flags, context, (answer) => {
    const more = answer.isComplete ? '' : '\nMore people have to approve it';
    return `${decided('Approved', answer, context)}${more}`;
  });
}

/** Rejects the held plan with this checksum: it is not applied until somebody approves it again. */
export function rejectCommand(checksum: string, flags: ActionFlags, context: CommandContext): Promise<ExitCode> {
  const request = { subcommand: 'reject', checksum, reason: flags.reason } as const;
  return act(request, flags, context, (answer) => {
    return `${decided('Rejected', answer, context)}\nIt is not applied until somebody approves it`;
  });
}

/** Names what was decided on: what the plan does, and its whole checksum, which is the identity of it. */
function decided(
  word: string,
  { organization, part = 'the plan', sentence = '', checksum }: ActionAnswer,
  { terminal }: CommandContext,
): string {
  const about = printable(maskUrls(`${organization}, ${part}${sentence === '' ? '' : `: ${sentence}`}`));
  return `${wrap(`${word} for `, about, terminal.columns, 2)}\n  ${printable(checksum)}`;
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
  return act(request, flags, context, ({ organization, until: end }) => {
    const when = end === null ? 'until it is resumed' : `until ${end}`;
    return `Paused ${address ?? `organization ${organization}`} ${when}`;
  });
}

/** Ends a pause. */
export function resumeCommand(
  address: string | undefined,
  flags: ActionFlags,
  context: CommandContext,
): Promise<ExitCode> {
  const request = { subcommand: 'resume', address, reason: flags.reason } as const;
  return act(request, flags, context, ({ organization }) => `Resumed ${address ?? `organization ${organization}`}`);
}

/** Starts a pass now. */
export function reconcileCommand(flags: ActionFlags, context: CommandContext): Promise<ExitCode> {
  const request = { subcommand: 'reconcile', reason: flags.reason } as const;
  return act(
    request,
    flags,
    context,
    ({ organization }) => `Started a pass of ${organization}; its result is in octavo status`,
  );
}

/** Members that the answer to an action may have. */
interface ActionAnswer {
  readonly organization: string;
  /** Of a decision: the whole checksum, what it covers, and what that does. A repeated answer has only the checksum. */
  readonly checksum: string;
  readonly part?: string;
  readonly sentence?: string;
  readonly isComplete: boolean;
  /** Of a pause. */
  readonly until: string | null;
}

async function act(
  request: ActionRequest,
  { config: file, organization }: ActionFlags,
  context: CommandContext,
  words: (answer: ActionAnswer) => string,
): Promise<ExitCode> {
  const config = await readTrustedConfig(file, context);
  const answer = await askDaemon<ActionAnswer>(config, { command: 'actions', organization, request }, context);
  context.terminal.out(`${words(answer)}\n`);
  return EXIT.done;
}

interface SessionEndFlags {
  readonly config?: string;
  readonly user?: string;
  readonly reason?: string;
}

/** Ends the sessions of a person, or of everybody. */
export async function sessionEndCommand(
  { config: file, user, reason = '' }: SessionEndFlags,
  context: CommandContext,
): Promise<ExitCode> {
  const config = await readTrustedConfig(file, context);
  const request = { subcommand: 'end', user: user ?? null, reason } as const;
  const { ended } = await askDaemon<{ readonly ended: number }>(config, { command: 'sessions', request }, context);
  context.terminal.out(`Ended ${counted(ended, 'session')}\n`);
  return EXIT.done;
}
