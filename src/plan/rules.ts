/** Rules of kinds that a plan needs, and how people are addressed. */
import { type Address, keyOf, kindOf } from '../core/address.ts';
import type { Action, Change, DeletedContents } from '../core/change.ts';
import type { Json, JsonObject } from '../core/json.ts';
import type { Actual, Base, BaseEntry, Declared, Fields } from '../core/resource.ts';

/** Access of a group of people, as a plan words it. */
export interface Grant {
  /** `everyone on the internet`. */
  readonly who: string;
  /** Right or role, such as `read`. */
  readonly role: string;
  /** Resource that they gain; the one that has the field by default. */
  readonly to?: string;
  /** It includes all other groups. */
  readonly includes?: 'all';
}

/** A resource before or after a change that affects access. */
export interface AccessState {
  readonly action: Action;
  readonly address: Address;
  readonly within: Address | null;
  /** Empty before a creation and after a deletion. */
  readonly fields: Fields;
  /** The fields after the change, or before it if `fields` are those after it. */
  readonly otherFields: Fields;
  /** Fields of another resource before the plan is applied; null if it does not exist. */
  before(address: Address): Fields | null;
  /** Fields of another resource at the same time as `fields`. */
  now(address: Address): Fields | null;
}

/** Returns the groups that have access because of a field. A field that another rule reads returns none. */
export type AccessRule = (state: AccessState) => readonly Grant[];

/** The members of a value that a plan compares. */
export interface PartComparison {
  readonly declared: Json;
  readonly actual: Json;
  readonly unsupported: readonly string[];
}

/** Rules of one field of a kind for the planner. */
export interface FieldRules {
  /** It is written after the children, because everything it refers to must exist first. */
  readonly afterChildren?: boolean;
  /** A change of it is a move, not an update: the parent of the resource. */
  readonly move?: boolean;
  /** `create`: only used to create. `replace`: the platform cannot change it, so the resource is replaced. */
  readonly fixed?: 'create' | 'replace';
  /** `base`: the platform does not return the value, so the normalized value is compared with the base. */
  readonly compare?: 'actual' | 'base';
  /**
   * Note for the plan if the platform does not return the field, because its version does not have it. The field is
   * then not compared. Without this note, a field that is not returned is null.
   */
  readonly unsupportedNote?: string;
  /** Note for a plan that has no base to compare the field with. */
  readonly noBaseNote?: string;
  /**
   * The declared value is a part of the actual one: returns both reduced to what can be compared, and the places of what
   * this version of the platform does not have.
   */
  readonly part?: (declared: Json, actual: Json) => PartComparison;
  /**
   * Its texts can name secrets. `sentTo` is the field with the address that they are sent to. Every update sends both, so
   * that no secret which the platform has reaches another address.
   */
  readonly secrets?: { readonly sentTo: string };
  /** Converts a value to the form that is compared, recorded and shown: large texts hashed, unordered lists sorted. */
  readonly normalize?: (value: Json) => Json;
  /** A snapshot contains only the normalized value; `normalize` must leave a normalized value as it is. */
  readonly redacted?: boolean;
  /** `people`: a mapping of email address to role. */
  readonly shape?: 'plain' | 'people' | 'set';
  /** Reports whether members of a mapping that are not declared stay. By default they are removed. */
  readonly keepsOthers?: (declared: Fields) => boolean;
  /** Addresses that a declared value refers to. */
  readonly references?: (value: Json) => readonly Address[];
  /** It refers to the parent of the resource; deleting the parent deletes the resource. */
  readonly parentRef?: boolean;
  /** The resource is created next to the one this refers to, so it is created after that one has moved. */
  readonly colocatedWith?: boolean;
  /** It is the position of the resource in a structure; `null` is the top level, which a creation may leave out. */
  readonly placement?: boolean;
  /** It affects only how the resource is declared, and is not state of the platform: not compared, not shown. */
  readonly declarationOnly?: boolean;
  /** Name of the member in a manifest, if it differs from the name of the field. */
  readonly manifestName?: string;
  /** It grants access: plans list it early and with full values, and say who gains or loses access. */
  readonly access?: AccessRule;
  /** Returns the access that those who lose a role keep anyway, such as `everyone keeps read`; null if there is none. */
  readonly kept?: (fields: Fields) => string | null;
  /** A reference that the platform removes when its resource is deleted; the deletion does not have to wait. */
  readonly optionalRef?: boolean;
}

/** Value by which a person recognizes a resource. `parent` only decides between equal values. */
export interface NaturalKey {
  readonly by: string;
  readonly value: string;
  readonly parent?: Json;
}

