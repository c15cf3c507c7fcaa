/** Resources before and after a plan, for rules that look at more than one of them. */
import type { Address } from '../core/address.ts';
import type { Change } from '../core/change.ts';
import type { JsonObject } from '../core/json.ts';
import type { Fields, Observation } from '../core/resource.ts';
import type { Identity } from './identity.ts';
import type { KindRules, Review, ReviewedResource } from './rules.ts';

const NO_FACTS: JsonObject = {};

/** Returns the resources before and after these changes, as if none of them was held. */
export function reviewOf(
  kinds: readonly KindRules[],
  changes: readonly Change[],
  observation: Observation,
  identity: Identity,
): Review {
  const read = (kind: string): ReadonlyMap<Address, ReviewedResource> => {
    const whole = kinds.find(({ name }) => name === kind)?.partOf ?? '';
    return new Map(
      (observation.kinds.get(kind) ?? []).map((actual) => [
        identity.addressOf([kind], actual.id),
        {
          within: actual.within === null ? null : identity.addressOf([whole], actual.within),
          fields: identity.fieldsOf(actual),
          facts: actual.facts ?? NO_FACTS,
        },
      ]),
    );
  };
  const known = new Map<string, ReadonlyMap<Address, ReviewedResource>>();
  const before = (kind: string) => {
    const found = known.get(kind) ?? read(kind);
    known.set(kind, found);
    return found;
  };
  const afterwards = new Map<string, ReadonlyMap<Address, ReviewedResource>>();
  const after = (kind: string) => {
    const found = afterwards.get(kind) ?? changed(kind);
    afterwards.set(kind, found);
    return found;
  };
  const changed = (kind: string) => {
    const state = new Map(before(kind));
    const own = changes.filter((change) => change.kind === kind);
    for (const { address } of own.filter(({ action }) => action === 'delete')) {
      state.delete(address);
    }
    for (const change of own.filter(({ action }) => action !== 'delete')) {
      const { fields = {}, facts = NO_FACTS } = state.get(change.address) ?? {};
      state.set(change.address, { within: change.within, fields: withChange(fields, change), facts });
    }
    return state;
  };
  return { changes, before, after };
}

function withChange(fields: Fields, { action, declared, fields: changed }: Change): Fields {
  return action === 'create'
    ? declared
    : { ...fields, ...Object.fromEntries(changed.map(({ path }) => [path, declared[path]])) };
}
