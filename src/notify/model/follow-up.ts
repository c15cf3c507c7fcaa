/** Follow-ups in the threads of announcements: resolved conditions, and announcements that may not have arrived. */
import { append, smallest } from '../../core/lists.ts';
import type { NotificationDelivery, Notified } from '../../store/notifications.ts';
import { hasArrived, isQueued } from './delivery.ts';
import { type ChannelInput, type ChannelPlan, newDelivery } from './plan.ts';

/** Plans one message for each thread with resolved conditions. A pager gets it once all of the thread are resolved. */
export function resolve(input: ChannelInput): ChannelPlan {
  const { now, newId, own, channel, timer, groupInterval } = input;
  const byId = new Map(input.conditions.map((each) => [each.id, each]));
  const deliveries = new Map(input.deliveries.map((each) => [each.id, each]));
  const isFiring = ({ condition }: Notified) => byId.get(condition)?.state === 'firing';
  const plan: { created: ChannelPlan['created'][number][]; notified: Notified[] } = { created: [], notified: [] };
  for (const [thread, members] of Map.groupBy(own.values(), (each) => each.thread)) {
    const open = members.filter((each) => each.resolved === null && !isFiring(each));
    const since = smallest(open.map(({ condition }) => byId.get(condition)?.resolvedAt ?? now));
    const isTold = isAnnounced(deliveries.get(thread));
    const isOver = !members.some(isFiring);
    if (open.length > 0 && isTold && (isOver || (!channel.isPager && timer.isDue(since + groupInterval)))) {
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
 * Returns true if a channel has an announcement, or may have it. One that waits to be sent reports itself what is
 * resolved by then. The end of an attempt is awaited.
 */
function isAnnounced(announcement: NotificationDelivery | undefined): boolean {
  return announcement === undefined || (hasArrived(announcement) && announcement.state !== 'open');
}

/** Plans reminders: announcements whose delivery was given up without knowing whether they arrived, once more. */
export function remind(input: ChannelInput): ChannelPlan {
  const { conditions, own, now, newId } = input;
  const uncertain = uncertainConditions(input);
  const deliveries = new Map(input.deliveries.map((each) => [each.id, each]));
  const due = conditions.filter(({ id, state }) => {
    const notice = own.get(id);
    return (
      state === 'firing' && uncertain.has(id) && notice !== undefined && isAnnounced(deliveries.get(notice.thread))
    );
  });
  const created = [...Map.groupBy(due, ({ id }) => own.get(id)?.thread ?? id)].map(([thread, group]) =>
    newDelivery({ id: newId(), thread, kind: 'reminder', about: group.map(({ id }) => id) }, input),
  );
  const notified = due.flatMap(({ id }) => {
    const notice = own.get(id);
    return notice === undefined ? [] : [{ ...notice, notifiedAt: now }];
  });
  return { created, notified };
}

/** Returns the conditions whose announcement was given up without knowing whether it arrived, and has no successor. */
function uncertainConditions({ deliveries, channel }: ChannelInput): ReadonlySet<string> {
  const own = deliveries.filter((each) => each.channel === channel.name && each.kind !== 'resolved');
  const found = new Set(own.flatMap((each) => (each.state === 'failed' ? each.about : [])));
  for (const { about } of own.filter((each) => each.state === 'sent' || isQueued(each))) {
    for (const id of about) {
      found.delete(id);
    }
  }
  return found;
}
