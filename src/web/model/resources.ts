/** States of the resources of an organization, their tree, and the part of it that a page lists. */
import { type Address, kindOf } from '../../core/address.ts';
import { type Action, type ChangeResult, changeId } from '../../core/change.ts';
import type { Declared } from '../../core/resource.ts';
import { kinds } from '../../kinds/registry.ts';
import type { ChangeDocument } from '../../plan/render/document.ts';
import type { ManualPause } from '../../store/history.ts';
import type { ReconcilerState } from './backend.ts';
import { resourcePath } from './paths.ts';

/** States of a resource, worst first. */
export const RESOURCE_STATES = [
  'failed',
  'held',
  'paused',
  'planned',
  'pending',
  'stale',
  'unknown',
  'in-sync',
] as const;
export type ResourceState = (typeof RESOURCE_STATES)[number];

/** Changes of the last check by address, and their results. */
export interface ResourceStates {
  /** Returns the changes of a resource, in the order of the plan. */
  changesOf(address: Address): readonly ChangeDocument[];
  /** Changes of resources that no manifest declares any more, sorted by address. */
  readonly undeclared: readonly ChangeDocument[];
  /** Returns the result of a change; undefined if the last pass did not reach it. */
  result(change: ChangeDocument): ChangeResult | undefined;
  /** Returns why a declared resource cannot be created yet. */
  pendingReason(address: Address): string | undefined;
  /** Returns true if the last change undoes what somebody changed on the platform. */
  isDrift(address: Address): boolean;
  state(address: Address): ResourceState;
}

type Check = NonNullable<ReconcilerState['lastCheck']>;
interface Indexed {
  readonly end: ReconcilerState['lastEnd'];
  readonly states: ResourceStates;
}

/** Indexes by the check that they are of. */
const indexes = new WeakMap<Check, Indexed>();

/** Returns the states of the resources of an organization. `isStale`: the last check is too old to call anything in sync. */
export function resourceStates(reconciler: ReconcilerState, isStale: boolean): ResourceStates {
  const { lastCheck, lastEnd } = reconciler;
  if (lastCheck === null) {
    return UNCHECKED;
  }
  const before = indexes.get(lastCheck);
  const indexed = before?.end === lastEnd ? before : { end: lastEnd, states: indexChanges(lastCheck, lastEnd) };
  indexes.set(lastCheck, indexed);
  const { states } = indexed;
  const state = (address: Address) => {
    const known = states.state(address);
    return known === 'in-sync' ? 'stale' : known;
  };
  return isStale ? { ...states, state } : states;
}

const UNCHECKED: ResourceStates = {
  changesOf: () => [],
  undeclared: [],
  result: () => undefined,
  pendingReason: () => undefined,
  isDrift: () => false,
  state: () => 'unknown',
};

function indexChanges({ plan, drift }: Check, end: ReconcilerState['lastEnd']): ResourceStates {
  const changesOf = groupChanges(plan.changes);
  const results = new Map((end?.plan === plan ? end.results : []).map((result) => [changeId(result), result]));
  const pending = new Map(plan.pending.map(({ address, reason }) => [address, reason]));
  const result = (change: ChangeDocument) => (results.size === 0 ? undefined : results.get(changeId(change)));
  const isWholeHeld = plan.verdict.state === 'held';
  const stateOf = (change: ChangeDocument): ResourceState => {
    const status = result(change)?.status;
    if (status === 'applied') {
      return 'in-sync';
    }
    if (status === 'failed') {
      return 'failed';
    }
    if (change.paused !== null) {
      return 'paused';
    }
    return change.held !== null || isWholeHeld ? 'held' : 'planned';
  };
  const state = (address: Address): ResourceState => {
    const own = changesOf(address);
    const [first] = own;
    const worst = own.length > 1 || first === undefined ? worstOf(own.map(stateOf)) : stateOf(first);
    return worst !== 'in-sync' ? worst : pending.has(address) ? 'pending' : 'in-sync';
  };
  return {
    changesOf,
    undeclared: plan.changes
      .filter((change) => change.source === null && change.action === 'delete' && result(change)?.status !== 'applied')
      .toSorted((a, b) => (a.address < b.address ? -1 : 1)),
    result,
    pendingReason: (address) => pending.get(address),
    isDrift: (address) => changesOf(address).some((change) => drift.has(change)),
    state,
  };
}

