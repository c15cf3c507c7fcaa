import type { Address } from '../../core/address.ts';
import type { Change } from '../../core/change.ts';
import type { Json } from '../../core/json.ts';
import type { Actual, Base, Declared, Observation } from '../../core/resource.ts';
import type { Kind } from '../../kinds/model/kind.ts';

/** Field with its current value on the platform, which differs from the manifests. */
export interface DriftedField {
  /** Edit that writes it; edits are accepted or rejected as a whole. */
  readonly edit: string;
  readonly address: Address;
  readonly field: string;
  readonly file: string;
  readonly line: number;
  readonly from: Json | undefined;
  readonly to: Json | undefined;
}

/** A resource that is gone and is removed from the manifests, or one that has another place in its list. */
export interface DriftedPlace {
  /** The edit that writes it: one for a removed resource with all its contents, and one for the order of a list. */
  readonly edit: string;
  readonly action: 'delete' | 'move';
  readonly address: Address;
  /** Parent of its list; null if it is in none. */
  readonly list: Address | null;
  readonly file: string;
  readonly line: number;
}

export interface Drift {
  readonly fields: readonly DriftedField[];
  readonly places: readonly DriftedPlace[];
  /** The changed texts of files, by path. */
  readonly texts: ReadonlyMap<string, string>;
  /** Drift that cannot be written, with the reason. */
  readonly omitted: readonly { readonly address: Address; readonly reason: string }[];
}

export interface DriftInput {
  readonly kinds: readonly Kind[];
  readonly changes: readonly Change[];
  readonly declared: ReadonlyMap<Address, Declared>;
  readonly bound: ReadonlyMap<Address, Actual>;
  readonly base: Base;
  readonly observation: Observation;
  /** Texts of the manifests, by the path that sources name. */
  readonly manifests: ReadonlyMap<string, string>;
}

/** Selection of the edits that are made. */
export interface EditSelection {
  /** Edits that turned out not to be writable: they are reported as left. */
  readonly rejected: ReadonlySet<string>;
  /** The only edits to be made; null: all but those rejected. */
  readonly only: ReadonlySet<string> | null;
}
