/** Invariants of notifications: nothing that fires is lost, and everything that was announced gets its end. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ConditionCode } from '../../src/core/condition-codes.ts';
import { advanceConditions } from '../../src/notify/conditions.ts';
import { type ChannelRules, hasArrived, isQueued, planNotifications } from '../../src/notify/deliveries.ts';
import {
  type Condition,
  type Fact,
  factKey,
  type NotificationDelivery,
  type Notified,
} from '../../src/store/notifications.ts';

const MINUTE = 60_000;

const fact = (code: ConditionCode, organization: string | null, since: number): Fact => ({
  code,
  scope: { organization, token: 't1', platform: 'p1' },
  subject: '',
  since,
  summary: code,
  details: [],
  path: null,
});

/** Outcome of sending: the channel has it, or not, and the sender knows it, or not. */
type Outcome = 'sent' | 'refused' | 'lost-before' | 'lost-after' | 'killed-before' | 'killed-after';

interface Receipt {
  readonly delivery: NotificationDelivery;
  readonly firing: readonly string[];
}

/** Notifier whose state survives a kill at any step. */
class World {
  now = 0;
  facts: Fact[] = [];
  conditions: readonly Condition[] = [];
  deliveries: NotificationDelivery[] = [];
  notified: readonly Notified[] = [];
  readonly received: Receipt[] = [];
  readonly uncertain = new Set<string>();
  #ids = 0;
  readonly channels: ChannelRules[];

  constructor(channels: readonly Partial<ChannelRules>[] = [{}]) {
    this.channels = channels.map((rules, index) => ({
      name: `c${index}`,
      wants: () => true,
      isPager: false,
      quietUntil: null,
      quietEndedAt: null,
      wantsEvent: () => false,
      ...rules,
    }));
  }

  evaluate(): void {
    const newId = () => {
      this.#ids += 1;
      return `id${this.#ids}`;
    };
    const { conditions } = advanceConditions({ ...this, durations: {}, newId });
    const plan = planNotifications({
      ...this,
      ...{ conditions, newId, events: [], groupWait: 30_000, groupInterval: 5 * MINUTE },
    });
    this.conditions = conditions;
    this.notified = plan.notified;
    this.deliveries = this.deliveries
      .map((each): NotificationDelivery => (plan.cancelled.includes(each.id) ? { ...each, state: 'cancelled' } : each))
      .concat(plan.created);
  }

  /** Sends the oldest queued delivery of a channel. */
  deliver(channel: string, outcome: Outcome): void {
    const next = this.deliveries.find((each) => each.channel === channel && isQueued(each));
    if (next === undefined) {
      return;
    }
    // A new process finds it open, and cannot know whether it arrived.
    const mayHaveArrived = next.mayHaveArrived || next.state === 'open';
    const set = (change: Partial<NotificationDelivery>) => {
      this.deliveries = this.deliveries.map((each) => (each.id === next.id ? { ...each, ...change } : each));
    };
    set({ state: 'open', mayHaveArrived });
    if (outcome === 'killed-before') {
      this.uncertain.add(next.id);
      return;
    }
    if (outcome === 'sent' || outcome === 'lost-after' || outcome === 'killed-after') {
      const firing = this.conditions.filter(({ id, state }) => state === 'firing' && next.about.includes(id));
      this.received.push({ delivery: next, firing: firing.map(({ id }) => id) });
    }
    if (outcome === 'killed-after') {
      this.uncertain.add(next.id);
    } else if (outcome === 'sent') {
      set({ state: 'sent' });
    } else if (outcome === 'refused') {
      set({ state: mayHaveArrived ? 'queued' : 'refused' });
    } else {
      this.uncertain.add(next.id);
      set({ state: 'queued', mayHaveArrived: true });
    }
  }

  /** Lets everything that waits happen, with channels that work. */
  settle(): void {
    for (let round = 0; round < 40; round += 1) {
      this.now += 5 * MINUTE;
      this.evaluate();
      for (const { name } of this.channels) {
        while (this.deliveries.some((each) => each.channel === name && isQueued(each))) {
          this.deliver(name, 'sent');
        }
      }
    }
  }

