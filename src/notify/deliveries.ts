/** Deliveries that conditions and events need, and those that a person can ask for. */
import { z } from 'zod';
import { CONDITION_RULES } from '../core/condition-codes.ts';
import { append, largest, smallest } from '../core/lists.ts';
import {
  type Condition,
  NOTIFICATION_RETENTION,
  type NotificationDelivery,
  type NotificationEvent,
  type Notified,
  type NotifierChange,
  type NotifierState,
} from '../store/notifications.ts';

/** Schema of what a person can ask a running daemon to do. `channel`: its name; null: all of them. */
export const deliveryRequest = z.discriminatedUnion('subcommand', [
  z.strictObject({ subcommand: z.literal('retry'), channel: z.string().min(1).max(100).nullable().default(null) }),
]);
export type DeliveryRequest = z.input<typeof deliveryRequest>;

/** Rules of one channel. */
export interface ChannelRules {
  readonly name: string;
  /** Returns true if a route of the configuration leads here. */
  readonly wants: (condition: Condition) => boolean;
  /** Returns true if a route lists the code of the event. */
  readonly wantsEvent: (event: NotificationEvent) => boolean;
  /** True: one incident with one end, which quiet hours never hold. */
  readonly isPager: boolean;
  /** End of the quiet hours that hold its messages now; null outside quiet hours. */
  readonly quietUntil: number | null;
  /** End of its last quiet hours: what they held is one message. Null if there were none. */
  readonly quietEndedAt: number | null;
}

export interface NotificationInput extends Omit<NotifierState, 'facts'> {
  readonly channels: readonly ChannelRules[];
  /** Milliseconds for which conditions with the same code wait for each other. */
  readonly groupWait: number;
  /** Milliseconds between two messages about the same code, and for which resolved conditions wait for each other. */
  readonly groupInterval: number;
  readonly now: number;
  readonly newId: () => string;
}

/** Changes that follow: `events` are those whose channels have changed. */
export interface NotificationPlan extends Pick<NotifierChange, 'created' | 'cancelled' | 'events'> {
  /** Complete. */
  readonly notified: readonly Notified[];
  /** Time at which this function has to be called again without a change; null if never. */
  readonly wakeAt: number | null;
}

/** One channel, with what it was notified of. */
interface ChannelInput extends NotificationInput {
  readonly channel: ChannelRules;
  /** By condition. */
  readonly own: ReadonlyMap<string, Notified>;
  /** Returns true if the time has come; otherwise remembers it as one to wake at. */
  readonly isDue: (at: number) => boolean;
}

/** Deliveries of one channel, and its notices that are new or have changed. */
type ChannelPlan = Pick<NotificationPlan, 'created' | 'notified'>;

/** Returns true if the channel has, or may have, a delivery. */
function hasArrived({ state, mayHaveArrived }: NotificationDelivery): boolean {
  return state === 'sent' || state === 'open' || mayHaveArrived;
}

/** Returns true if a delivery waits to be sent. */
export function isQueued({ state }: NotificationDelivery): boolean {
  return state === 'queued' || state === 'open' || state === 'refused';
}

/** Plans the deliveries of all channels. Creates none twice: what it created is part of its next input. */
export function planNotifications(input: NotificationInput): NotificationPlan {
  const { channels, now } = input;
  let wakeAt: number | null = null;
  const isDue = (at: number) => {
    if (at > now) {
      wakeAt = Math.min(wakeAt ?? at, at);
    }
    return at <= now;
  };
  const known = new Set(channels.map(({ name }) => name));
  const unneeded = findUnneeded(input, known);
  const deliveries = input.deliveries.map(
    (each): NotificationDelivery => (unneeded.has(each.id) ? { ...each, state: 'cancelled' } : each),
  );
  const kept = keepNotified({ ...input, deliveries });
  const events = input.events.map(({ event, channels: before }) => ({
    event,
    before,
    after:
      before?.filter((name) => known.has(name)) ??
      channels.filter((channel) => channel.wantsEvent(event)).map(({ name }) => name),
  }));
  const plans = channels.map((channel) => {
    const own = new Map(kept.filter((each) => each.channel === channel.name).map((each) => [each.condition, each]));
    const waiting = events.filter(({ after }) => after.includes(channel.name)).map(({ event }) => event);
    return planChannel({ ...input, deliveries, channel, own, isDue }, waiting);
  });
  const created = plans.flatMap((plan) => plan.created);
  const isCreated = new Set(created.flatMap(({ channel, about }) => about.map((id) => `${channel} ${id}`)));
  return {
    created,
    cancelled: [...unneeded],
    notified: plans.flatMap(({ notified }) => notified).concat(kept.filter(({ channel }) => !known.has(channel))),
    events: events.flatMap(({ event: { id }, before, after }) => {
      const left = after.filter((name) => !isCreated.has(`${name} ${id}`));
      return before?.length === left.length ? [] : [{ id, channels: left }];
    }),
    wakeAt,
  };
}

