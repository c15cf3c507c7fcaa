/** Resolves references to declared resources, or explains why that is not possible. */
import { type Address, addressOf } from '../../core/address.ts';
import { quote, Suggestions } from '../../core/text/suggest.ts';
import type { Reference } from '../../kinds/model/manifest.ts';
import type { KindIndex } from './kind-index.ts';
import type { ReadEntry, ReadResource } from './read-entry.ts';

interface Resolved {
  readonly target: ReadResource | null;
  readonly message: string | null;
}

/** Index for resolving references. A lookup takes constant time, even if it finds nothing. */
export class ReferenceIndex {
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
  resolve(reference: Reference): Resolved {
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
    const places = targets.map(({ address, source }) => `${address} (${source.file}:${source.line})`).join(' and ');
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
    const places = kinds.flatMap((kind) => this.#siblings?.get(`${kind}/${prefix}`) ?? []);
    const near = places
      .map((found) => ({ found, key: this.#suggestions.nearest(key, found) }))
      .find((each) => each.key !== null);
    const found = near?.found.get(near.key ?? '');
    const hint =
      found === undefined
        ? ''
        : `; did you mean ${quote(near?.key ?? '')} (${found.source.file}:${found.source.line})?`;
    return `no ${kinds.join(' or ')} ${quote(key)}${hint}`;
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
