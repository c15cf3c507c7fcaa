import { type Address, addressOf } from '../core/address.ts';
import { nearest, quote } from '../core/suggest.ts';
import type { Reference } from '../kinds/manifest.ts';
import type { KindIndex } from './kind-index.ts';
import type { ReadEntry, ReadResource } from './read-entry.ts';

/** What references are looked up in. */
export interface ReferenceIndex {
  readonly resources: ReadonlyMap<Address, ReadResource>;
  /** Entries with problems: what they declare is not known, so what refers to it is not called missing. */
  readonly broken: readonly ReadEntry[];
  /** Texts of files that could be read only in part; empty for one that could not be read at all. */
  readonly unread: readonly string[];
  readonly kinds: KindIndex;
}

interface Resolved {
  readonly target: ReadResource | null;
  readonly message: string | null;
}

/** Finds what a reference means: the resource of the first of its kinds that declares the key. */
export function resolveReference(reference: Reference, index: ReferenceIndex): Resolved {
  const targets = reference.kinds.flatMap((kind) => {
    const target = index.resources.get(addressOf(kind, fullKey(reference, kind, index)));
    return target === undefined ? [] : [target];
  });
  const [target, other] = targets;
  if (target === undefined) {
    return { target: null, message: mayBeDeclared(reference, index) ? null : missing(reference, index) };
  }
  if (other === undefined) {
    return { target, message: null };
  }
  const places = targets.map(({ address, source }) => `${address} (${source.file}:${source.line})`).join(' and ');
  return { target, message: `${quote(reference.key)} can mean ${places}; give them distinct keys` };
}

function fullKey(reference: Reference, kind: string, index: ReferenceIndex): string {
  const whole = reference.prefix + reference.key;
  return index.kinds.byName.get(kind)?.manifest?.normalizeKey?.(whole) ?? whole;
}

/** Whether something with problems of its own may declare it: then those are the problem, and not the reference. */
function mayBeDeclared(reference: Reference, index: ReferenceIndex): boolean {
  const byEntry = index.broken.some(({ kind, key }) =>
    reference.kinds.some((wanted) => {
      const whole = fullKey(reference, wanted, index);
      return kind === wanted ? key === whole : whole.startsWith(`${key}/`);
    }),
  );
  return byEntry || index.unread.some((text) => text === '' || text.includes(reference.key));
}

function missing(reference: Reference, index: ReferenceIndex): string {
  const places = new Map<string, ReadResource>();
  for (const kind of reference.kinds) {
    const start = `${kind}/${reference.prefix}`;
    for (const [address, resource] of index.resources) {
      const rest = address.startsWith(start) ? address.slice(start.length) : '';
      if (rest !== '' && !rest.includes('/') && !places.has(rest)) {
        places.set(rest, resource);
      }
    }
  }
  const near = nearest(reference.key, places.keys());
  const found = near === null ? undefined : places.get(near);
  const hint =
    found === undefined ? '' : `; did you mean ${quote(near ?? '')} (${found.source.file}:${found.source.line})?`;
  return `no ${reference.kinds.join(' or ')} ${quote(reference.key)}${hint}`;
}
