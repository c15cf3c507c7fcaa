import type { ConversationEvents, IntakeCounts } from '../conversations/model/events.ts';
import { counted, printable } from '../plan/render/words.ts';
import { type DemoContext, EventWaiter } from './context.ts';

/** Conversations so far. */
export interface IntakeTotals {
  /** What was to be sent of what was found. */
  readonly taken: number;
  readonly sent: number;
}

/** Tells what becomes of conversations, and lets the story wait for it. Numbers only: nothing else is told to it. */
export class IntakeReporter {
  readonly #demo: DemoContext;
  readonly #waiter: EventWaiter<IntakeTotals>;
  #totals: IntakeTotals = { taken: 0, sent: 0 };
  #lastError = '';

  constructor(demo: DemoContext) {
    this.#demo = demo;
    this.#waiter = new EventWaiter(demo);
  }

  /** What the daemon is to tell. */
  readonly events: ConversationEvents = {
    onIntake: (taken) => {
      // What was rejected is told one by one.
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
      // The folder is looked at every second, and stays wrong until somebody mends it.
      if (error !== null && error.message !== this.#lastError) {
        this.#printError(error.message);
      }
      this.#lastError = error?.message ?? '';
    },
  };

  /** Resolves when more was taken than now, and all of it is sent; false when that is not so in time. */
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

/** `email 3, card 1`: what there is most of first. */
function byCount(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .filter(([, count]) => count > 0)
    .toSorted(([a, most], [b, more]) => more - most || a.localeCompare(b))
    .map(([name, count]) => `${name} ${count}`)
    .join(', ');
}
