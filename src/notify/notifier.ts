/** Turns what is true into conditions, and conditions and events into deliveries, by the routes of the configuration. */
import type { NotificationsConfig } from '../config/notifications.ts';
import { lastFiring } from '../config/windows.ts';
import type { Clock, WakeUpSignal } from '../core/clock.ts';
import { CONDITION_RULES } from '../core/condition-codes.ts';
import { largest, smallest } from '../core/lists.ts';
import {
  type Condition,
  type Fact,
  factKey,
  type Notifications,
  type NotifierChange,
  type NotifierState,
} from '../store/notifications.ts';
import type { Channel } from './channel.ts';
import { advanceConditions } from './conditions.ts';
import { type ChannelRules, type NotificationPlan, planNotifications } from './deliveries.ts';

type Channels = readonly Pick<Channel, 'name' | 'isPager'>[];

export interface NotifierOptions {
  readonly notifications: Notifications;
  readonly config: Pick<NotificationsConfig, 'for' | 'groupInterval' | 'groupWait' | 'quietHours' | 'routes'>;
  readonly channels: Channels;
  readonly clock: Clock;
  readonly newId: () => string;
  /** Wakes the notifier. */
  readonly changed: WakeUpSignal;
  /** Returns false while changes by other replicas do not wake it. */
  readonly isWoken: () => boolean;
  /** Notified when deliveries were created. */
  readonly created: WakeUpSignal;
  /** Called with all conditions that fire. */
  readonly onFiring: (conditions: readonly Condition[]) => void;
  /** Called when the state cannot be used. The notifier tries again. */
  readonly onError: (error: unknown) => void;
}

/** Milliseconds for which changes are collected. */
const SETTLE = 1000;
/** Longest wait in milliseconds, because the wall clock may be set meanwhile. */
const LONGEST_WAIT = 60_000;
/** Longest wait while changes by other replicas do not wake it. */
const CHECK_INTERVAL = 5000;
const RETRY = 10_000;

/** The notifier. What it does follows from the stored state alone, so that a restart loses and repeats nothing. */
export class Notifier {
  readonly #options: NotifierOptions;

  constructor(options: NotifierOptions) {
    this.#options = options;
  }

