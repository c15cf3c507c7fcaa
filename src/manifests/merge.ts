/** Merge of the declarations of all files, with their references resolved. */
import { type Address, addressOf } from '../core/address.ts';
import type { Problem } from '../core/errors.ts';
import { compareText, enumerated } from '../core/lists.ts';
import type { Declared, Source } from '../core/resource.ts';
import { quote, Suggestions } from '../core/text/suggest.ts';
import type { Reference } from '../kinds/model/manifest.ts';
import type { KindIndex } from './kind-index.ts';
import { plainFields, type ReadEntry, type ReadManifest, type ReadResource } from './read-manifest.ts';

interface Merged {
  readonly declared: ReadonlyMap<Address, Declared>;
  /** Causes first: what cannot be read, then entries that are wrong, then references to what could not be read. */
  readonly problems: readonly Problem[];
}

/**
 * Merges the declarations of all files. The result does not depend on their order.
 *
 * @param others problems of files that are not read
 */
export function mergeManifests(
  manifests: readonly ReadManifest[],
  others: readonly Problem[],
  kinds: KindIndex,
): Merged {
  const problems: Problem[] = [...others, ...manifests.flatMap((manifest) => manifest.problems)];
  const written = manifests.flatMap((manifest) => manifest.entries);
  const entries = [...distinct(written, problems).values()];
  const declaredBy = entries.flatMap((entry) => entry.resources);
  // Sorted, so that the order of files and keys has no effect.
  const resources = new Map([...distinct(declaredBy, problems)].sort(([a], [b]) => compareText(a, b)));
  checkIds(resources, problems);
  const unread = manifests.flatMap((manifest) => (manifest.unread === null ? [] : [manifest.unread]));
  const index = new ReferenceIndex(resources, entries, unread, kinds);
  const unresolved: Problem[] = [];
  const declared = resolveAll(index, unresolved);
  const [ofFiles, ofEntries] = [
    problems.filter(({ address }) => address === ''),
    problems.filter(({ address }) => address !== ''),
  ];
  return { declared, problems: [ofFiles, ofEntries, unresolved].flatMap(inOrder) };
}

function inOrder(problems: readonly Problem[]): readonly Problem[] {
  return problems.toSorted((a, b) => compareSources(a, b) || (a.message < b.message ? -1 : 1));
}

/** Returns the first item with each address, and reports the others. */
function distinct<Item extends { readonly address: Address; readonly source: Source }>(
  items: Iterable<Item>,
  problems: Problem[],
): Map<Address, Item> {
  const seen = new Map<Address, Item>();
  for (const item of items) {
    const first = seen.get(item.address);
    if (first === undefined) {
      seen.set(item.address, item);
    } else {
      const message = `is declared twice; first at ${placeOf(first.source)}; remove one of them`;
      problems.push({ ...item.source, address: item.address, message });
    }
  }
  return seen;
}

function checkIds(resources: ReadonlyMap<Address, ReadResource>, problems: Problem[]): void {
  const seen = new Map<string, ReadResource>();
  const bound = [...resources.values()].filter(({ declared }) => declared.id !== null);
  for (const resource of bound.sort((a, b) => compareSources(a.idSource, b.idSource))) {
    const { kind, id } = resource.declared;
    const first = seen.get(`${kind} ${id}`);
    if (first === undefined) {
      seen.set(`${kind} ${id}`, resource);
    } else {
      const message = `id ${quote(id ?? '')} is also bound by ${first.address} (${placeOf(first.idSource)}); bind each id to one key`;
      problems.push({ ...resource.idSource, address: resource.address, message });
    }
  }
}

