import type { Address } from '../../core/address.ts';
import type { Change } from '../../core/change.ts';
import type { Json, JsonObject } from '../../core/json.ts';
import type { Actual, Base, Declared, Fields } from '../../core/resource.ts';
import type { KindRules } from '../../plan/model/rules.ts';
import type { Reader } from '../../platform/client.ts';
import type { DescribeContext, ManifestRules } from './manifest.ts';
import type { Progress, Writes } from './request.ts';

/** What is asked for when a kind is listed, and where the answers go. */
export interface ObserveContext {
  readonly reader: Reader;
  readonly add: (actual: Actual) => void;
  /** Somebody seen as a member of the organization. */
  readonly person: (email: string, id: string) => void;
}

/** What further requests about one resource told. */
export interface Detail {
  /** Besides those that its list gave. */
  readonly fields?: Fields;
  readonly parts?: readonly Actual[];
  /** Emails and ids of people seen as members of the organization. */
  readonly people?: readonly (readonly [email: string, id: string])[];
}

/** Further requests about one resource, made only where a key that may mean it says something of what they tell. */
export interface DetailRequest {
  /** As a snapshot calls it. */
  readonly name: string;
  /** The fields it tells of. */
  readonly fields: readonly string[];
  /** The kind of parts it tells of; `any`: all there are. Absent: none. */
  readonly parts?: string;
  /** `before`: what was told by that which this comes after. */
  read(actual: Actual, reader: Reader, before: Detail): Promise<Detail>;
  /** What there is to ask once this is known. */
  readonly next?: DetailRequest;
}

/** What is known when it is decided which other kinds have to be read. */
export interface NeededKindsContext {
  readonly declared: ReadonlyMap<Address, Declared>;
  readonly base: Base;
  readonly actuals: readonly Actual[];
}

/** What a kind may ask about the plan its change is part of. */
export interface WriteContext {
  /** The change that creates what an address names; undefined where it is there already. */
  creation(address: Address): Change | undefined;
}

/** A request of somebody else. `{id}` stands for the id of the resource, `{site}` for that of its site. */
export type SampleRequest = readonly [method: string, path: string, body?: Json];

/** A sample resource, for the tests that every kind has to pass. Manifests are written as sections. */
export interface KindSample {
  /** Manifests of what the resource refers to. They are part of every step. */
  readonly base?: string;
  /** The resource as it is created. */
  readonly created: string;
  /** The same key with every field changed that can be changed. */
  readonly updated: string;
  /** The same key with every field cleared that can be cleared. */
  readonly cleared?: string;
  /** The manifests without the resource. */
  readonly gone: string;
  readonly address: Address;
  /** Operation that creates it, as the platform names it; null if Octavo does not create it. */
  readonly createdBy: string | null;
  /** List of the embedded platform's state that holds such resources. */
  readonly storedIn: string;
  /** Changes a field that `created` declares. */
  readonly drift: SampleRequest;
  /** Deletes the resource; null if that is not possible. */
  readonly remove: SampleRequest | null;
}

/** A kind of resource: all there is to know about it. A new kind is one file with one of these, and one line in the registry. */
export interface Kind extends KindRules {
  /** Sample for the tests that every kind has to pass. Required for the kinds of the registry. */
  readonly sample?: KindSample;
  /** How it is written in manifests; null for a kind that another kind's entries declare, as a site does its sections. */
  readonly manifest: ManifestRules | null;
  /** Other kinds of which no resource may have the same key, because one reference can mean either. */
  readonly sharesKeysWith?: readonly string[];
  /** What the key of a resource that nothing declares can be made of, the best first: mostly its title. */
  suggestedKeys(actual: Actual, context: Pick<DescribeContext, 'keyOfRef'>): readonly string[];
  /** Lists all of the kind, with as few requests as the platform allows. Null for what is read as part of another. */
  readonly observe: ((context: ObserveContext) => Promise<void>) | null;
  /** What a list does not tell. */
  readonly details?: readonly DetailRequest[];
  /** Other kinds without which its part of this plan cannot be made. */
  neededKinds?(context: NeededKindsContext): readonly string[];
  /** Reads the progress of a result that others refer to; only for kinds with an `unusableReason`. */
  progress?(id: string, reader: Reader): Promise<Progress>;
  /** The address of what a creation copies; its copy is called the same until it is renamed. */
  copySource?(change: Change): Address | undefined;
  /** The requests of one change: pure, so that a plan can say what it costs. */
  writes(change: Change, context: WriteContext): Writes;
  /** What to remember of a resource as applied that the platform does not give back. */
  recordedMarks?(
    declared: Declared,
    before: JsonObject,
    changed: boolean,
    actualOf: (address: Address) => Actual | undefined,
  ): JsonObject;
}

/** Reads every page into a list. */
export async function collect<T>(pages: AsyncIterable<T>, take: (item: T) => void): Promise<void> {
  for await (const item of pages) {
    take(item);
  }
}
