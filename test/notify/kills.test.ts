/** Invariants of notifications when processes are killed between any two steps, and channels fail in every way. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ConditionCode } from '../../src/core/condition-codes.ts';
import { openMemoryStore } from '../../src/store/memory.ts';
import type { Condition, Fact } from '../../src/store/notifications.ts';
import { openSqliteStore } from '../../src/store/sqlite.ts';
import type { Store } from '../../src/store/store.ts';
import { countCases, SEED } from '../support/campaign.ts';
import { KilledNotifier, type Outcome } from '../support/notify/killed-notifier.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const CODES: readonly ConditionCode[] = [
  ...['drift', 'pass-failing', 'waiting-for-approval', 'stale', 'dead-letters', 'paused', 'platform-failing'],
] as ConditionCode[];
const OUTCOMES: readonly Outcome[] = ['sent', 'sent', 'refused', 'limited', 'rejected', 'lost-before', 'lost-after'];

type Step =
  | { readonly kind: 'facts'; readonly reporter: number; readonly codes: readonly number[] }
  | { readonly kind: 'event'; readonly number: number }
  | { readonly kind: 'time'; readonly minutes: number }
  | { readonly kind: 'advance' }
  | { readonly kind: 'send'; readonly channel: number; readonly outcome: Outcome }
  | { readonly kind: 'kill'; readonly after: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('facts' as const),
      reporter: fc.nat(2),
      codes: fc.array(fc.nat(CODES.length - 1), { maxLength: 4 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('event' as const), number: fc.nat(4) }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('time' as const),
      minutes: fc.oneof({ weight: 6, arbitrary: fc.nat(12) }, { weight: 1, arbitrary: fc.nat(30 * 60) }),
    }),
  },
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('advance' as const) }) },
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant('send' as const),
      channel: fc.nat(2),
      outcome: fc.constantFrom(...OUTCOMES),
    }),
  },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('kill' as const), after: fc.integer({ min: 1, max: 12 }) }) },
);

/** Returns the fact of a code. That of the platform has no organization. */
function factOf(code: ConditionCode, reporter: number, since: number): Fact {
  const organization = code === 'platform-failing' ? null : `org_${reporter}`;
  const token = code === 'platform-failing' ? null : `t${reporter}`;
  const scope = { organization, token, platform: 'p' };
  return { code, scope, subject: '', since, summary: code, details: [], path: null };
}

/**
 * Runs steps, and then lets all that waits happen three times: with what is true then, once nothing is, and after one more
 * message to each channel.
 */
class Campaign {
  readonly machine: KilledNotifier;
  readonly #store: Store;
  readonly #events = new Set<string>();

  constructor(store: Store) {
    this.#store = store;
    this.machine = new KilledNotifier(store.notifications());
  }

  async run(steps: readonly Step[]): Promise<void> {
    for (const each of steps) {
      await this.#step(each);
    }
    await this.machine.settle(60 * HOUR);
    await this.#checkAnnounced();
    for (const reporter of [0, 1, 2]) {
      await this.machine.report(`org_${reporter}`, []);
    }
    await this.machine.settle(60 * HOUR);
    await this.#checkEnded();
    for (const facts of [[factOf('waiting-for-approval', 3, this.machine.now)], []]) {
      await this.machine.report('org_3', facts);
      await this.machine.settle(24 * HOUR);
    }
    expect((await this.machine.disk.conditions(1000)).filter(({ state }) => state === 'firing')).toEqual([]);
    await this.#checkEnded();
    this.#checkRepeated();
    await this.#store.close();
  }

