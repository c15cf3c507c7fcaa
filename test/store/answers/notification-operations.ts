/** Operations on notifications. */
import fc from 'fast-check';
import {
  type Condition,
  factKey,
  type NotificationDelivery,
  type NotifierChange,
  type NotifierState,
} from '../../../src/store/notifications.ts';
import { few, methods, name, now, type Operation, operation, orNull, text, time } from './operation.ts';

const code = fc.constantFrom('pass-failing' as const, 'drift' as const);
const channel = fc.constantFrom('ops', 'docs');

export const event = fc.record({
  id: fc.tuple(name, fc.nat(3)).map((parts) => parts.join('/')),
  code: fc.constant('applied' as const),
  organization: name,
  at: time,
  summary: text,
  details: few(text),
  path: fc.constant(null),
});

const fact = fc.record({
  code,
  scope: fc.record({ organization: orNull(name), token: fc.constant(null), platform: fc.constant(null) }),
  subject: name,
  since: time,
  summary: text,
  details: fc.constant([]),
  path: fc.constant(null),
});

const report = fc.record({ reporter: name, facts: few(fact, 5) });

/** Choices of a notifier. `id` makes its ids new. */
const choices = fc.record({
  id: fc.nat(1e9),
  fires: fc.boolean(),
  cancels: fc.boolean(),
  routes: fc.array(channel, { minLength: 1, maxLength: 2 }),
});
type Choices = typeof choices extends fc.Arbitrary<infer T> ? T : never;

/** Returns what a notifier may want in this state. */
function plan(state: NotifierState, { id, fires, cancels, routes }: Choices, at: number): NotifierChange {
  const keys = new Set(state.facts.map(factKey));
  const open = state.conditions.filter((condition) => condition.state !== 'resolved');
  const known = new Set(open.map((condition) => factKey(condition.fact)));
  const times = { firedAt: fires ? at : null, resolvedAt: null, clearSince: null };
  const begun = state.facts
    .filter((each) => !known.has(factKey(each)))
    .map(
      (each, index): Condition => ({
        ...{ id: `${id}/${index}`, fact: each, state: fires ? 'firing' : 'pending', since: each.since, ...times },
        ...{ isInhibited: !fires, starts: [at] },
      }),
    );
  const ended = open.filter((condition) => !keys.has(factKey(condition.fact)));
  const resolved = ended
    .filter((condition) => condition.state === 'firing')
    .map((condition): Condition => ({ ...condition, state: 'resolved', resolvedAt: at }));
  const subjects = fires ? begun.map((condition) => condition.id) : state.events.map((each) => each.event.id);
  const created = (subjects.length === 0 ? [] : [...new Set(routes)]).map((to): NotificationDelivery => {
    const delivery = `${id}/${to}`;
    const thread = state.notified.find((each) => each.channel === to && !fires)?.thread ?? delivery;
    return {
      ...{ id: delivery, channel: to, thread, kind: fires ? 'firing' : 'event', about: subjects, createdAt: at },
      ...{ state: 'queued', mayHaveArrived: false },
    };
  });
  const gone = new Set(resolved.map((condition) => condition.id));
  const notified = created.flatMap(({ channel: to, thread }) =>
    begun.map((condition) => ({ channel: to, condition: condition.id, thread, notifiedAt: at, resolved: null })),
  );
  return {
    conditions: [...begun, ...resolved],
    removed: ended.filter((condition) => condition.state === 'pending').map((condition) => condition.id),
    created,
    cancelled: cancels ? state.deliveries.slice(0, 1).map((delivery) => delivery.id) : [],
    notified: [...state.notified.filter((each) => !gone.has(each.condition)), ...(fires ? notified : [])],
    events: state.events.slice(0, 2).map((each) => ({ id: each.event.id, channels: cancels ? routes : [] })),
  };
}

const result = fc.oneof(
  fc.record({ result: fc.constant('sent' as const), receipt: orNull(fc.constant({ ts: '1' })), at: time }),
  fc.record({
    result: fc.constantFrom('not-taken' as const, 'unknown' as const),
    reason: text,
    nextAttemptAt: time.map((at) => at + 0.5),
  }),
  fc.record({ result: fc.constant('failed' as const), mayHaveArrived: fc.boolean(), reason: text, at: time }),
);

const query = fc.record({
  channel: fc.option(channel, { nil: undefined }),
  isPending: fc.boolean(),
  limit: fc.nat(6),
});

export const NOTIFICATION_OPERATIONS: Readonly<Record<string, Operation>> = {
  ...methods(
    'notifications',
    (store) => store.notifications(),
    {
      report: [report],
      retainReporters: [few(name, 7)],
      addEvents: [few(event)],
      begin: [channel, now],
      dueAt: [channel],
      recover: [time],
      cancelAttempts: [channel, time],
      retryEvents: [orNull(channel)],
      conditions: [fc.nat(6)],
      facts: [],
      deliveries: [query],
      lastSent: [],
    },
    { report: 4, begin: 3 },
  ),
  'notifications.advance': operation(
    fc.tuple(time, choices),
    async ({ store }, [at, chosen]) => {
      const states: NotifierState[] = [];
      await store.notifications().advance(at, (state) => {
        states.splice(0, 1, state);
        return plan(state, chosen, at);
      });
      return states;
    },
    6,
  ),
  'notifications.end': operation(
    fc.tuple(channel, now, result, report),
    async ({ store }, [to, at, how, facts]) => {
      const attempt = await store.notifications().begin(to, at);
      await store.notifications().end(attempt?.delivery.id ?? 'none', how, facts);
      return attempt;
    },
    4,
  ),
};
