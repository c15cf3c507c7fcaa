/** The log of received requests. */

/** A received request. */
export interface RequestEntry {
  /** Counts from 1 since the start or the last reset. */
  readonly n: number;
  readonly method: string;
  /** Name of the operation; `unknown` if the API does not have it. */
  readonly operation: string;
  /** Path with the query. */
  readonly path: string;
  /** Null while it is in progress, and if the connection was dropped instead of an answer. */
  readonly status: number | null;
  /** Email of the token's user; null without a valid token. */
  readonly user: string | null;
  /** The header `User-Agent`; empty without one. */
  readonly agent: string;
  /** Milliseconds since the epoch, by the emulator's clock. */
  readonly at: number;
}

type OpenEntry = { -readonly [K in keyof RequestEntry]: RequestEntry[K] };
const KEPT = 100_000;

/** Requests that the emulator received. Counts cover all requests; only the newest entries are kept. */
export class RequestLog {
  #total = 0;
  #entries: OpenEntry[] = [];
  readonly #operations = new Map<string, number>();
  readonly #methods = new Map<string, number>();

  get total(): number {
    return this.#total;
  }

  get entries(): readonly RequestEntry[] {
    return this.#entries.slice();
  }

  get byOperation(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#operations);
  }

  get byMethod(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#methods);
  }

  /** Returns the number of requests to an operation. */
  count(operation: string): number {
    return this.#operations.get(operation) ?? 0;
  }

  /** Resets the log. */
  reset(): void {
    this.#total = 0;
    this.#entries = [];
    this.#operations.clear();
    this.#methods.clear();
  }

  /** Adds a request. Call the result with the status once it is known. */
  open(request: Omit<RequestEntry, 'n' | 'status'>): (status: number) => void {
    this.#total += 1;
    const entry: OpenEntry = { n: this.#total, ...request, status: null };
    if (this.#entries.length >= KEPT) {
      this.#entries = this.#entries.slice(KEPT / 2);
    }
    this.#entries.push(entry);
    this.#operations.set(request.operation, this.count(request.operation) + 1);
    this.#methods.set(request.method, (this.#methods.get(request.method) ?? 0) + 1);
    return (status) => {
      entry.status = status;
    };
  }
}
