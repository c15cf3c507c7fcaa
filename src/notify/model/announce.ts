/** Announces conditions that fire, and events. */
import { largest, smallest } from '../../core/lists.ts';
import type { Condition, NotificationEvent } from '../../store/notifications.ts';
import { type ChannelInput, type ChannelPlan, newDelivery } from './plan.ts';

/** Conditions and events of one message. */
interface Group {
  readonly conditions: readonly Condition[];
  readonly events: readonly NotificationEvent[];
}

/** Plans one message for each code, and one for all that quiet hours have held. */
export function announce(input: ChannelInput, events: readonly NotificationEvent[]): ChannelPlan {
  const { conditions, own, channel, newId, now } = input;
  const fresh = conditions.filter((each) => each.state === 'firing' && !own.has(each.id) && channel.wants(each));
  const created = groups(input, fresh, events).map((group) => {
    const id = newId();
    const about = [...group.conditions, ...group.events].map((each) => each.id);
    const codes = new Set([...group.conditions.map(({ fact }) => fact.code), ...group.events.map(({ code }) => code)]);
    const kind = codes.size > 1 ? 'digest' : group.conditions.length > 0 ? 'firing' : 'event';
    return newDelivery({ id, thread: id, kind, about }, input);
  });
  const isCondition = new Set(fresh.map(({ id }) => id));
  const notified = created.flatMap(({ id, about }) =>
    about
      .filter((each) => isCondition.has(each))
      .map((condition) => ({ channel: channel.name, condition, thread: id, notifiedAt: now, resolved: null })),
  );
  return { created, notified };
}

/** Returns the groups whose time has come. */
function groups(
  input: ChannelInput,
  conditions: readonly Condition[],
  events: readonly NotificationEvent[],
): readonly Group[] {
  const { channel, groupWait, timer, now } = input;
  const end = channel.quietEndedAt ?? Number.NEGATIVE_INFINITY;
  const [held, others] = split(conditions, ({ firedAt }) => (firedAt ?? now) < end);
  const [heldEvents, otherEvents] = split(events, ({ at }) => at < end);
  const digest = held.length + heldEvents.length > 0 ? [{ conditions: held, events: heldEvents }] : [];
  const byCode = [...Map.groupBy(others, ({ fact }) => fact.code)]
    .filter(([code, group]) => timer.isDue(announcementTime(input, code, group)))
    .map(([, group]) => ({ conditions: group, events: [] }));
  const byEvent = [...Map.groupBy(otherEvents, ({ code }) => code).values()]
    .filter((group) => timer.isDue(endOfWait(smallest(group.map(({ at }) => at)), groupWait, now)))
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
