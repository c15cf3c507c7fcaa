/** States of the resources of an organization, their tree, and the part of it that a page lists. */
import { type Address, kindOf } from '../../core/address.ts';
import { changeId } from '../../core/change.ts';
import type { Declared } from '../../core/resource.ts';
import { kinds } from '../../kinds/registry.ts';
import type { ChangeDocument } from '../../plan/render/document.ts';
import type { ManualPause } from '../../store/history.ts';
import type { ReconcilerState } from './page.ts';
import { resourcePath } from './words.ts';

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
export type ResourceStates = ReturnType<typeof indexChanges>;

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
  changed: [],
  changesOf: () => [],
  undeclared: [],
  result: () => undefined,
  pendingReason: () => undefined,
  isDrift: () => false,
  state: () => 'unknown',
};

function indexChanges({ plan, drift }: Check, end: ReconcilerState['lastEnd']) {
  const byAddress = Map.groupBy(plan.changes, ({ address }) => address);
  const results = new Map((end?.plan === plan ? end.results : []).map((result) => [changeId(result), result]));
  const pending = new Map(plan.pending.map(({ address, reason }) => [address, reason]));
  const changesOf = (address: Address): readonly ChangeDocument[] => byAddress.get(address) ?? [];
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
    let worst: ResourceState = 'in-sync';
    for (const change of changesOf(address)) {
      const own = stateOf(change);
      worst = RESOURCE_STATES.indexOf(own) < RESOURCE_STATES.indexOf(worst) ? own : worst;
    }
    return worst === 'in-sync' && pending.has(address) ? 'pending' : worst;
  };
  return {
    /** Addresses that the plan changes, or that are pending. */
    changed: [...new Set([...byAddress.keys(), ...pending.keys()])] as readonly Address[],
    /** Returns the changes of a resource, in the order of the plan. */
    changesOf,
    /** Changes of resources that no manifest declares any more, sorted by address. */
    undeclared: plan.changes
      .filter((change) => change.source === null && change.action === 'delete' && result(change)?.status !== 'applied')
      .toSorted((a, b) => (a.address < b.address ? -1 : 1)),
    /** Returns the result of a change; undefined if the last pass did not reach it. */
    result,
    /** Returns why a declared resource cannot be created yet. */
    pendingReason: (address: Address) => pending.get(address),
    /** Returns true if the last change undoes what somebody changed on the platform. */
    isDrift: (address: Address) => changesOf(address).some((change) => drift.has(change)),
    state,
  };
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

/** Tree of resources, without an object for each of them. */
export type ResourceTree = ReturnType<typeof buildTree>;

/** Returns the tree of these resources. */
export function resourceTree(declared: DeclaredResources): ResourceTree {
  const known = trees.get(declared) ?? buildTree(declared);
  trees.set(declared, known);
  return known;
}

function buildTree(declared: DeclaredResources) {
  const children = Map.groupBy(declared.values(), (resource) => parentAddress(resource, declared));
  const resources = new Set<Declared>();
  addBelow(resources, children.get(null) ?? [], children);
  const loops = new Set<Declared>();
  for (const resource of resources.size < declared.size ? declared.values() : []) {
    if (!resources.has(resource)) {
      loops.add(resource);
      addBelow(resources, [resource], children);
    }
  }
  const sorted = [...resources];
  return {
    declared,
    /** Parents first, each followed by what it contains. */
    resources: sorted,
    /** Number of resources of each kind. */
    kinds: [...Map.groupBy(sorted, ({ kind }) => kind)].map(([kind, { length: count }]) => ({ kind, count })),
    /** Returns what a resource is part of; null at the top, where resources are that are below themselves. */
    parentOf: (resource: Declared): Declared | null => {
      const parent = loops.has(resource) ? null : parentAddress(resource, declared);
      return parent === null ? null : (declared.get(parent) ?? null);
    },
  };
}

/** Returns the title of a resource, or of the space that it shows or translates: `Guides (fr)`; empty if there is none. */
function titleWithin(resource: Declared, declared: DeclaredResources): string {
  const { space, to } = resource.fields;
  const title = titleOf(resource);
  const shown = title === '' && typeof space === 'string' ? declared.get(space as Address) : undefined;
  if (shown === undefined) {
    return title;
  }
  // A site shows a translation, and that is of a space: no title is further away.
  const of = shown.fields.space === undefined ? titleOf(shown) : titleWithin(shown, declared);
  return typeof to === 'string' && of !== '' ? `${of} (${to})` : of;
}

/** Returns the title of a resource; empty if it has none. */
export function titleOf({ fields }: { readonly fields: Declared['fields'] }): string {
  const title = fields.title ?? fields.label;
  return typeof title === 'string' ? title : '';
}

