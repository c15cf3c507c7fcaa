import { createHash } from 'node:crypto';
import type { Config, OrganizationConfig } from '../config/config.ts';
import type { Clock, Random } from '../core/clock.ts';
import { messageOf } from '../core/errors.ts';
import type { Json } from '../core/json.ts';
import type { Logger } from '../log.ts';
import { type Connection, openConnection } from '../platform/connection.ts';
import type { QueueEvent } from '../queue/model/snapshot.ts';
import { createRequestQueue } from '../queue/schedule/dispatcher.ts';
import type { RequestQueue } from '../queue/schedule/request-queue.ts';
import type { Note, Store } from '../store/store.ts';

export interface TokenConnectionsOptions {
  readonly config: Config;
  readonly clock: Clock;
  readonly random: Random;
  readonly version: string;
  readonly log: Logger;
  readonly store: Store;
  readonly onEvent: (event: QueueEvent) => void;
}

interface Open {
  /** Id of the first organization that uses the connection. */
  readonly name: string;
  readonly connection: Connection;
  readonly queue: RequestQueue;
  readonly note: Note;
}

/**
 * One connection and queue for each token: organizations with the same token share its budget. The state
 * file stores the rate limits that a queue has learned, so that a restart within a window uses only the remaining budget.
 * See docs/rate-limiting.md#shutdown-and-restart.
 */
export class TokenConnections {
  readonly #options: TokenConnectionsOptions;
  readonly #open = new Map<string, Open>();

  private constructor(options: TokenConnectionsOptions) {
    this.#options = options;
  }

  /** Opens one connection for every token in the configuration, without sending anything. Throws StoreError. */
  static async open(options: TokenConnectionsOptions): Promise<TokenConnections> {
    const connections = new TokenConnections(options);
    for (const organization of options.config.organizations) {
      await connections.#add(organization);
    }
    return connections;
  }

  /** Returns the connection for an organization's token. */
  of(organization: OrganizationConfig): Connection {
    return this.#openFor(organization).connection;
  }

  /** Returns the queue of an organization, and the id of the first organization that uses it. */
  queueOf(organization: OrganizationConfig): { readonly name: string; readonly queue: RequestQueue } {
    return this.#openFor(organization);
  }

  /** Returns the queues, each with the id of the first organization that uses it. */
  queues(): readonly (readonly [string, RequestQueue])[] {
    return [...this.#open.values()].map(({ name, queue }) => [name, queue]);
  }

  /** Saves the learned rate limits. A failure is logged only. */
  async remember(): Promise<void> {
    for (const { queue, note } of this.#open.values()) {
      try {
        await note.write(queue.remember() as Json);
      } catch (error) {
        this.#options.log.debug({ reason: messageOf(error) }, 'cannot save the learned rate limits');
      }
    }
  }

  async close(): Promise<void> {
    await Promise.all([...this.#open.values()].map(({ connection }) => connection.close(0)));
  }

  #openFor({ id, token }: OrganizationConfig): Open {
    const open = this.#open.get(token);
    if (open === undefined) {
      throw new Error(`${id} is not in this configuration`);
    }
    return open;
  }

  async #add(organization: OrganizationConfig): Promise<void> {
    const { token } = organization;
    if (this.#open.has(token)) {
      return;
    }
    const { config, clock, random, version, store, onEvent } = this.#options;
    const { baseUrl, timeout } = config.platform;
    const { concurrency, deadline } = config.queue;
    const owner = createHash('sha256').update(`${baseUrl}\n${token}`).digest('hex');
    const note = store.note(`budgets/${owner}`);
    const memory = await note.read();
    const queue = createRequestQueue({ clock, random, concurrency, deadline, onEvent, owner, memory });
    const connection = openConnection({
      baseUrl,
      token,
      userAgent: `octavo/${version}`,
      concurrency,
      clock,
      random,
      timeouts: { headers: timeout, body: timeout },
      queue,
    });
    this.#open.set(token, { name: organization.id, connection, queue, note });
  }
}
