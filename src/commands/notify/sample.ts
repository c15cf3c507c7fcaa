/** Messages about samples, with the settings of a configuration. */
import type { Config } from '../../config/config.ts';
import type { ChannelConfig } from '../../config/notifications.ts';
import type { ConditionCode, EventCode } from '../../core/condition-codes.ts';
import { ConfigError } from '../../core/errors.ts';
import { didYouMean } from '../../core/text/suggest.ts';
import { buildNotification, type MessageContent, type Notification } from '../../notify/messages.ts';
import { isEventCode, sampleCondition, sampleEvent } from '../../notify/samples.ts';
import { createRedactor } from '../../redact.ts';
import type { DeliveryKind } from '../../store/notifications.ts';

/** Code of a condition or event. */
export type NotificationCode = ConditionCode | EventCode;
/** Condition or event of a sample. */
export type SampleContent = Pick<MessageContent, 'conditions' | 'events'>;

/** Choice of a sample. */
export interface SampleChoice {
  readonly code: NotificationCode;
  readonly organization: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly isResolved?: boolean;
}

/** Returns the sample of a code. */
export function sampleContent(choice: SampleChoice, { platform }: Config): SampleContent {
  const { code, organization, now, isResolved = false } = choice;
  const place = { organization, platform: platform.baseUrl, now };
  return isEventCode(code)
    ? { conditions: [], events: [sampleEvent(code, place)] }
    : { conditions: [sampleCondition(code, place, isResolved)], events: [] };
}

/** Builds the message of a sample. */
export function sampleNotification(
  content: SampleContent,
  kind: DeliveryKind,
  config: Config,
  now: number,
): Notification {
  const settings = {
    publicUrl: config.ui.publicUrl ?? null,
    templates: config.notifications.templates,
    redact: createRedactor(config.secrets),
  };
  return buildNotification({ delivery: { kind }, facts: [], ...content }, settings, now);
}

/** Returns the settings of a channel. Throws ConfigError if there is none with this name. */
export function findChannel(name: string, { notifications }: Config): ChannelConfig {
  const names = Object.keys(notifications.channels);
  const channel = names.includes(name) ? notifications.channels[name] : undefined;
  if (channel === undefined) {
    const known =
      names.length === 0 ? '; notifications.channels is empty' : `; configured channels: ${names.join(', ')}`;
    throw new ConfigError(`no channel ${JSON.stringify(name)} is configured${didYouMean(name, names, known)}`);
  }
  return channel;
}
