import type { Address } from './address.ts';
import type { Json } from './json.ts';
import type { Fields, Pause, Place, Source } from './resource.ts';

export type Action = 'create' | 'update' | 'move' | 'delete';

/** One field that changes. `from` is absent when the resource or the value is new, `to` when it goes. */
export interface FieldChange {
  readonly path: string;
  readonly from?: Json;
  readonly to?: Json;
}

/** Create, update, move or delete of one resource. */
export interface Change {
  readonly action: Action;
  readonly address: Address;
  readonly kind: string;
  /** Null when the resource is to be created. */
  readonly id: string | null;
  readonly fields: readonly FieldChange[];
  /** Paths of `fields` that decide who may see or change something; absent where there is none. */
  readonly accessFields?: readonly string[];
  /** The file and line that ask for it; null where nothing declares the resource any more. */
  readonly source: Source | null;
  /** Addresses whose changes must have been applied before. */
  readonly requires: readonly Address[];
  /** Why it waits for a person, or null. */
  readonly held: string | null;
  /** Set where `held` can be released by approving the plan's checksum. */
  readonly approvable: boolean;
  readonly paused: Pause | null;
  /** True for the two halves of a replacement: a delete and a create of one address. */
  readonly replaces: boolean;
  /** What a deletion hurts, in words with numbers; empty otherwise. */
  readonly impact: string;
  /** How much that is, to show the worst first. */
  readonly weight: number;
  /** The fields in full that the requests are made from: those declared, or for a delete those last seen. */
  readonly declared: Fields;
  /** The fields as they are now, for what can only be written relative to it. */
  readonly actual: Fields;
  readonly within: Address | null;
  readonly place: Place | null;
  /** The sibling it is put right after (or before), where it has to be moved. */
  readonly anchor: { readonly side: 'before' | 'after'; readonly address: Address } | null;
  /** Set where others of the plan wait for its natural key, and it for theirs: it takes another one for a moment. */
  readonly aside?: boolean;
}

/** A change's identity inside a plan: a replacement has two changes at one address. */
export function changeId(change: { readonly action: Action; readonly address: Address }): string {
  return `${change.action} ${change.address}`;
}

/** The organization as a whole, in an {@link AccessChange}. */
export const WHOLE_ORGANIZATION = 'organization';

/** Who gains or loses what, and the change that causes it. */
export interface AccessChange {
  readonly person: string;
  /** The address gained, or {@link WHOLE_ORGANIZATION}; null if nothing is gained. */
  readonly to: Address | null;
  /** The address lost, or {@link WHOLE_ORGANIZATION}; null if nothing is lost. */
  readonly from: Address | null;
  /** The role gained or lost; `a → b` where it changes. */
  readonly as: string;
  readonly change: Address;
}

export interface Cost {
  readonly requests: { readonly reads: number; readonly writes: number };
  /** Under the rate learned so far. */
  readonly seconds: number;
}

export interface PlanSummary {
  readonly create: number;
  readonly update: number;
  readonly move: number;
  readonly delete: number;
  readonly held: number;
  readonly paused: number;
  readonly unchanged: number;
  readonly unmanaged: number;
}

/** Why nothing of a plan is applied. */
export interface Verdict {
  /** `ready`: apply it; `held`: the whole plan waits for a person; `refused`: no approval helps. */
  readonly state: 'ready' | 'held' | 'refused';
  readonly reasons: readonly string[];
}

/** The ordered changes from actual to desired. */
export interface Plan {
  readonly organization: string;
  /** Tells the manifest folders of one organization apart; `.` is the root of a repository. */
  readonly scope: string;
  readonly title: string;
  readonly commit: string | null;
  readonly base: string | null;
  /** False where there is no base, so that nothing is deleted. */
  readonly hasBase: boolean;
  readonly checksum: string;
  /**
   * The checksum that approves what is held and nothing else; null where nothing is. It stays the same when the others
   * are applied, and is never the checksum of a plan.
   */
  readonly heldChecksum: string | null;
  readonly changes: readonly Change[];
  readonly adopted: readonly { readonly address: Address; readonly id: string }[];
  readonly unmanaged: readonly { readonly kind: string; readonly id: string; readonly title: string }[];
  readonly pending: readonly { readonly address: Address; readonly reason: string }[];
  readonly notes: readonly { readonly address: Address; readonly text: string }[];
  readonly access: readonly AccessChange[];
  readonly summary: PlanSummary;
  readonly cost: Cost;
  readonly verdict: Verdict;
  /** The ids of everything declared that exists, and of what the changes refer to. */
  readonly bindings: ReadonlyMap<Address, string>;
}

export type ResultStatus = 'applied' | 'failed' | 'skipped' | 'held';

/** What became of one change. */
export interface ChangeResult {
  readonly address: Address;
  readonly action: Action;
  readonly status: ResultStatus;
  readonly id: string | null;
  readonly error: string | null;
}