/** Groups changes by address. Nearly every resource has one change, so that there is no list for each. */
function groupChanges(changes: readonly ChangeDocument[]): ResourceStates['changesOf'] {
  const first = new Map<Address, ChangeDocument>();
  const more = new Map<Address, ChangeDocument[]>();
  for (const change of changes) {
    const before = first.get(change.address);
    if (before === undefined) {
      first.set(change.address, change);
    } else {
      const all = more.get(change.address) ?? [before];
      all.push(change);
      more.set(change.address, all);
    }
  }
  return (address) => {
    const only = first.get(address);
    return more.get(address) ?? (only === undefined ? [] : [only]);
  };
}

function worstOf(states: readonly ResourceState[]): ResourceState {
  return RESOURCE_STATES.find((each) => states.includes(each)) ?? 'in-sync';
}

/** Returns the pause that covers a resource: its own, or that of the organization. */
export function pauseOf(address: Address, pauses: readonly ManualPause[]): ManualPause | null {
  return pauses.find((pause) => pause.address === address) ?? pauses.find((pause) => pause.address === '') ?? null;
}

type DeclaredResources = ReadonlyMap<Address, Declared>;

/** Trees by the manifests they are of: a tree of 100,000 resources takes longer to build than a page may take. */
const trees = new WeakMap<DeclaredResources, ResourceTree>();

/** Fields that place a resource below another one, by kind. */
const PARENT_FIELDS: ReadonlyMap<string, readonly string[]> = new Map(
  kinds.map(({ name, fields }) => [
    name,
    Object.entries(fields)
      .filter(([, rules]) => rules.placement === true || rules.parentRef === true)
      .map(([field]) => field),
  ]),
);
/** Kinds in the order of the tree: the organization and sites first, people last. */
const ORDER: ReadonlyMap<string, number> = new Map(kinds.toReversed().map(({ name }, index) => [name, index]));

/** Tree of resources. It has no object for each of them, and what few pages need is made when it is first read. */
export class ResourceTree {
  readonly #declared: DeclaredResources;
  /** Parents first, each followed by what it contains. A position is an index of this list. */
  readonly resources: readonly Declared[];
  /** Resources that are below themselves, which the manifests do not forbid, and are shown at the top. */
  readonly #loops: ReadonlySet<Declared>;
  #positions: ReadonlyMap<Address, number> | null = null;
  #kinds: ReadonlyMap<string, number> | null = null;
  #texts: readonly string[] | null = null;

  constructor(declared: DeclaredResources) {
    this.#declared = declared;
    const { resources, loops } = sortTree(declared);
    this.resources = resources;
    this.#loops = loops;
  }

  /** Number of resources of each kind. */
  get kinds(): ReadonlyMap<string, number> {
    this.#kinds ??= countKinds(this.resources);
    return this.#kinds;
  }

  /** Addresses and titles in lower case, by position, for searches. */
  get texts(): readonly string[] {
    this.#texts ??= this.resources.map((each) => `${each.address}\n${titleOf(each)}`.toLowerCase());
    return this.#texts;
  }

  /** Returns the position of a resource; undefined if it is not declared. */
  positionOf(address: Address): number | undefined {
    this.#positions ??= new Map(this.resources.map((each, position) => [each.address, position]));
    return this.#positions.get(address);
  }