  async #step(each: Step): Promise<void> {
    const { machine } = this;
    switch (each.kind) {
      case 'facts': {
        const codes = [...new Set(each.codes)].flatMap((code) => CODES[code] ?? []);
        const facts = codes.map((code) => factOf(code, each.reporter, machine.now));
        return machine.report(`org_${each.reporter}`, facts);
      }
      case 'event': {
        const id = `event ${each.number}`;
        const code = each.number % 2 === 0 ? 'applied' : 'approved';
        const what = { code, organization: 'org_1', summary: id, details: [], path: null } as const;
        // A killed process may not have stored it.
        await machine.addEvents([{ ...what, id, at: machine.now }]);
        await machine.disk.addEvents([{ ...what, id, at: machine.now }]);
        this.#events.add(id);
        return;
      }
      case 'time':
        machine.now += each.minutes * MINUTE;
        return;
      case 'advance':
        return machine.advance();
      case 'send':
        machine.outcomes = [each.outcome];
        await machine.send(each.channel);
        return;
      case 'kill':
        machine.killAfter(each.after);
    }
  }

  #received(channel: string, about: string) {
    return this.machine.received.filter(
      ({ delivery }) => delivery.channel === channel && delivery.about.includes(about),
    );
  }

  /** All that fires, and every event, has reached each of its channels. */
  async #checkAnnounced(): Promise<void> {
    const conditions = await this.machine.disk.conditions(1000);
    const firing = conditions.filter(({ state }) => state === 'firing');
    for (const rules of this.machine.rules()) {
      for (const condition of firing.filter((each) => rules.wants(each))) {
        const kinds = this.#received(rules.name, condition.id).map(({ delivery }) => delivery.kind);
        expect(kinds, `${rules.name} ${condition.fact.code}`).toSatisfy((all: string[]) =>
          all.some((kind) => kind !== 'resolved'),
        );
      }
      if (!rules.isPager) {
        // An event that a channel refused for 24 hours is given up.
        const all = await this.machine.disk.deliveries({ channel: rules.name, isPending: true, limit: 1000 });
        const failed = new Set(all.flatMap(({ about }) => about));
        for (const id of this.#events.difference(failed)) {
          expect(this.#received(rules.name, id).length, `${rules.name} ${id}`).toBeGreaterThanOrEqual(1);
        }
      }
    }
  }

  /** Everything that was announced has its end, in the same thread, and nothing else has one. */
  async #checkEnded(): Promise<void> {
    const { machine } = this;
    const conditions: readonly Condition[] = await machine.disk.conditions(1000);
    // A channel that has nothing to send counts as failing until its next message.
    const firing = conditions.filter(({ state }) => state === 'firing');
    expect(firing.filter(({ fact }) => fact.code !== 'channel-failing')).toEqual([]);
    const waiting = await machine.disk.deliveries({ isPending: true, limit: 1000 });
    expect(waiting.filter(({ state }) => state !== 'failed')).toEqual([]);
    const over = new Set(conditions.flatMap(({ id, state }) => (state === 'resolved' ? id : [])));
    const incidents = this.#openIncidents(new Set(firing.map(({ id }) => id)));
    for (const [index, { delivery }] of machine.received.entries()) {
      const sameThread = machine.received.filter((each) => each.delivery.thread === delivery.thread);
      expect(new Set(sameThread.map((each) => each.delivery.channel)).size).toBe(1);
      if (delivery.kind !== 'resolved' && !incidents.has(delivery.thread)) {
        for (const condition of delivery.about.filter((id) => over.has(id))) {
          const isEnded = machine.received
            .slice(index + 1)
            .some((later) => later.delivery.kind === 'resolved' && isAbout(later.delivery, delivery.thread, condition));
          expect(isEnded, `resolve of ${condition} in ${delivery.channel}`).toBe(true);
        }
      }
      if (delivery.kind === 'resolved' && !machine.uncertain.has(delivery.thread)) {
        for (const condition of delivery.about) {
          const isAnnounced = machine.received
            .slice(0, index)
            .some((earlier) => isAbout(earlier.delivery, delivery.thread, condition));
          expect(isAnnounced, `announcement of ${condition} in ${delivery.channel}`).toBe(true);
        }
      }
      if (sameThread.indexOf(machine.received[index] as never) > 0 && !machine.uncertain.has(delivery.thread)) {
        expect(machine.received[index]?.receipt).toEqual({ message: delivery.thread });
      }
    }
  }

  /**
   * Returns the threads of pagers about a condition that fires. One message to a pager is one incident, which is resolved
   * once everything in it is: if two channels fail and one of them has nothing more to send, the incident stays open until
   * that one takes its next message.
   */
  #openIncidents(firing: ReadonlySet<string>): ReadonlySet<string> {
    const pagers = new Set(this.machine.rules().flatMap(({ name, isPager }) => (isPager ? name : [])));
    const open = this.machine.received.filter(
      ({ delivery }) => pagers.has(delivery.channel) && delivery.about.some((id) => firing.has(id)),
    );
    return new Set(open.map(({ delivery }) => delivery.thread));
  }

  /** Nothing arrived twice whose answer was not lost. */
  #checkRepeated(): void {
    const { machine } = this;
    const times = Map.groupBy(machine.received, ({ delivery }) => delivery.id);
    for (const [id, all] of times) {
      expect(all.length === 1 || machine.uncertain.has(id), `${id} arrived ${all.length} times`).toBe(true);
    }
    const announcements = [...times.values()].flatMap(([first]) => {
      const { delivery } = first as (typeof machine.received)[number];
      return delivery.id === delivery.thread && !machine.uncertain.has(delivery.id)
        ? delivery.about.map((id) => `${delivery.channel} ${id}`)
        : [];
    });
    expect(new Set(announcements).size).toBe(announcements.length);
  }
}

function isAbout(delivery: { readonly thread: string; readonly about: readonly string[] }, thread: string, id: string) {
  return delivery.thread === thread && delivery.about.includes(id);
}

const steps = fc.array(step, { minLength: 10, maxLength: 120, size: 'max' });

describe('notifications, killed between any two steps', {
  timeout: countCases({ sample: 60, ci: 600, full: 3600 }) * 1000,
}, () => {
  test('lose nothing, repeat nothing whose answer arrived, and end what was announced, in memory', async () => {
    const deaths = new Set<string>();
    await fc.assert(
      fc.asyncProperty(steps, async (all) => {
        const campaign = new Campaign(openMemoryStore());
        await campaign.run(all);
        for (const death of campaign.machine.deaths) {
          deaths.add(death);
        }
      }),
      { numRuns: countCases({ sample: 60, ci: 120, full: 5000 }), seed: SEED, endOnFailure: true },
    );
    expect([...deaths].toSorted()).toEqual(
      ['advance', 'begin', 'end', 'report', 'send']
        .flatMap((name) => [`after ${name}`, `before ${name}`])
        .concat([...deaths].filter((name) => name.endsWith('addEvents')))
        .toSorted(),
    );
  });

  test('do so in the state file', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'octavo-kills-'));
    let files = 0;
    try {
      await fc.assert(
        fc.asyncProperty(steps, (all) => {
          files += 1;
          return new Campaign(openSqliteStore(join(folder, `${files}.db`))).run(all);
        }),
        { numRuns: countCases({ sample: 3, ci: 10, full: 100 }), seed: SEED },
      );
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
