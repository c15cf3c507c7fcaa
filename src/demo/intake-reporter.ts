/** Reports the conversations of the demonstration. */
import type { ConversationEvents, IntakeCounts } from '../conversations/model/source.ts';
import { counted, printable } from '../plan/render/words.ts';
import { type DemoContext, EventWaiter } from './context.ts';

/** Number of conversations so far. */
export interface IntakeTotals {
  /** Conversations that were queued for sending. */
  readonly taken: number;
  readonly sent: number;
}

/** Prints ingestion events of the daemon and waits for them. The events have only counts and no content. */
export class IntakeReporter {
  readonly #demo: DemoContext;
  readonly #waiter: EventWaiter<IntakeTotals>;
  #totals: IntakeTotals = { taken: 0, sent: 0 };
  #lastError = '';

  constructor(demo: DemoContext) {
    this.#demo = demo;
    this.#waiter = new EventWaiter(demo);
  }

  /** Listener for the daemon. */
  readonly events: ConversationEvents = {
    onIntake: (taken) => {
      // Rejected tickets are reported one by one.
      if (taken.found > taken.rejected) {
        this.#taken(taken);
        this.#count({ ...this.#totals, taken: this.#totals.taken + taken.waiting });
      }
    },
    onSent: ({ items }) => {
      const { say, paint } = this.#demo;
      say(`  ${paint.create('✓')} ${counted(items, 'conversation')} sent\n`);
      this.#count({ ...this.#totals, sent: this.#totals.sent + items });
    },
    onRejected: ({ place, reason }) => this.#printError(`${place}: ${reason}`),
    onRefused: ({ key, reason }) => this.#printError(`${key} is refused: ${reason}`),
    onPollEnd: ({ error }) => {
      // The folder is polled every second; the same error is printed once.
      if (error !== null && error.message !== this.#lastError) {
        this.#printError(error.message);
      }
      this.#lastError = error?.message ?? '';
    },
  };

  /** Waits until further conversations were queued and all are sent; false after the timeout. */
  async allSent(): Promise<boolean> {
    const before = this.#totals.taken;
    return this.#waiter.until(({ taken, sent }) => taken > before && sent >= taken);
  }

  #taken({ waiting, unchanged, skipped, redacted }: IntakeCounts): void {
    const { say, paint } = this.#demo;
    const known = unchanged > 0 ? `, ${unchanged} unchanged` : '';
    say(`\n  ${paint.create('✓')} ${counted(waiting, 'conversation')} taken in${known}\n`);
    for (const [name, counts] of [
      ['skipped', skipped],
      ['redacted', redacted],
    ] as const) {
      const words = byCount(counts);
      say(words === '' ? '' : `      ${name.padEnd('redacted'.length)}  ${words}\n`);
    }
  }

  #count(totals: IntakeTotals): void {
    this.#totals = totals;
    this.#waiter.emit(totals);
  }

  #printError(message: string): void {
    const { say, paint } = this.#demo;
    say(`  ${paint.remove('✗')} ${printable(message)}\n`);
  }
}

/** Formats counts, largest first: `email 3, card 1`. */
function byCount(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .filter(([, count]) => count > 0)
    .toSorted(([a, most], [b, more]) => more - most || a.localeCompare(b))
    .map(([name, count]) => `${name} ${count}`)
    .join(', ');
}
