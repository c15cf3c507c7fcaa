import type { Address } from '../../core/address.ts';
import type { Problem } from '../../core/errors.ts';
import { enumerated } from '../../core/lists.ts';
import type { Declared, Source } from '../../core/resource.ts';
import { quote } from '../../core/text/suggest.ts';
import { findCycles } from './cycles.ts';
import { plainFields } from './fields.ts';
import type { KindIndex } from './kind-index.ts';
import type { ReadEntry, ReadResource } from './read-entry.ts';
import type { ReadManifest } from './read-manifest.ts';
import { ReferenceIndex } from './resolve-reference.ts';

export interface Merged {
  readonly declared: ReadonlyMap<Address, Declared>;
  readonly sections: ReadonlySet<string>;
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
  const entries = distinctEntries(manifests, problems);
  const resources = distinctResources(entries, problems);
  checkIds(resources, problems);
  const unread = manifests.flatMap((manifest) => (manifest.unread === null ? [] : [manifest.unread]));
  const index = new ReferenceIndex(resources, entries, unread, kinds);
  const unresolved: Problem[] = [];
  const declared = resolveAll(index, unresolved);
  const sections = new Set(manifests.flatMap((manifest) => manifest.sections));
  const [ofFiles, ofEntries] = [problems.filter(isOfFile), problems.filter((problem) => !isOfFile(problem))];
  return { declared, sections, problems: [ofFiles, ofEntries, unresolved].flatMap(inOrder) };
}

function isOfFile({ address }: Problem): boolean {
  return address === '';
}

function inOrder(problems: readonly Problem[]): readonly Problem[] {
  return problems.toSorted((a, b) => compareSources(a, b) || (a.message < b.message ? -1 : 1));
}

function distinctEntries(manifests: readonly ReadManifest[], problems: Problem[]): ReadEntry[] {
  const seen = new Map<Address, ReadEntry>();
  for (const manifest of manifests) {
    for (const entry of manifest.entries) {
      const first = seen.get(entry.address);
      if (first === undefined) {
        seen.set(entry.address, entry);
      } else {
        problems.push(declaredTwice(entry.address, first.source, entry.source));
      }
    }
  }
  return [...seen.values()];
}

/** Returns the resources of all entries by address, sorted, so that the order of files and keys has no effect. */
function distinctResources(entries: readonly ReadEntry[], problems: Problem[]): ReadonlyMap<Address, ReadResource> {
  const seen = new Map<Address, ReadResource>();
  for (const entry of entries) {
    for (const resource of entry.resources) {
      const first = seen.get(resource.address);
      if (first === undefined) {
        seen.set(resource.address, resource);
      } else {
        problems.push(declaredTwice(resource.address, first.source, resource.source));
      }
    }
  }
  const sorted = new Map<Address, ReadResource>();
  for (const address of [...seen.keys()].sort()) {
    const resource = seen.get(address);
    if (resource !== undefined) {
      sorted.set(address, resource);
    }
  }
  return sorted;
}

function declaredTwice(address: Address, first: Source, second: Source): Problem {
  return { ...second, address, message: `is declared twice; first at ${placeOf(first)}; remove one of them` };
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
  return a.file < b.file ? -1 : a.file > b.file ? 1 : a.line - b.line || a.column - b.column;
}

function placeOf(source: Source): string {
  return `${source.file}:${source.line}`;
}
