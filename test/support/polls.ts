/** Polls of a source, and the fake provider that answers them. */
import { afterEach, beforeEach } from 'vitest';
import type { Batch, PollingSource } from '../../src/conversations/model/source.ts';
import type { SourceRecord, Ticket } from '../../src/conversations/model/ticket.ts';
import type { ProviderContext } from '../../src/conversations/sources/provider.ts';
import type { Json } from '../../src/core/json.ts';
import { createSocketClock, type FakeProvider } from './fake-provider.ts';

export const START = Date.parse('2026-03-01T12:00:00Z');
export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

export type SocketClock = ReturnType<typeof createSocketClock>;

/** Dependencies of a source of a provider, and its address. */
export interface SourceDependencies extends ProviderContext {
  readonly baseUrl: string;
}

export function dependenciesOf(fake: FakeProvider): SourceDependencies {
  const { baseUrl, clock } = fake;
  return { name: 'support', userAgent: 'octavo/0', clock, random: () => 0.5, baseUrl };
}

export interface PollSpan {
  readonly cursor: Json;
  readonly processed?: ReadonlySet<string>;
  /** Milliseconds since the epoch. */
  readonly since: number;
  /** Batches after which the polling process is killed. */
  readonly most: number;
}

/** Polls once, into `batches`, which also receives the batches of a poll that fails later. */
export async function collectBatches(
  source: PollingSource,
  { most, ...from }: PollSpan,
  batches: Batch[] = [],
): Promise<Batch[]> {
  for await (const batch of source.poll({ ...from, signal: new AbortController().signal })) {
    batches.push(batch);
    if (batches.length >= most) {
      break;
    }
  }
  return batches;
}

export const foundOf = (batches: readonly Batch[]): SourceRecord[] => batches.flatMap((batch) => batch.found);
export const cursorOf = (batches: readonly Batch[]): Json => batches.at(-1)?.cursor ?? null;

export function ticketsOf(batches: readonly Batch[]): Ticket[] {
  return foundOf(batches).flatMap((found) => (found.kind === 'ticket' ? [found.ticket] : []));
}

/** Key of a result; null if it has none. */
export function keyOfFound(found: SourceRecord): string | null {
  return found.kind === 'ticket' ? found.ticket.key : 'key' in found ? found.key : null;
}

/** A fake provider and the source that polls it: opened before each test of a file or a group, and closed after it. */
export class PolledProvider<Fake extends FakeProvider, Options extends object, Settings extends object> {
  readonly #create: (options: Partial<Options> & { readonly clock: SocketClock }) => Fake;
  readonly #connect: (settings: SourceDependencies & Partial<Settings>) => PollingSource;
  readonly #prepare: (fake: Fake, clock: SocketClock) => void;
  #current: { readonly clock: SocketClock; readonly fake: Fake; source: PollingSource } | null = null;

  /** `prepare` is called when one is opened, before its source. */
  constructor(
    create: (options: Partial<Options> & { readonly clock: SocketClock }) => Fake,
    connect: (settings: SourceDependencies & Partial<Settings>) => PollingSource,
    prepare: (fake: Fake, clock: SocketClock) => void,
  ) {
    this.#create = create;
    this.#connect = connect;
    this.#prepare = prepare;
    beforeEach(() => this.open());
    afterEach(() => this.close());
  }

  readonly open = async (options: Partial<Options> = {}, settings: Partial<Settings> = {}): Promise<void> => {
    await this.close();
    const clock = createSocketClock(START);
    const fake = await this.#create({ ...options, clock }).listen();
    this.#prepare(fake, clock);
    this.#current = { clock, fake, source: this.#connect({ ...dependenciesOf(fake), ...settings }) };
  };

  readonly close = async (): Promise<void> => {
    if (this.#current !== null) {
      const { clock, fake, source } = this.#current;
      this.#current = null;
      await clock.run(source.close());
      await fake[Symbol.asyncDispose]();
      clock[Symbol.dispose]();
    }
  };

  /** Replaces the process that polls. */
  readonly reconnect = async (settings: Partial<Settings> = {}): Promise<void> => {
    const current = this.#opened;
    await current.clock.run(current.source.close());
    current.source = this.connect(settings);
  };

  readonly connect = (settings: Partial<Settings> = {}): PollingSource =>
    this.#connect({ ...dependenciesOf(this.#opened.fake), ...settings });

  get #opened() {
    if (this.#current === null) {
      throw new Error('no provider is open');
    }
    return this.#current;
  }

  get source(): PollingSource {
    return this.#opened.source;
  }

  /** Polls; `most`: batches after which the process is killed. */
  readonly poll = (cursor: Json = null, most = Number.POSITIVE_INFINITY, since = START - 30 * DAY): Promise<Batch[]> =>
    this.#opened.clock.run(collectBatches(this.source, { cursor, since, most }));

  readonly fetch = (id: number | string): Promise<SourceRecord> =>
    this.#opened.clock.run(this.source.fetch(String(id), new AbortController().signal));
}
