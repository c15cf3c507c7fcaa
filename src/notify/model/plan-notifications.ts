/** Decides which deliveries conditions and events need. */
import { CONDITION_RULES } from '../../core/condition-codes.ts';
import { NOTIFICATION_RETENTION, type NotificationDelivery, type Notified } from '../../store/notifications.ts';
import { announce } from './announce.ts';
import { hasArrived, isQueued } from './delivery.ts';
import { remind, resolve } from './follow-up.ts';
import {
  type ChannelInput,
  type ChannelPlan,
  type ChannelRules,
  type NotificationInput,
  type NotificationPlan,
  WakeTimer,
} from './plan.ts';

/** Plans the deliveries of all channels. Creates none twice: what it created is part of its next input. */
export function planNotifications(input: NotificationInput): NotificationPlan {
  const timer = new WakeTimer(input.now);
  const known = new Set(input.channels.map(({ name }) => name));
  const unneeded = new Set(findUnneeded(input, known));
  const deliveries = input.deliveries.map(
    (each): NotificationDelivery => (unneeded.has(each.id) ? { ...each, state: 'cancelled' } : each),
  );
  const kept = keepNotified({ ...input, deliveries });
  const events = input.events.map(({ event, channels }) => ({
    event,
    before: channels,
    channels: channels?.filter((name) => known.has(name)) ?? wantedBy(input.channels, event),
  }));
  const plans = input.channels.map((channel) => {
    const waiting = events.filter(({ channels }) => channels.includes(channel.name)).map(({ event }) => event);
    return planChannel({ ...input, deliveries }, { channel, kept, waiting, timer });
  });
  const created = plans.flatMap((plan) => plan.created);
  const isCreated = new Set(created.flatMap(({ channel, about }) => about.map((id) => `${channel} ${id}`)));
  return {
    created,
    cancelled: [...unneeded],
    notified: plans.flatMap(({ notified }) => notified).concat(kept.filter(({ channel }) => !known.has(channel))),
    events: events
      .map(({ event: { id }, before, channels }) => ({
        ...{ id, before, channels: channels.filter((name) => !isCreated.has(`${name} ${id}`)) },
      }))
      .filter(({ before, channels }) => before?.length !== channels.length)
      .map(({ id, channels }) => ({ id, channels })),
    wakeAt: timer.at,
  };
}

function wantedBy(
  channels: readonly ChannelRules[],
  event: Parameters<ChannelRules['wantsEvent']>[0],
): readonly string[] {
  return channels.filter((channel) => channel.wantsEvent(event)).map(({ name }) => name);
}

/**
 * Finds deliveries that wait and that nobody needs: announcements and reminders whose conditions are all resolved, and
 * those of channels that are not configured any more. If an announcement may have arrived, the resolve follows.
 */
function findUnneeded({ deliveries, conditions }: NotificationInput, known: ReadonlySet<string>): readonly string[] {
  const isOver = new Map(conditions.map(({ id, state }) => [id, state !== 'firing']));
  return deliveries
    .filter((each) => isQueued(each) && each.state !== 'open')
    .filter(
      (each) =>
        !known.has(each.channel) ||
        (['firing', 'digest', 'reminder'].includes(each.kind) && each.about.every((id) => isOver.get(id) ?? false)),
    )
    .map(({ id }) => id);
}

/**
 * Returns the notices that are still needed. What a channel certainly never took is announced again. A resolve that was
 * given up is planned again. Notices end when the resolve was sent.
 */
function keepNotified({ notified, deliveries, conditions, now }: NotificationInput): readonly Notified[] {
  const byId = new Map(deliveries.map((each) => [each.id, each]));
  const resolvedAt = new Map(conditions.map((each) => [each.id, each.resolvedAt ?? now]));
  const isEnded = (id: string) => ['failed', 'cancelled'].includes(byId.get(id)?.state ?? '');
  return notified
    .filter(({ thread }) => {
      const announcement = byId.get(thread);
      return announcement === undefined || !isEnded(thread) || hasArrived(announcement);
    })
    .filter(({ resolved }) => resolved === null || byId.get(resolved)?.state !== 'sent')
    .filter(({ condition }) => (resolvedAt.get(condition) ?? now) > now - NOTIFICATION_RETENTION.age)
    .map((each) => (each.resolved !== null && isEnded(each.resolved) ? { ...each, resolved: null } : each));
}

interface OneChannel {
  readonly channel: ChannelRules;
  readonly kept: readonly Notified[];
  /** Events that wait for a delivery to this channel. */
  readonly waiting: Parameters<typeof announce>[1];
  readonly timer: WakeTimer;
}

function planChannel(all: NotificationInput, { channel, kept, waiting, timer }: OneChannel): ChannelPlan {
  const own = new Map(kept.filter((each) => each.channel === channel.name).map((each) => [each.condition, each]));
  const isQuiet = channel.quietUntil !== null && !channel.isPager;
  const input = { ...all, channel, own, timer };
  const now = isQuiet ? withoutHeld(input, channel.quietUntil ?? 0) : input;
  const plans = [announce(now, isQuiet ? [] : waiting), resolve(now), remind(now)];
  const notified = new Map(own);
  for (const each of plans.flatMap((plan) => plan.notified)) {
    notified.set(each.condition, each);
  }
  return { created: plans.flatMap(({ created }) => created), notified: [...notified.values()] };
}

/** Returns what quiet hours do not hold: conditions that people are paged for, and their end. */
function withoutHeld(input: ChannelInput, quietUntil: number): ChannelInput {
  input.timer.isDue(quietUntil);
  const conditions = input.conditions.filter(({ fact }) => CONDITION_RULES[fact.code].severity === 'page');
  const isUrgent = new Set(conditions.map(({ id }) => id));
  return { ...input, conditions, own: new Map([...input.own].filter(([id]) => isUrgent.has(id))) };
}