/**
 * Finds deliveries that wait and that nobody needs: announcements and reminders whose conditions are all resolved, and
 * those of channels that are not configured any more. If an announcement may have arrived, the resolve follows.
 */
function findUnneeded({ deliveries, conditions }: NotificationInput, known: ReadonlySet<string>): ReadonlySet<string> {
  const over = new Set(conditions.filter(({ state }) => state !== 'firing').map(({ id }) => id));
  const unneeded = deliveries
    .filter((each) => isQueued(each) && each.state !== 'open')
    .filter(
      ({ channel, kind, about }) =>
        !known.has(channel) || (['firing', 'digest', 'reminder'].includes(kind) && about.every((id) => over.has(id))),
    );
  return new Set(unneeded.map(({ id }) => id));
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
    .filter(({ thread, condition, resolved }) => {
      const announcement = byId.get(thread);
      return (
        (announcement === undefined || !isEnded(thread) || hasArrived(announcement)) &&
        byId.get(resolved ?? '')?.state !== 'sent' &&
        (resolvedAt.get(condition) ?? now) > now - NOTIFICATION_RETENTION.age
      );
    })
    .map((each) => (isEnded(each.resolved ?? '') ? { ...each, resolved: null } : each));
}

/** `waiting`: events that wait for a delivery to this channel. */
function planChannel(input: ChannelInput, waiting: readonly NotificationEvent[]): ChannelPlan {
  const { isPager, quietUntil } = input.channel;
  const isQuiet = quietUntil !== null && !isPager;
  const now = isQuiet ? withoutHeld(input, quietUntil) : input;
  const plans = [announce(now, isQuiet ? [] : waiting), resolve(now), remind(now)];
  const notified = new Map(input.own);
  for (const each of plans.flatMap((plan) => plan.notified)) {
    notified.set(each.condition, each);
  }
  return { created: plans.flatMap(({ created }) => created), notified: [...notified.values()] };
}

/** Returns what quiet hours do not hold: conditions that people are paged for, and their end. */
function withoutHeld(input: ChannelInput, quietUntil: number): ChannelInput {
  input.isDue(quietUntil);
  const conditions = input.conditions.filter(({ fact }) => CONDITION_RULES[fact.code].severity === 'page');
  const isUrgent = new Set(conditions.map(({ id }) => id));
  return { ...input, conditions, own: new Map([...input.own].filter(([id]) => isUrgent.has(id))) };
}

function newDelivery(
  part: Pick<NotificationDelivery, 'id' | 'thread' | 'kind' | 'about'>,
  { channel, now }: ChannelInput,
): NotificationDelivery {
  return { ...part, channel: channel.name, createdAt: now, state: 'queued', mayHaveArrived: false };
}

/** Plans one message for each code, and one for all that quiet hours have held. */
function announce(input: ChannelInput, events: readonly NotificationEvent[]): ChannelPlan {
  const { conditions, own, channel, newId, now } = input;
  const fresh = conditions.filter((each) => each.state === 'firing' && !own.has(each.id) && channel.wants(each));
  const plan: { created: NotificationDelivery[]; notified: Notified[] } = { created: [], notified: [] };
  for (const group of groups(input, fresh, events)) {
    const id = newId();
    const about = [...group.conditions, ...group.events].map((each) => each.id);
    const codes = new Set([...group.conditions.map(({ fact }) => fact.code), ...group.events.map(({ code }) => code)]);
    const kind = codes.size > 1 ? 'digest' : group.conditions.length > 0 ? 'firing' : 'event';
    plan.created.push(newDelivery({ id, thread: id, kind, about }, input));
    for (const condition of group.conditions) {
      const notice = { channel: channel.name, condition: condition.id, thread: id, notifiedAt: now, resolved: null };
      plan.notified.push(notice);
    }
  }
  return plan;
}

/** Conditions and events of one message. */
interface Group {
  readonly conditions: readonly Condition[];
  readonly events: readonly NotificationEvent[];
}

