/** Definition of a kind, and of the requests that write its changes. */
import type { Address } from '../../core/address.ts';
import type { Change, DeletedContents } from '../../core/change.ts';
import { AuthError, RejectedError } from '../../core/errors.ts';
import type { Json, JsonObject } from '../../core/json.ts';
import type { Actual, Base, Declared, Fields } from '../../core/resource.ts';
import type { KindRules } from '../../plan/rules.ts';
import type { Reader } from '../../platform/client.ts';
import type { Answer, Input, WriteOperation } from '../../platform/operations/model/operation.ts';
import type { DescribeContext, ManifestRules } from './manifest.ts';

/** The client that lists a kind, and callbacks for what it finds. */
interface ObserveContext {
  readonly reader: Reader;
  readonly add: (actual: Actual) => void;
  /** Reports the email address and the id of a member of the organization. */
  readonly person: (email: string, id: string) => void;
}

/** Result of a {@link DetailRequest}. */
export interface Detail {
  /** Fields in addition to those of the list. */
  readonly fields?: Fields;
  /** Facts in addition to those of the list; they are shown, but not compared. */
  readonly facts?: Fields;
  readonly parts?: readonly Actual[];
  /** Email addresses and ids of members of the organization. */
  readonly people?: readonly (readonly [email: string, id: string])[];
}

/** Requests for one resource, sent only if an entry that may declare it sets a field that they return. */
export interface DetailRequest {
  /** Name in snapshots. */
  readonly name: string;
  /** Fields that it returns. */
  readonly fields: readonly string[];
  /** Kinds of the parts that it returns. Absent: no parts. */
  readonly parts?: readonly string[];
  /** `before` is the result of the request that this one follows. */
  read(actual: Actual, reader: Reader, before: Detail): Promise<Detail>;
  /** A token that may list the resource may be refused this: the fields are left out where everything is read. */
  readonly isOptional?: boolean;
  /** Request that depends on the result of this one. */
  readonly next?: DetailRequest;
}

/** State of a plan when it decides which other kinds to read. */
export interface NeededKindsContext {
  readonly declared: ReadonlyMap<Address, Declared>;
  readonly base: Base;
  readonly actuals: readonly Actual[];
}

/** Lookups in the plan that a change is part of. */
interface WriteContext {
  /** Returns the change that creates a resource; undefined if the resource exists. */
  creation(address: Address): Change | undefined;
  /** Returns the resources of a kind that were read for the plan; they show which version the platform is. */
  actuals(kind: string): readonly Actual[];
}

/** A kind of resource. A new kind is one file with one of these, and one line in the registry. */
export interface Kind extends KindRules {
  /** Rules for its entries in manifests; null for a kind that is declared inside the entries of another kind. */
  readonly manifest: ManifestRules | null;
  /** Other kinds whose resources must not have the same keys, because one reference can mean either. */
  readonly sharesKeysWith?: readonly string[];
  /** Returns texts from which an import makes a key for an undeclared resource, best first: usually its title. */
  suggestedKeys(actual: Actual, context: Pick<DescribeContext, 'keyOfRef'>): readonly string[];
  /** Returns what the key of a part adds to that of the whole, for parts without an order: the path of a redirect. */
  keyWithin?(actual: Actual): string;
  /** Lists all resources with as few requests as possible. Null for a kind that is read as part of another. */
  readonly observe: ((context: ObserveContext) => Promise<void>) | null;
  /** Reads what a deletion would destroy, with one request, for {@link KindRules.impact}. Throws AppError. */
  readContents?(actual: Pick<Actual, 'id'>, reader: Reader): Promise<DeletedContents>;
  /** Reads further facts with one request, for {@link KindRules.reviewNeeds}. Throws AppError. */
  readFacts?(actual: Actual, reader: Reader): Promise<JsonObject>;
  /** Requests for what the list does not return. */
  readonly details?: readonly DetailRequest[];
  /** Returns other kinds that the plan has to read, such as those whose resources a deletion also deletes. */
  neededKinds?(context: NeededKindsContext): readonly string[];
  /** Reads the progress of a result that others refer to; only for kinds with `unusableReason`. */
  progress?(id: string, reader: Reader): Promise<Progress>;
  /** Returns the address that a creation copies; the copy has the same title until it is renamed. */
  copySource?(change: Change): Address | undefined;
  /** Returns the requests of one change, without sending them, so that a plan can count them. */
  writes(change: Change, context: WriteContext): Writes;
  /** Returns what to record of an applied resource that the platform does not return. */
  recordedMetadata?(
    declared: Declared,
    before: JsonObject,
    changed: boolean,
    actualOf: (address: Address) => Actual | undefined,
  ): JsonObject;
}

