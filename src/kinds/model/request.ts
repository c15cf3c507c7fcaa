import type { Address } from '../../core/address.ts';
import type { Json } from '../../core/json.ts';
import type { Reader } from '../../platform/client.ts';
import type { Answer, Input, WriteOperation } from '../../platform/operations/model/operation.ts';

/** The id of what an address names, to be filled in when the request is sent: it may not exist before. */
export class Ref {
  readonly address: Address;

  constructor(address: Address) {
    this.address = address;
  }
}

/** A reference held in a field; null stays null, as it clears the field. */
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

/** The same input, with references wherever an id stands. */
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

/** One write, as data: what is sent once every reference in it has an id. */
export interface PlannedRequest {
  readonly operation: WriteOperation;
  readonly input: unknown;
  /** Throws AppError where the answer says that it was not done after all. */
  readonly learns: (answer: unknown) => Learned;
  /** Whether it creates the resource of its change, which can then be looked up by its natural key. */
  readonly creates: boolean;
  /** The fields of the resource that tell whether it was done; empty where none does. */
  readonly sets: readonly string[];
  /** Statuses of refusals that count as done where `sets` is in place: a move that would change nothing (409). */
  readonly tolerates: readonly number[];
  /** What is sent where the platform answers 404, because it has no such operation; null: every version has it. */
  readonly instead: Alternative | null;
}

/** How a version of the platform that lacks an operation does the same. */
export interface Alternative {
  /** What versions have or lack as a whole: what one request tells of it holds for all. */
  readonly feature: string;
  readonly request: PlannedRequest;
  /** Whether the answer shows that it was done: a version that does not know a field may pass over it. */
  readonly isDone: (answer: unknown, input: unknown) => boolean;
}

/** Plans one write. The types are those of the operation, so that a wrong body does not compile. */
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

/** What an answer makes of a change that takes time on the platform's side. */
export type Progress =
  | { readonly state: 'working' }
  | { readonly state: 'done' }
  | { readonly state: 'failed'; readonly reason: string };

/** All that one change sends, in this order; `late` waits for what the resource refers to as a whole. */
export interface Writes {
  readonly first: readonly PlannedRequest[];
  readonly late?: readonly PlannedRequest[];
  /** Asks how far the platform is with what was sent; asked again until it is done or has failed. */
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
