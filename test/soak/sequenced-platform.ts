import type { Clock } from '../../src/core/clock.ts';
import { TransientError } from '../../src/core/errors.ts';
import { type Emulator, type EmulatorState, startEmulator } from '../../src/emulator/emulator.ts';
import { seededRandom } from '../../src/emulator/http/faults.ts';
import type { Connection } from '../../src/platform/connection.ts';
import { openTransport, type Transport } from '../../src/platform/http/transport.ts';
import { RequestQueue } from '../../src/queue/dispatcher.ts';
import { toAbortSignal } from '../../src/queue/request.ts';
import { createVirtualClock, type VirtualClock } from '../queue/virtual-clock.ts';
import { noStreams } from '../support/no-streams.ts';

/** Milliseconds from sending to arrival, and from there to the answer: random within these bounds. */
const WAY = { least: 5, most: 250 };
const TOKEN = 'token';

/**
 * An embedded platform and its transport, in virtual time. Requests, answers and faults are real ones, over real
 * sockets; but each arrival is random, and each request is processed before anything else happens. So nothing depends
 * on the speed of the machine, and the same seed gives the same run.
 */
export class SequencedPlatform implements AsyncDisposable {
  readonly clock: VirtualClock;
  readonly emulator: Emulator;
  readonly #pending: Pending;
  readonly #random: () => number;
  /** Delay of the request that is being processed, in milliseconds. */
  readonly #slow: { now: number };
  #transport: ReturnType<typeof openTransport>;
  #restarts = 0;
  #backAt = 0;

  static async open(seed: number, state: EmulatorState): Promise<SequencedPlatform> {
    const pending = new Pending();
    const clock = createVirtualClock(undefined, () => pending.none());
    const slow = { now: 0 };
    const emulator = await startEmulator({
      seed: state,
      randomSeed: seed,
      token: TOKEN,
      processing: { openapi: 0, translation: 0 },
      clock: {
        now: clock.now,
        monotonic: clock.monotonic,
        sleep: async (milliseconds) => {
          slow.now += milliseconds;
        },
      },
    });
    return new SequencedPlatform(seed, clock, emulator, pending, slow);
  }

  private constructor(seed: number, clock: VirtualClock, emulator: Emulator, pending: Pending, slow: { now: number }) {
    this.clock = clock;
    this.emulator = emulator;
    this.#pending = pending;
    this.#slow = slow;
    this.#random = seededRandom(seed + 2);
    this.#transport = this.#openTransport();
  }

  /** A transport with this limit of requests in flight. */
  connect(concurrency: number, random: () => number): Connection {
    const { clock } = this;
    return {
      baseUrl: this.emulator.url,
      origin: this.emulator.url,
      queue: new RequestQueue({ clock, random, concurrency }),
      transport: { ...noStreams, send: (request, signal) => this.#send(request, signal) },
      clock,
      close: async () => undefined,
    };
  }

  /** Drops every connection and accepts none for this number of milliseconds. */
  restart(milliseconds: number): void {
    if (this.clock.monotonic() < this.#backAt) {
      return;
    }
    this.#restarts += 1;
    this.#backAt = this.clock.monotonic() + milliseconds;
    const gone = this.#transport;
    // Existing connections are not used any more, so that nothing depends on when they are found to be broken.
    this.#transport = this.#openTransport();
    void this.#pending.add(this.emulator.restart().then(() => gone.close()));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#transport.close();
    await this.emulator.close();
  }

  async #send(...[request, signal]: Parameters<Transport['send']>): ReturnType<Transport['send']> {
    await this.clock.sleep(this.#way(), toAbortSignal(signal));
    if (this.clock.monotonic() < this.#backAt) {
      throw new TransientError(`cannot reach ${this.emulator.url}: connection refused`, false);
    }
    this.#slow.now = 0;
    const restarts = this.#restarts;
    const sent = this.#transport.send(request, new AbortController().signal);
    const [outcome] = await this.#pending.add(Promise.allSettled([sent]));
    await this.clock.sleep(this.#slow.now + this.#way(), toAbortSignal(signal));
    if (outcome.status === 'rejected') {
      throw outcome.reason;
    }
    if (restarts !== this.#restarts) {
      throw new TransientError(`${this.emulator.url} closed the connection without an answer`, true);
    }
    return { ...outcome.value, receivedAt: this.clock.monotonic() };
  }

  #way(): number {
    return WAY.least + this.#random() * (WAY.most - WAY.least);
  }

  #openTransport(): ReturnType<typeof openTransport> {
    return openTransport({
      base: new URL(this.emulator.url),
      token: TOKEN,
      userAgent: 'octavo/0',
      connections: 1,
      timeouts: { connect: 10_000, headers: 30_000, body: 30_000 },
      clock: this.clock satisfies Clock,
    });
  }
}

/** Operations that take real time, and must finish before virtual time advances. */
class Pending {
  readonly #work = new Set<Promise<unknown>>();

  add<T>(work: Promise<T>): Promise<T> {
    this.#work.add(work);
    const over = () => this.#work.delete(work);
    work.then(over, over);
    return work;
  }

  async none(): Promise<void> {
    while (this.#work.size > 0) {
      await Promise.allSettled(this.#work);
      // Its waiting operations continue.
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
}
