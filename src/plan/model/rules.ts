import type { Address } from '../../core/address.ts';
import type { Change } from '../../core/change.ts';
import type { Json } from '../../core/json.ts';
import type { Actual, BaseEntry, Declared, Fields } from '../../core/resource.ts';

/** What the planner needs to know about one field of a kind. */
export interface FieldRules {
  /** It takes no part in a plan before everything it refers to is there, so it is written after the children. */
  readonly afterChildren?: boolean;
  /** A change of it is a move, not an update: the parent of the resource. */
  readonly move?: boolean;
  /** `create`: only used to create. `replace`: the platform cannot change it, so the resource is made anew. */
  readonly fixed?: 'create' | 'replace';
  /** The platform does not give it back: compared with the base, by what `normalize` makes of it. */
  readonly compare?: 'actual' | 'base';
  /**
   * What a plan says where the platform does not tell the field, because its version has none: then it is not compared.
   * Without such words, what is not told is null.
   */
  readonly unsupportedNote?: string;
  /** What a plan says where there is no base to compare with. */
  readonly noBaseNote?: string;
  /** How a value is compared, recorded and shown: large texts by their hash, what has no order in one order. */
  readonly normalize?: (value: Json) => Json;
  /** What a snapshot holds is what `normalize` makes of the value, which must leave that as it is. */
  readonly redacted?: boolean;
  /** `people`: a mapping of email address to role. */
  readonly shape?: 'plain' | 'people' | 'set';
  /** Reports whether people who are not declared stay, for the shape `people`. By default they are removed. */
  readonly keepsOthers?: (declared: Fields) => boolean;
  /** Addresses that a declared value refers to. */
  readonly references?: (value: Json) => readonly Address[];
  /** What holds the resource: a deletion of that would take the resource along. */
  readonly parentRef?: boolean;
  /** What is made stands beside what this names, wherever that is then: it is made after that has moved. */
  readonly colocatedWith?: boolean;
  /** Where the resource lies in a structure; `null` is the top of it, which a creation does not have to name. */
  readonly placement?: boolean;
  /** Says how the resource is declared, and is no state of the platform: not compared, not shown. */
  readonly declarationOnly?: boolean;
  /** The member of an entry that it is written as, where that has another name. */
  readonly manifestName?: string;
  /** It decides who may see or change something: plans list it early and write its values out in full. */
  readonly access?: boolean;
  /** A reference that the platform mends by itself when the resource goes; deleting does not insist on waiting. */
  readonly optionalRef?: boolean;
}

/** A value by which a person would recognize a resource. `parent` decides between equals, and is no more than that. */
export interface NaturalKey {
  readonly by: string;
  readonly value: string;
  readonly parent?: Json;
}

/** Rules of the kind whose resources are people. They join by themselves, and are known by their email address. */
export interface PeopleRules {
  /** The field that holds the role in the organization. */
  readonly roleField: string;
  /** The role of those who manage the organization. */
  readonly adminRole: string;
  /** Reason that a plan gives for a declared person who has not joined. */
  readonly notJoined: string;
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

/** The part of a kind that planning needs: pure, and the same on every machine. */
export interface KindRules {
  /** As in addresses, metrics and filters. */
  readonly name: string;
  /** Kinds whose resources it refers to: they come first, and go last. */
  readonly dependsOn: readonly string[];
  /** The kind it is part of: read and deleted together with it. */
  readonly partOf?: string;
  readonly fields: Readonly<Record<string, FieldRules>>;
  /** Set for the kind whose resources are people. */
  readonly people?: PeopleRules;
  /** True for the organization itself, whose title is that of the plan. */
  readonly isOrganization?: boolean;
  /** Whether deletions need approval where the configuration does not list kinds for it. */
  readonly deletionNeedsApproval?: boolean;
  /** Returns the reasons why the changes would lock people out. A plan with such a reason is refused. */
  lockOuts?(context: LockOutContext): readonly string[];
  /** False for people, who join by themselves: what is declared and not there is pending. */
  readonly creatable: boolean;
  /** False for the organization. */
  readonly deletable: boolean;
  /** Keys that identify a resource without an id, best first. See docs/concepts.md#which-resource-a-key-means. */
  naturalKeys(fields: Fields, address: Address): readonly NaturalKey[];
  /** The same for what the platform answers. References inside `fields` have been looked up. */
  actualKeys(actual: Actual, fields: Fields): readonly NaturalKey[];
  /** The natural key that the platform lets no two siblings have at any moment, so that one steps aside for a swap. */
  readonly unique?: string;
  /** The natural key's value that `renamedFrom` stands for. */
  renamedKey?(renamedFrom: string, fields: Fields): NaturalKey;
  /** The address a resource has although nothing declares it: people are known by their email. */
  implicitAddress?(actual: Actual): Address;
  /** What deleting it hurts: the heavier, the earlier it is shown. */
  impact?(actual: Actual): { readonly weight: number; readonly text: string };
  /** What is left to change that no field shows: a translation that must run again. Added to an update. */
  extraChanges?(
    declared: Declared,
    actual: Actual,
    base: BaseEntry | null,
    actualOf: (address: Address) => Actual | undefined,
  ): readonly { readonly path: string; readonly from?: Json; readonly to?: Json }[];
  /** What a person should know about it although nothing changes. */
  notes?(declared: Declared, actual: Actual, base: BaseEntry | null): readonly string[];
  /** Why a resource that is declared and not there cannot be created yet; null when it can. */
  pendingReason?(declared: Declared, context: RulesContext): string | null;
  /** Why nothing can refer to it yet, though it is there or will be: a translation without a result. Null when it can. */
  unusableReason?(actual: Actual | undefined): string | null;
  /** The part that comes into being together with a new one, and what that refers to: a section's first space. */
  seed?(
    created: Change,
    creation: (address: Address) => Change | undefined,
  ): { readonly address: Address; readonly refersTo: Address };
  /** The address of what it goes with when that is deleted, from its fields as they are. */
  deletedWith?(fields: Fields): Json | undefined;
  /** Whether what it goes with must not be left without any: a section has at least one space. */
  readonly keepsOne?: boolean;
  /** Whether a replacement must delete the old one first, because the platform takes no second one like it. */
  readonly deleteBeforeReplace?: boolean;
  /** Kinds whose changes are better made before its own: an identity provider before single sign-on is enforced. */
  readonly applyAfter?: readonly string[];
  /** Slots that must be vacant before a resource is created, though nothing refers to them: see {@link vacates}. */
  needsVacant?(declared: Declared, context: Pick<RulesContext, 'declaredOf'>): readonly string[];
  /** Slots that a deletion makes vacant: the sections of a site, for a site that will have none. */
  vacates?(deleted: { readonly within: Address | null; readonly actual: Fields }): readonly string[];
}

/** What a rule may look up while a plan is made. */
export interface RulesContext {
  /** The actual resource an address is bound to; undefined where there is none yet. */
  declaredOf(address: Address): Declared | undefined;
  /** Why nothing can refer to what an address names; null when it can. */
  unusable(address: Address): string | null;
}
