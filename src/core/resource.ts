import type { Address } from './address.ts';
import { isObject, type Json, type JsonObject } from './json.ts';

/** Where a declaration stands. Lines and columns count from 1. */
export interface Source {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/**
 * The managed fields of a resource in normal form. A field that is left out is not managed. References are written as
 * addresses on the declared side, and as {@link IdRef} on the actual side until they are looked up.
 */
export type Fields = JsonObject;

/** Pause of a resource: its changes are shown but not applied until `until`. See docs/concepts.md#what-is-deleted. */
export interface Pause {
  readonly reason: string;
  /**
   * The first day, as YYYY-MM-DD in UTC, on which changes are applied again; null: until the pause is removed. For a
   * flapping field, the instant as YYYY-MM-DDThh:mmZ.
   */
  readonly until: string | null;
}

/** What one key declares. */
export interface Declared {
  readonly address: Address;
  readonly kind: string;
  readonly fields: Fields;
  /** The address of the resource it lives in (a section's site), which must be there first; null for most kinds. */
  readonly within: Address | null;
  /** Its place among siblings, where the order is declared. */
  readonly place: Place | null;
  /** Bound to the resource with this id. */
  readonly id: string | null;
  /** The natural key's value it had before a rename. */
  readonly renamedFrom: string | null;
  /** Null: this declaration does not say. */
  readonly protect: boolean | null;
  readonly paused: Pause | null;
  /** Fields that are set on create and left alone ever after. */
  readonly ignore: readonly string[];
  readonly source: Source;
}

/** A place in an ordered list of siblings. */
export interface Place {
  /** The address of what holds the list: a site, a section group, a section. */
  readonly list: Address;
  /** From 0. */
  readonly index: number;
}

/** One resource as it was last applied: by the daemon's record, or as the base commit declares it. */
export interface BaseEntry {
  readonly address: Address;
  readonly kind: string;
  /** Null where the base is a git ref, which knows no ids. */
  readonly id: string | null;
  /** Set where it was recorded after a complete apply only: the base does not know of an apply that stopped half-way. */
  readonly isComplete?: boolean;
  readonly fields: Fields;
  readonly within: Address | null;
  readonly protect: boolean;
  /** Its place among siblings then, where the order was declared. */
  readonly place?: Place | null;
  /** What the platform does not give back: hashes of content that was sent, revisions that were worked on. */
  readonly marks: JsonObject;
}

/** The base of a plan; null where there is none, and then nothing is deleted. */
export type Base = ReadonlyMap<Address, BaseEntry> | null;

/** A reference as the platform gives it: an id, and the kinds it can be of. */
export interface IdRef {
  readonly $id: string;
  readonly kinds: readonly string[];
}

/** Makes a reference to the resource with this id; null stays null. */
export function idRef(id: string, ...kinds: string[]): Json {
  return { $id: id, kinds };
}

/** Whether a value is a reference by id. A JSON Schema, which may have a `$id` too, is none. */
export function isIdRef(value: unknown): value is IdRef {
  return isObject(value) && typeof value.$id === 'string' && isTexts(value.kinds);
}

function isTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}

/** One resource as the platform answers it. */
export interface Actual {
  readonly kind: string;
  readonly id: string;
  /** What people call it: shown where no key declares it. */
  readonly title: string;
  readonly fields: Fields;
  /** The id of the site it is part of; null for most kinds. */
  readonly within: string | null;
  /** Its place among siblings: the id of what holds the list, and the index from 0. */
  readonly place: { readonly list: string; readonly index: number } | null;
  /** Other ids that mean this resource when something refers to it: a translation's result space. */
  readonly aliases?: readonly string[];
  /** What is worth knowing about it beyond its fields: counts, errors, revisions. */
  readonly facts?: JsonObject;
}

/** What the platform answered: the kinds that were read, and what was found of each. */
export interface Observation {
  readonly kinds: ReadonlyMap<string, readonly Actual[]>;
  /** Email addresses, in lower case, of the people who were seen as members of the organization, with their ids. */
  readonly people: ReadonlyMap<string, string>;
}
