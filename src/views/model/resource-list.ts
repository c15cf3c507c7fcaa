/** Selection and paging of the resources of an organization. */

import { kindOf } from '../../core/address.ts';
import type { Action, Change } from '../../core/change.ts';
import type { Declared } from '../../core/resource.ts';
import { resourcePath } from './paths.ts';
import { RESOURCE_STATES, type ResourceState, type ResourceStates } from './resource-state.ts';
import { type ResourceTree, titleOf } from './resource-tree.ts';

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
  removed: readonly Change[],
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

function removedRow(organization: string, change: Change, states: ResourceStates): ResourceRow {
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
