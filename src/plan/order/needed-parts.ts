/** Parts that must exist before other parts of the same whole are created: a section of the site, before its links. */
import type { Address } from '../../core/address.ts';
import type { Change } from '../../core/change.ts';
import type { Observation } from '../../core/resource.ts';
import type { Identity } from '../identity/identity.ts';
import type { KindRules } from '../model/rules.ts';

/** Resources of the platform, and how to find the address of one. */
interface Existing {
  readonly kinds: readonly KindRules[];
  readonly observation: Observation;
  readonly identity: Pick<Identity, 'addressOf'>;
}

/** Returns the kind and the whole of existing parts that other kinds need, such as `section site/help`. */
export function findExistingParts(
  { kinds, observation, identity }: Existing,
  deleted: ReadonlySet<string | null> = new Set(),
): ReadonlySet<string> {
  const needed = new Set(kinds.map(({ needsPart }) => needsPart));
  return new Set(
    kinds
      .filter(({ name }) => needed.has(name))
      .flatMap(({ name, partOf = '' }) =>
        (observation.kinds.get(name) ?? [])
          .filter(({ id }) => !deleted.has(id))
          .map(({ within }) => `${name} ${identity.addressOf([partOf], within ?? '')}`),
      ),
  );
}

/** Returns the creations that other creations need first, by the address of these. See {@link KindRules.needsPart}. */
export function findNeededParts(changes: readonly Change[], existing: Existing): ReadonlyMap<Address, Address> {
  const needs = new Map(existing.kinds.map(({ name, needsPart }) => [name, needsPart]));
  const creations = changes.filter(({ action }) => action === 'create');
  const deleted = new Set(changes.filter(({ action }) => action === 'delete').map(({ id }) => id));
  const parts = Map.groupBy(creations, ({ kind, within }) => `${kind} ${within}`);
  const satisfied = findExistingParts(existing, deleted);
  return new Map(
    creations.flatMap(({ address, kind, within }) => {
      const part = `${needs.get(kind)} ${within}`;
      const candidates = satisfied.has(part) ? [] : (parts.get(part) ?? []);
      const first = candidates.find(({ paused }) => paused === null) ?? candidates[0];
      return first === undefined ? [] : [[address, first.address] as const];
    }),
  );
}
