import type { Address } from '../../core/address.ts';
import type { Actual, Base, Declared, Observation } from '../../core/resource.ts';
import type { Kind } from '../../kinds/model/kind.ts';
import { PeopleAddresses } from '../../plan/model/people.ts';
import type { ActualSource } from './actual-source.ts';
import { namesStranger, RequiredFields } from './required-fields.ts';

export interface ObserveOptions {
  readonly kinds: readonly Kind[];
  readonly declared: ReadonlyMap<Address, Declared>;
  readonly base: Base;
  readonly source: ActualSource;
  /** Additional kinds to read: those whose unmanaged resources are to be pruned. */
  readonly also?: readonly string[];
}

/**
 * Reads the actual state: only the kinds that the desired state or the base mention, all at the same time, and then
 * those that turn out to be needed to judge what was found.
 */
export async function observe(options: ObserveOptions): Promise<Observation> {
  const { kinds, declared, base, source } = options;
  const required = new RequiredFields(kinds, declared, base);
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
    const answer = await source.read(due, required);
    for (const actual of answer.actuals) {
      found.get(actual.kind)?.push(actual);
      actuals.push(actual);
    }
    for (const [email, id] of answer.people) {
      people.set(email, id);
    }
  };
  await read([...required.mentioned, ...(options.also ?? [])]);
  const strangers = namesStranger(kinds, declared, people) ? new PeopleAddresses(kinds).kinds : [];
  const consulted = kinds
    .filter((kind) => required.mentioned.has(kind.name))
    .flatMap((kind) => kind.neededKinds?.({ declared, base, actuals }) ?? []);
  await read([...strangers, ...consulted]);
  return { kinds: found, people };
}