/** Adds resources with what they contain, except those that were added before. */
function addBelow(
  resources: Set<Declared>,
  roots: readonly Declared[],
  children: ReadonlyMap<Address | null, readonly Declared[]>,
): void {
  const levels = [roots.toSorted(compareSiblings).values()];
  for (let level = levels.at(-1); level !== undefined; level = levels.at(-1)) {
    const { value: resource } = level.next();
    if (resource === undefined) {
      levels.pop();
    } else if (!resources.has(resource)) {
      resources.add(resource);
      const inside = children.get(resource.address);
      if (inside !== undefined) {
        levels.push(inside.toSorted(compareSiblings).values());
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

/** States that one figure counts together. */
export const STATE_GROUPS = {
  'in-sync': ['in-sync', 'stale', 'unknown'],
  waiting: ['held', 'paused'],
  pending: ['planned', 'pending'],
  failed: ['failed'],
} as const satisfies Record<string, readonly ResourceState[]>;
type StateGroup = keyof typeof STATE_GROUPS;

/** Returns the states of a group, or the one that is named itself. */
function statesIn(wanted: string): ReadonlySet<string> {
  return new Set(Object.hasOwn(STATE_GROUPS, wanted) ? STATE_GROUPS[wanted as StateGroup] : [wanted]);
}

type StateCounts = Readonly<Record<StateGroup, number>>;
/** Counts by what has changed: counting 100,000 takes longer than a page may take. */
const stateCounts = new WeakMap<
  ResourceStates['changed'],
  { readonly tree: ResourceTree; readonly counts: StateCounts }
>();

/** Counts the resources of each group, with those that only the platform has. */
export function countStates(tree: ResourceTree, states: ResourceStates): StateCounts {
  const known = stateCounts.get(states.changed);
  const counts = known?.tree === tree ? known.counts : countGroups(tree, states);
  stateCounts.set(states.changed, { tree, counts });
  return counts;
}

function countGroups(tree: ResourceTree, states: ResourceStates): StateCounts {
  const groups = (['waiting', 'pending', 'failed'] as const).map((group) => [group, statesIn(group)] as const);
  const counts = { 'in-sync': tree.declared.size, waiting: 0, pending: 0, failed: 0 };
  for (const address of states.changed) {
    const state = states.state(address);
    const group = groups.find(([, of]) => of.has(state))?.[0];
    if (group !== undefined) {
      counts[group] += 1;
      counts['in-sync'] -= tree.declared.has(address) ? 1 : 0;
    }
  }
  return counts;
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

/** Resources of one page. */
const PAGE_SIZE = 100;
/** Ancestors that a row names, from the inside: documents cannot be nested without end. */
const MAX_ANCESTORS = 8;

export type ResourcePage = ReturnType<typeof listResources>;
/** A resource in a list. */
export type ResourceRow = ResourcePage['rows'][number];

/** Lists the resources that a filter selects: those that are to be deleted first, then the tree. */
export function listResources(
  organization: string,
  tree: ResourceTree,
  states: ResourceStates,
  filter: ResourceFilter,
) {
  const text = filter.text.toLowerCase();
  const wanted = statesIn(filter.state);
  const isSelected = ({ kind, address }: { readonly kind: string; readonly address: Address }, title: () => string) =>
    (filter.kind === '' || kind === filter.kind) &&
    (text === '' || `${address}\n${title()}`.toLowerCase().includes(text)) &&
    (filter.state === '' || wanted.has(states.state(address)));
  const select = (resources: readonly Declared[]) =>
    filter.kind === '' && filter.state === '' && text === ''
      ? resources
      : resources.filter((resource) => isSelected(resource, () => titleWithin(resource, tree.declared)));
  const removed = states.undeclared.filter((change) => isSelected(change, () => titleOf({ fields: change.actual })));
  const declared = select(tree.resources);
  const start = startAfter(filter.after, removed, tree.resources, select);
  const shownRemoved = removed.slice(start, start + PAGE_SIZE);
  const from = Math.max(0, start - removed.length);
  const rows = [
    ...shownRemoved.map((change) => removedRow(organization, change, states)),
    ...declared
      .slice(from, from + PAGE_SIZE - shownRemoved.length)
      .map((resource) => declaredRow(organization, resource, tree, states)),
  ];
  const selected = removed.length + declared.length;
  return {
    filter,
    rows,
    /** Number of resources that the filter selects. */
    selected,
    /** Number of declared resources, and of those that only the platform has. */
    total: tree.resources.length,
    undeclared: states.undeclared.length,
    kinds: tree.kinds,
    states: RESOURCE_STATES,
    /** Value of `after` for the next page; null on the last one. */
    next: start + rows.length < selected ? (rows.at(-1)?.address ?? null) : null,
  };
}

/** Returns the index of the first row of a page. Rows may have gone since the page before was made. */
function startAfter(
  after: string,
  removed: readonly ChangeDocument[],
  resources: readonly Declared[],
  select: (resources: readonly Declared[]) => readonly Declared[],
): number {
  if (after === '') {
    return 0;
  }
  const last = resources.findIndex(({ address }) => address === after);
  if (last !== -1) {
    return removed.length + select(resources.slice(0, last + 1)).length;
  }
  const at = removed.findIndex(({ address }) => address > after);
  return at === -1 ? removed.length : at;
}

function removedRow(organization: string, change: ChangeDocument, states: ResourceStates) {
  const { address, action, actual } = change;
  return {
    address,
    kind: change.kind === '' ? kindOf(address) : change.kind,
    title: titleOf({ fields: actual }),
    path: resourcePath(organization, address),
    ancestors: [],
    state: states.state(address),
    action,
    isDrift: false,
    /** False for a resource that exists on the platform, and that no manifest declares any more. */
    isDeclared: false,
  };
}

function declaredRow(organization: string, resource: Declared, tree: ResourceTree, states: ResourceStates) {
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
    title: titleWithin(resource, tree.declared),
    path: resourcePath(organization, address),
    /** Addresses of what it is part of, outermost first. */
    ancestors,
    state,
    /** Change that waits or failed; null if there is none. */
    action: isChanging ? (states.changesOf(address)[0]?.action ?? null) : null,
    /** True if the change undoes what somebody changed on the platform. */
    isDrift: isChanging && states.isDrift(address),
    isDeclared: true,
  };
}
