/** Prometheus metrics of notifications. */
import type { Registry } from 'prom-client';
import { counter, gauge } from './instruments.ts';

const OUTCOMES = ['sent', 'failed', 'given-up'] as const;
type NotificationOutcome = (typeof OUTCOMES)[number];

export interface NotificationMetrics {
  /** Exports the attempts of these channels from now on, beginning with 0: Prometheus sees only increases of known values. */
  channels(names: readonly string[]): void;
  /** Counts an attempt to send a notification. */
  notification(channel: string, outcome: NotificationOutcome): void;
  /** Sets the number of conditions that fire, by code. */
  firing(codes: readonly string[]): void;
}

/** Registers the metrics of notifications. */
export function notificationMetrics(registry: Registry): NotificationMetrics {
  const attempts = counter(
    registry,
    'notification_attempts_total',
    'Number of attempts to send a notification, by channel and outcome. given-up: there is no further attempt.',
    ['channel', 'outcome'],
  );
  const firing = gauge(registry, 'conditions_firing', 'Number of conditions that fire, by code.', ['code']);
  return {
    channels: (names) => {
      for (const channel of names) {
        for (const outcome of OUTCOMES) {
          attempts.inc({ channel, outcome }, 0);
        }
      }
    },
    notification: (channel, outcome) => attempts.inc({ channel, outcome }),
    firing: (codes) => {
      firing.reset();
      for (const [code, all] of Map.groupBy(codes, (each) => each)) {
        firing.set({ code }, all.length);
      }
    },
  };
}
