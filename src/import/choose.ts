import type { Actual, Observation } from '../core/resource.ts';
import type { Kind } from '../kinds/model/kind.ts';
import { type ActualState, referencesIn } from './model/actual-state.ts';

/** Selection of resources to import. */
export interface Choice {
  /** Names of kinds; empty: all. */
  readonly kinds: readonly string[];
  /** Sites by title or id; empty: all. */
  readonly sites: readonly string[];
}

/** State of resources before they are chosen. */
interface Known {
  /** Returns true if a manifest already declares it. */
  isDeclared(actual: Actual): boolean;
  /** Returns true if it cannot be declared. */
  isOmitted(actual: Actual): boolean;
}

/** Chooses the undeclared resources to import: the selected ones, and those that they refer to. */
export function chooseResources(
  kinds: readonly Kind[],
  { kinds: observed }: Observation,
  state: ActualState,
  choice: Choice,
  { isDeclared, isOmitted }: Known,
): ReadonlySet<Actual> {
  const entries = new Set(kinds.filter(({ manifest }) => manifest !== null).map(({ name }) => name));
  const isOpen = (actual: Actual) =>
    entries.has(actual.kind) && !isDeclared(actual) && !isOmitted(actual) && !isMade(actual, state, isOmitted);
  const first = [...observed.values()].flat().filter((actual) => isOpen(actual) && isWanted(actual, choice));
  const chosen = new Set<Actual>(first);
  // The set grows during the iteration, which visits the added items too.
  for (const actual of chosen) {
    for (const each of [actual, ...state.allPartsOf(actual)]) {
      for (const meant of referencesIn(each.fields).flatMap((reference) => state.resolveReference(reference))) {
        if (isOpen(meant) && kinds.find(({ name }) => name === meant.kind)?.creatable === true) {
          chosen.add(meant);
        }
      }
    }
  }
  return chosen;
}

function isWanted({ kind, id, title }: Actual, { kinds, sites }: Choice): boolean {
  const wanted = kinds.length > 0 ? kinds : sites.length > 0 ? ['site'] : null;
  const isNamed = kind !== 'site' || sites.length === 0 || sites.includes(title) || sites.includes(id);
  return isNamed && (wanted === null || wanted.includes(kind));
}

/** Returns true if the entry of the resource that created it declares it. */
function isMade(actual: Actual, state: ActualState, isLeft: Known['isOmitted']): boolean {
  const maker = state.creatorOf(actual);
  return maker !== undefined && !isLeft(maker);
}
