/**
 * A platform that already has everything that some manifests declare, without any requests: for planning large
 * organizations.
 */
import type { Address } from '../../src/core/address.ts';
import { type Actual, type Declared, type Fields, idRef, type Observation } from '../../src/core/resource.ts';
import { kinds } from '../../src/kinds/registry.ts';

const byName = new Map(kinds.map((kind) => [kind.name, kind]));

/** Derives ids from addresses, so that two mirrors of the same resource agree. */
export function mirrorId(address: Address): string {
  return `id_${address}`;
}

/** The observation of an organization in which all of this exists as declared. */
export function mirror(declared: ReadonlyMap<Address, Declared>): Observation {
  const found = new Map<string, Actual[]>(kinds.map((kind) => [kind.name, []]));
  for (const resource of declared.values()) {
    found.get(resource.kind)?.push(mirrored(resource));
  }
  const people = (found.get('member') ?? []).map(({ title, id }) => [title, id] as const);
  return { kinds: found, people: new Map(people) };
}

function mirrored({ address, kind, fields, within, place }: Declared): Actual {
  const title = [fields.title, fields.label].find((value) => typeof value === 'string');
  return {
    kind,
    id: mirrorId(address),
    title: String(title ?? address.slice(address.indexOf('/') + 1)),
    fields: Object.fromEntries(
      Object.entries(fields).map(([name, value]) => {
        const [target] = typeof value === 'string' ? (byName.get(kind)?.fields[name]?.references?.(value) ?? []) : [];
        return [name, target === undefined ? value : idRef(mirrorId(target), target.slice(0, target.indexOf('/')))];
      }),
    ) as Fields,
    within: within === null ? null : mirrorId(within),
    place: place === null ? null : { list: mirrorId(place.list), index: place.index },
  };
}
