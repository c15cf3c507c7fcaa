import type { Address } from '../../core/address.ts';
import type { Change, DeletedContents } from '../../core/change.ts';
import type { JsonObject } from '../../core/json.ts';
import type { Actual, Base, Declared, Fields } from '../../core/resource.ts';
import type { KindRules } from '../../plan/model/rules.ts';
import type { Reader } from '../../platform/client.ts';
import type { DescribeContext, ManifestRules } from './manifest.ts';
import type { Progress, Writes } from './request.ts';

/** The client that lists a kind, and callbacks for what it finds. */
export interface ObserveContext {
  readonly reader: Reader;
  readonly add: (actual: Actual) => void;
  /** Reports the email address and the id of a member of the organization. */
  readonly person: (email: string, id: string) => void;
}

/** Result of a {@link DetailRequest}. */
export interface Detail {
  /** Fields in addition to those of the list. */
  readonly fields?: Fields;
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
  /** Kind of the parts that it returns; `any` for all kinds. Absent: no parts. */
  readonly parts?: string;
  /** `before` is the result of the request that this one follows. */
  read(actual: Actual, reader: Reader, before: Detail): Promise<Detail>;
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
export interface WriteContext {
  /** Returns the change that creates a resource; undefined if the resource exists. */
  creation(address: Address): Change | undefined;
}

/** A kind of resource. A new kind is one file with one of these, and one line in the registry. */
export interface Kind extends KindRules {
  /** Rules for its entries in manifests; null for a kind that is declared inside the entries of another kind. */
  readonly manifest: ManifestRules | null;
  /** Other kinds whose resources must not have the same keys, because one reference can mean either. */
  readonly sharesKeysWith?: readonly string[];
  /** Returns texts from which an import makes a key for an undeclared resource, best first: usually its title. */
  suggestedKeys(actual: Actual, context: Pick<DescribeContext, 'keyOfRef'>): readonly string[];
  /** Lists all resources with as few requests as possible. Null for a kind that is read as part of another. */
  readonly observe: ((context: ObserveContext) => Promise<void>) | null;
  /** Reads what a deletion would destroy, with one request, for {@link KindRules.impact}. Throws AppError. */
  readContents?(actual: Pick<Actual, 'id'>, reader: Reader): Promise<DeletedContents>;
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

/** Reads every page of a list. */
export async function collect<T>(pages: AsyncIterable<T>, take: (item: T) => void): Promise<void> {
  for await (const item of pages) {
    take(item);
  }
}
