import type { Address } from '../core/address.ts';
import type { Change } from '../core/change.ts';
import type { Json } from '../core/json.ts';
import type { Actual, Base, Declared, Observation } from '../core/resource.ts';
import type { Kind } from '../kinds/kind.ts';

/** A field as the platform has it now, written where the manifests say something else. */
export interface DriftedField {
  readonly address: Address;
  readonly field: string;
  readonly file: string;
  readonly line: number;
  readonly from: Json | undefined;
  readonly to: Json | undefined;
}

/** What is gone, and is taken out of the manifests; what stands in another place, and is put there in them. */
export interface DriftedPlace {
  readonly action: 'delete' | 'move';
  readonly address: Address;
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
  /** What turned out not to be writable: fields as `address field`, places as `action address`. */
  readonly skip?: ReadonlySet<string>;
  readonly kinds: readonly Kind[];
  readonly changes: readonly Change[];
  readonly declared: ReadonlyMap<Address, Declared>;
  readonly bound: ReadonlyMap<Address, Actual>;
  readonly base: Base;
  readonly observation: Observation;
  /** The texts of the manifests, by the path that sources name. */
  readonly manifests: ReadonlyMap<string, string>;
}
