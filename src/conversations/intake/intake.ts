import { createHash } from 'node:crypto';
import { setImmediate as breathe } from 'node:timers/promises';
import type { Clock } from '../../core/clock.ts';
import { type AppError, SourceError } from '../../core/errors.ts';
import type { Deposit, Kept, NewContent, Outbox, Withdrawal } from '../../store/outbox.ts';
import type { Redactor } from '../model/conversation.ts';
import type { ConversationEvents, Taken } from '../model/events.ts';
import type { Heard } from '../model/source.ts';
import type { Found } from '../model/ticket.ts';
import type { Bell } from '../model/wake-up-signal.ts';
import { writableKey } from '../model/writable-key.ts';
import { admit } from './outbox-entry.ts';

export interface IntakeOptions {
  /** As configured. */
  readonly source: string;
  readonly outbox: Outbox;
  readonly redactor: Redactor;
  /** Milliseconds for which a solved ticket rests before it is sent. */
  readonly settleDelay: number;
  readonly clock: Clock;
  /** Rung when there is something to send. */
  readonly work: Bell;
  /** Rung when the outbox has room again. */
  readonly room: Bell;
  /** Rung when there are hints to follow. */
  readonly hints: Bell;
  readonly events: ConversationEvents;
}

/** What becomes durable together with what was found. */
export type Along = Pick<Deposit, 'cursor' | 'handled' | 'delivery' | 'lookedAt' | 'rechecked'>;

/** What goes through is told, once it is durable. */
interface Prepared {
  readonly deposit: Deposit;
  readonly tell: (kept: Extract<Kept, { kind: 'kept' }>) => void;
}

/** Milliseconds after which a full outbox is looked at without having been told. */
const LOOK_AGAIN = 30_000;
/** Milliseconds of work after which others get their turn. */
const LONGEST_BREATH = 10;

/** The way of one source into the outbox: redacted first, then durable. Nothing else is ever written or told. */
export class Intake {
  readonly #options: IntakeOptions;

  constructor(options: IntakeOptions) {
    this.#options = options;
  }

  /** Takes what was found if there is room. Throws StoreError. */
  async offer(found: readonly Found[], along: Along = {}): Promise<Kept['kind']> {
    return this.#put(await this.#prepare(found, along));
  }

  /**
   * Takes what was found, and waits for room where there is none. `meanwhile`: what may make room, done by whoever waits;
   * it answers the keys of what was looked at later than this, which is then left out. Throws StoreError, and the
   * signal's reason.
   */
  async take(
    found: readonly Found[],
    along: Along,
    signal: AbortSignal,
    meanwhile?: () => Promise<ReadonlySet<string>>,
  ): Promise<Exclude<Kept['kind'], 'full'>> {
    const { room, clock, events, source } = this.#options;
    let prepared = await this.#prepare(found, along);
    for (let waits = false; ; waits = true) {
      signal.throwIfAborted();
      const seen = room.rings;
      const kind = await this.#put(prepared);
      if (kind !== 'full') {
        if (waits) {
          events.onPressure?.({ source, isFull: false });
        }
        return kind;
      }
      prepared = without(prepared, (await meanwhile?.()) ?? new Set());
      if (!waits) {
        events.onPressure?.({ source, isFull: true });
      }
      await room.wait(seen, LOOK_AGAIN, clock, signal);
    }
  }

  /** Takes what a webhook brought; it may be answered once this has resolved. `full`: later. Throws StoreError. */
  async hear(heard: Exclude<Heard, { kind: 'refused' }>): Promise<'kept' | 'known' | 'full'> {
    const { outbox, source, clock, hints } = this.#options;
    // Its sender made it up, of any length and of whatever it likes.
    const delivery = heard.delivery === null ? null : createHash('sha256').update(heard.delivery).digest('base64url');
    if (heard.kind === 'hints') {
      const isNew = await outbox.hint(source, delivery, heard.ids, clock.now());
      hints.ring();
      return isNew ? 'kept' : 'known';
    }
    return (await this.offer(heard.found, { delivery })) as 'kept' | 'known' | 'full';
  }

  /** An error as it may be told: one about a file names it, and files are often saved under who wrote them. */
  tellable(error: AppError): AppError {
    const message = this.#options.redactor.text(error.message);
    return error instanceof SourceError && message !== error.message ? new SourceError(message) : error;
  }

