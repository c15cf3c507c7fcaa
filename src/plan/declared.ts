/** Declared resources before they are compared with actual ones: natural keys, order, and placeholders. */
import type { Problem } from '../core/errors.ts';
import { canonicalJson, type Json } from '../core/json.ts';
import { enumerated } from '../core/lists.ts';
import type { Actual, Declared } from '../core/resource.ts';
import type { KindRules, NaturalKey } from './rules.ts';

/** Returns the index key of the resources with one natural key. */
export function getIndexKey(within: string | null, key: NaturalKey): string {
  return `${within ?? ''}\n${key.by}\n${key.value}`;
}

/** Like {@link getIndexKey}, but two parents can each have a resource with the same key. */
export function getSlot(within: string | null, key: NaturalKey): string {
  return `${getIndexKey(within, key)}\n${canonicalJson(key.parent ?? null)}`;
}

/**
 * Reports resources without an id that have the best natural key of another one: once they exist, nothing but a record of
 * their ids tells them apart.
 */
export function findSharedKeys(kind: KindRules, resources: Iterable<Declared>): Problem[] {
  const firsts = new Map<string, Declared>();
  const problems: Problem[] = [];
  for (const resource of resources) {
    const { id, fields, address, within, source } = resource;
    const [key] = id === null ? kind.naturalKeys(fields, address) : [];
    if (key === undefined) {
      continue;
    }
    const slot = getSlot(within, key);
    const first = firsts.get(slot) ?? resource;
    firsts.set(slot, first);
    if (first !== resource) {
      const other = `${first.address} (${first.source.file}:${first.source.line})`;
      const message = `has the same ${key.by} as ${other}, so no later plan could tell them apart; change one, or apply one first and set its id`;
      problems.push({ ...source, address, message });
    }
  }
  return problems;
}

/** Cached by list: each of n keys that match the same n resources needs the description. */
const described = new WeakMap<readonly Actual[], string>();

/** Names the resources that share a natural key, at most ten of them. */
export function describeMatches(kind: KindRules, key: NaturalKey, found: readonly Actual[]): string {
  const known = described.get(found);
  if (known !== undefined) {
    return known;
  }
  const ids = found.map((actual) => actual.id).sort();
  const value = JSON.stringify(key.value);
  const words = `${found.length} resources of kind ${kind.name} have the ${key.by} ${value} (${enumerated(ids)})`;
  described.set(found, words);
  return words;
}

/** Orders the resources of one kind with parents first, so that a parent can decide between equal matches. */
export function parentsFirst(declared: readonly Declared[]): readonly Declared[] {
  if (!declared.some(({ fields: { parent } }) => typeof parent === 'string')) {
    return declared;
  }
  const byAddress = new Map(declared.map((resource) => [resource.address, resource]));
  const ordered = new Set<Declared>();
  const parentOf = ({ fields: { parent } }: Declared) =>
    typeof parent === 'string' ? byAddress.get(parent) : undefined;
  for (const resource of declared) {
    // A chain of parents may be longer than the call stack allows.
    const chain = new Set<Declared>();
    let at: Declared | undefined = resource;
    while (at !== undefined && !ordered.has(at) && !chain.has(at)) {
      chain.add(at);
      at = parentOf(at);
    }
    for (const each of [...chain].reverse()) {
      ordered.add(each);
    }
  }
  return [...ordered];
}

/** Longest text that is searched: longer ones are contents, in which a placeholder means something else. */
const MAX_SEARCHED = 1000;

/**
 * Returns a note for each field, as name and value, with `${env:…}` or `${file:…}`, which only the configuration expands, or
 * with `${secret:…}` where no secret can be.
 */
export function findPlaceholders(
  rules: KindRules['fields'],
  fields: readonly (readonly [name: string, value: Json | undefined])[],
): string[] {
  return fields.flatMap(([name, value]) => {
    const found = value === undefined || rules[name]?.secrets !== undefined ? null : findIn(value);
    if (found?.startsWith('${secret:')) {
      return [`${name}: no secret can be in this field, so ${found} is applied as written; write the value`];
    }
    const text = `${name}: manifests do not expand ${found}; it is applied as written, so write the value, or generate the file`;
    return found === null ? [] : [text];
  });
}

function findIn(value: Json): string | null {
  if (typeof value === 'string') {
    return value.length > MAX_SEARCHED ? null : (/\$\{(?:env|file|secret):[^{}]{0,200}\}/.exec(value)?.[0] ?? null);
  }
  if (typeof value !== 'object' || value === null || 'file' in value) {
    // The text of a specification comes with the name of its file.
    return null;
  }
  for (const member of Object.values(value)) {
    const found = member === undefined ? null : findIn(member as Json);
    if (found !== null) {
      return found;
    }
  }
  return null;
}