/** Returns the groups whose time has come. */
function groups(
  input: ChannelInput,
  conditions: readonly Condition[],
  events: readonly NotificationEvent[],
): readonly Group[] {
  const { channel, groupWait, isDue, now } = input;
  const end = channel.quietEndedAt ?? Number.NEGATIVE_INFINITY;
  const [held, others] = split(conditions, ({ firedAt }) => (firedAt ?? now) < end);
  const [heldEvents, otherEvents] = split(events, ({ at }) => at < end);
  const digest = held.length + heldEvents.length > 0 ? [{ conditions: held, events: heldEvents }] : [];
  const byCode = [...Map.groupBy(others, ({ fact }) => fact.code)]
    .filter(([code, group]) => isDue(announcementTime(input, code, group)))
    .map(([, group]) => ({ conditions: group, events: [] }));
  const byEvent = [...Map.groupBy(otherEvents, ({ code }) => code).values()]
    .filter((group) => isDue(endOfWait(smallest(group.map(({ at }) => at)), groupWait, now)))
    .map((group) => ({ conditions: [], events: group }));
  return [...digest, ...byCode, ...byEvent];
}

/** Returns when conditions with this code are announced. People are paged without waiting for an earlier message. */
function announcementTime(
  { conditions, own, channel, groupWait, groupInterval, now }: ChannelInput,
  code: string,
  group: readonly Condition[],
): number {
  const first = endOfWait(smallest(group.map(({ firedAt }) => firedAt ?? now)), groupWait, now);
  const earlier = conditions.flatMap(({ id, fact }) => (fact.code === code ? (own.get(id)?.notifiedAt ?? []) : []));
  return channel.isPager ? first : Math.max(first, endOfWait(largest(earlier), groupInterval, now));
}

/** Returns the end of a wait. It is over if another replica began it whose clock was ahead by more than the wait itself. */
function endOfWait(from: number, wait: number, now: number): number {
  return from > now + wait ? now : from + wait;
}

function split<T>(all: readonly T[], isFirst: (each: T) => boolean): readonly [readonly T[], readonly T[]] {
  return [all.filter(isFirst), all.filter((each) => !isFirst(each))];
}

/** Plans one message for each thread with resolved conditions. A pager gets it once all of the thread are resolved. */
function resolve(input: ChannelInput): ChannelPlan {
  const { now, newId, own, channel, isDue, groupInterval } = input;
  const byId = new Map(input.conditions.map((each) => [each.id, each]));
  const isFiring = ({ condition }: Notified) => byId.get(condition)?.state === 'firing';
  const isAnnounced = announcedThreads(input);
  const plan: { created: NotificationDelivery[]; notified: Notified[] } = { created: [], notified: [] };
  for (const [thread, members] of Map.groupBy(own.values(), (each) => each.thread)) {
    const open = members.filter((each) => each.resolved === null && !isFiring(each));
    const since = smallest(open.map(({ condition }) => byId.get(condition)?.resolvedAt ?? now));
    const isOver = !members.some(isFiring);
    if (open.length > 0 && isAnnounced(thread) && (isOver || (!channel.isPager && isDue(since + groupInterval)))) {
      const id = newId();
      const about = open.map(({ condition }) => condition);
      plan.created.push(newDelivery({ id, thread, kind: 'resolved', about }, input));
      append(
        plan.notified,
        open.map((each) => ({ ...each, resolved: id })),
      );
    }
  }
  return plan;
}

/**
 * Returns a predicate for the threads whose announcement the channel has, or may have. One that waits to be sent reports
 * itself what is resolved by then. The end of an attempt is awaited.
 */
function announcedThreads({ deliveries }: ChannelInput): (thread: string) => boolean {
  const byId = new Map(deliveries.map((each) => [each.id, each]));
  return (thread) => {
    const announcement = byId.get(thread);
    return announcement === undefined || (hasArrived(announcement) && announcement.state !== 'open');
  };
}

/** Plans reminders: announcements whose delivery was given up without knowing whether they arrived, once more. */
function remind(input: ChannelInput): ChannelPlan {
  const { conditions, own, now, newId } = input;
  const uncertain = uncertainConditions(input);
  const isAnnounced = announcedThreads(input);
  const due = conditions.flatMap(({ id, state }) => {
    const notice = own.get(id);
    return state === 'firing' && uncertain.has(id) && notice !== undefined && isAnnounced(notice.thread)
      ? [notice]
      : [];
  });
  return {
    created: [...Map.groupBy(due, ({ thread }) => thread)].map(([thread, group]) =>
      newDelivery({ id: newId(), thread, kind: 'reminder', about: group.map(({ condition }) => condition) }, input),
    ),
    notified: due.map((notice) => ({ ...notice, notifiedAt: now })),
  };
}

/** Returns the conditions whose announcement was given up without knowing whether it arrived, and has no successor. */
function uncertainConditions({ deliveries, channel }: ChannelInput): ReadonlySet<string> {
  const own = deliveries.filter((each) => each.channel === channel.name && each.kind !== 'resolved');
  const about = (isIncluded: (each: NotificationDelivery) => boolean) =>
    new Set(own.filter(isIncluded).flatMap((each) => each.about));
  return about(({ state }) => state === 'failed').difference(about((each) => each.state === 'sent' || isQueued(each)));
}
