/** Separates the scopes of one organization: a resource of another scope is neither declared nor deleted here. */
import type { Address } from '../../core/address.ts';
import type { Problem } from '../../core/errors.ts';
import type { Actual, Declared } from '../../core/resource.ts';
import type { Identity } from './identity.ts';

/** A resource that another scope of the organization declares, or has last applied. */
export interface Claim {
  readonly address: Address;
  readonly kind: string;
  readonly scope: string;
  /** The id that was recorded when it was last applied; null if none was. */
  readonly id: string | null;
  /** Position of the declaration in the other scope, as `file:line`; null if it no longer declares it. */
  readonly place: string | null;
}

/** Declared and applied resources of the other scopes of the organization, as far as they are known. */
export class OtherScopes {
  readonly #byAddress = new Map<Address, Claim>();
  readonly #byId = new Map<string, Claim>();

  constructor(claims: Iterable<Claim>) {
    for (const claim of claims) {
      // A declaration wins over a record of a former one.
      const known = this.#byAddress.get(claim.address);
      if (known === undefined || known.place === null) {
        this.#byAddress.set(claim.address, claim);
      }
      const id = `${claim.kind} ${claim.id}`;
      if (claim.id !== null && (this.#byId.get(id)?.place ?? null) === null) {
        this.#byId.set(id, claim);
      }
    }
  }

  /** Returns the claim on an actual resource, declared or only recorded. */
  ofActual({ kind, id }: Actual): Claim | undefined {
    return this.#byId.get(`${kind} ${id}`);
  }

  /** Returns the declaration of the same resource in another scope, found by its address or by the bound resource. */
  declarationOf(address: Address, actual: Actual | undefined): (Claim & { readonly place: string }) | undefined {
    const claims = [this.#byAddress.get(address), actual === undefined ? undefined : this.ofActual(actual)];
    return claims.find((claim): claim is Claim & { readonly place: string } => (claim?.place ?? null) !== null);
  }
}

/** Returns a problem for each resource that is declared both here and in another scope. */
export function overlapProblems(
  declared: ReadonlyMap<Address, Declared>,
  { bound }: Pick<Identity, 'bound'>,
  otherScopes: OtherScopes,
): readonly Problem[] {
  const problems: Problem[] = [];
  for (const resource of declared.values()) {
    const claim = otherScopes.declarationOf(resource.address, bound.get(resource.address));
    if (claim !== undefined) {
      const name = claim.address === resource.address ? 'it' : `the same resource (as ${claim.address})`;
      const message = `scope ${JSON.stringify(claim.scope)} also declares ${name}, at ${claim.place}; a resource belongs to one scope: remove one of the two declarations`;
      problems.push({ ...resource.source, address: resource.address, message });
    }
  }
  return problems;
}

/**
 * Removes resources of other scopes from the identity. A resource whose declaration has moved to another directory is
 * no longer owned here, so it is not deleted. Resources that other scopes have applied are never unmanaged.
 */
export function withoutOtherScopes(identity: Identity, otherScopes: OtherScopes): Identity {
  const notes = [...identity.notes];
  const owned = new Map<Address, Actual>();
  for (const [address, actual] of identity.owned) {
    const claim = otherScopes.declarationOf(address, actual);
    if (claim === undefined) {
      owned.set(address, actual);
    } else {
      notes.push({
        address,
        text: `left to scope ${JSON.stringify(claim.scope)}, which declares it at ${claim.place}`,
      });
    }
  }
  const unmanaged = identity.unmanaged.filter((actual) => otherScopes.ofActual(actual) === undefined);
  return { ...identity, owned, unmanaged, notes };
}
