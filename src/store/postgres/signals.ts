/** Messages between replicas, by LISTEN and NOTIFY on a connection of their own. See docs/fleet.md#leases. */
import { randomUUID } from 'node:crypto';
import type { Client } from 'pg';
import { backoffDelay, type Clock, endsWithin, type Random, WakeUpSignal } from '../../core/clock.ts';
import { isObject, type JsonObject } from '../../core/json.ts';
import { type FleetSignal, type FleetSignals, SIGNAL_KINDS } from '../leases.ts';

const CHANNEL = 'octavo';
/** Bytes of a payload; PostgreSQL takes messages of less than 8000 bytes. */
const PAYLOAD_LIMIT = 7000;
/** Milliseconds between messages to this process itself, which show that the connection delivers. */
const HEARTBEAT = 30_000;
const ECHO_LIMIT = 10_000;
const RECONNECT = { first: 500, longest: 60_000 } as const;

/**
 * Connects with the first listener, and again when the connection breaks or delivers nothing. A pooler in transaction
 * mode loses messages: the replicas find everything by their regular checks, too.
 */
export class PostgresSignals implements FleetSignals {
  readonly #createClient: () => Client;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #listeners = new Set<(signal: FleetSignal) => void>();
  readonly #stopped = new AbortController();
  readonly #echo = new WakeUpSignal();
  #client: Client | null = null;
  /** Message that this process sent to itself. */
  #heartbeat = '';
  #running: Promise<void> | null = null;

  /** `createClient` returns a client that is not connected yet. */
  constructor(createClient: () => Client, clock: Clock, random: Random) {
    this.#createClient = createClient;
    this.#clock = clock;
    this.#random = random;
  }

  /** True if messages are delivered now. */
  get isConnected(): boolean {
    return this.#client !== null;
  }

  async send({ kind, payload }: FleetSignal): Promise<void> {
    const text = JSON.stringify({ kind, payload });
    const isTooLong = Buffer.byteLength(text) > PAYLOAD_LIMIT;
    try {
      await notify(this.#client, isTooLong ? JSON.stringify({ kind, payload: {} }) : text);
    } catch {
      // The connection breaks, and is opened again.
    }
  }

  listen(listener: (signal: FleetSignal) => void): () => void {
    this.#listeners.add(listener);
    this.#running ??= this.#run();
    return () => this.#listeners.delete(listener);
  }

  async close(): Promise<void> {
    this.#stopped.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopped;
    for (let failures = 1; !signal.aborted; failures += 1) {
      if (await this.#serve()) {
        failures = 1;
      }
      const delay = backoffDelay(failures, RECONNECT.first, RECONNECT.longest, this.#random);
      await this.#clock.sleep(delay, signal).catch(() => undefined);
    }
  }

  /** Serves one connection until it ends. Returns true if it delivered messages. Never rejects. */
  async #serve(): Promise<boolean> {
    const client = this.#createClient();
    const ended = new AbortController();
    const end = () => ended.abort();
    const stop = () => void client.end().catch(() => undefined);
    this.#stopped.signal.addEventListener('abort', stop, { once: true });
    const signal = AbortSignal.any([ended.signal, this.#stopped.signal]);
    let hasDelivered = false;
    client.on('error', end);
    client.on('end', end);
    client.on('notification', ({ payload }) => this.#receive(payload ?? ''));
    try {
      await client.connect();
      await client.query(`LISTEN ${CHANNEL}`);
      while (!signal.aborted && (await this.#delivers(client, signal))) {
        if (!hasDelivered) {
          hasDelivered = true;
          this.#client = client;
          // What the listeners may have missed.
          for (const kind of SIGNAL_KINDS) {
            this.#deliver({ kind, payload: {} });
          }
        }
        await this.#clock.sleep(HEARTBEAT, signal).catch(() => undefined);
      }
    } catch {
      // Connected again after a delay.
    }
    this.#client = null;
    this.#stopped.signal.removeEventListener('abort', stop);
    stop();
    return hasDelivered;
  }

  /** Sends a message to this process and returns true when it arrives. */
  async #delivers(client: Client, signal: AbortSignal): Promise<boolean> {
    this.#heartbeat = randomUUID();
    const seen = this.#echo.count;
    const sent = notify(client, JSON.stringify({ heartbeat: this.#heartbeat }));
    if (!(await endsWithin(this.#clock, ECHO_LIMIT, [sent]))) {
      return false;
    }
    await this.#echo.wait(seen, ECHO_LIMIT, this.#clock, signal);
    return this.#echo.count !== seen;
  }

  #receive(text: string): void {
    const message = parse(text);
    if (message?.heartbeat === this.#heartbeat) {
      this.#echo.notify();
    }
    const kind = SIGNAL_KINDS.find((each) => each === message?.kind);
    if (kind !== undefined && isObject(message?.payload)) {
      this.#deliver({ kind, payload: message.payload as JsonObject });
    }
  }

  #deliver(signal: FleetSignal): void {
    for (const listener of [...this.#listeners]) {
      listener(signal);
    }
  }
}

async function notify(client: Client | null, text: string): Promise<void> {
  await client?.query('SELECT pg_notify($1, $2)', [CHANNEL, text]);
}

/** Returns null for a message of another program. */
function parse(text: string): Record<string, unknown> | null {
  try {
    const message: unknown = JSON.parse(text);
    return isObject(message) ? message : null;
  } catch {
    return null;
  }
}