  /** Returns what a resource is part of; null at the top. */
  parentOf(resource: Declared): Declared | null {
    const parent = this.#loops.has(resource) ? null : parentAddress(resource, this.#declared);
    return parent === null ? null : (this.#declared.get(parent) ?? null);
  }
}

/** Returns the tree of these resources. */
export function resourceTree(declared: DeclaredResources): ResourceTree {
  const known = trees.get(declared) ?? new ResourceTree(declared);
  trees.set(declared, known);
  return known;
}

/** Returns the title of a resource; empty if it has none. */
export function titleOf({ fields }: Pick<Declared, 'fields'>): string {
  const title = fields.title ?? fields.label;
  return typeof title === 'string' ? title : '';
}

type Children = ReadonlyMap<Address | null, readonly Declared[]>;

function sortTree(declared: DeclaredResources): { resources: readonly Declared[]; loops: ReadonlySet<Declared> } {
  const children = new Map<Address | null, Declared[]>();
  for (const resource of declared.values()) {
    const parent = parentAddress(resource, declared);
    const siblings = children.get(parent);
    if (siblings === undefined) {
      children.set(parent, [resource]);
    } else {
      siblings.push(resource);
    }
  }
  const resources: Declared[] = [];
  const loops = new Set<Declared>();
  addBelow(resources, children.get(null) ?? [], children);
  if (resources.length < declared.size) {
    const added = new Set(resources);
    for (const resource of declared.values()) {
      if (!added.has(resource)) {
        loops.add(resource);
        addBelow(resources, [resource], children, added);
      }
    }
  }
  return { resources, loops };
}

/** Adds resources with what they contain. `added`: those that were added before and are left out. */
function addBelow(
  resources: Declared[],
  roots: readonly Declared[],
  children: Children,
  added: Set<Declared> | null = null,
): void {
  const levels = [{ siblings: roots.toSorted(compareSiblings), next: 0 }];
  for (let level = levels.at(-1); level !== undefined; level = levels.at(-1)) {
    const resource = level.siblings[level.next];
    level.next += 1;
    if (resource === undefined) {
      levels.pop();
    } else if (added?.has(resource) !== true) {
      resources.push(resource);
      added?.add(resource);
      const inside = children.get(resource.address);
      if (inside !== undefined) {
        levels.push({ siblings: inside.toSorted(compareSiblings), next: 0 });
      }
    }
  }
}

/** Returns the address that a resource is below; null at the top. */
function parentAddress({ kind, fields, within }: Declared, declared: DeclaredResources): Address | null {
  const name = PARENT_FIELDS.get(kind)?.find((each) => typeof fields[each] === 'string');
  const parent = name === undefined ? undefined : (fields[name] as Address);
  if (parent !== undefined && declared.has(parent)) {
    return parent;
  }
  return within !== null && declared.has(within) ? within : null;
}

function compareSiblings(a: Declared, b: Declared): number {
  const order = a.kind === b.kind ? 0 : (ORDER.get(a.kind) ?? 0) - (ORDER.get(b.kind) ?? 0);
  return order || (a.place?.index ?? 0) - (b.place?.index ?? 0) || (a.address < b.address ? -1 : 1);
}

function countKinds(resources: readonly Declared[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { kind } of resources) {
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }
  return counts;
}

/** A resource in a list. */
export interface ResourceRow {
  readonly address: string;
  readonly kind: string;
  readonly title: string;
  readonly path: string;
  /** Addresses of what it is part of, outermost first. */
  readonly ancestors: readonly string[];
  readonly state: ResourceState;
  /** Change that waits or failed; null if there is none. */
  readonly action: Action | null;
  /** True if the change undoes what somebody changed on the platform. */
  readonly isDrift: boolean;
  /** False for a resource that exists on the platform, and that no manifest declares any more. */
  readonly isDeclared: boolean;
}

/** Selection of resources. Empty texts select everything. */
export interface ResourceFilter {
  readonly kind: string;
  readonly state: string;
  /** Part of the address or title. */
  readonly text: string;
  /** Address of the last row of the page before; empty for the first page. */
  readonly after: string;
}

export interface ResourcePage {
  readonly filter: ResourceFilter;
  readonly rows: readonly ResourceRow[];
  /** Number of resources that the filter selects. */
  readonly selected: number;
  /** Number of declared resources. */
  readonly total: number;
  readonly kinds: readonly { readonly kind: string; readonly count: number }[];
  readonly states: readonly ResourceState[];
  /** Value of `after` for the next page; null on the last one. */
  readonly next: string | null;
}

/** Resources of one page. */
const PAGE_SIZE = 100;
/** Ancestors that a row names, from the inside: documents cannot be nested without end. */
const MAX_ANCESTORS = 8;

/** Lists the resources that a filter selects: those that are to be deleted first, then the tree. */
export function listResources(
  organization: string,
  tree: ResourceTree,
  states: ResourceStates,
  filter: ResourceFilter,
): ResourcePage {
  const text = filter.text.toLowerCase();
  const isSelected = (kind: string, state: () => ResourceState, searched: string) =>
    (filter.kind === '' || kind === filter.kind) &&
    (text === '' || searched.includes(text)) &&
    (filter.state === '' || state() === filter.state);
  const removed = states.undeclared.filter(({ kind, address }) =>
    isSelected(kind, () => states.state(address), address.toLowerCase()),
  );
  const positions =
    filter.kind === '' && filter.state === '' && text === ''
      ? null
      : positionsWhere(tree, ({ kind, address }, position) =>
          isSelected(kind, () => states.state(address), text === '' ? '' : (tree.texts[position] ?? '')),
        );
  const declared = positions?.length ?? tree.resources.length;
  const start = startAfter(filter.after, removed, positions, tree);
  const shownRemoved = removed.slice(start, start + PAGE_SIZE);
  const from = Math.max(0, start - removed.length);
  const to = from + PAGE_SIZE - shownRemoved.length;
  const shown =
    positions === null
      ? tree.resources.slice(from, to)
      : positions.slice(from, to).flatMap((position) => tree.resources[position] ?? []);
  const rows = [
    ...shownRemoved.map((change) => removedRow(organization, change, states)),
    ...shown.map((resource) => declaredRow(organization, resource, tree, states)),
  ];
  return {
    filter,
    rows,
    selected: removed.length + declared,
    total: tree.resources.length,
    kinds: [...tree.kinds].map(([kind, count]) => ({ kind, count })),
    states: RESOURCE_STATES,
    next: start + rows.length < removed.length + declared ? (rows.at(-1)?.address ?? null) : null,
  };
}

function positionsWhere(
  { resources }: ResourceTree,
  isWanted: (resource: Declared, position: number) => boolean,
): readonly number[] {
  const found: number[] = [];
  for (const [position, resource] of resources.entries()) {
    if (isWanted(resource, position)) {
      found.push(position);
    }
  }
  return found;
}

/**
 * Returns the index of the first row of a page. Rows may have gone since the page before was made. `positions`: those of the
 * selected resources; null: all.
 */
function startAfter(
  after: string,
  removed: readonly ChangeDocument[],
  positions: readonly number[] | null,
  tree: ResourceTree,
): number {
  if (after === '') {
    return 0;
  }
  const last = tree.positionOf(after);
  if (last !== undefined) {
    const before = positions === null ? last + 1 : positions.findIndex((position) => position > last);
    return removed.length + (before === -1 ? (positions?.length ?? 0) : before);
  }
  const at = removed.findIndex(({ address }) => address > after);
  return at === -1 ? removed.length : at;
}

function removedRow(organization: string, change: ChangeDocument, states: ResourceStates): ResourceRow {
  const { address, action, actual } = change;
  const title = actual.title ?? actual.label;
  return {
    address,
    kind: change.kind === '' ? kindOf(address) : change.kind,
    title: typeof title === 'string' ? title : '',
    path: resourcePath(organization, address),
    ancestors: [],
    state: states.state(address),
    action,
    isDrift: false,
    isDeclared: false,
  };
}

function declaredRow(
  organization: string,
  resource: Declared,
  tree: ResourceTree,
  states: ResourceStates,
): ResourceRow {
  const { address, kind } = resource;
  const ancestors: string[] = [];
  const state = states.state(address);
  const isChanging = state !== 'in-sync' && state !== 'stale';
  let parent = tree.parentOf(resource);
  while (parent !== null && ancestors.length < MAX_ANCESTORS) {
    ancestors.unshift(parent.address);
    parent = tree.parentOf(parent);
  }
  return {
    address,
    kind,
    title: titleOf(resource),
    path: resourcePath(organization, address),
    ancestors,
    state,
    action: isChanging ? (states.changesOf(address)[0]?.action ?? null) : null,
    isDrift: isChanging && states.isDrift(address),
    isDeclared: true,
  };
}