/** Rules of the kind whose resources are people. They are invited, join by themselves, and are known by their email address. */
interface PeopleRules {
  /** The field that holds the role in the organization. */
  readonly roleField: string;
  /** The role of those who manage the organization. */
  readonly adminRole: string;
  /** Reason that a plan shows for a person who is only named, by a team or a rule, and has not joined. */
  readonly notJoined: string;
  /** Reason for one who is also declared, and whom the plan invites. */
  readonly invitedNow: string;
  /**
   * Returns why the plan does not invite somebody who is declared and has not joined; null: it does. `isUnrecorded`: that
   * it was applied is not recorded.
   */
  whyNotInvited(base: Base, address: Address, isUnrecorded: boolean): string | null;
}

/** A file in another repository that decides in place of manifests. */
export interface DecidedElsewhere {
  /** The file, in words. */
  readonly by: string;
  /** Fields of the resource that it decides, apart from its parts. */
  readonly fields: readonly string[];
  /** Why differences are only shown; null if no manifest declares the parts: then there is nothing to show. */
  readonly reason: string | null;
}

/** The planned changes and the actual state, for {@link KindRules.lockOuts}. */
export interface LockOutContext {
  /** Changes of a kind that are not paused. */
  changes(kind: string): readonly Change[];
  /** Actual resources of a kind; undefined if the plan did not read them. */
  actuals(kind: string): readonly Actual[] | undefined;
  /** Email address of the user whose token is used, in lower case; null if it is not known. */
  readonly user: string | null;
}

/** A resource before or after a plan. */
export interface ReviewedResource {
  readonly within: Address | null;
  readonly fields: Fields;
  /** Facts of the actual resource; empty for one that the plan creates. */
  readonly facts: JsonObject;
}

/** The changes of a plan with the resources before and after them, for {@link KindRules.review}. */
export interface Review {
  readonly changes: readonly Change[];
  /** Returns the resources of a kind before the plan, by address. */
  before(kind: string): ReadonlyMap<Address, ReviewedResource>;
  /** Returns the resources of a kind after the plan, by address. */
  after(kind: string): ReadonlyMap<Address, ReviewedResource>;
}

