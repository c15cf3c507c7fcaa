import type { Address } from '../../core/address.ts';
import type { Json } from '../../core/json.ts';
import type { Reader } from '../../platform/client.ts';
import type { Answer, Input, WriteOperation } from '../../platform/operations/model/operation.ts';

/** Placeholder for the id of an address. It is filled in when the request is sent, because it may not exist before. */
export class Ref {
  readonly address: Address;

  constructor(address: Address) {
    this.address = address;
  }
}

/** Creates a placeholder for the address in a field. */
export function ref(address: Json | undefined): Ref {
  return new Ref(String(address));
}

/** A mapping whose keys are ids. */
export class RefMap {
  readonly entries: readonly (readonly [Ref, unknown])[];

  constructor(entries: readonly (readonly [Ref, unknown])[]) {
    this.entries = entries;
  }
}

/** Input type with {@link Ref} allowed in place of each id. */
export type WithRefs<T> = T extends string
  ? string extends T
    ? T | Ref
    : T
  : T extends readonly (infer Item)[]
    ? readonly WithRefs<Item>[]
    : string extends keyof T
      ? T | RefMap | { readonly [Key in keyof T]: WithRefs<T[Key]> }
      : T extends object
        ? { readonly [Key in keyof T]: WithRefs<T[Key]> }
        : T;

/** Ids learned from an answer, by address. */
export type Learned = Iterable<readonly [Address, string]>;

/** A write request as data, sent once every reference in it has an id. */
export interface PlannedRequest {
  readonly operation: WriteOperation;
  readonly input: unknown;
  /** Returns the ids in the answer. Throws AppError if the answer shows that the write had no effect. */
  readonly learns: (answer: unknown) => Learned;
  /** True if it creates the resource of its change, which can then be looked up by its natural key. */
  readonly creates: boolean;
  /** Fields of the resource that show whether the write took effect; empty if none does. */
  readonly sets: readonly string[];
  /** Error statuses that count as success if `sets` is in place, such as 409 for a move that would change nothing. */
  readonly tolerates: readonly number[];
  /** Request for platform versions without the operation, which answer 404; null if every version has it. */
  readonly instead: Alternative | null;
}

/** Replacement for an operation that some platform versions lack. */
export interface Alternative {
  /** Name of the feature that a version has or lacks. The result of one request applies to all others. */
  readonly feature: string;
  readonly request: PlannedRequest;
  /** Reports whether the answer confirms the change, because a version may ignore a field that it does not know. */
  readonly isDone: (answer: unknown, input: unknown) => boolean;
}

/** Creates a planned request with the types of the operation, so that a wrong body does not compile. */
export function request<O extends WriteOperation>(
  operation: O,
  input: WithRefs<Input<O>>,
  rest: {
    readonly learns?: (answer: Answer<O>) => Learned;
    readonly creates?: boolean;
    readonly sets?: readonly string[];
    readonly tolerates?: readonly number[];
    readonly instead?: Alternative;
  } = {},
): PlannedRequest {
  return {
    operation,
    input,
    learns: (rest.learns as ((answer: unknown) => Learned) | undefined) ?? (() => []),
    creates: rest.creates ?? false,
    sets: rest.sets ?? [],
    tolerates: rest.tolerates ?? [],
    instead: rest.instead ?? null,
  };
}

/** Progress of a change that the platform processes asynchronously. */
export type Progress =
  | { readonly state: 'working' }
  | { readonly state: 'done' }
  | { readonly state: 'failed'; readonly reason: string };

/** Requests of one change, in order. `late` waits until everything that the resource refers to exists. */
export interface Writes {
  readonly first: readonly PlannedRequest[];
  readonly late?: readonly PlannedRequest[];
  /** Reads the progress of the change; polled until it is done or has failed. */
  readonly watch?: (reader: Reader) => Promise<Progress>;
}

/** Members of an object that are not undefined. */
export function present<T extends object>(members: T): T {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as T;
}

/** Reports whether a body has a member that is not undefined. */
export function hasMembers(body: object): boolean {
  return Object.values(body).some((value) => value !== undefined);
}