function resolveAll(index: ReferenceIndex, problems: Problem[]): ReadonlyMap<Address, Declared> {
  const declared = new Map<Address, Declared>();
  const edges = new Map<Address, Map<Address, Source>>();
  for (const [address, resource] of index.resources) {
    if (resource.fields === null) {
      declared.set(address, resource.declared);
      continue;
    }
    const found = new Map<unknown, Address>();
    for (const { reference, source } of resource.references) {
      const { target, message } = index.resolve(reference);
      if (message !== null) {
        problems.push({ ...source, address, message });
      }
      if (target !== null) {
        found.set(reference, target.address);
        if (target.declared.kind === resource.declared.kind) {
          const targets = edges.get(address) ?? new Map<Address, Source>();
          edges.set(address, targets.set(target.address, source));
        }
      }
    }
    const fields = plainFields(resource.fields, (reference) => found.get(reference) ?? null);
    declared.set(address, { ...resource.declared, fields });
  }
  reportCycles(edges, problems);
  return declared;
}

function reportCycles(edges: ReadonlyMap<Address, ReadonlyMap<Address, Source>>, problems: Problem[]): void {
  const graph = new Map([...edges].map(([from, targets]) => [from, [...targets.keys()]]));
  for (const cycle of findCycles(graph)) {
    const [first = '', second = first] = cycle;
    const source = edges.get(first)?.get(second);
    if (source !== undefined) {
      const message = `is part of a reference cycle: ${enumerated([...cycle, first], ' → ')}; remove one of these references`;
      problems.push({ ...source, address: first, message });
    }
  }
}

/** Compares by file, then line, then column. */
function compareSources(a: Source, b: Source): number {
  return compareText(a.file, b.file) || a.line - b.line || a.column - b.column;
}

function placeOf(source: Source): string {
  return `${source.file}:${source.line}`;
}

/** Index for resolving references. A lookup takes constant time, even if it finds nothing. */
class ReferenceIndex {
  readonly resources: ReadonlyMap<Address, ReadResource>;
  readonly #kinds: KindIndex;
  /** Kinds of the entries with problems, by key. Their declarations are unknown and not reported as missing. */
  readonly #broken = new Map<string, Set<string>>();
  readonly #unread: readonly string[];
  readonly #isAllUnread: boolean;
  readonly #suggestions = new Suggestions();
  /** Words of the files that could be parsed only in part; null until they are needed. */
  #words: ReadonlySet<string> | null = null;
  /** Resources by the last part of their addresses, grouped by the part before it. */
  #siblings: ReadonlyMap<string, ReadonlyMap<string, ReadResource>> | null = null;

  /** @param unread texts of files that could be parsed only in part; empty for a file that could not be read at all */
  constructor(
    resources: ReadonlyMap<Address, ReadResource>,
    entries: readonly ReadEntry[],
    unread: readonly string[],
    kinds: KindIndex,
  ) {
    this.resources = resources;
    this.#unread = unread;
    this.#isAllUnread = unread.includes('');
    this.#kinds = kinds;
    for (const { kind, key } of entries.filter(({ broken }) => broken)) {
      this.#broken.set(key, (this.#broken.get(key) ?? new Set()).add(kind));
    }
  }

