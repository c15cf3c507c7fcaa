/** Command that sends a sample through a channel. */
import { randomUUID } from 'node:crypto';
import { EXIT, type ExitCode } from '../../core/errors.ts';
import { ChannelError, type Receipt } from '../../notify/channel.ts';
import { openChannel } from '../../notify/open-channel.ts';
import { describeDestination, previewText } from '../../notify/preview-body.ts';
import { isEventCode } from '../../notify/samples.ts';
import { readTrustedConfig } from '../cli/config.ts';
import { type CommandContext, interruptibleClock } from '../cli/context.ts';
import { findChannel, type NotificationCode, sampleContent, sampleNotification } from './sample.ts';

export interface TestFlags {
  readonly config?: string;
  readonly resolve?: boolean;
}

/** Sends a sample and reports where it arrived. A pager also receives that it is resolved, so that no incident stays open. */
export async function testCommand(
  name: string,
  code: NotificationCode,
  { config: file, resolve }: TestFlags,
  context: CommandContext,
): Promise<ExitCode> {
  const config = await readTrustedConfig(file, context);
  const settings = findChannel(name, config);
  const channel = await openChannel(settings, {
    name,
    userAgent: `octavo/${context.version}`,
    clock: interruptibleClock(context),
  });
  const thread = `test-${randomUUID()}`;
  const send = async (id: string, isResolved: boolean, receipt: Receipt | null) => {
    const now = context.clock.now();
    const organization = config.organizations[0]?.id ?? '';
    const content = sampleContent({ code, organization, now, isResolved }, config);
    const message = sampleNotification(content, 'test', config, now);
    const outgoing = { id, thread, message, receipt };
    const taken = await channel.send(outgoing, context.signal);
    context.terminal.out(`Sent to ${name}, ${describeDestination(settings)}:\n\n${indent(previewText(outgoing))}\n`);
    return taken;
  };
  try {
    const receipt = await send(thread, false, null);
    if (!isEventCode(code) && (resolve === true || channel.isPager)) {
      await send(`${thread}-resolved`, true, receipt);
    }
    return EXIT.done;
  } catch (error) {
    if (!(error instanceof ChannelError)) {
      throw error;
    }
    const also = error.failure === 'unknown' ? '; the message may have arrived' : '';
    context.terminal.err(`octavo: channel ${name}: ${error.message}${also}\n`);
    return error.exitCode;
  } finally {
    await channel.close();
  }
}

function indent(text: string): string {
  return text.trimEnd().replaceAll(/^(?=.)/gm, '  ');
}
