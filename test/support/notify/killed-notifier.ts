/** A notifier whose process can be killed before or after any step: a call of the store, or a send. */
import type { NotificationsConfig } from '../../../src/config/notifications.ts';
import { WakeUpSignal } from '../../../src/core/clock.ts';
import { type Channel, ChannelError, type Receipt } from '../../../src/notify/channel.ts';
import { DeliveryLoop } from '../../../src/notify/delivery-loop.ts';
import type { Notification } from '../../../src/notify/messages.ts';
import { channelRules, Notifier } from '../../../src/notify/notifier.ts';
import type {
  DeliveryAttempt,
  Fact,
  NotificationDelivery,
  NotificationEvent,
  Notifications,
} from '../../../src/store/notifications.ts';

/** Outcome of a send. `lost-before`: no answer, and the message has not arrived; `lost-after`: it has. */
export type Outcome = 'sent' | 'refused' | 'limited' | 'rejected' | 'lost-before' | 'lost-after';

/** A message that arrived. */
export interface Received {
  readonly delivery: NotificationDelivery;
  readonly receipt: Receipt | null;
}

/** Rules of the campaign: two chats, one of them with quiet hours, and a pager. */
const CONFIG: Pick<NotificationsConfig, 'for' | 'groupInterval' | 'groupWait' | 'quietHours' | 'routes'> = {
  for: {},
  groupWait: 30_000,
  groupInterval: 300_000,
  quietHours: [{ cron: '0 22 * * *', duration: 8 * 3_600_000, timezone: 'UTC', channels: ['night', 'pager'] }],
  routes: [
    { channels: ['chat', 'night'] },
    { channels: ['pager'], severities: ['page', 'warning'] },
    { channels: ['night', 'chat'], codes: ['applied', 'approved'] },
  ],
};
const CHANNELS = [
  { name: 'chat', isPager: false },
  { name: 'night', isPager: false },
  { name: 'pager', isPager: true },
] as const;

/** A process. */
interface Running {
  readonly notifications: Notifications;
  readonly notifier: Notifier;
  readonly loops: readonly DeliveryLoop[];
  readonly killed: Promise<void>;
}

/** The machine: its state file, its channels and its clock survive each process. */
export class KilledNotifier {
  now = Date.UTC(2026, 10, 23, 12);
  /** Outcomes of the next sends; afterwards every channel works. */
  outcomes: Outcome[] = [];
  readonly received: Received[] = [];
  /** Ids of deliveries whose answer was lost, or whose process was killed while it sent them. */
  readonly uncertain = new Set<string>();
  /** Names of the steps at which a process was killed. */
  readonly deaths: string[] = [];
  #stepsLeft = Number.POSITIVE_INFINITY;
  #ids = 0;
  readonly #disk: Notifications;
  #process: Running;

  constructor(disk: Notifications) {
    this.#disk = disk;
    this.#process = this.#start();
  }

  get disk(): Notifications {
    return this.#disk;
  }

  rules() {
    return channelRules(CONFIG, CHANNELS, this.now);
  }

  /** Kills the process at one of its next steps: before and after each step are two of them. */
  killAfter(steps: number): void {
    this.#stepsLeft = steps;
  }

  report(reporter: string, facts: readonly Fact[]): Promise<void> {
    return this.#run(({ notifications }) => notifications.report({ reporter, facts }));
  }

  addEvents(events: readonly NotificationEvent[]): Promise<void> {
    return this.#run(({ notifications }) => notifications.addEvents(events));
  }

  advance(): Promise<void> {
    return this.#run(({ notifier }) => notifier.advance());
  }