  /** Resolves a reference to the resource of the first of its kinds that declares the key. */
  resolve(reference: Reference): { readonly target: ReadResource | null; readonly message: string | null } {
    const targets = reference.kinds.flatMap((kind) => {
      const target = this.resources.get(addressOf(kind, this.#fullKey(reference, kind)));
      return target === undefined ? [] : [target];
    });
    const [target, other] = targets;
    if (target === undefined) {
      return { target: null, message: this.#mayBeDeclared(reference) ? null : this.#missing(reference) };
    }
    if (other === undefined) {
      return { target, message: null };
    }
    const places = targets.map(({ address, source }) => `${address} (${placeOf(source)})`).join(' and ');
    return { target, message: `${quote(reference.key)} matches both ${places}; use distinct keys` };
  }

  #fullKey(reference: Reference, kind: string): string {
    const whole = reference.prefix + reference.key;
    return this.#kinds.byName.get(kind)?.manifest?.normalizeKey?.(whole) ?? whole;
  }

  /** Reports whether an entry or a file with problems may declare it. Only those problems are reported then. */
  #mayBeDeclared(reference: Reference): boolean {
    return (
      reference.kinds.some((kind) => this.#isBroken(kind, this.#fullKey(reference, kind))) || this.#isUnread(reference)
    );
  }

  /** Reports whether an entry with problems has this key, or may contain the resource with this key. */
  #isBroken(kind: string, key: string): boolean {
    if (this.#broken.get(key)?.has(kind) === true) {
      return true;
    }
    for (let end = key.indexOf('/'); end !== -1; end = key.indexOf('/', end + 1)) {
      if ([...(this.#broken.get(key.slice(0, end)) ?? [])].some((other) => other !== kind)) {
        return true;
      }
    }
    return false;
  }

  #isUnread({ key }: Reference): boolean {
    this.#words ??= new Set(this.#unread.flatMap((text) => text.split(/[\s:,#&*!|>'"`%@{}[\]]+/)));
    const [first = ''] = key.split('@', 1);
    return this.#isAllUnread || this.#words.has(first);
  }

  #missing({ kinds, prefix, key }: Reference): string {
    this.#siblings ??= siblingsOf(this.resources);
    const groups = kinds.flatMap((kind) => this.#siblings?.get(`${kind}/${prefix}`) ?? []);
    const hints = groups.flatMap((siblings) => {
      const near = this.#suggestions.nearest(key, siblings) ?? '';
      const found = siblings.get(near);
      return found === undefined ? [] : [`; did you mean ${quote(near)} (${placeOf(found.source)})?`];
    });
    return `no ${kinds.join(' or ')} ${quote(key)}${hints[0] ?? ''}`;
  }
}

function siblingsOf(
  resources: ReadonlyMap<Address, ReadResource>,
): ReadonlyMap<string, ReadonlyMap<string, ReadResource>> {
  const siblings = new Map<string, Map<string, ReadResource>>();
  for (const [address, resource] of resources) {
    const start = address.slice(0, address.lastIndexOf('/') + 1);
    const rest = address.slice(start.length);
    const own = siblings.get(start) ?? new Map<string, ReadResource>();
    siblings.set(start, own.set(rest, resource));
  }
  return siblings;
}

/** Returns the cycles of a graph, each once, starting at its first address in sort order. */
function findCycles(edges: ReadonlyMap<Address, readonly Address[]>): Address[][] {
  const done = new Set<Address>();
  const found = new Map<string, Address[]>();
  for (const start of [...edges.keys()].sort()) {
    walkFrom(start, edges, done, (cycle) => found.set(cycle.join('\n'), cycle));
  }
  return [...found.values()];
}

/** Depth-first search with an explicit stack, because a chain of references can exceed the call stack. */
function walkFrom(
  start: Address,
  edges: ReadonlyMap<Address, readonly Address[]>,
  done: Set<Address>,
  report: (cycle: Address[]) => void,
): void {
  const path: { readonly address: Address; next: number }[] = [];
  const onPath = new Map<Address, number>();
  const enter = (address: Address) => {
    onPath.set(address, path.length);
    path.push({ address, next: 0 });
  };
  if (!done.has(start)) {
    enter(start);
  }
  for (let top = path.at(-1); top !== undefined; top = path.at(-1)) {
    const target = edges.get(top.address)?.[top.next];
    top.next += 1;
    if (target === undefined) {
      done.add(top.address);
      onPath.delete(top.address);
      path.pop();
      continue;
    }
    const depth = onPath.get(target);
    if (depth !== undefined) {
      report(fromFirst(path.slice(depth).map(({ address }) => address)));
    } else if (!done.has(target)) {
      enter(target);
    }
  }
}

function fromFirst(cycle: readonly Address[]): Address[] {
  const first = cycle.indexOf(cycle.toSorted()[0] ?? '');
  return [...cycle.slice(first), ...cycle.slice(0, first)];
}
