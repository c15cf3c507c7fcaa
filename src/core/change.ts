/** Changes of resources, and the plan that contains them. */
import type { Address } from './address.ts';
import type { Json } from './json.ts';
import type { Fields, Pause, Place, Source } from './resource.ts';

export type Action = 'create' | 'update' | 'move' | 'delete';

/** Change of one field. `from` is absent if the resource or the value is new, `to` if it is removed. */
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
  /** Null if the resource will be created. */
  readonly id: string | null;
  readonly fields: readonly FieldChange[];
  /** Paths of `fields` that grant or revoke access; absent if there are none. */
  readonly accessFields?: readonly string[];
  /** Location of the declaration; null if the resource is no longer declared. */
  readonly source: Source | null;
  /** Addresses whose changes must be applied before. */
  readonly dependsOn: readonly Address[];
  /** Reason that it needs approval; null if it does not. */
  readonly held: string | null;
  /** True if `held` can be released by approving the plan's checksum. */
  readonly approvable: boolean;
  readonly paused: Pause | null;
  /** True for the two halves of a replacement: a delete and a create of one address. */
  readonly isReplacement: boolean;
  /** Title of a deleted resource and the consequences, with numbers; otherwise empty. */
  readonly impact: string;
  /** Resource that a deletion destroys, for programs; absent for other changes, and for parts of another resource. */
  readonly deletes?: Deleted;
  /** Size of the impact, by which the worst is shown first. */
  readonly weight: number;
  /** All fields for the requests: the declared ones, or for a deletion those last seen. */
  readonly declared: Fields;
  /** Current fields, for requests that are relative to them. */
  readonly actual: Fields;
  readonly within: Address | null;
  readonly place: Place | null;
  /** Sibling directly after or before which it is moved. */
  readonly anchor: { readonly side: 'before' | 'after'; readonly address: Address } | null;
  /** True if changes need each other's natural keys in a cycle, so that this one takes a temporary key first. */
  readonly needsTemporaryKey?: boolean;
}

/** Resource that a deletion destroys. What was not read is absent. */
export interface Deleted extends DeletedContents {
  readonly title: string;
  /** Addresses of the sites that show it to readers. */
  readonly shownOn: readonly Address[];
}

/** Contents of a resource that is deleted. */
export interface DeletedContents {
  readonly pages?: number;
  /** Time of the last edit of a page, in ISO 8601. */
  readonly lastEdit?: string;
  readonly openChangeRequests?: number;
}

/** Returns the identity of a change in a plan, where a replacement has two changes at one address. */
export function changeId(change: { readonly action: Action; readonly address: Address }): string {
  return `${change.action} ${change.address}`;
}

/** The organization as a whole, in an {@link AccessChange}. */
export const WHOLE_ORGANIZATION = 'organization';

/** The widest group in an {@link AccessChange}. */
export const EVERYONE = 'everyone on the internet';

/** Access that a person or a group of people gains or loses, and the change that causes it. */
export interface AccessChange {
  /** Email address, or a group such as `everyone on the internet`. */
  readonly person: string;
  /** The address gained, or {@link WHOLE_ORGANIZATION}; null if nothing is gained. */
  readonly to: Address | null;
  /** The address lost, or {@link WHOLE_ORGANIZATION}; null if nothing is lost. */
  readonly from: Address | null;
  /** Role that is gained or lost; `a → b` for a change. */
  readonly role: string;
  readonly change: Address;
  /** Field that gives the access; absent for the members of a team and the role of a person in the organization. */
  readonly field?: string;
}

export interface Cost {
  readonly requests: { readonly reads: number; readonly writes: number };
  /** Estimated time under the known rate limits. */
  readonly seconds: number;
}

export interface PlanSummary {
  readonly create: number;
  readonly update: number;
  readonly move: number;
  readonly delete: number;
  /** All changes that are held, including deletions. */
  readonly held: number;
  /** Deletions that are held; absent in plans that earlier versions stored. */
  readonly heldDeletions?: number;
  readonly paused: number;
  readonly unchanged: number;
  readonly unmanaged: number;
}

/** Verdict on a plan: whether it may be applied, with the reasons. */
export interface Verdict {
  /** `ready`: can be applied; `held`: the whole plan needs approval; `refused`: cannot be approved. */
  readonly state: 'ready' | 'held' | 'refused';
  readonly reasons: readonly string[];
}

/** Ordered changes from the actual to the desired state. */
export interface Plan {
  readonly organization: string;
  /** Distinguishes the manifest folders of one organization; `.` is the root of a repository. */
  readonly scope: string;
  readonly title: string;
  readonly commit: string | null;
  readonly baseCommit: string | null;
  /** False if there is no base, so that nothing is deleted. */
  readonly hasBase: boolean;
  readonly checksum: string;
  /**
   * Checksum that approves only the held changes; null if none are held. It stays the same when the other changes are
   * applied, and is never the checksum of a plan.
   */
  readonly heldChecksum: string | null;
  readonly changes: readonly Change[];
  /** Addresses that the plan is limited to, and those whose changes this leaves out; absent in a whole plan. */
  readonly targets?: { readonly addresses: readonly Address[]; readonly leftOut: readonly Address[] };
  readonly adopted: readonly { readonly address: Address; readonly id: string }[];
  readonly unmanaged: readonly { readonly kind: string; readonly id: string; readonly title: string }[];
  readonly pending: readonly { readonly address: Address; readonly reason: string }[];
  /** Lines for the reader. Problems of the manifests are marked: they keep changes from being applied. */
  readonly notes: readonly { readonly address: Address; readonly text: string; readonly isProblem?: true }[];
  /** Access changes of everyone on the internet, then of other groups, then of persons. */
  readonly access: readonly AccessChange[];
  readonly summary: PlanSummary;
  readonly cost: Cost;
  readonly verdict: Verdict;
  /** Ids of all declared resources that exist, and of the resources that changes refer to. */
  readonly bindings: ReadonlyMap<Address, string>;
}

export type ResultStatus = 'applied' | 'failed' | 'skipped' | 'held';

/** Result of one change. */
export interface ChangeResult {
  readonly address: Address;
  readonly action: Action;
  readonly status: ResultStatus;
  readonly id: string | null;
  readonly error: string | null;
  /** Values that the platform stored differently; absent if there are none. */
  readonly note?: string;
}
