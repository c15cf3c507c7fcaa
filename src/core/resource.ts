/** Declared and actual resources. */
import type { Address } from './address.ts';
import { isObject, type Json, type JsonObject } from './json.ts';

/** Location of a declaration. Lines and columns count from 1. */
export interface Source {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/**
 * Managed fields of a resource in normal form. A field that is left out is not managed. References are written as
 * addresses on the declared side, and as {@link IdRef} on the actual side until they are looked up.
 */
export type Fields = JsonObject;

/** Pause of a resource: its changes are shown but not applied until `until`. See docs/concepts.md#ownership-and-deletion. */
export interface Pause {
  readonly reason: string;
  /**
   * The first day, as YYYY-MM-DD in UTC, on which changes are applied again; null: until the pause is removed. For a
   * flapping field, the instant as YYYY-MM-DDThh:mmZ.
   */
  readonly until: string | null;
}

/** Declaration of one key. */
export interface Declared {
  readonly address: Address;
  readonly kind: string;
  readonly fields: Fields;
  /** Address of the parent resource, such as a section's site, which must exist first; null for most kinds. */
  readonly within: Address | null;
  /** Position among siblings, if the order is declared. */
  readonly place: Place | null;
  /** Id of the resource it is bound to. */
  readonly id: string | null;
  /** Value of the natural key before a rename. */
  readonly renamedFrom: string | null;
  /** Null if not declared. */
  readonly protect: boolean | null;
  readonly paused: Pause | null;
  /** Fields that are set on creation and never updated. */
  readonly ignore: readonly string[];
  readonly source: Source;
}

/** Position in an ordered list of siblings. */
export interface Place {
  /** Address of the resource with the list: a site, a section group or a section. */
  readonly list: Address;
  /** From 0. */
  readonly index: number;
}

/** Last applied state of one resource, from the daemon's record or the base commit. */
export interface BaseEntry {
  readonly address: Address;
  readonly kind: string;
  /** Null if the base is a git ref, which has no ids. */
  readonly id: string | null;
  /** True if the base is only recorded after complete applies, so that it misses applies that stopped halfway. */
  readonly isComplete?: boolean;
  readonly fields: Fields;
  readonly within: Address | null;
  readonly protect: boolean;
  /** Position among siblings at that time, if the order was declared. */
  readonly place?: Place | null;
  /** State that cannot be read back from the platform: hashes of sent content, revisions. */
  readonly metadata: JsonObject;
}

/** Base of a plan. Null if there is none; nothing is deleted then. */
export type Base = ReadonlyMap<Address, BaseEntry> | null;

/** Reference by id, with the kinds that it can refer to. */
export interface IdRef {
  readonly $id: string;
  readonly kinds: readonly string[];
}

/** Creates a reference to the resource with this id. */
export function idRef(id: string, ...kinds: string[]): Json {
  return { $id: id, kinds };
}

/** Returns true for a reference by id, but not for a JSON Schema, which may have a `$id` too. */
export function isIdRef(value: unknown): value is IdRef {
  return isObject(value) && typeof value.$id === 'string' && isTexts(value.kinds);
}

function isTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}

/** Resource on the platform. */
export interface Actual {
  readonly kind: string;
  readonly id: string;
  /** Title, shown if no key declares the resource. */
  readonly title: string;
  readonly fields: Fields;
  /** Id of the site it is part of; null for most kinds. */
  readonly within: string | null;
  /** Position among siblings: the id of the resource with the list, and the index from 0. */
  readonly place: { readonly list: string; readonly index: number } | null;
  /** Other ids that references to this resource use, such as a translation's result space. */
  readonly aliases?: readonly string[];
  /** Information beyond its fields: counts, errors, revisions. */
  readonly facts?: JsonObject;
}

/** Resources on the platform, by kind, for the kinds that were read. */
export interface Observation {
  readonly kinds: ReadonlyMap<string, readonly Actual[]>;
  /** Ids of the members of the organization that were seen, by email address in lower case. */
  readonly people: ReadonlyMap<string, string>;
}
