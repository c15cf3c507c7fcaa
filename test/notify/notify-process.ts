/**
 * A separate process for the tests: notifies a webhook of the facts in a file, until it is killed. It prints a line
 * before and after each access to its state. Its pauses are short.
 */
import { readFileSync, writeSync } from 'node:fs';
import { flushCompileCache } from 'node:module';
import { systemClock, WakeUpSignal } from '../../src/core/clock.ts';
import { DeliveryLoop } from '../../src/notify/delivery-loop.ts';
import { buildNotification } from '../../src/notify/messages.ts';
import { Notifier } from '../../src/notify/notifier.ts';
import { openChannel } from '../../src/notify/open-channel.ts';
import type { Fact, Notifications } from '../../src/store/notifications.ts';
import { openSqliteStore } from '../../src/store/sqlite.ts';

const [file = '', factsFile = '', url = '', secret = ''] = process.argv.slice(2);
// A process that is killed does not store the code that it compiled; the next one starts faster with it.
flushCompileCache();
const SPEED = 50;
const clock = {
  ...systemClock,
  sleep: (milliseconds: number, signal?: AbortSignal) => systemClock.sleep(milliseconds / SPEED, signal),
};

const notifications = new Proxy(openSqliteStore(file).notifications(), {
  get(target, name: keyof Notifications) {
    const call = target[name].bind(target) as (...args: readonly unknown[]) => Promise<unknown>;
    return async (...args: readonly unknown[]) => {
      writeSync(1, '.\n');
      const result = await call(...args);
      writeSync(1, '.\n');
      return result;
    };
  },
});
const channel = await openChannel({ webhook: { url, secret } }, { name: 'bot', userAgent: 'octavo/0', clock });
const [changed, created] = [new WakeUpSignal(), new WakeUpSignal()];
const fail = (error: unknown) => {
  throw error;
};
let ids = 0;
const notifier = new Notifier({
  ...{ notifications, clock, changed, created, channels: [channel], onFiring: () => {}, onError: fail },
  config: {
    ...{ for: {}, groupWait: 0, groupInterval: 1, quietHours: [] },
    routes: [{ channels: ['bot'] }],
  },
  newId: () => {
    ids += 1;
    return `id_${process.pid}_${ids}`;
  },
});
const loop = new DeliveryLoop({
  ...{ channel, notifications, clock, random: Math.random, created, ended: changed },
  render: (attempt) => buildNotification(attempt, { publicUrl: null, templates: {}, redact: String }, clock.now()),
  events: { onSent: () => {}, onFailed: () => {}, onError: fail },
});

await notifications.recover(clock.now());
const never = new AbortController().signal;
void notifier.run(never);
void loop.run(never, never);
for (;;) {
  const facts = JSON.parse(readFileSync(factsFile, 'utf8')) as readonly Fact[];
  await notifier.report({ reporter: 'test', facts });
  await systemClock.sleep(5);
}
