/** Plans one step of the notifier: from the stored state to the changes of it. */
import { type Condition, factKey, type NotifierChange, type NotifierState } from '../../store/notifications.ts';
import { advanceConditions, type ConditionInput } from './condition.ts';
import type { ChannelRules, NotificationPlan } from './plan.ts';
import { planNotifications } from './plan-notifications.ts';

/** Settings of the notifier at one time. */
export interface PlanSettings {
  readonly channels: readonly ChannelRules[];
  readonly durations: ConditionInput['durations'];
  readonly groupWait: number;
  readonly groupInterval: number;
}

/** Plans what follows from what is true now. */
export function planChange(
  state: NotifierState,
  settings: PlanSettings,
  now: number,
  newId: () => string,
): {
  readonly change: NotifierChange;
  readonly wakeAt: number | null;
  /** Conditions that fire. */
  readonly firing: readonly Condition[];
} {
  const last = lastEpisodes(state.conditions);
  const { durations } = settings;
  const advanced = advanceConditions({ facts: state.facts, conditions: last, durations, now, newId });
  const current = new Set(advanced.conditions.map(({ id }) => id));
  const removed = last.filter(({ id, state }) => state === 'pending' && !current.has(id)).map(({ id }) => id);
  const gone = new Set(removed);
  const earlier = state.conditions.filter(({ id }) => !current.has(id) && !gone.has(id));
  const plan = planNotifications({
    ...{ ...settings, now, newId },
    ...{ deliveries: state.deliveries, notified: state.notified, events: state.events },
    conditions: [...earlier, ...advanced.conditions],
  });
  const times = [advanced.wakeAt, plan.wakeAt];
  const wakeAt = times.reduce((a, b) => (a === null || b === null ? (a ?? b) : Math.min(a, b)), null);
  const firing = advanced.conditions.filter((each) => each.state === 'firing');
  return { change: { ...changesOf(state, advanced.conditions, plan), removed }, wakeAt, firing };
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
