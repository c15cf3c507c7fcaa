/** View of the channels: what each one received last, what waits, and what failed. */
import { CONDITION_RULES } from '../core/condition-codes.ts';
import { isQueued } from '../notify/deliveries.ts';
import { counted } from '../plan/render/words.ts';
import type { Condition, DeliveryKind, DeliveryRecord, DeliveryState } from '../store/notifications.ts';
import type { NotificationReader } from './model/notification-reader.ts';
import { isoTime } from './model/words.ts';

export interface DeliveryView {
  readonly id: string;
  readonly channel: string;
  readonly kind: DeliveryKind;
  readonly state: DeliveryState;
  /** Subject, such as `Passes fail (acme and 2 more)`. */
  readonly about: string;
  readonly createdAt: string;
  readonly attempts: number;
  readonly nextAttemptAt: string | null;
  readonly endedAt: string | null;
  /** Why the last attempt failed; null if it did not. */
  readonly reason: string | null;
  /** True if an attempt got no answer, so that the channel may have it. */
  readonly mayHaveArrived: boolean;
}

export interface ChannelView {
  readonly name: string;
  /** False: it has deliveries, but is not in the configuration any more. */
  readonly isConfigured: boolean;
  readonly lastSentAt: string | null;
  readonly waiting: number;
  /** Deliveries that wait, and failed at least once. */
  readonly retried: number;
  /** Deliveries that were given up, among those that are kept. */
  readonly failed: number;
}

export interface DeliveriesView {
  /** False: the person may not see all organizations, and messages are about several. */
  readonly isAllowed: boolean;
  readonly sentence: string;
  readonly channels: readonly ChannelView[];
  /** Those that wait or failed, and then the latest others. */
  readonly pending: readonly DeliveryView[];
  readonly latest: readonly DeliveryView[];
}

/** Number of deliveries that are counted, and of those that are shown. */
const COUNTED = 5000;
const SHOWN = 100;
const CONDITIONS = 5000;

/** Returns the state of all channels. Throws StoreError. */
export async function deliveriesView(notifications: NotificationReader, seesAll: boolean): Promise<DeliveriesView> {
  if (!seesAll) {
    const sentence = 'Deliveries are shown to people who may see every organization';
    return { isAllowed: false, sentence, channels: [], pending: [], latest: [] };
  }
  const { channels: configured } = notifications;
  const pending = await notifications.deliveries({ isPending: true, limit: COUNTED });
  const latest = await notifications.deliveries({ limit: SHOWN });
  const sent = await notifications.lastSent();
  const conditions = new Map((await notifications.conditions(CONDITIONS)).map((each) => [each.id, each]));
  const names = new Set([...configured, ...pending.map(({ channel }) => channel)]);
  const channels = [...names].map((name) => channelView(name, configured.includes(name), pending, sent.get(name)));
  const shown = new Set(pending.slice(0, SHOWN).map(({ id }) => id));
  return {
    isAllowed: true,
    sentence: sentenceOf(channels),
    channels,
    pending: pending.slice(0, SHOWN).map((each) => deliveryView(each, conditions)),
    latest: latest.filter(({ id }) => !shown.has(id)).map((each) => deliveryView(each, conditions)),
  };
}

function channelView(
  name: string,
  isConfigured: boolean,
  pending: readonly DeliveryRecord[],
  sentAt: number | undefined,
): ChannelView {
  const own = pending.filter(({ channel }) => channel === name);
  const waiting = own.filter(isQueued);
  return {
    ...{ name, isConfigured, lastSentAt: isoTime(sentAt ?? null), waiting: waiting.length },
    retried: waiting.filter(({ reason }) => reason !== null).length,
    failed: own.length - waiting.length,
  };
}

function deliveryView(record: DeliveryRecord, conditions: ReadonlyMap<string, Condition>): DeliveryView {
  const { id, channel, kind, state, about, attempts, reason, mayHaveArrived } = record;
  return {
    ...{ id, channel, kind, state, attempts, reason, mayHaveArrived, about: aboutText(about, conditions) },
    createdAt: isoTime(record.createdAt),
    nextAttemptAt: isoTime(record.nextAttemptAt),
    endedAt: isoTime(record.endedAt),
  };
}

function aboutText(about: readonly string[], conditions: ReadonlyMap<string, Condition>): string {
  const known = about.map((id) => conditions.get(id)).find((each) => each !== undefined);
  if (known === undefined) {
    return counted(about.length, 'message', 'messages');
  }
  const { code, scope } = known.fact;
  const rest = about.length - 1;
  const first = scope.organization ?? scope.platform ?? '';
  const who = [...(first === '' ? [] : [first]), ...(rest === 0 ? [] : [`${rest} more`])].join(' and ');
  return who === '' ? CONDITION_RULES[code].title : `${CONDITION_RULES[code].title} (${who})`;
}

function sentenceOf(channels: readonly ChannelView[]): string {
  if (channels.length === 0) {
    return 'No channel is configured, so nobody is notified';
  }
  const failing = channels.filter(({ retried, failed }) => retried > 0 || failed > 0).length;
  const waiting = channels.reduce((sum, each) => sum + each.waiting, 0);
  const state =
    failing === 0
      ? `${counted(channels.length, 'channel')}`
      : `${failing} of ${counted(channels.length, 'channel')} failed lately`;
  return waiting === 0
    ? `${state}; nothing waits`
    : `${state}; ${counted(waiting, 'message')} ${waiting === 1 ? 'waits' : 'wait'}`;
}
