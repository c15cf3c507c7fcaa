import type { Address } from '../core/address.ts';
import { type Change, changeId } from '../core/change.ts';
import { DesiredStateError } from '../core/errors.ts';
import type { Declared } from '../core/resource.ts';
import { driftOf } from './drift-finder.ts';
import type { Drift, DriftedField, DriftedPlace, DriftInput } from './drifted.ts';

/**
 * Finds how manifests come to say what was changed behind their back, and plans once more over that: what would still
 * be changed, or would change something else, is left as it is. `replan` gives the changes of a plan over these texts.
 */
export async function settledDrift(
  input: DriftInput,
  replan: (texts: ReadonlyMap<string, string>) => Promise<readonly Change[]>,
): Promise<Drift> {
  const skip = new Set<string>();
  for (;;) {
    const drift = driftOf({ ...input, skip });
    if (drift.texts.size === 0) {
      return drift;
    }
    const failed = failedOf(drift, input, await replan(drift.texts).catch(problemFiles));
    if (failed.length === 0) {
      return drift;
    }
    for (const name of failed) {
      skip.add(name);
    }
  }
}

/** The files that cannot be read any more. */
function problemFiles(error: unknown): ReadonlySet<string> {
  if (error instanceof DesiredStateError) {
    return new Set(error.problems.map(({ file }) => file));
  }
  throw error;
}

const fieldName = ({ address, field }: DriftedField) => `${address} ${field}`;
const placeName = ({ address, action }: DriftedPlace) => `${action} ${address}`;

/** What was written in vain, or to the harm of others. Places are given up before fields, and what is in a file that has problems first. */
function failedOf(
  { fields, places }: Drift,
  { changes: before, declared }: DriftInput,
  after: readonly Change[] | ReadonlySet<string>,
): readonly string[] {
  if (!Array.isArray(after)) {
    const isBad = ({ file }: { readonly file: string }) => (after as ReadonlySet<string>).has(file);
    const missed = places.filter(
      ({ action, address }) => action === 'delete' && isReferredTo(address, declared, places),
    );
    const groups = [
      missed.map(placeName),
      places.filter(isBad).map(placeName),
      places.map(placeName),
      fields.filter(isBad).map(fieldName),
    ];
    return groups.find((group) => group.length > 0) ?? fields.map(fieldName);
  }
  const changes = after as readonly Change[];
  const known = new Set(before.map(changeId));
  if (changes.some((change) => !known.has(changeId(change)))) {
    return places.length > 0 ? places.map(placeName) : fields.map(fieldName);
  }
  const open = new Set(changes.flatMap(({ address, fields: of }) => of.map(({ path }) => `${address} ${path}`)));
  const still = new Set(
    changes.flatMap(({ action, address, anchor }) => [
      ...(action === 'create' ? [`delete ${address}`] : []),
      ...(anchor === null ? [] : [`move ${address}`]),
    ]),
  );
  return [
    ...places.map(placeName).filter((name) => still.has(name)),
    ...fields.map(fieldName).filter((name) => open.has(name)),
  ];
}

/** Whether something that stays names what goes. */
function isReferredTo(
  address: Address,
  declared: ReadonlyMap<Address, Declared>,
  places: readonly DriftedPlace[],
): boolean {
  const going = new Set(places.flatMap((place) => (place.action === 'delete' ? [place.address] : [])));
  return [...declared.values()].some(
    (each) => !going.has(each.address) && JSON.stringify(each.fields).includes(JSON.stringify(address)),
  );
}
