import type { ConversationEvents, IntakeCounts } from '../conversations/model/events.ts';
import { counted, printable } from '../plan/render/words.ts';
import { Moments, type Stage } from './stage.ts';

/** Conversations so far. */
export interface Tally {
  /** What was to be sent of what was found. */
  readonly taken: number;
  readonly sent: number;
}

/** Tells what becomes of conversations, and lets the story wait for it. Numbers only: nothing else is told to it. */
export class IntakeNarrator {
  readonly #stage: Stage;
  readonly #moments: Moments<Tally>;
  #tally: Tally = { taken: 0, sent: 0 };
  #complaint = '';

  constructor(stage: Stage) {
    this.#stage = stage;
    this.#moments = new Moments(stage);
  }

  /** What the daemon is to tell. */
  readonly events: ConversationEvents = {
    onIntake: (taken) => {
      // What was rejected is told one by one.
      if (taken.found > taken.rejected) {
        this.#taken(taken);
        this.#count({ ...this.#tally, taken: this.#tally.taken + taken.waiting });
      }
    },
    onSent: ({ items }) => {
      const { say, paint } = this.#stage;
      say(`  ${paint.create('✓')} ${counted(items, 'conversation')} sent\n`);
      this.#count({ ...this.#tally, sent: this.#tally.sent + items });
    },
    onRejected: ({ place, reason }) => this.#complain(`${place}: ${reason}`),
    onRefused: ({ key, reason }) => this.#complain(`${key} is refused: ${reason}`),
    onPollEnd: ({ error }) => {
      // The folder is looked at every second, and stays wrong until somebody mends it.
      if (error !== null && error.message !== this.#complaint) {
        this.#complain(error.message);
      }
      this.#complaint = error?.message ?? '';
    },
  };

  /** Resolves when more was taken than now, and all of it is sent; false when that is not so in time. */
  async allSent(): Promise<boolean> {
    const before = this.#tally.taken;
    return this.#moments.until(({ taken, sent }) => taken > before && sent >= taken);
  }

  #taken({ waiting, unchanged, skipped, redacted }: IntakeCounts): void {
    const { say, paint } = this.#stage;
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

  #count(tally: Tally): void {
    this.#tally = tally;
    this.#moments.happen(tally);
  }

  #complain(message: string): void {
    const { say, paint } = this.#stage;
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
