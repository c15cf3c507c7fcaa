/** Changes of one deposit to the stored content, decided in memory. */
import type { Deposit, NewContent, OutboxLimit } from './outbox.ts';
import type { ContentState } from './tables.ts';

/** Check of content at its source. `at` is null once it was made. */
export interface ContentCheck {
  readonly source: string;
  /** Id at the source. */
  readonly id: string;
  readonly at: number | null;
}

/** Content of a key, as it is stored or as this deposit stores it. */
export interface PlannedContent {
  /** Null: this deposit stores it. */
  id: number | null;
  readonly key: string;
  readonly source: string;
  readonly hash: string;
  redactor: string;
  readonly bytes: number;
  readonly since: number;
  at: number;
  replaced: boolean;
  check: ContentCheck | null;
  /** Null: it is stored and was not read. */
  readonly payload: string | null;
}

/** Content of one key in each state, and the hashes of content that was sent or dismissed before. */
export interface KeyContent extends Partial<Record<ContentState, PlannedContent>> {
  readonly sent?: string | null;
  readonly dismissed?: string | null;
}

export type DepositOutcome = 'waiting' | 'unchanged' | 'confirmed' | 'withdrawn' | 'nothing';

export class DepositPlan {
  /** In the order in which it will be sent. */
  readonly created = new Set<PlannedContent>();
  readonly removed = new Set<PlannedContent>();
  /** Content that is due at another time, or was redacted by another version. */
  readonly postponed = new Set<PlannedContent>();
  /** Content that is being sent, and is or is not replaced by newer content now. */
  readonly replaced = new Set<PlannedContent>();
  /** Content with a new or changed check. */
  readonly checked = new Set<PlannedContent>();
  readonly #deposit: Deposit;
  readonly #keys: Map<string, KeyContent>;

  /** `keys` has what is stored of each key of the deposit. */
  constructor(deposit: Deposit, keys: Map<string, KeyContent>) {
    this.#deposit = deposit;
    this.#keys = keys;
  }

  /** Returns the difference to the amount of stored content. */
  growth(): OutboxLimit {
    const sum = (contents: Iterable<PlannedContent>) => [...contents].reduce((total, { bytes }) => total + bytes, 0);
    return { items: this.created.size - this.removed.size, bytes: sum(this.created) - sum(this.removed) };
  }

  take(content: NewContent): DepositOutcome {
    const { hash, redactor } = content;
    const notBefore = Math.ceil(content.notBefore ?? 0);
    const known = this.#of(content.key);
    const { waiting, sending, dead } = known;
    if (waiting?.hash === hash) {
      // Solved again with the same text: the delay starts again.
      this.#postpone(waiting, Math.max(waiting.at, notBefore), redactor);
      return this.#requireCheck(waiting, content, waiting.at) ? 'confirmed' : 'unchanged';
    }
    if (sending !== undefined) {
      this.#replace(sending, sending.hash !== hash);
    }
    const isDead = sending === undefined && dead?.hash === hash;
    // Content that the platform has, or will have once the response arrives.
    const arrives = (sending?.hash ?? known.sent) === hash;
    this.#remove(known, 'waiting');
    if (!isDead) {
      this.#remove(known, 'dead');
    }
    if (arrives || isDead || known.dismissed === hash) {
      return 'unchanged';
    }
    known.waiting = this.#create(content, notBefore, waiting?.since);
    this.#requireCheck(known.waiting, content, notBefore);
    return 'waiting';
  }

  /** Content that may have been sent cannot be withdrawn; if it was not sent, it is not sent again. */
  withdraw(key: string): DepositOutcome {
    const known = this.#of(key);
    const isWithdrawn = known.waiting !== undefined;
    if (known.sending !== undefined) {
      this.#replace(known.sending, true);
    }
    this.#remove(known, 'waiting');
    this.#remove(known, 'dead');
    return isWithdrawn ? 'withdrawn' : 'nothing';
  }

  /**
   * Records that the content due at the time of the request to the source was checked, even if the source asks for more
   * checks. Returns its number.
   */
  settleCheck(key: string): number {
    const { source, at, lookedAt = at } = this.#deposit;
    const { waiting, sending, dead } = this.#of(key);
    const due = [waiting, sending, dead].filter((each) => {
      const check = each?.check;
      return check?.source === source && check.at !== null && check.at <= lookedAt;
    }) as PlannedContent[];
    for (const content of due) {
      this.#check(content, { ...(content.check as ContentCheck), at: null });
    }
    return due.length;
  }

  #of(key: string): KeyContent {
    const known = this.#keys.get(key) ?? {};
    this.#keys.set(key, known);
    return known;
  }

  /** `since`: time since which older content of this key waits. */
  #create({ key, hash, redactor, payload }: NewContent, notBefore: number, since = this.#deposit.at): PlannedContent {
    const created = {
      ...{ id: null, key, source: this.#deposit.source, hash, redactor, payload, bytes: Buffer.byteLength(payload) },
      ...{ since, at: Math.max(since, notBefore), replaced: false, check: null },
    };
    this.created.add(created);
    return created;
  }

  #remove(known: KeyContent, state: 'waiting' | 'dead'): void {
    const content = known[state];
    if (content === undefined) {
      return;
    }
    delete known[state];
    this.checked.delete(content);
    this.postponed.delete(content);
    if (!this.created.delete(content)) {
      this.removed.add(content);
    }
  }

  #postpone(content: PlannedContent, at: number, redactor: string): void {
    if (content.at !== at || content.redactor !== redactor) {
      Object.assign(content, { at, redactor });
      this.postponed.add(content);
    }
  }

  #replace(content: PlannedContent, replaced: boolean): void {
    if (content.replaced !== replaced) {
      content.replaced = replaced;
      this.replaced.add(content);
    }
  }

  /**
   * Schedules the check of content at the end of its delay, at `at`. Returns true if this deposit was that check: it
   * was made after the delay had ended.
   */
  #requireCheck(content: PlannedContent, { recheck }: NewContent, at: number): boolean {
    if (recheck === undefined) {
      return false;
    }
    const { source, at: now, lookedAt = now } = this.#deposit;
    const isOver = at <= lookedAt;
    this.#check(content, { source: content.check?.source ?? source, id: recheck, at: isOver ? null : at });
    return isOver;
  }

  #check(content: PlannedContent, check: ContentCheck): void {
    content.check = check;
    this.checked.add(content);
  }
}
