/** Messages and contexts for tests of channels. */
import { onTestFinished } from 'vitest';
import { type Clock, systemClock } from '../../../src/core/clock.ts';
import type { Channel, ChannelContext, Outgoing } from '../../../src/notify/channel.ts';
import type { MessageItem, Notification } from '../../../src/notify/messages.ts';

const START = Date.UTC(2026, 2, 14, 9, 0);

export function sampleItem(part: Partial<MessageItem> = {}): MessageItem {
  return {
    state: 'firing',
    organization: 'acme',
    summary: 'The token was refused',
    details: ['Create a new token'],
    url: 'https://octavo.example/o/acme',
    since: START,
    resolvedAt: null,
    ...part,
  };
}

export function sampleMessage(part: Partial<Notification> = {}): Notification {
  return {
    code: 'token-refused',
    severity: 'page',
    state: 'firing',
    title: 'The platform refuses the token: acme',
    items: [sampleItem()],
    more: 0,
    inhibited: 0,
    at: START + 60_000,
    ...part,
  };
}

/** The sample, resolved after five minutes. */
export function resolvedMessage(): Notification {
  const items = [sampleItem({ state: 'resolved', resolvedAt: START + 300_000 })];
  return sampleMessage({ state: 'resolved', items, at: START + 300_000 });
}

/** First message of a thread, unless `part` says otherwise. */
export function outgoing(part: Partial<Outgoing> = {}): Outgoing {
  return { id: 'ntf_1', thread: 'ntf_1', message: sampleMessage(), receipt: null, ...part };
}

/** Closes a channel and its receiver when the test has ended. */
export function endWithTest(channel: Channel, receiver: AsyncDisposable): Channel {
  onTestFinished(async () => {
    await channel.close();
    await receiver[Symbol.asyncDispose]();
  });
  return channel;
}

export function channelContext(clock: Clock = systemClock): ChannelContext {
  return { name: 'ops', userAgent: 'octavo/0.0.0', clock };
}

/** Clock of the system whose timers a test ends. */
export function manualClock(): Clock & { expire(): void } {
  const waiting = new Set<() => void>();
  return {
    ...systemClock,
    sleep: (_, signal) =>
      new Promise((resolve, reject) => {
        waiting.add(resolve);
        signal?.addEventListener('abort', () => {
          waiting.delete(resolve);
          reject(signal.reason);
        });
      }),
    expire() {
      for (const resolve of waiting) {
        resolve();
      }
    },
  };
}
