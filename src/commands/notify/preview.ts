/** Command that prints the messages of samples. */
import type { NotificationsConfig } from '../../config/notifications.ts';
import { CONDITION_CODES, CONDITION_RULES, EVENT_CODES } from '../../core/condition-codes.ts';
import { EXIT, type ExitCode } from '../../core/errors.ts';
import { previewBody, previewText } from '../../notify/channels/preview-body.ts';
import { isEventCode } from '../../notify/messages/samples.ts';
import { readConfig } from '../cli/config.ts';
import type { CommandContext } from '../cli/context.ts';
import { findChannel, type NotificationCode, sampleNotification } from './sample.ts';

export interface PreviewFlags {
  readonly config?: string;
  readonly channel?: string;
  readonly format: 'text' | 'json';
}

/** Prints the messages of all samples, of those that a channel receives, or of one. Sends nothing. */
export async function previewCommand(
  code: NotificationCode | undefined,
  { config: file, channel: name, format }: PreviewFlags,
  context: CommandContext,
): Promise<ExitCode> {
  const { terminal, clock } = context;
  const config = await readConfig(file, context);
  const channel = name === undefined ? null : findChannel(name, config);
  const now = clock.now();
  const codes = code === undefined ? [...CONDITION_CODES, ...EVENT_CODES] : [code];
  const shown = codes.filter(
    (each) => name === undefined || code !== undefined || isRouted(each, name, config.notifications),
  );
  const previews = shown.map((each) => {
    const message = sampleNotification(each, config, { kind: isEventCode(each) ? 'event' : 'firing', now });
    const outgoing = { id: `sample-${each}`, thread: `sample-${each}`, message, receipt: null };
    return {
      code: each,
      text: previewText(outgoing),
      body: channel === null ? message : previewBody(channel, outgoing),
    };
  });
  if (format === 'json') {
    terminal.out(
      `${JSON.stringify(
        previews.map(({ code: each, body }) => ({ code: each, body })),
        null,
        2,
      )}\n`,
    );
  } else {
    terminal.out(previews.map(({ code: each, text }) => `--- ${each}\n${text}`).join('\n'));
  }
  return EXIT.done;
}

/** Returns true if a route leads to a channel for a code. */
function isRouted(code: NotificationCode, channel: string, { routes }: NotificationsConfig): boolean {
  return routes.some(({ channels, codes, severities }) => {
    const isListed = codes?.includes(code) ?? !isEventCode(code);
    const isSevere = isEventCode(code) || (severities?.includes(CONDITION_RULES[code].severity) ?? true);
    return channels.includes(channel) && isListed && isSevere;
  });
}