  told(channel: string, kind: NotificationDelivery['kind'], condition: string): readonly Receipt[] {
    return this.received.filter(
      ({ delivery }) => delivery.channel === channel && delivery.kind === kind && delivery.about.includes(condition),
    );
  }
}

const step = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('facts' as const), on: fc.array(fc.nat(5), { maxLength: 6 }) }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('time' as const), minutes: fc.integer({ min: 0, max: 20 }) }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('deliver' as const),
      channel: fc.nat(1),
      outcome: fc.constantFrom<Outcome>(
        'sent',
        'refused',
        'lost-before',
        'lost-after',
        'killed-before',
        'killed-after',
      ),
    }),
  },
);

const CODES: readonly ConditionCode[] = [
  'drift',
  'pass-failing',
  'waiting-for-approval',
  'stale',
  'dead-letters',
  'paused',
];

describe('notifications, with kills and failing channels', () => {
  test('lose nothing that fires, and end everything that was announced', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const world = new World([{}, { isPager: true }]);
        for (const each of steps) {
          if (each.kind === 'facts') {
            const before = new Map(world.facts.map((fact) => [factKey(fact), fact]));
            world.facts = [...new Set(each.on)].map((index) => {
              const fresh = fact(CODES[index] ?? 'drift', 'org_1', world.now);
              return before.get(factKey(fresh)) ?? fresh;
            });
            world.evaluate();
          } else if (each.kind === 'time') {
            world.now += each.minutes * MINUTE;
            world.evaluate();
          } else {
            world.deliver(`c${each.channel}`, each.outcome);
          }
        }
        world.settle();
        const firing = world.conditions.filter(({ state }) => state === 'firing');
        for (const { name } of world.channels) {
          for (const { id } of firing) {
            expect(world.told(name, 'firing', id).length).toBeGreaterThanOrEqual(1);
          }
        }
        world.facts = [];
        world.settle();
        expect(world.conditions.filter(({ state }) => state === 'firing')).toEqual([]);
        for (const { delivery } of world.received) {
          const times = world.received.filter((each) => each.delivery.id === delivery.id).length;
          expect(times === 1 || world.uncertain.has(delivery.id)).toBe(true);
          if (delivery.kind === 'firing') {
            for (const condition of delivery.about) {
              expect(world.told(delivery.channel, 'resolved', condition).length).toBeGreaterThanOrEqual(1);
            }
          }
        }
        for (const { delivery } of world.received.filter((each) => each.delivery.kind === 'resolved')) {
          const announced = world.deliveries.find(({ id }) => id === delivery.thread);
          expect(announced !== undefined && hasArrived(announced)).toBe(true);
        }
      }),
      { numRuns: 300 },
    );
  });

  test('tell 500 organizations behind a dead platform as one condition and one end', () => {
    const world = new World([{ isPager: true }]);
    const dead: Fact = {
      ...fact('platform-failing', null, 0),
      scope: { organization: null, token: null, platform: 'p1' },
    };
    const children = Array.from({ length: 500 }, (_, index) => fact('pass-failing', `org_${index}`, 0));
    world.facts = [dead, ...children];
    world.evaluate();
    world.settle();
    world.facts = [];
    world.settle();
    expect(world.received.map(({ delivery }) => [delivery.kind, delivery.about.length])).toEqual([
      ['firing', 1],
      ['resolved', 1],
    ]);
  });
});

test('an event of a replica whose clock is an hour ahead is announced like others', () => {
  const [channel] = new World([{ wantsEvent: () => true }]).channels as [ChannelRules];
  const plan = (at: number) =>
    planNotifications({
      ...{ now: 1000, conditions: [], deliveries: [], notified: [], channels: [channel] },
      ...{ newId: () => 'id', groupWait: 30_000, groupInterval: 5 * MINUTE },
      events: [
        {
          event: { id: 'e', code: 'applied', organization: 'a', at, summary: '', details: [], path: null },
          channels: null,
        },
      ],
    }).created.length;
  expect(plan(1000 - 30_000)).toBe(1);
  expect(plan(1000)).toBe(0);
  expect(plan(1000 + 60 * MINUTE)).toBe(1);
});
