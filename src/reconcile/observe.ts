import type { Address } from '../core/address.ts';
import type { Actual, Base, Declared, Observation } from '../core/resource.ts';
import type { Kind } from '../kinds/kind.ts';
import type { Reader } from '../platform/client.ts';
import { Demand, namesStranger } from './demand.ts';

export interface ObserveOptions {
  readonly kinds: readonly Kind[];
  readonly declared: ReadonlyMap<Address, Declared>;
  readonly base: Base;
  readonly reader: Reader;
  /** Kinds to read besides those mentioned: those whose unmanaged resources are to be pruned. */
  readonly also?: readonly string[];
}

/**
 * Reads the actual state: only the kinds that the desired state or the base mention, all at the same time, and then
 * those that turn out to be needed to judge what was found.
 */
export async function observe(options: ObserveOptions): Promise<Observation> {
  const { kinds, declared, base, reader } = options;
  const demand = new Demand(kinds, declared, base);
  const found = new Map<string, Actual[]>();
  const people = new Map<string, string>();
  const actuals: Actual[] = [];
  const read = async (names: Iterable<string>): Promise<void> => {
    const wanted = new Set(names);
    const due = kinds.filter((kind) => wanted.has(kind.name) && kind.observe !== null && !found.has(kind.name));
    for (const kind of due) {
      for (const name of [kind.name, ...kinds.filter((part) => part.partOf === kind.name).map((part) => part.name)]) {
        found.set(name, []);
      }
    }
    const context = {
      reader,
      add: (actual: Actual) => {
        found.get(actual.kind)?.push(actual);
        actuals.push(actual);
      },
      person: (email: string, id: string) => people.set(email, id),
      wants: (actual: Actual, fields: readonly string[]) => demand.wants(actual, fields),
      wantsParts: (actual: Actual, kind?: string) => demand.wantsParts(actual, kind),
    };
    await settleAll(due.map((kind) => kind.observe?.(context)));
  };
  await read([...demand.mentioned, ...(options.also ?? [])]);
  const strangers = namesStranger(kinds, declared, people) ? ['member'] : [];
  const consulted = kinds
    .filter((kind) => demand.mentioned.has(kind.name))
    .flatMap((kind) => kind.consults?.({ declared, base, actuals }) ?? []);
  await read([...strangers, ...consulted]);
  return { kinds: found, people, peopleComplete: found.has('member'), reads: 0 };
}

/** Waits for all, then throws what the first of them failed with: nothing is left running behind an error. */
async function settleAll(promises: readonly (Promise<void> | undefined)[]): Promise<void> {
  const results = await Promise.allSettled(promises);
  const failed = results.find((result) => result.status === 'rejected');
  if (failed !== undefined) {
    throw failed.reason;
  }
}
