import { type ParsedNode, parseAllDocuments } from 'yaml';
import type { Address } from '../core/address.ts';
import type { Change } from '../core/change.ts';
import { sameJson } from '../core/json.ts';
import type { Declared } from '../core/resource.ts';
import { keptValue } from '../plan/diff.ts';
import type { DriftInput } from './drifted.ts';
import type { Edit } from './patch.ts';
import { listWith, type Order, piecesOf, removalAt } from './spans.ts';

/** Where a source is in a text. */
export function offsetAt(text: string, line: number, column: number): number {
  let start = text.startsWith('\ufeff') ? 1 : 0;
  for (let at = 1; at < line; at += 1) {
    start = text.indexOf('\n', start) + 1;
  }
  return start + column - 1;
}

/**
 * Why what is declared and not there is not taken out of the manifests; null where it is gone: it was applied as it is
 * declared, and nothing of its kind is there that could be it under another name.
 */
export function whyNotGone(
  { address, kind, replaces, within }: Change,
  { kinds, base, declared, bound, observation }: DriftInput,
): string | null {
  const entry = base?.get(address);
  if (base === null || replaces) {
    return 'is declared and not there, or has another name now';
  }
  if (entry === undefined) {
    return 'is declared, and was never applied';
  }
  const rules = kinds.find(({ name }) => name === kind)?.fields ?? {};
  const fields = Object.entries(declared.get(address)?.fields ?? {});
  const isChanged = fields.some(([name, value]) => {
    const rule = rules[name];
    return (
      rule !== undefined && rule.compare !== 'base' && !sameJson(entry.fields[name], keptValue(rule, value ?? null))
    );
  });
  if (isChanged) {
    return 'is gone, and a commit is about to change it';
  }
  const known = new Set(bound.values());
  const holder = within === null ? null : (bound.get(within)?.id ?? '');
  const others = (observation.kinds.get(kind) ?? []).filter((each) => !known.has(each) && each.within === holder);
  return others.length > 0 ? 'is gone, or has the name of something that no manifest declares' : null;
}

/** Takes out of a manifest what begins at an offset. */
export function removalIn(text: string, offset: number): Edit | null {
  for (const contents of documentsOf(text)) {
    const edit = removalAt(text, contents, offset);
    if (edit !== null) {
      return edit;
    }
  }
  return null;
}

/** Whether a commit has changed the order of a list since it was applied: then it is no drift. */
export function isOrderedByCommit(list: Address, { base, declared }: DriftInput): boolean {
  if (base === null) {
    return false;
  }
  const now = siblingsOf(list, [...declared.values()]).filter((address) => base.get(address)?.place?.list === list);
  const before = siblingsOf(list, [...base.values()]).filter((address) => declared.get(address)?.place?.list === list);
  return !sameJson([...now], [...before]);
}

/** How the items of a list come to stand as they do on the platform; null where their text cannot be moved. */
export function orderOf(text: string, list: Address, { declared, bound }: DriftInput): Order | null {
  const siblings = siblingsOf(list, [...declared.values()]).map((address) => declared.get(address) as Declared);
  const offsets = siblings.map(({ source }) => offsetAt(text, source.line, source.column));
  const node = documentsOf(text)
    .map((contents) => listWith(contents, offsets[0] ?? -1))
    .find((found) => found !== null);
  const isWhole =
    node !== undefined &&
    node.items.length === siblings.length &&
    node.items.every(({ range }, index) => range[0] === offsets[index]);
  const pieces = isWhole ? piecesOf(text, node) : null;
  if (pieces === null) {
    return null;
  }
  const holder = bound.get(list)?.id;
  const indexOf = (address: Address) => {
    const place = bound.get(address)?.place;
    return place?.list === holder ? place?.index : undefined;
  };
  return { pieces, order: mixed(siblings.map(({ address }) => indexOf(address))) };
}

/** Those that have a place in the order of their places, each followed by those after it that have none. */
function mixed(places: readonly (number | undefined)[]): readonly number[] {
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

interface Placed {
  readonly address: Address;
  readonly place?: { readonly list: Address; readonly index: number } | null;
}

function siblingsOf(list: Address, all: readonly Placed[]): readonly Address[] {
  return all
    .filter(({ place }) => place?.list === list)
    .toSorted((a, b) => (a.place?.index ?? 0) - (b.place?.index ?? 0))
    .map(({ address }) => address);
}

function documentsOf(text: string): readonly (ParsedNode | null)[] {
  const documents = parseAllDocuments(text, { logLevel: 'silent', stringKeys: true, prettyErrors: false });
  return 'empty' in documents ? [] : documents.map(({ contents }) => contents as ParsedNode | null);
}
