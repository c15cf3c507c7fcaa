/** Commands about notification channels: previews, tests and retries. */
import { randomUUID } from 'node:crypto';
import type { Config } from '../config/config.ts';
import type { ChannelConfig } from '../config/notifications.ts';
import { CONDITION_CODES, type ConditionCode, EVENT_CODES, type EventCode } from '../core/condition-codes.ts';
import { ConfigError, EXIT, type ExitCode } from '../core/errors.ts';
import { didYouMean } from '../core/text/suggest.ts';
import { ChannelError, type Receipt } from '../notify/channel.ts';
import { writeMail } from '../notify/mail.ts';
import { buildNotification, type MessageContent, type Notification } from '../notify/messages.ts';
import { channelRules } from '../notify/notifier.ts';
import { describeDestination, openChannel, previewBody } from '../notify/open-channel.ts';
import { isEventCode, sampleCondition, sampleEvent } from '../notify/samples.ts';
import { counted } from '../plan/render/words.ts';
import { createRedactor } from '../redact.ts';
import type { DeliveryKind } from '../store/notifications.ts';
import { readConfig, readTrustedConfig } from './cli/config.ts';
import { type CommandContext, interruptibleClock } from './cli/context.ts';
import { askDaemon } from './cli/control-call.ts';

interface PreviewFlags {
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
  const wants = code !== undefined || name === undefined ? () => true : routeFilter(name, config, now);
  const codes = code === undefined ? [...CONDITION_CODES, ...EVENT_CODES] : [code];
  const previews = codes.flatMap((each) => {
    const contents = config.organizations.map(({ id }) => sampleContent(each, id, now, config));
    const content = contents.find(wants);
    return content === undefined ? [] : [{ code: each, outgoing: outgoingOf(each, content, config, now) }];
  });
  if (format === 'json') {
    const bodies = await Array.fromAsync(previews, async ({ code: each, outgoing }) => ({
      code: each,
      body: channel === null ? outgoing.message : await previewBody(name ?? '', channel, outgoing),
    }));
    terminal.out(`${JSON.stringify(bodies, null, 2)}\n`);
  } else {
    terminal.out(
      previews.map(({ code: each, outgoing }) => `--- ${each}\n${writeMail(outgoing.message).text}`).join('\n'),
    );
  }
  return EXIT.done;
}

/** Returns a predicate for what the routes lead to a channel. */
function routeFilter(name: string, { notifications }: Config, now: number): (content: SampleContent) => boolean {
  const rules = channelRules(notifications, [{ name, isPager: false }], now);
  return ({ conditions, events }) =>
    rules.some(({ wants, wantsEvent }) => conditions.some(wants) || events.some(wantsEvent));
}

function outgoingOf(code: NotificationCode, content: SampleContent, config: Config, now: number) {
  const message = sampleNotification(content, content.events.length > 0 ? 'event' : 'firing', config, now);
  return { id: `sample-${code}`, thread: `sample-${code}`, message, receipt: null };
}

/** Sends a sample and reports where it arrived. A pager also receives that it is resolved, so that no incident stays open. */
export async function testCommand(
  name: string,
  code: NotificationCode,
  { config: file, resolve }: { readonly config?: string; readonly resolve?: boolean },
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
    const content = sampleContent(code, organization, now, config, isResolved);
    const message = sampleNotification(content, 'test', config, now);
    const outgoing = { id, thread, message, receipt };
    const taken = await channel.send(outgoing, context.signal);
    const destination = await describeDestination(name, settings);
    context.terminal.out(`Sent to ${name}, ${destination}:\n\n${indent(writeMail(message).text)}\n`);
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
  const { events } = await askDaemon<{ readonly events: number }>(config, { command: 'deliveries', request }, context);
  context.terminal.out(
    events === 0 ? 'no delivery of an event was given up\n' : `resending ${counted(events, 'event')}\n`,
  );
  return EXIT.done;
}

/** Code of a condition or event. */
type NotificationCode = ConditionCode | EventCode;
/** Condition or event of a sample. */
type SampleContent = Pick<MessageContent, 'conditions' | 'events'>;

/** Returns the sample of a code. */
function sampleContent(
  code: NotificationCode,
  organization: string,
  now: number,
  { platform }: Config,
  isResolved = false,
): SampleContent {
  const place = { organization, platform: platform.baseUrl, now };
  return isEventCode(code)
    ? { conditions: [], events: [sampleEvent(code, place)] }
    : { conditions: [sampleCondition(code, place, isResolved)], events: [] };
}

/** Builds the message of a sample. */
function sampleNotification(content: SampleContent, kind: DeliveryKind, config: Config, now: number): Notification {
  const settings = {
    publicUrl: config.ui.publicUrl ?? null,
    templates: config.notifications.templates,
    redact: createRedactor(config.secrets),
  };
  return buildNotification({ delivery: { kind }, facts: [], ...content }, settings, now);
}

/** Returns the settings of a channel. Throws ConfigError if there is none with this name. */
function findChannel(name: string, { notifications }: Config): ChannelConfig {
  const names = Object.keys(notifications.channels);
  const channel = names.includes(name) ? notifications.channels[name] : undefined;
  if (channel === undefined) {
    const known =
      names.length === 0 ? '; notifications.channels is empty' : `; configured channels: ${names.join(', ')}`;
    throw new ConfigError(`no channel ${JSON.stringify(name)} is configured${didYouMean(name, names, known)}`);
  }
  return channel;
}
