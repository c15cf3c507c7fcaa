/** Transaction on a connection of PostgreSQL. */
import type { QueryResult } from 'pg';
import { LeaseLostError } from '../../core/errors.ts';
import type { Sql, SqlRow, SqlValue } from '../sql/database.ts';
import { isBroken, isUnanswered, type PostgresErrors } from './errors.ts';
import type { PlaceholderCache } from './placeholders.ts';
import type { PooledConnection } from './pooled-connection.ts';

/**
 * Escapes in JSON that PostgreSQL cannot convert to text: NUL, and halves of surrogate pairs. Stored texts have U+FFFD in
 * their place.
 */
const NOT_TEXT = "'(?<!\\\\)((?:\\\\\\\\)*)\\\\u(?:0000|d[89a-f][0-9a-f]{2})', '\\1\\ufffd', 'g'";

/** Lease that the last statement of the first message selects; see `FENCE`. */
export interface FencingLease {
  readonly name: string;
  readonly epoch: number;
}

/**
 * Statements of one transaction. Its first message begins it; the first statement is sent without waiting for the answer.
 * Fails after the end, and after the first failure: the server refuses further statements then.
 */
export class PostgresTransaction implements Sql {
  readonly #connection: PooledConnection;
  readonly #errors: PostgresErrors;
  readonly #placeholders: PlaceholderCache;
  readonly #begun: Promise<void>;
  #isOpen = true;
  #hasBegun = false;
  #failure: unknown = null;

  constructor(
    connection: PooledConnection,
    begin: string,
    lease: FencingLease | null,
    errors: PostgresErrors,
    placeholders: PlaceholderCache,
  ) {
    this.#connection = connection;
    this.#errors = errors;
    this.#placeholders = placeholders;
    this.#begun = this.#begin(begin, lease);
    // Each statement reports the failure.
    this.#begun.catch(() => undefined);
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** True if the server confirmed the start. */
  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  /** First failure, as the client reported it; null if there is none. */
  get failure(): unknown {
    return this.#failure;
  }

  async run(statement: string, ...values: readonly SqlValue[]): Promise<number> {
    return (await this.#execute(statement, values)).rowCount ?? 0;
  }

  async all(statement: string, ...values: readonly SqlValue[]): Promise<readonly SqlRow[]> {
    return (await this.#execute(statement, values)).rows as readonly SqlRow[];
  }

  async get(statement: string, ...values: readonly SqlValue[]): Promise<SqlRow | undefined> {
    return (await this.all(statement, ...values))[0];
  }

  jsonItems(expression: string): string {
    return `json_array_elements_text(CAST(regexp_replace(${expression}, ${NOT_TEXT}) AS JSON)) AS each (value)`;
  }

  jsonMember(expression: string, name: string): string {
    return `(CAST(regexp_replace(${expression}, ${NOT_TEXT}) AS JSON) ->> '${name}')`;
  }

  /** Commits. Throws StoreError if a statement failed, even if the work ignored it. */
  async commit(): Promise<void> {
    await this.requireSuccess();
    this.#isOpen = false;
    try {
      const { command } = await this.#connection.query('COMMIT');
      if (command !== 'COMMIT') {
        throw new Error('a statement failed that nobody waited for');
      }
    } catch (error) {
      this.#failure ??= error;
      throw isBroken(error) || isUnanswered(error)
        ? this.#errors.create('did not confirm a commit; what was written may be stored or not')
        : this.#errors.convert(this.#failure);
    }
    this.#connection.release();
  }

  /** Throws the first failure, also of a statement whose failure the work ignored. */
  async requireSuccess(): Promise<void> {
    await this.#begun;
    if (this.#failure !== null) {
      throw this.#errors.convert(this.#failure);
    }
  }

  /** Ends the transaction without storing anything, and gives the connection back. */
  async rollBack(): Promise<void> {
    this.#isOpen = false;
    try {
      if (isUnanswered(this.#failure)) {
        this.#connection.replacePool();
      }
      if (isBroken(this.#failure) || isUnanswered(this.#failure)) {
        this.#connection.release(true);
      } else {
        await this.#connection.query('ROLLBACK');
        this.#connection.release();
      }
    } catch {
      this.#connection.release(true);
    }
  }

  async #begin(begin: string, lease: FencingLease | null): Promise<void> {
    try {
      // Several statements in a message have several results.
      const results = (await this.#connection.query(begin)) as unknown as readonly QueryResult[];
      this.#hasBegun = true;
      if (lease !== null && results.at(-1)?.rowCount !== 1) {
        throw new LeaseLostError(lease.name);
      }
    } catch (error) {
      this.#failure ??= error;
      throw this.#errors.convert(error);
    }
  }

  async #execute(statement: string, values: readonly SqlValue[]): Promise<QueryResult> {
    if (!this.#isOpen) {
      throw new Error('the transaction of this statement has ended; await its statements');
    }
    try {
      const answer = this.#connection.query(this.#placeholders.convert(statement), values.map(toStored));
      answer.catch(() => undefined);
      await this.#begun;
      return await answer;
    } catch (error) {
      this.#failure ??= error;
      throw this.#errors.convert(this.#failure);
    }
  }
}

/** PostgreSQL cannot store NUL in texts. */
function toStored(value: SqlValue): SqlValue {
  return typeof value === 'string' && value.includes('\0') ? value.replaceAll('\0', '\ufffd') : value;
}