  async #put({ deposit, tell }: Prepared): Promise<Kept['kind']> {
    const { outbox, work, room } = this.#options;
    const kept = await outbox.put(deposit);
    if (kept.kind === 'kept') {
      tell(kept);
      if (kept.waiting > 0 || kept.confirmed > 0) {
        work.ring();
      }
      if (kept.withdrawn > 0) {
        room.ring();
      }
    }
    return kept.kind;
  }

  async #prepare(found: readonly Found[], along: Along): Promise<Prepared> {
    const { source, clock, events } = this.#options;
    const sorter = new Sorter(this.#options);
    let breathedAt = clock.monotonic();
    for (const one of found) {
      sorter.sort(one);
      // Redaction takes its time, and others want theirs.
      if (clock.monotonic() - breathedAt > LONGEST_BREATH) {
        await breathe();
        breathedAt = clock.monotonic();
      }
    }
    const { entries, numbers } = sorter;
    const counts = countsOf(numbers);
    return {
      deposit: { source, at: clock.now(), entries, counts, ...along },
      tell: ({ waiting, unchanged, withdrawn }) => {
        for (const tell of sorter.tales) {
          tell();
        }
        events.onTaken?.({ source, ...numbers, waiting, unchanged, withdrawn });
      },
    };
  }
}

/** The same but for what was looked at once more since. */
function without({ deposit, tell }: Prepared, keys: ReadonlySet<string>): Prepared {
  return { deposit: { ...deposit, entries: deposit.entries.filter(({ key }) => !keys.has(key)) }, tell };
}

type Numbers = Omit<Taken, 'source' | 'waiting' | 'unchanged' | 'withdrawn'>;
type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** Sorts what was found into what is kept and what is only counted. */
class Sorter {
  readonly entries: (NewContent | Withdrawal)[] = [];
  readonly tales: (() => void)[] = [];
  readonly #redacted: Record<string, number> = {};
  readonly #skipped: Record<string, number> = {};
  readonly numbers: Mutable<Numbers> = {
    found: 0,
    gone: 0,
    rejected: 0,
    incomplete: 0,
    skipped: this.#skipped,
    redacted: this.#redacted,
  };
  readonly #options: IntakeOptions;

  constructor(options: IntakeOptions) {
    this.#options = options;
  }

  sort(found: Found): void {
    this.numbers.found += 1;
    switch (found.kind) {
      case 'ticket':
        this.#admit(found.ticket);
        return;
      case 'skipped':
        this.#skip(writableKey(found.key, this.#options.redactor, found.people), found.reason, found.isOneOfMany);
        return;
      case 'gone':
        this.numbers.gone += 1;
        this.entries.push({ kind: 'gone', key: writableKey(found.key, this.#options.redactor) });
        return;
      case 'rejected':
        // Mails are often saved under what they are about, and who wrote them.
        this.#reject(this.#options.redactor.text(found.place), found.reason);
    }
  }

  #admit(ticket: Extract<Found, { kind: 'ticket' }>['ticket']): void {
    const { redactor, settleDelay, source, events, clock } = this.#options;
    const { completeness } = ticket;
    const key = writableKey(ticket.key, redactor, ticket.people);
    const admission = admit(ticket, redactor, settleDelay, clock.now());
    if (admission.kind === 'rejected') {
      this.#reject(shortened(key), admission.reason);
      this.entries.push({ kind: 'ineligible', key });
      return;
    }
    if (completeness !== null && completeness.fetched < completeness.reported) {
      this.numbers.incomplete += 1;
      this.tales.push(() => events.onShortfall?.({ source, key, ...completeness }));
    }
    if (admission.kind === 'skipped') {
      this.#skip(key, admission.reason, ticket.mails !== undefined);
      return;
    }
    this.entries.push(admission.content);
    for (const [type, count] of Object.entries(admission.counts)) {
      this.#redacted[type] = (this.#redacted[type] ?? 0) + count;
    }
  }

  #skip(key: string, reason: string, isOneOfMany = false): void {
    this.#skipped[reason] = (this.#skipped[reason] ?? 0) + 1;
    if (!isOneOfMany) {
      this.entries.push({ kind: 'ineligible', key });
    }
  }

  #reject(place: string, reason: string): void {
    const { source, events } = this.#options;
    this.numbers.rejected += 1;
    this.tales.push(() => events.onRejected?.({ source, place, reason }));
  }
}

const LONGEST_PLACE = 80;

function shortened(key: string): string {
  return key.length > LONGEST_PLACE ? `${key.slice(0, LONGEST_PLACE)}…` : key;
}

/** As the outbox keeps them: one name each. */
function countsOf({ skipped, redacted, ...plain }: Numbers): Record<string, number> {
  const named = (prefix: string, counts: object) =>
    Object.entries(counts).map(([name, count]) => [`${prefix}.${name}`, count] as const);
  return { ...plain, ...Object.fromEntries([...named('skipped', skipped), ...named('redacted', redacted)]) };
}