  /** Sends the next delivery of a channel, if one is due. */
  async send(channel: number): Promise<boolean> {
    const before = this.received.length + this.outcomes.length;
    const signal = new AbortController().signal;
    let hasSent = false;
    await this.#run(async ({ loops }) => {
      hasSent = (await loops[channel % CHANNELS.length]?.sendNext(signal, signal)) ?? false;
    });
    return hasSent || before !== this.received.length + this.outcomes.length;
  }

  /** Lets everything happen that is due within this time, with channels that work. */
  async settle(milliseconds: number): Promise<void> {
    this.#stepsLeft = Number.POSITIVE_INFINITY;
    this.outcomes = [];
    for (const end = this.now + milliseconds; this.now < end; ) {
      let wakeAt: number | null = null;
      await this.#run(async ({ notifier }) => {
        wakeAt = await notifier.advance();
      });
      for (const channel of CHANNELS.keys()) {
        while (await this.send(channel)) {
          await this.advance();
        }
      }
      const due = await Promise.all(CHANNELS.map(({ name }) => this.#disk.dueAt(name)));
      const times = [wakeAt, ...due].flatMap((at) => (at !== null && at > this.now ? [at] : []));
      // A channel that paused after a failure tries again without a change of the state.
      this.now = Math.min(end, this.now + 3_600_000, ...times);
    }
  }

  async #run(work: (running: Running) => Promise<unknown>): Promise<void> {
    const isKilled = await Promise.race([work(this.#process).then(() => false), this.#process.killed.then(() => true)]);
    if (isKilled) {
      for (const { id, state } of await this.#disk.deliveries({ isPending: true, limit: 1000 })) {
        if (state === 'open') {
          this.uncertain.add(id);
        }
      }
      this.#process = this.#start();
      await this.#disk.recover(this.now);
    }
  }

  #start(): Running {
    const { promise: killed, resolve: kill } = Promise.withResolvers<void>();
    let isDead = false;
    const step = async (name: string) => {
      this.#stepsLeft -= 1;
      if (this.#stepsLeft === 0) {
        this.deaths.push(name);
        isDead = true;
        kill();
      }
      if (isDead) {
        await new Promise(() => undefined);
      }
    };
    const clock = { now: () => this.now, monotonic: () => this.now, sleep: () => new Promise<void>(() => undefined) };
    const notifications = killable(this.#disk, step);
    const shared = { notifications, clock, ended: new WakeUpSignal(), created: new WakeUpSignal() };
    const notifier = new Notifier({
      ...{ ...shared, config: CONFIG, channels: CHANNELS, changed: shared.ended, onFiring: () => undefined },
      isWoken: () => true,
      newId: () => {
        this.#ids += 1;
        return `id${this.#ids}`;
      },
      onError: (error) => {
        throw error;
      },
    });
    const loops = CHANNELS.map(({ name, isPager }) => {
      let attempt: DeliveryAttempt | null = null;
      const channel: Channel = {
        ...{ name, isPager, close: async () => undefined },
        send: async () => this.#deliver(attempt as DeliveryAttempt, step),
      };
      const events = { onSent: () => undefined, onFailed: () => undefined, onError: () => undefined };
      const render = (given: DeliveryAttempt) => {
        attempt = given;
        return null as unknown as Notification;
      };
      return new DeliveryLoop({
        ...shared,
        channel,
        render,
        left: () => Number.POSITIVE_INFINITY,
        random: () => 0.5,
        events,
      });
    });
    return { notifications, notifier, loops, killed };
  }

  async #deliver(attempt: DeliveryAttempt, step: (name: string) => Promise<void>): Promise<Receipt> {
    const { delivery, receipt } = attempt;
    await step('before send');
    const outcome = this.outcomes.shift() ?? 'sent';
    if (outcome === 'sent' || outcome === 'lost-after') {
      this.received.push({ delivery, receipt });
    }
    await step('after send');
    if (outcome === 'sent') {
      return { message: delivery.id };
    }
    if (outcome.startsWith('lost')) {
      this.uncertain.add(delivery.id);
    }
    const failure = outcome === 'rejected' ? 'rejected' : outcome.startsWith('lost') ? 'unknown' : 'not-taken';
    throw new ChannelError('the channel failed', failure, outcome === 'limited' ? 90_000 : null);
  }
}

/** Wraps each call in two steps. */
function killable(disk: Notifications, step: (name: string) => Promise<void>): Notifications {
  const guarded = Object.entries(disk).map(([name, call]) => [
    name,
    async (...given: unknown[]) => {
      await step(`before ${name}`);
      const result: unknown = await (call as (...all: unknown[]) => Promise<unknown>)(...given);
      await step(`after ${name}`);
      return result;
    },
  ]);
  return Object.fromEntries(guarded) as Notifications;
}
