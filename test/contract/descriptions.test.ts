import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { isObject, type Json } from '../../src/core/json.ts';
import type { Actual, Declared, Fields, Observation } from '../../src/core/resource.ts';
import { getFeatures } from '../../src/emulator/model/features.ts';
import { readAll } from '../../src/import/import.ts';
import { kinds } from '../../src/kinds/registry.ts';
import { normalizeValue } from '../../src/plan/diff.ts';
import { identify } from '../../src/plan/identity.ts';
import { filesAfter, importOf } from '../import/importing.ts';
import { type Sample, samplesByVersion } from '../support/kind-samples.ts';
import { declare, openWorld, UNLIMITED, type World } from '../support/world.ts';

let world: World;

beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());
beforeEach(() => world.begin());

/** Default values of a new resource that no entry declares: the only values that an entry may omit. */
const ABSENT: readonly Json[] = [null, '', false, 'included', { type: 'inherit' }, {}];

/** Entry of a resource in the manifests, limited to the fields that the platform returns, with ids for addresses. */
function declarationOf(
  declared: ReadonlyMap<string, Declared>,
  actual: Actual,
  observation: Observation,
): Record<string, Json | undefined> {
  const { bound, problems } = identify(kinds, declared, null, observation);
  expect(problems).toEqual([]);
  const address = [...bound].find(([, each]) => each === actual)?.[0] ?? '';
  const rules = kinds.find(({ name }) => name === actual.kind)?.fields ?? {};
  const isReturned = ([field]: [string, unknown]) =>
    rules[field]?.declarationOnly !== true &&
    rules[field]?.compare !== 'base' &&
    !(rules[field]?.unsupportedNote !== undefined && actual.fields[field] === undefined);
  const ids = (value: Json | undefined): Json | undefined => {
    if (typeof value === 'string') {
      return bound.get(value)?.id ?? observation.people.get(value.replace(/^member\//, '')) ?? value.trim();
    }
    if (Array.isArray(value)) {
      return value.map((each) => ids(each) ?? null);
    }
    return isObject(value)
      ? Object.fromEntries(Object.entries(value).map(([name, each]) => [name, ids(each as Json)]))
      : value;
  };
  const fields: Fields = declared.get(address)?.fields ?? {};
  return Object.fromEntries(
    Object.entries(fields)
      .filter(isReturned)
      .map(([name, value]) => [name, ids(value === undefined ? value : normalizeValue(rules[name], value))]),
  );
}

const steps = samplesByVersion.flatMap((each) =>
  (['created', 'updated', 'cleared'] as const).flatMap((step) => {
    const text = each.steps[step];
    return text === undefined ? [] : [{ each, kind: each.kind, version: each.version, step, text }];
  }),
);

async function idOf({ address }: Sample): Promise<string> {
  const { entries } = await world.record.read();
  return entries.find((entry) => entry.address === address)?.id ?? '';
}

describe('imported manifests describe the state of the platform', () => {
  test.each(steps)('$kind in $version, $step', async ({ each, text }) => {
    world.emulator.setFeatures(getFeatures(each.version));
    await world.settle(text, { policy: UNLIMITED });
    const { observation } = await readAll(kinds, [], world.reader());
    const id = await idOf(each);
    const actual = observation.kinds.get(each.kind)?.find((found) => found.id === id);
    if (actual === undefined) {
      throw new Error(`no ${each.kind} ${id}`);
    }
    const imported = await declare(filesAfter(await importOf(observation)));
    const fields = declarationOf(imported, actual, observation);
    const declared = declarationOf(await declare(text), actual, observation);
    const lacking = Object.entries(declared).filter(
      ([name, value]) =>
        !(name in fields) && !ABSENT.some((absent) => JSON.stringify(absent) === JSON.stringify(value)),
    );
    expect(lacking).toEqual([]);
    expect(fields).toMatchObject(Object.fromEntries(Object.entries(declared).filter(([name]) => name in fields)));
  });
});
