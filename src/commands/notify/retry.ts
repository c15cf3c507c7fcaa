/** Command that sends events again that were given up. */
import { EXIT, type ExitCode } from '../../core/errors.ts';
import { counted } from '../../plan/render/words.ts';
import { callControl, controlSocketPath } from '../../server/control-client.ts';
import { ACTIONS } from '../cli/answers.ts';
import { readTrustedConfig } from '../cli/config.ts';
import type { CommandContext } from '../cli/context.ts';
import { userName } from '../cli/control-call.ts';
import { findChannel } from './sample.ts';

/** Asks the running daemon to send events again, to one channel or to all. */
export async function retryCommand(
  channel: string | undefined,
  { config: file }: { readonly config?: string },
  context: CommandContext,
): Promise<ExitCode> {
  const config = await readTrustedConfig(file, context);
  if (channel !== undefined) {
    findChannel(channel, config);
  }
  const request = { subcommand: 'retry', channel: channel ?? null } as const;
  const socket = controlSocketPath(config);
  const expected = { answer: ACTIONS.events, version: context.version };
  const { events } = await callControl(socket, { command: 'deliveries', user: userName(), request }, expected);
  context.terminal.out(
    events === 0 ? 'no delivery of an event was given up\n' : `resending ${counted(events, 'event')}\n`,
  );
  return EXIT.done;
}