  /** Moves conditions on and creates their deliveries. Returns when it has to be called again; null: after a change. */
  async advance(): Promise<number | null> {
    const { notifications, clock, created, onFiring } = this.#options;
    const now = clock.now();
    let plan: ReturnType<typeof planChange> | null = null;
    await notifications.advance(now, (state) => {
      plan = planChange(state, this.#options, now);
      return plan.change;
    });
    const { change, wakeAt, firing } = plan as unknown as ReturnType<typeof planChange>;
    onFiring(firing);
    if (change.created.length > 0) {
      created.notify();
    }
    return wakeAt;
  }

  /** Works until the signal aborts. */
  async run(stopping: AbortSignal): Promise<void> {
    const { clock, changed, onError, isWoken } = this.#options;
    while (!stopping.aborted) {
      const seen = changed.count;
      let wait = isWoken() ? LONGEST_WAIT : CHECK_INTERVAL;
      try {
        const wakeAt = await this.advance();
        wait = wakeAt === null ? wait : Math.min(wait, Math.max(0, wakeAt - clock.now()));
      } catch (error) {
        onError(error);
        wait = RETRY;
      }
      await changed.wait(seen, wait, clock, stopping);
      if (changed.count !== seen) {
        await clock.sleep(SETTLE, stopping).catch(() => {});
      }
    }
  }
}

/** Plans what follows from what is true now. `firing`: conditions that fire. */
function planChange(
  state: NotifierState,
  { config, channels, newId }: Pick<NotifierOptions, 'config' | 'channels' | 'newId'>,
  now: number,
): { readonly change: NotifierChange; readonly wakeAt: number | null; readonly firing: readonly Condition[] } {
  const last = lastEpisodes(state.conditions);
  const advanced = advanceConditions({ facts: state.facts, conditions: last, durations: config.for, now, newId });
  const current = new Set(advanced.conditions.map(({ id }) => id));
  const removed = last.filter(({ id, state: each }) => each === 'pending' && !current.has(id)).map(({ id }) => id);
  const gone = new Set(removed);
  const plan = planNotifications({
    conditions: [...state.conditions.filter(({ id }) => !current.has(id) && !gone.has(id)), ...advanced.conditions],
    deliveries: state.deliveries,
    notified: state.notified,
    events: state.events,
    channels: channelRules(config, channels, now),
    groupWait: config.groupWait,
    groupInterval: config.groupInterval,
    now,
    newId,
  });
  const times = [advanced.wakeAt, plan.wakeAt].filter((at) => at !== null);
  return {
    change: { ...changesOf(state, advanced.conditions, plan), removed },
    wakeAt: times.length === 0 ? null : smallest(times),
    firing: advanced.conditions.filter((each) => each.state === 'firing'),
  };
}

/** Returns the last episode of each condition. */
function lastEpisodes(conditions: readonly Condition[]): readonly Condition[] {
  const endOf = ({ state, resolvedAt }: Condition) =>
    state === 'resolved' ? (resolvedAt ?? 0) : Number.POSITIVE_INFINITY;
  const last = new Map<string, Condition>();
  for (const condition of conditions) {
    const key = factKey(condition.fact);
    const other = last.get(key);
    if (other === undefined || endOf(condition) >= endOf(other)) {
      last.set(key, condition);
    }
  }
  return [...last.values()];
}

/** Leaves out what is stored already. */
function changesOf(
  state: NotifierState,
  conditions: readonly Condition[],
  plan: NotificationPlan,
): Omit<NotifierChange, 'removed'> {
  const before = new Map(state.conditions.map((each) => [each.id, JSON.stringify(each)]));
  const lines = (notified: NotifierState['notified']) =>
    notified
      .map((each) => JSON.stringify([each.channel, each.condition, each.thread, each.notifiedAt, each.resolved]))
      .toSorted()
      .join();
  return {
    conditions: conditions.filter((each) => before.get(each.id) !== JSON.stringify(each)),
    created: plan.created,
    cancelled: plan.cancelled,
    notified: lines(plan.notified) === lines(state.notified) ? null : plan.notified,
    events: plan.events,
  };
}

type Route = NotificationsConfig['routes'][number];

/** Returns the rules of channels at a time. */
export function channelRules(
  config: Pick<NotificationsConfig, 'routes' | 'quietHours'>,
  channels: Channels,
  now: number,
): readonly ChannelRules[] {
  return channels.map(({ name, isPager }) => {
    const routes = config.routes.filter((route) => route.channels.includes(name));
    return {
      name,
      isPager,
      // A channel that fails cannot say so itself.
      wants: ({ fact }) =>
        !(fact.code === 'channel-failing' && fact.subject === name) && routes.some((route) => leads(route, fact)),
      wantsEvent: ({ code, organization }) =>
        routes.some((route) => (route.codes?.includes(code) ?? false) && includes(route.organizations, organization)),
      ...quietTimes(config.quietHours, name, now),
    };
  });
}

function leads({ codes, severities, organizations }: Route, { code, scope }: Fact): boolean {
  return (
    (codes?.includes(code) ?? true) &&
    (severities?.includes(CONDITION_RULES[code].severity) ?? true) &&
    includes(organizations, scope.organization)
  );
}

/** Returns true if there is no list, or if it has the organization. */
function includes(organizations: readonly string[] | undefined, organization: string | null): boolean {
  return organizations === undefined || (organization !== null && organizations.includes(organization));
}

function quietTimes(
  quietHours: NotificationsConfig['quietHours'],
  channel: string,
  now: number,
): Pick<ChannelRules, 'quietUntil' | 'quietEndedAt'> {
  const latest = (times: readonly number[]) => (times.length === 0 ? null : largest(times));
  const ends = quietHours
    .filter(({ channels }) => channels.includes(channel))
    .flatMap((window) => {
      const start = lastFiring(window, now);
      return start === null ? [] : start + window.duration;
    });
  return {
    quietUntil: latest(ends.filter((end) => end > now)),
    quietEndedAt: latest(ends.filter((end) => end <= now)),
  };
}
