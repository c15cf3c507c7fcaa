import type { Address } from '../../core/address.ts';
import type { Change } from '../../core/change.ts';
import type { Json } from '../../core/json.ts';
import type { Actual, Base, Declared, Observation } from '../../core/resource.ts';
import type { Kind } from '../../kinds/model/kind.ts';

/** A field as the platform has it now, written where the manifests say something else. */
export interface DriftedField {
  /** The edit that writes it; edits are accepted or given up as a whole. */
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
  /** The edit that writes it: what lies inside of something removed has the edit of that, and a list has one for its order. */
  readonly edit: string;
  readonly action: 'delete' | 'move';
  readonly address: Address;
  /** What holds the list that it is in; null where it is in none. */
  readonly list: Address | null;
  readonly file: string;
  readonly line: number;
}

export interface Drift {
  readonly fields: readonly DriftedField[];
  readonly places: readonly DriftedPlace[];
  /** The files that say so, by path. */
  readonly texts: ReadonlyMap<string, string>;
  /** What cannot be written, with the reason. */
  readonly left: readonly { readonly address: Address; readonly reason: string }[];
}

export interface DriftInput {
  readonly kinds: readonly Kind[];
  readonly changes: readonly Change[];
  readonly declared: ReadonlyMap<Address, Declared>;
  readonly bound: ReadonlyMap<Address, Actual>;
  readonly base: Base;
  readonly observation: Observation;
  /** The texts of the manifests, by the path that sources name. */
  readonly manifests: ReadonlyMap<string, string>;
}

/** Which edits are made. */
export interface EditSelection {
  /** Edits that turned out not to be writable: they are reported as left. */
  readonly rejected: ReadonlySet<string>;
  /** The only edits to be made; null: all but those rejected. */
  readonly only: ReadonlySet<string> | null;
}
