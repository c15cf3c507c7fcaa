/** Operations on a store with random arguments, for tests that compare stores. */
import fc from 'fast-check';
import { StoreError } from '../../../src/core/errors.ts';
import type { Hint } from '../../../src/store/outbox/tables.ts';
import type { Store } from '../../../src/store/store.ts';
import { codePoint } from '../../support/code-points.ts';

/** A store under test, with an earlier answer that later operations use. */
export interface StoreRun {
  readonly store: Store;
  /** Their marks are different in each store. */
  hints: readonly Hint[];
}

/** An operation: its arguments, and its call. */
export interface Operation {
  readonly input: fc.Arbitrary<unknown>;
  /** Frequency: those that others need are frequent. */
  readonly weight: number;
  run(run: StoreRun, input: unknown): Promise<unknown>;
}

export function operation<T>(
  input: fc.Arbitrary<T>,
  call: (run: StoreRun, input: T) => Promise<unknown>,
  weight = 1,
): Operation {
  return { input, weight, run: (run, value) => call(run, value as T) };
}

type Arguments<Method> = Method extends (...given: infer Given extends unknown[]) => unknown
  ? { readonly [Index in keyof Given]: fc.Arbitrary<Given[Index]> }
  : never;

/**
 * Returns operations that call methods of a part of the store, by `name.method`. `input` has the arguments of each method,
 * and `open` returns the part of an organization.
 */
export function methods<Part extends object>(
  name: string,
  open: (store: Store, organization: string) => Part,
  input: NoInfer<{ readonly [Method in keyof Part]?: Arguments<Part[Method]> }>,
  weights: NoInfer<{ readonly [Method in keyof Part]?: number }> = {},
): Readonly<Record<string, Operation>> {
  const each = Object.entries(input) as [keyof Part & string, readonly fc.Arbitrary<unknown>[]][];
  return Object.fromEntries(
    each.map(([method, given]) => [
      `${name}.${method}`,
      operation(
        fc.tuple(organization, fc.tuple(...given)),
        ({ store }, [id, values]) => {
          const part = open(store, id);
          return (part[method] as (...values: unknown[]) => Promise<unknown>)(...values);
        },
        weights[method],
      ),
    ]),
  );
}

/** Few different values, so that operations meet the rows of others. Some are in another order by UTF-16 than by bytes. */
export const name = fc.constantFrom('a', 'b', 'Z', 'é', '\u{1f600}', '\ufffd', "it's ?");
export const organization = fc.constantFrom('org_1', 'org_1', 'org_1', 'org_2');
/** Few times. Some are older than what is kept at others. */
export const time = fc
  .tuple(fc.constantFrom(0, 1, 2, 100 * 24 * 3_600_000), fc.constantFrom(0, 0, 3_600_000))
  .map(([step, more]) => 1_800_000_000_000 + step + more);
export const text = fc.oneof(
  name,
  fc.string({ unit: codePoint, maxLength: 5 }).map((value) => value.replaceAll('\0', '')),
);
/** Mostly after everything else. */
export const now = fc.oneof({ weight: 1, arbitrary: time }, { weight: 4, arbitrary: fc.constant(1_900_000_000_000) });
/** JSON may have any characters: it escapes those that a database cannot store. */
export const json = fc.dictionary(
  fc.string({ maxLength: 2 }),
  fc.oneof(fc.string({ unit: codePoint, maxLength: 3 }), fc.nat()),
  {
    maxKeys: 2,
    noNullPrototype: true,
  },
);
export const actor = fc.record({ name, method: fc.constantFrom('socket' as const, 'oidc' as const) });
export const orNull = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: null, freq: 2 });
export const few = <T>(value: fc.Arbitrary<T>, maxLength = 3) => fc.array(value, { maxLength });

/** Returns the answer of an operation, or its error. */
export async function answer(run: StoreRun, operation: Operation | undefined, input: unknown): Promise<unknown> {
  try {
    return { value: await operation?.run(run, input) };
  } catch (error) {
    // The words are those of the database.
    return { error: error instanceof StoreError ? 'StoreError' : String(error) };
  }
}

/** Returns lists of calls: names of operations and their arguments. */
export function calls(operations: Readonly<Record<string, Operation>>) {
  const each = Object.entries(operations).map(([name, { input, weight }]) => ({
    weight,
    arbitrary: input.map((value) => ({ name, input: value })),
  }));
  return fc.array(fc.oneof(...each), { minLength: 50, maxLength: 120, size: 'max' });
}
