/** Input and output of planning notifications. */
import type {
  Condition,
  NotificationDelivery,
  NotificationEvent,
  Notified,
  WaitingEvent,
} from '../../store/notifications.ts';

/** Rules of one channel. */
export interface ChannelRules {
  readonly name: string;
  /** Returns true if a route of the configuration leads here. */
  readonly wants: (condition: Condition) => boolean;
  /** Returns true if a route lists the code of the event. */
  readonly wantsEvent: (event: NotificationEvent) => boolean;
  /** True: one incident with one end, which quiet hours never hold. */
  readonly isPager: boolean;
  /** End of the quiet hours that hold its messages now; null outside quiet hours. */
  readonly quietUntil: number | null;
  /** End of its last quiet hours: what they held is one message. Null if there were none. */
  readonly quietEndedAt: number | null;
}

export interface NotificationState {
  readonly conditions: readonly Condition[];
  /** Deliveries that wait, and all of the threads in `notified`. */
  readonly deliveries: readonly NotificationDelivery[];
  readonly notified: readonly Notified[];
  readonly events: readonly WaitingEvent[];
}

export interface NotificationInput extends NotificationState {
  readonly channels: readonly ChannelRules[];
  /** Milliseconds for which conditions with the same code wait for each other. */
  readonly groupWait: number;
  /** Milliseconds between two messages about the same code, and for which resolved conditions wait for each other. */
  readonly groupInterval: number;
  readonly now: number;
  readonly newId: () => string;
}

export interface NotificationPlan {
  readonly created: readonly NotificationDelivery[];
  /** Ids of deliveries that are not needed any more, or whose channel is not configured any more. */
  readonly cancelled: readonly string[];
  /** Complete. */
  readonly notified: readonly Notified[];
  /** Events whose channels have changed. */
  readonly events: readonly { readonly id: string; readonly channels: readonly string[] }[];
  /** Time at which this function has to be called again without a change; null if never. */
  readonly wakeAt: number | null;
}

/** Deliveries of one channel, and its notices that are new or have changed. */
export interface ChannelPlan {
  readonly created: readonly NotificationDelivery[];
  readonly notified: readonly Notified[];
}

/** One channel, with what it was notified of. */
export interface ChannelInput extends NotificationInput {
  readonly channel: ChannelRules;
  /** By condition. */
  readonly own: ReadonlyMap<string, Notified>;
  readonly timer: WakeTimer;
}

/** Earliest time in the future at which something has to happen. */
export class WakeTimer {
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

/** Returns a delivery that waits to be sent. */
export function newDelivery(
  part: Pick<NotificationDelivery, 'id' | 'thread' | 'kind' | 'about'>,
  { channel, now }: Pick<ChannelInput, 'channel' | 'now'>,
): NotificationDelivery {
  return { ...part, channel: channel.name, createdAt: now, state: 'queued', mayHaveArrived: false };
}
