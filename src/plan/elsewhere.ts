/** Sites whose structure a file in another repository decides: their parts are shown at most, and never changed. */
import type { Address } from '../core/address.ts';
import type { Change, Plan } from '../core/change.ts';
import type { Actual, Declared } from '../core/resource.ts';
import type { Identity } from './identity.ts';
import { valueText } from './render/field-text.ts';
import type { DecidedElsewhere, KindRules } from './rules.ts';

/** Finds the declared resources whose parts another file decides. */
export function findElsewhere(
  kinds: readonly KindRules[],
  declared: ReadonlyMap<Address, Declared>,
  { bound }: Identity,
): ReadonlyMap<Address, DecidedElsewhere> {
  const rules = new Map(kinds.map((kind) => [kind.name, kind]));
  return new Map(
    [...declared.values()].flatMap((resource) => {
      const found = rules.get(resource.kind)?.decidedElsewhere?.(resource, bound.get(resource.address)) ?? null;
      return found === null ? [] : [[resource.address, found] as const];
    }),
  );
}

/** Leaves out the parts that only another file declares: they are neither owned nor unmanaged, so nothing deletes them. */
export function withoutElsewhere(identity: Identity, elsewhere: ReadonlyMap<Address, DecidedElsewhere>): Identity {
  const wholes = new Set(
    [...elsewhere].flatMap(([address, { reason }]) => (reason === null ? [identity.bound.get(address)?.id] : [])),
  );
  const isOurs = ({ within }: Actual) => within === null || !wholes.has(within);
  return wholes.size === 0
    ? identity
    : {
        ...identity,
        owned: new Map([...identity.owned].filter(([, actual]) => isOurs(actual))),
        unmanaged: identity.unmanaged.filter(isOurs),
      };
}

/**
 * Pauses the changes of parts that two files declare, which is a problem of the manifests. Changes of fields that another
 * file decides become notes.
 */
export function pauseElsewhere(
  changes: readonly Change[],
  elsewhere: ReadonlyMap<Address, DecidedElsewhere>,
): Pick<Plan, 'changes' | 'notes'> {
  const notes: { address: Address; text: string; isProblem?: true }[] = [...elsewhere].flatMap(
    ([address, { reason }]) => (reason === null ? [] : [{ address, text: reason, isProblem: true }]),
  );
  const kept = changes.flatMap((change): readonly Change[] => {
    const reason = elsewhere.get(change.within ?? '')?.reason ?? null;
    if (reason !== null) {
      return [{ ...change, paused: { reason, until: null } }];
    }
    const own = change.action === 'update' ? elsewhere.get(change.address) : undefined;
    const fields = change.fields.filter(({ path }) => own?.fields.includes(path) !== true);
    for (const { path, from, to } of change.fields.filter((field) => !fields.includes(field))) {
      const values = `${valueText(from ?? null)} on the platform, ${valueText(to ?? null)} in the manifest`;
      notes.push({ address: change.address, text: `${path}: ${values}; ${own?.by ?? ''} decides` });
    }
    return fields.length === 0 && change.fields.length > 0 ? [] : [{ ...change, fields }];
  });
  return { changes: kept, notes };
}
