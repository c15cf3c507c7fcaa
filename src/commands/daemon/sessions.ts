/** Commands about sessions of people on the web page of the running daemon. */
import { EXIT, type ExitCode } from '../../core/errors.ts';
import { counted } from '../../plan/render/words.ts';
import { callControl } from '../../server/control-client.ts';
import { ACTIONS } from '../cli/answers.ts';
import type { CommandContext } from '../cli/context.ts';
import { userName } from '../cli/control-call.ts';
import { line, openViews, print, type ViewFlags } from './views.ts';

export interface SessionEndFlags {
  readonly config?: string;
  readonly user?: string;
  readonly reason?: string;
}

/** Prints who is signed in. */
export async function sessionListCommand(flags: ViewFlags, context: CommandContext): Promise<ExitCode> {
  const { socket } = await openViews(flags, context);
  const request = { subcommand: 'list' } as const;
  const expected = { answer: ACTIONS.sessions, version: context.version };
  const answer = await callControl(socket, { command: 'sessions', user: userName(), request }, expected);
  print(answer, flags, context, () => [
    ...answer.sessions.map(({ name, method, until }) => line([String(name), String(method), `until ${String(until)}`])),
    ...(answer.sessions.length === 0 ? ['no sessions'] : []),
  ]);
  return EXIT.done;
}

/** Ends the sessions of a person, or of everybody. */
export async function sessionEndCommand(flags: SessionEndFlags, context: CommandContext): Promise<ExitCode> {
  const { socket } = await openViews(flags, context);
  const request = { subcommand: 'end', user: flags.user ?? null, reason: flags.reason ?? '' } as const;
  const expected = { answer: ACTIONS.ended, version: context.version };
  const { ended } = await callControl(socket, { command: 'sessions', user: userName(), request }, expected);
  context.terminal.out(`Ended ${counted(ended, 'session')}\n`);
  return EXIT.done;
}
