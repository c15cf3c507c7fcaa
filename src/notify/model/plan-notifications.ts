/** Decides which deliveries conditions need. */
import type { ConditionCode } from '../../core/condition-codes.ts';
import { CONDITION_RULES } from '../../core/condition-codes.ts';
import type { Condition, NotificationDelivery, Notified } from '../../store/notifications.ts';
import { inhibited, isFlapping } from './condition.ts';
import { hasArrived, isQueued } from './delivery.ts';

/** Rules of one channel. */
export interface ChannelRules {
  readonly name: string;
  /** Returns true if a route of the configuration leads here. */
  readonly wants: (condition: Condition) => boolean;
  /** Milliseconds between reminders of what still fires; null: none. */
  readonly repeatInterval: number | null;
  /** True: one incident with one end, which quiet hours never hold. */
  readonly isPager: boolean;
  /** End of the quiet hours that hold its messages now; null outside quiet hours. */
  readonly quietUntil: number | null;
}

export interface NotificationState {
  readonly conditions: readonly Condition[];
  /** Deliveries that are queued, and those that announced a condition of `notified`. */
  readonly deliveries: readonly NotificationDelivery[];
  readonly notified: readonly Notified[];
}

export interface NotificationInput extends NotificationState {
  readonly channels: readonly ChannelRules[];
  readonly isSilenced: (condition: Condition) => boolean;
  readonly now: number;
  readonly newId: () => string;
}

export interface NotificationPlan {
  readonly created: readonly NotificationDelivery[];
  /** Ids of deliveries that are not needed any more: none of their conditions fires, and nobody has them. */
  readonly cancelled: readonly string[];
  /** Complete. */
  readonly notified: readonly Notified[];
  /** Time at which this function has to be called again without a change; null if never. */
  readonly wakeAt: number | null;
}

/** Conditions that fire within this time are one message. */
export const GROUP_WAIT = 30_000;
/** Resolved conditions wait this long for the others of their message. */
export const GROUP_INTERVAL = 5 * 60_000;

/** Plans the deliveries of all channels. Creates none twice: what it created is part of its next input. */
export function planNotifications(input: NotificationInput): NotificationPlan {
  const timer = new Timer(input.now);
  const cancelled = withoutConditions(input);
  // What a channel never took is announced again.
  const lost = input.deliveries.filter((each) => each.state === 'failed' && !hasArrived(each)).map(({ id }) => id);
  const dropped = new Set([...cancelled, ...lost]);
  const told = input.notified.filter(({ thread }) => !dropped.has(thread));
  const plans = input.channels.map((channel) => planChannel(input, channel, told, timer));
  const known = new Set(input.channels.map(({ name }) => name));
  return {
    created: plans.flatMap(({ created }) => created),
    cancelled,
    notified: plans.flatMap(({ notified }) => notified).concat(told.filter(({ channel }) => !known.has(channel))),
    wakeAt: timer.at,
  };
}

/** Earliest time in the future at which something has to happen. */
class Timer {
  readonly #now: number;
  at: number | null = null;

  constructor(now: number) {
    this.#now = now;
  }

  /** Returns true if the time has come; otherwise remembers it. */
  isDue(at: number): boolean {
    if (at > this.#now) {
      this.at = this.at === null ? at : Math.min(this.at, at);
    }
    return at <= this.#now;
  }
}

/** Finds announcements that nobody has, and whose conditions are all resolved. */
function withoutConditions({ deliveries, conditions }: NotificationInput): readonly string[] {
  const firing = new Set(conditions.filter(({ state }) => state === 'firing').map(({ id }) => id));
  return deliveries
    .filter((each) => each.kind === 'firing' && isQueued(each) && !hasArrived(each))
    .filter(({ about }) => !about.some((id) => firing.has(id)))
    .map(({ id }) => id);
}

interface ChannelPlan {
  readonly created: readonly NotificationDelivery[];
  readonly notified: readonly Notified[];
}

function planChannel(
  input: NotificationInput,
  channel: ChannelRules,
  told: readonly Notified[],
  timer: Timer,
): ChannelPlan {
  const own = new Map(told.filter((each) => each.channel === channel.name).map((each) => [each.condition, each]));
  const isHeld = channel.quietUntil !== null && !channel.isPager;
  if (isHeld) {
    timer.isDue(channel.quietUntil ?? 0);
  }
  return isHeld
    ? { created: [], notified: [...own.values()] }
    : join(
        announce(input, channel, own, timer),
        resolve(input, channel, own, timer),
        remind(input, channel, own, timer),
      );
}