/** Returns an answer; null if the platform answers that there is no such resource. */
export async function unlessMissing<T>(answer: Promise<T>): Promise<T | null> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof RejectedError && error.status === 404) {
      return null;
    }
    throw error;
  }
}

/** Returns a kind whose optional details are left out, and reported by name, where the token may not read them (403). */
export function withoutRefused(kind: Kind, refused: (name: string, error: AuthError) => void = () => {}): Kind {
  const details = kind.details?.map((detail): DetailRequest => {
    const read: DetailRequest['read'] = (...args) =>
      detail.read(...args).catch((error: unknown) => {
        if (error instanceof AuthError && error.status === 403) {
          refused(detail.name, error);
          return {};
        }
        throw error;
      });
    return detail.isOptional === true ? { ...detail, read } : detail;
  });
  return details === undefined ? kind : { ...kind, details };
}

/** Placeholder for the id of an address. It is filled in when the request is sent, because it may not exist before. */
export class Ref {
  readonly address: Address;

  constructor(address: Address) {
    this.address = address;
  }
}

/** Text with references to secrets, which are filled in when the request is sent. */
export class SecretText {
  readonly text: string;
  /** URL that the platform sends the secrets to. */
  readonly address: string;

  constructor(text: string, address: string) {
    this.text = text;
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
type WithRefs<T> = T extends string
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
type Learned = Iterable<readonly [Address, string]>;

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
  /**
   * Completes the input right before it is sent, with what the platform has: for an operation that replaces a whole, if only a
   * part is declared. Null if the input is complete.
   */
  readonly complete: ((input: unknown, reader: Reader) => Promise<unknown>) | null;
  /** Request for platform versions without the operation, which answer 404; null if every version has it. */
  readonly instead: Alternative | null;
  /** Item of a request that makes several changes; null if it is always sent alone. */
  readonly bulk: BulkItem | null;
}

/** One of several changes that an idempotent request can make. It is the only request of its change. */
export interface BulkItem {
  readonly request: BulkRequest;
  /** Path parameters of the request. Items with the same request and path can be sent together. */
  readonly path: Readonly<Record<string, Ref>>;
  readonly body: unknown;
}

/** A request that makes several changes, and reports what became of each. Platforms without it answer 404. */
export interface BulkRequest {
  readonly operation: WriteOperation;
  /** Most items in one request. */
  readonly most: number;
  /** Returns the body of the request. */
  body(items: readonly unknown[]): unknown;
  /** Returns the result of an item in an answer: its id, if it has one; undefined if the answer does not mention it. */
  resultOf(answer: unknown, item: unknown): { readonly id: string | null } | { readonly error: string } | undefined;
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
  rest: Partial<Omit<PlannedRequest, 'learns'>> & { readonly learns?: (answer: Answer<O>) => Learned } = {},
): PlannedRequest {
  const defaults = {
    learns: () => [],
    creates: false,
    sets: [],
    tolerates: [],
    complete: null,
    instead: null,
    bulk: null,
  };
  return { ...defaults, operation, input, ...(rest as Partial<PlannedRequest>) };
}

/** Members of a request that creates the resource of a change, whose id is in the answer. */
export function creating({ address }: Change) {
  return { creates: true, learns: ({ id }: { readonly id: string }): Learned => [[address, id]] };
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

/** Reports whether a body has a member that is not undefined. */
export function hasMembers(body: object): boolean {
  return Object.values(body).some((value) => value !== undefined);
}
