/** Reports the conversations of the demonstration. */
import type { ConversationEvents } from '../conversations/model/source.ts';
import { counted, printable } from '../plan/render/words.ts';
import { type DemoContext, EventWaiter } from './context.ts';

/** Prints ingestion events of the daemon and waits for them. The events have only counts and no content. */
export function reportIntake(demo: DemoContext) {
  const { say, paint } = demo;
  const waiter = new EventWaiter<void>(demo);
  /** Conversations that were queued for sending, and those of them that were sent. */
  let taken = 0;
  let sent = 0;
  let lastError = '';
  const printError = (message: string) => say(`  ${paint.remove('✗')} ${printable(message)}\n`);
  const events: ConversationEvents = {
    onIntake: ({ found, rejected, waiting, unchanged, skipped, redacted }) => {
      // Rejected tickets are reported one by one.
      if (found > rejected) {
        const known = unchanged > 0 ? `, ${unchanged} unchanged` : '';
        say(`\n  ${paint.create('✓')} ${counted(waiting, 'conversation')} taken in${known}\n`);
        for (const [name, counts] of Object.entries({ skipped, redacted })) {
          const words = byCount(counts);
          say(words === '' ? '' : `      ${name.padEnd('redacted'.length)}  ${words}\n`);
        }
        taken += waiting;
        waiter.emit();
      }
    },
    onSent: ({ items }) => {
      say(`  ${paint.create('✓')} ${counted(items, 'conversation')} sent\n`);
      sent += items;
      waiter.emit();
    },
    onRejected: ({ place, reason }) => printError(`${place}: ${reason}`),
    onRefused: ({ key, reason }) => printError(`${key} is refused: ${reason}`),
    onPollEnd: ({ error }) => {
      // The folder is polled every second; the same error is printed once.
      if (error !== null && error.message !== lastError) {
        printError(error.message);
      }
      lastError = error?.message ?? '';
    },
  };
  /** Waits until further conversations were queued and all are sent; false after the timeout. */
  const allSent = () => {
    const before = taken;
    return waiter.until(() => taken > before && sent >= taken);
  };
  return { events, allSent };
}

/** Formats counts, largest first: `email 3, card 1`. */
function byCount(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .filter(([, count]) => count > 0)
    .toSorted(([a, most], [b, more]) => more - most || a.localeCompare(b))
    .map(([name, count]) => `${name} ${count}`)
    .join(', ');
}