function join(...plans: readonly ChannelPlan[]): ChannelPlan {
  // Each step returns the notices that it changed or added; the last one returns all others as well.
  const byCondition = new Map<string, Notified>();
  for (const { notified } of plans.toReversed()) {
    for (const each of notified) {
      byCondition.set(each.condition, each);
    }
  }
  return { created: plans.flatMap(({ created }) => created), notified: [...byCondition.values()] };
}

function announce(
  { conditions, isSilenced, now, newId }: NotificationInput,
  channel: ChannelRules,
  own: ReadonlyMap<string, Notified>,
  timer: Timer,
): ChannelPlan {
  const fresh = conditions.filter(
    (each) => each.state === 'firing' && !own.has(each.id) && channel.wants(each) && !isSilenced(each),
  );
  const created: NotificationDelivery[] = [];
  for (const [, group] of Map.groupBy(fresh, ({ fact }) => fact.code as ConditionCode)) {
    const first = Math.min(...group.map(({ firedAt }) => firedAt ?? now));
    if (timer.isDue(first + GROUP_WAIT)) {
      const id = newId();
      created.push(newDelivery({ id, thread: id, kind: 'firing', about: group.map((each) => each.id) }, channel, now));
    }
  }
  const notified = created.flatMap(({ id, about }) =>
    about.map((condition) => ({ channel: channel.name, condition, thread: id, toldAt: now, resolved: null })),
  );
  return { created, notified };
}

function resolve(
  input: NotificationInput,
  channel: ChannelRules,
  own: ReadonlyMap<string, Notified>,
  timer: Timer,
): ChannelPlan {
  const { now, newId } = input;
  const byId = new Map(input.conditions.map((each) => [each.id, each]));
  const arrived = new Map(input.deliveries.map((each) => [each.id, each]));
  const plan: { created: NotificationDelivery[]; notified: Notified[] } = { created: [], notified: [] };
  for (const [thread, members] of Map.groupBy(own.values(), (each) => each.thread)) {
    const announcement = arrived.get(thread);
    const untold = members.filter(
      ({ condition, resolved }) => resolved === null && byId.get(condition)?.state !== 'firing',
    );
    const isOver = members.every(({ condition }) => byId.get(condition)?.state !== 'firing');
    const since = Math.min(...untold.map(({ condition }) => byId.get(condition)?.resolvedAt ?? now));
    // An announcement that waits to be sent says itself what is resolved by then.
    const isTold = announcement === undefined || hasArrived(announcement);
    const isDue = untold.length > 0 && isTold && (isOver || (!channel.isPager && timer.isDue(since + GROUP_INTERVAL)));
    if (isDue) {
      const id = newId();
      const about = untold.map(({ condition }) => condition);
      plan.created.push(newDelivery({ id, thread, kind: 'resolved', about }, channel, now));
      plan.notified.push(...untold.map((each) => ({ ...each, resolved: id })));
    }
  }
  return plan;
}

function remind(
  input: NotificationInput,
  channel: ChannelRules,
  own: ReadonlyMap<string, Notified>,
  timer: Timer,
): ChannelPlan {
  const { conditions, now, newId, isSilenced } = input;
  const { repeatInterval } = channel;
  if (repeatInterval === null) {
    return { created: [], notified: [...own.values()] };
  }
  const causes = inhibited(conditions.filter(({ state }) => state === 'firing').map(({ fact }) => fact));
  const due = conditions.filter((each) => {
    const notice = own.get(each.id);
    return (
      each.state === 'firing' &&
      notice !== undefined &&
      CONDITION_RULES[each.fact.code].severity === 'page' &&
      !causes.has(each.fact) &&
      !isSilenced(each) &&
      !isFlapping(each) &&
      timer.isDue(notice.toldAt + repeatInterval)
    );
  });
  const created = [...Map.groupBy(due, ({ id }) => own.get(id)?.thread ?? id)].map(([thread, group]) =>
    newDelivery({ id: newId(), thread, kind: 'reminder', about: group.map(({ id }) => id) }, channel, now),
  );
  const reminded = new Set(due.map(({ id }) => id));
  return {
    created,
    notified: [...own.values()].map((each) => (reminded.has(each.condition) ? { ...each, toldAt: now } : each)),
  };
}

function newDelivery(
  part: Pick<NotificationDelivery, 'id' | 'thread' | 'kind' | 'about'>,
  { name }: ChannelRules,
  now: number,
): NotificationDelivery {
  return { ...part, channel: name, createdAt: now, state: 'queued', mayHaveArrived: false };
}