/** The part of a kind that planning needs: pure, and the same on every machine. */
export interface KindRules {
  /** Name in addresses, metrics and filters. */
  readonly name: string;
  /** Kinds whose resources it refers to: they are created first and deleted last. */
  readonly dependsOn: readonly string[];
  /** The kind it is part of: read and deleted together with it. */
  readonly partOf?: string;
  readonly fields: Readonly<Record<string, FieldRules>>;
  /** Set for the kind whose resources are people. */
  readonly people?: PeopleRules;
  /** True for the organization itself, whose title is that of the plan. */
  readonly isOrganization?: boolean;
  /** Deletions need approval if the configuration does not list kinds for it. */
  readonly deletionNeedsApproval?: boolean;
  /** Returns the reasons why the changes would lock people out. A plan with such a reason is refused. */
  lockOuts?(context: LockOutContext): readonly string[];
  /** Returns why a plan with this change waits for approval as a whole; null if it does not. */
  approvalReason?(change: Change): string | null;
  /**
   * `once` for people, whom a creation only invites: they are listed when they join. It is planned only for somebody whom
   * the base lacks, and never sent again.
   */
  readonly creatable: boolean | 'once';
  /** False for the organization. */
  readonly deletable: boolean;
  /** Keys that identify a resource without an id, best first. See docs/concepts.md#resource-identity. */
  naturalKeys(fields: Fields, address: Address): readonly NaturalKey[];
  /** Keys that identify an actual resource, best first. References in `fields` have been replaced with addresses. */
  actualKeys(actual: Actual, fields: Fields): readonly NaturalKey[];
  /** A natural key that no two siblings can have at any moment, so that a swap needs a temporary value. */
  readonly unique?: string;
  /** Returns the natural key that `renamedFrom` means. */
  renamedKey?(renamedFrom: string, fields: Fields): NaturalKey;
  /** Returns the address of a resource that nothing declares: people are known by their email address. */
  implicitAddress?(actual: Actual): Address;
  /** Describes the damage of a deletion; a greater weight is shown earlier. */
  impact?(actual: Actual): { readonly weight: number; readonly text: string; readonly contents?: DeletedContents };
  /** The field that refers to the resource that readers see in it. */
  readonly shows?: string;
  /**
   * Returns the resource that readers see instead of another after a change; null if there is none. Until a person
   * approves it, no resource that the same plan creates takes the place of one that has content.
   */
  shownInstead?(change: Change, before: (address: Address) => Fields | null): Address | null;
  /** Returns changes that no field shows, which are added to an update: a translation that must run again. */
  extraChanges?(
    declared: Declared,
    actual: Actual,
    base: BaseEntry | null,
    actualOf: (address: Address) => Actual | undefined,
  ): readonly { readonly path: string; readonly from?: Json; readonly to?: Json }[];
  /** Returns notes for the reader of a plan that do not depend on a change. */
  notes?(declared: Declared, actual: Actual, base: BaseEntry | null): readonly string[];
  /**
   * Returns what decides the parts of a declared resource, and some of its fields, in place of manifests: a file in another
   * repository. Null if manifests decide.
   */
  decidedElsewhere?(declared: Declared, actual: Actual | undefined): DecidedElsewhere | null;
  /** Returns the addresses of resources whose further facts {@link review} needs, such as the pages of a site space. */
  reviewNeeds?(review: Review): readonly Address[];
  /** Returns notes about the plan as a whole: links that it breaks. */
  review?(review: Review): readonly { readonly address: Address; readonly text: string }[];
  /** Returns why a declared resource that does not exist cannot be created yet; null if it can. */
  pendingReason?(declared: Declared, context: RulesContext): string | null;
  /**
   * Returns why nothing can refer to it yet, although it exists or will: a translation without a result. Null if it can
   * be referred to.
   */
  unusableReason?(actual: Actual | undefined): string | null;
  /** Returns the part that is created together with a new resource, and what it refers to: a section's first space. */
  seed?(
    created: Change,
    creation: (address: Address) => Change | undefined,
  ): { readonly address: Address; readonly refersTo: Address };
  /** Returns the address of the resource it is deleted with, from its actual fields. */
  deletedWith?(fields: Fields): Json | undefined;
  /** The resource it is deleted with must keep at least one: a section has at least one space. */
  readonly keepsOne?: boolean;
  /** A replacement must delete the old resource first, because the platform accepts no second one like it. */
  readonly deleteBeforeReplace?: boolean;
  /**
   * Kinds whose changes within the same whole are better made before its own: an identity provider before single sign-on
   * is enforced. It is only a preference that cycles and the order of siblings override; in a new list of siblings, those
   * of these kinds are created first.
   */
  readonly applyAfter?: readonly string[];
  /** Slots that must be vacant before a resource is created, though nothing refers to them: see {@link vacates}. */
  needsVacant?(declared: Declared, declaredOf: RulesContext['declaredOf']): readonly string[];
  /** Slots that a deletion makes vacant: the sections of a site, for a site that will have none. */
  vacates?(deleted: { readonly within: Address | null; readonly actual: Fields }): readonly string[];
}

/** Lookups for rules while a plan is made. */
export interface RulesContext {
  /** Returns a declared resource; undefined if the address is not declared. */
  declaredOf(address: Address): Declared | undefined;
  /** Returns the actual resource an address is bound to; undefined if there is none yet. */
  actualOf(address: Address): Actual | undefined;
  /** Returns why nothing can refer to an address; null if it can. */
  unusable(address: Address): string | null;
  /** Returns the resources of a kind that were read; they show which version the platform is. */
  actuals(kind: string): readonly Actual[];
}

type PeopleKind = KindRules & { readonly people: PeopleRules };

/** Converts between people and their addresses. The kind of people is the one with `people` in its rules. */
export class PeopleAddresses {
  readonly #kind: PeopleKind | undefined;

  constructor(kinds: readonly KindRules[]) {
    this.#kind = kinds.find((kind): kind is PeopleKind => kind.people !== undefined);
  }

  /** Returns the rules of a kind if its resources are people. */
  rules(kind: string): PeopleRules | null {
    return this.#kind?.name === kind ? this.#kind.people : null;
  }

  /** Returns the reason why someone who has not joined is pending. `whyNotInvited`: undefined if they are not declared. */
  pendingReason(whyNotInvited: string | null | undefined): string {
    const { notJoined = '', invitedNow = '' } = this.#kind?.people ?? {};
    return whyNotInvited === undefined ? notJoined : (whyNotInvited ?? invitedNow);
  }

  /** Returns the role of those who manage the organization, or a resource. */
  get adminRole(): string {
    return this.#kind?.people.adminRole ?? '';
  }

  /** Returns the name of the kind, for reading it. */
  get kinds(): readonly string[] {
    return this.#kind === undefined ? [] : [this.#kind.name];
  }

  isPerson(address: Address): boolean {
    return kindOf(address) === this.#kind?.name;
  }

  addressOf(email: string): Address {
    return `${this.#kind?.name ?? ''}/${email}`;
  }

  /** Returns the email address of a person. */
  emailOf(address: Address): string {
    return keyOf(address);
  }
}
