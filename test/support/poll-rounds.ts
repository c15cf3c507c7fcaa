/** Polls a source in rounds, with edits and crashes in between. */
import fc from 'fast-check';
import type { PollingSource } from '../../src/conversations/model/source.ts';
import type { SourceRecord } from '../../src/conversations/model/ticket.ts';
import type { Json } from '../../src/core/json.ts';
import type { FakeProvider } from './fake-provider.ts';
import { keyOfFound, type SocketClock } from './polls.ts';

/**
 * Edits, some of them while the pages are read, and then a poll that dies after this number of batches; null: it does
 * not die.
 */
export interface Round<Edit> {
  readonly before: readonly Edit[];
  readonly during: readonly Edit[];
  readonly dies: number | null;
  /** True if a new process continues. */
  readonly restarts: boolean;
}

/** Milliseconds before an edit, mostly few. */
export const pauses = fc.oneof({ weight: 4, arbitrary: fc.nat(1500) }, { weight: 1, arbitrary: fc.nat(3 * 3_600_000) });

export function roundsOf<Edit>(edit: fc.Arbitrary<Edit>): fc.Arbitrary<Round<Edit>[]> {
  const round = fc.record<Round<Edit>>({
    before: fc.array(edit, { maxLength: 12 }),
    during: fc.array(edit, { maxLength: 6 }),
    dies: fc.option(fc.nat(3)),
    restarts: fc.boolean(),
  });
  return fc.array(round, { minLength: 1, maxLength: 5 });
}

/** Source that is polled by one process after another, and what is durable of it. */
export class PolledRounds {
  /** Durable content: the newest version of each ticket. */
  readonly kept = new Map<string, SourceRecord>();
  /** Everything that was ever received, durable or not. */
  readonly came: SourceRecord[] = [];
  readonly #clock: SocketClock;
  readonly #since: number;
  readonly #open: () => PollingSource;
  /** Undefined until the first poll. */
  #source: PollingSource | null = null;
  #cursor: Json = null;

  /** `since` in milliseconds since the epoch; `open` starts a process. */
  constructor(clock: SocketClock, since: number, open: () => PollingSource) {
    this.#clock = clock;
    this.#since = since;
    this.#open = open;
  }

  /** Runs the rounds, and polls once more undisturbed. */
  async play<Edit extends { readonly after: number }>(
    provider: FakeProvider,
    rounds: readonly Round<Edit>[],
    apply: (edit: Edit) => void,
  ): Promise<void> {
    for (const { before, during, dies, restarts } of rounds) {
      for (const one of before) {
        await this.#clock.advance(one.after);
        apply(one);
      }
      const waiting = [...during];
      provider.meanwhile = () => {
        const next = waiting.shift();
        if (next !== undefined) {
          apply(next);
        }
      };
      await this.#clock.run(this.#poll(dies));
      provider.meanwhile = () => undefined;
      if (restarts) {
        await this.close();
      }
    }
    await this.#clock.run(this.#poll(null));
  }

  async close(): Promise<void> {
    await this.#clock.run(this.#source?.close() ?? Promise.resolve());
    this.#source = null;
  }

  /** Polls; batches that are not durable when the process dies are lost. */
  async #poll(dies: number | null): Promise<void> {
    let batches = 0;
    const signal = new AbortController().signal;
    this.#source ??= this.#open();
    for await (const { found, cursor } of this.#source.poll({ cursor: this.#cursor, since: this.#since, signal })) {
      this.came.push(...found);
      if (batches === dies) {
        return;
      }
      batches += 1;
      for (const one of found) {
        const key = keyOfFound(one);
        if (key !== null) {
          this.kept.set(key, one);
        }
      }
      this.#cursor = JSON.parse(JSON.stringify(cursor)) as Json;
    }
  }
}
