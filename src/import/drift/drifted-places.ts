/** Decides which resources were deleted, and in which order lists are on the platform. */
import type { Address } from '../../core/address.ts';
import type { Change } from '../../core/change.ts';
import { sameJson } from '../../core/json.ts';
import { repositionings } from '../../plan/identity/siblings.ts';
import { normalizeValue } from '../../plan/model/diff.ts';
import { itemSpans, type Reordering, type Span } from '../text/spans.ts';
import type { DriftContext } from './drift-context.ts';

/**
 * Returns why a declared resource that does not exist stays in the manifests. Null if it was deleted: it was applied as
 * declared, and no existing resource of its kind could be the same one under another name.
 */
export function reasonToKeep(
  { address, kind, isReplacement, within, place }: Change,
  context: DriftContext,
): string | null {
  const { base, declared, bound } = context.input;
  const entry = base?.get(address);
  if (base === null || isReplacement) {
    return 'is declared but does not exist, or has another name now';
  }
  const missing = [place?.list ?? null, within].find((holder) => holder !== null && !bound.has(holder));
  if (missing !== undefined) {
    return `is part of ${missing}, which was not found`;
  }
  if (entry === undefined) {
    return 'is declared, and was never applied';
  }
  const rules = context.kinds.get(kind)?.fields ?? {};
  const isChanged = Object.entries(declared.get(address)?.fields ?? {}).some(([name, value]) => {
    const rule = rules[name];
    return (
      rule !== undefined &&
      rule.compare !== 'base' &&
      !sameJson(entry.fields[name], normalizeValue(rule, value ?? null))
    );
  });
  if (isChanged) {
    return 'is gone, and a commit is about to change it';
  }
  const holder = within === null ? null : (bound.get(within)?.id ?? '');
  return context.hasUndeclared(kind, holder) ? 'is gone, or has the name of something that no manifest declares' : null;
}

/** Moves that bring a list into the order that it has on the platform. */
export interface ListMoves {
  /** Smallest set of items that have to move. */
  readonly moved: readonly Address[];
  /** New order of their texts; null if these cannot be moved. */
  readonly order: Reordering | null;
}

/**
 * Compares the order of a list in a file with that on the platform. Items that do not exist on the platform keep their
 * neighbors.
 */
export function orderOf(file: string, list: Address, context: DriftContext): ListMoves {
  const { bound } = context.input;
  const siblings = context.siblingsOf(list);
  const holder = bound.get(list)?.id;
  const indexOf = (address: Address) => {
    const place = bound.get(address)?.place;
    return place?.list === holder ? place?.index : undefined;
  };
  const order = mergeOrder(siblings.map(indexOf));
  const wanted = order.map((index) => siblings[index] ?? '');
  const moved = repositionings(wanted, siblings).map(({ address }) => address);
  const pieces = moved.length === 0 ? null : itemsOf(file, siblings, context);
  return { moved, order: pieces === null ? null : { pieces, order } };
}

/** Returns the text of each item of a list; null if they cannot be separated. */
function itemsOf(file: string, siblings: readonly Address[], context: DriftContext): readonly Span[] | null {
  const manifest = context.textOf(file);
  const offsets = siblings.map((address) => {
    return manifest.offsetAt(context.input.declared.get(address)?.source ?? { line: 0, column: 0 });
  });
  const list = manifest.itemAt(offsets[0] ?? -1)?.holder;
  const isWhole =
    list !== undefined &&
    list.items.length === siblings.length &&
    list.items.every(({ range }, index) => range[0] === offsets[index]);
  return isWhole ? itemSpans(manifest.text, list) : null;
}

/**
 * Merges items: those with a place in the order of their places, each followed by the items after it that have none.
 */
function mergeOrder(places: readonly (number | undefined)[]): readonly number[] {
  const first: number[] = [];
  const groups: { readonly place: number; readonly indexes: number[] }[] = [];
  for (const [index, place] of places.entries()) {
    if (place !== undefined) {
      groups.push({ place, indexes: [index] });
    } else {
      (groups.at(-1)?.indexes ?? first).push(index);
    }
  }
  return [...first, ...groups.toSorted((a, b) => a.place - b.place).flatMap(({ indexes }) => indexes)];
}
