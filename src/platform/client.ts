import type { Priority } from '../queue/request.ts';
import type { Connection } from './connection.ts';
import type {
  Answer,
  Input,
  Item,
  Operation,
  PaginatedOperation,
  ReadOperation,
  WriteOperation,
} from './operations/operation.ts';

/** What can be said about one call. */
export interface CallOptions {
  readonly signal?: AbortSignal;
}

/** The input may be left out where nothing in it is required. */
export type CallArguments<O extends Operation> =
  Record<never, never> extends Input<O>
    ? [input?: Input<O>, options?: CallOptions]
    : [input: Input<O>, options?: CallOptions];

/** Reads one organization. It has no way to write: what carries its requests refuses any method but GET. */
export interface Reader {
  /** The id of the organization that is filled into paths. */
  readonly organization: string;
  /** One request. A paginated operation answers the page asked for. Throws AppError. */
  get<O extends ReadOperation>(operation: O, ...call: CallArguments<O>): Promise<Answer<O>>;
  /** All items, page after page, 1000 at a time. Throws AppError; a cursor that repeats is an error. */
  pages<O extends PaginatedOperation>(operation: O, ...call: CallArguments<O>): AsyncIterable<Item<O>>;
}

/** Reads and writes one organization. */
export interface Writer extends Reader {
  /**
   * One write. Throws RejectedError without sending anything when the body is not what the platform documents, and
   * TransientError with `maybeDone` when the write may have happened.
   */
  send<O extends WriteOperation>(operation: O, ...call: CallArguments<O>): Promise<Answer<O>>;
}

/** Who reads or writes, and how urgently. */
export interface ClientOptions {
  /** The organization's id. */
  readonly organization: string;
  readonly priority: Priority;
  /** Aborts every call of this reader or writer. */
  readonly signal?: AbortSignal;
}
