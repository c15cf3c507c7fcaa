/** Connections to the platform: one queue for each token, which the organizations of the token share. */
import { createHash } from 'node:crypto';
import type { OrganizationConfig } from '../../config/config.ts';
import { messageOf } from '../../core/errors.ts';
import type { Json } from '../../core/json.ts';
import { type Connection, openConnection } from '../../platform/connection.ts';
import type { RequestQueue } from '../../queue/dispatcher.ts';
import { isWorthSaving, type QueueMemory } from '../../queue/memory.ts';
import type { SharedState } from '../../queue/shared-limiter.ts';
import type { Note } from '../../store/record.ts';
import type { Store } from '../../store/store.ts';
import type { DaemonContext } from '../organization/feature.ts';

/** A token in use. */
interface TokenUse {
  readonly opened: Promise<Connection>;
  /** Null while the connection is being opened. */
  queue: RequestQueue | null;
  /** Rate limits as they were saved last; null: not by this process. */
  saved: QueueMemory | null;
  /** Stores of the organizations that use the token, by id. */
  readonly users: Map<string, Pick<Store, 'note'>>;
}

/** Returns the digest that identifies a token of a platform without revealing it. */
export function tokenDigest(baseUrl: string, token: string): string {
  return createHash('sha256').update(`${baseUrl}\n${token}`).digest('hex');
}

/**
 * One connection and queue for each token: organizations with the same token share its budget. It is open while an
 * organization uses it. The store keeps the rate limits that a queue has learned, so that a restart within a window, or
 * another replica, uses only the remaining budget. See docs/rate-limiting.md#shutdown-and-restart.
 */
export class TokenConnections {
  readonly #context: DaemonContext;
  readonly #shared: (digest: string) => SharedState | undefined;
  readonly #uses = new Map<string, TokenUse>();
  /** Connections that are being closed, by token. */
  readonly #closing = new Map<string, Promise<void>>();
  /** Id of the first organization of each token in the configuration. */
  #names: ReadonlyMap<string, string> = new Map();
  /** Ids of the organizations of the configuration by token, sorted. */
  #configured: ReadonlyMap<string, readonly string[]> = new Map();
  /** The tokens by these names. */
  #tokens: ReadonlyMap<string, string> = new Map();

  /** `shared` returns the state for replicas that use a token; undefined: each token is used by one replica. */
  constructor(context: DaemonContext, shared: (digest: string) => SharedState | undefined) {
    this.#context = context;
    this.#shared = shared;
  }

  /** Replaces the organizations of the configuration, by which queues are named. */
  setOrganizations(organizations: readonly Pick<OrganizationConfig, 'id' | 'token'>[]): void {
    this.#names = new Map(organizations.toReversed().map(({ id, token }) => [token, id]));
    const users = Map.groupBy(organizations, ({ token }) => token);
    this.#configured = new Map([...users].map(([token, some]) => [token, some.map(({ id }) => id).toSorted()]));
    this.#tokens = new Map([...this.#names].map(([token, name]) => [name, token]));
  }

  /** Returns the name of the queue of an organization: the id of the first organization with its token. */
  queueName({ id, token }: Pick<OrganizationConfig, 'id' | 'token'>): string {
    return this.#names.get(token) ?? id;
  }

  /** Returns the ids of all organizations of the configuration with the same token, sorted. */
  tokenUsers({ token }: Pick<OrganizationConfig, 'id' | 'token'>): readonly string[] {
    return this.#configured.get(token) ?? [];
  }

  /**
   * Returns the connection for the token of an organization, until `release`. Opens it if needed, without sending anything.
   * Throws StoreError.
   */
  async acquire(
    { id, token }: Pick<OrganizationConfig, 'id' | 'token'>,
    store: Pick<Store, 'note'>,
  ): Promise<Connection> {
    const use = this.#uses.get(token) ?? this.#add(token, store);
    use.users.set(id, store);
    try {
      return await use.opened;
    } catch (error) {
      use.users.delete(id);
      if (this.#uses.get(token) === use) {
        this.#uses.delete(token);
      }
      throw error;
    }
  }

  /** Ends the use of a connection. After the last one, saves its rate limits and closes it. */
  async release({ id, token }: Pick<OrganizationConfig, 'id' | 'token'>): Promise<void> {
    const use = this.#uses.get(token);
    const store = use?.users.get(id);
    use?.users.delete(id);
    if (use === undefined || store === undefined || use.users.size > 0) {
      return;
    }
    this.#uses.delete(token);
    const closing = this.#close(token, use, store).finally(() => this.#closing.delete(token));
    this.#closing.set(token, closing);
    await closing;
  }

  /** Returns the open queues, each with its name. */
  queues(): readonly (readonly [string, RequestQueue])[] {
    return [...this.#uses].flatMap(([token, { queue }]) =>
      queue === null ? [] : [[this.#names.get(token) ?? '', queue] as const],
    );
  }

  /** Returns true if the queue with this name is open. */
  isOpen(name: string): boolean {
    const token = this.#tokens.get(name);
    return token !== undefined && (this.#uses.get(token)?.queue ?? null) !== null;
  }

  /** Saves the learned rate limits that have changed. A failure is logged only. */
  async remember(): Promise<void> {
    for (const [token, use] of this.#uses) {
      const [store] = use.users.values();
      if (use.queue !== null && store !== undefined) {
        await this.#remember(use, use.queue, this.#note(token, store));
      }
    }
  }

  #add(token: string, store: Pick<Store, 'note'>): TokenUse {
    const opened = this.#open(token, store);
    const use: TokenUse = { opened, queue: null, saved: null, users: new Map() };
    this.#uses.set(token, use);
    opened.then(
      ({ queue }) => {
        use.queue = queue;
      },
      () => undefined,
    );
    return use;
  }

  async #open(token: string, store: Pick<Store, 'note'>): Promise<Connection> {
    await this.#closing.get(token);
    const { config, clock, random, version, events } = this.#context;
    const { baseUrl, timeout } = config.platform;
    const { concurrency, deadline } = config.queue;
    const memory = await this.#note(token, store).read();
    const owner = tokenDigest(baseUrl, token);
    return openConnection({
      baseUrl,
      token,
      tokenSource: config.tokenSources.get(token),
      userAgent: `octavo/${version}`,
      concurrency,
      clock,
      random,
      timeouts: { headers: timeout, body: timeout },
      queue: {
        deadline,
        owner,
        memory,
        shared: this.#shared(owner),
        onEvent: (event) => events.publish.onQueueEvent?.(event),
      },
    });
  }

  async #close(token: string, use: TokenUse, store: Pick<Store, 'note'>): Promise<void> {
    const connection = await use.opened;
    // The organizations have waited for their requests in flight.
    await connection.queue.drain(0);
    await this.#remember(use, connection.queue, this.#note(token, store));
    await connection.close(0);
  }

  #note(token: string, store: Pick<Store, 'note'>): Note {
    return store.note(`budgets/${tokenDigest(this.#context.config.platform.baseUrl, token)}`);
  }

  async #remember(use: TokenUse, queue: RequestQueue, note: Note): Promise<void> {
    const memory = queue.remember();
    if (!isWorthSaving(memory, use.saved)) {
      return;
    }
    try {
      await note.write(memory as Json);
      use.saved = memory;
    } catch (error) {
      this.#context.log.debug({ reason: messageOf(error) }, 'cannot save the learned rate limits');
    }
  }
}
