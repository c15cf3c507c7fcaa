/** Prepares the vendor's schemas for the validator. */
import type { Discriminators } from './discriminators.ts';
import { nameOf, type Schema } from './schema.ts';

/** Place in a document of each prepared schema. */
export type Places = WeakMap<object, string>;

/** Input and results of the preparation of one document's schemas. */
export interface Preparing {
  readonly discriminators: Discriminators;
  readonly places: Places;
}

/**
 * An equivalent schema that the validator accepts: `nullable` next to a reference becomes a choice, and a choice
 * between distinguishable schemas becomes conditions, so that errors are those of the intended schema and not of all
 * others.
 */
export function prepare(given: Preparing, schema: Schema, place: string): Schema {
  const prepared = prepareOne(given, schema, place);
  given.places.set(prepared, place);
  return prepared;
}

function prepareOne(given: Preparing, schema: Schema, place: string): Schema {
  if (schema.$ref !== undefined) {
    const reference = { $ref: nameOf(schema.$ref) };
    return schema.nullable === true ? { anyOf: [{ type: 'null' }, reference] } : reference;
  }
  const { oneOf, properties, allOf = [] } = schema;
  // Not used by the validator, or better expressed by conditions.
  const { discriminator: _, example: __, default: ___, oneOf: ____, ...kept } = schema as Record<string, unknown>;
  const below = (part: Schema, name: string) => prepare(given, part, `${place}/${name}`);
  const one = (name: 'items' | 'additionalProperties' | 'propertyNames') => {
    const part = schema[name];
    return typeof part === 'object' ? { [name]: below(part, name) } : {};
  };
  const all = allOf.map((part, at) => below(part, `allOf/${at}`));
  const chosen = oneOf === undefined ? [] : [choice(given, oneOf, place)];
  return {
    ...kept,
    ...one('items'),
    ...one('additionalProperties'),
    ...one('propertyNames'),
    ...(properties === undefined
      ? {}
      : { properties: each(properties, (part, name) => below(part, `properties/${name}`)) }),
    ...(schema.anyOf === undefined ? {} : { anyOf: schema.anyOf.map((part, at) => below(part, `anyOf/${at}`)) }),
    ...(all.length + chosen.length === 0 ? {} : { allOf: [...all, ...chosen] }),
  };
}

function each<A, B>(values: Readonly<Record<string, A>>, map: (value: A, name: string) => B): Record<string, B> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, map(value, name)]));
}

/** Exactly one of the schemas, as conditions if they are distinguishable. */
function choice(given: Preparing, oneOf: readonly Schema[], place: string): Schema {
  const parts = oneOf.map((part, at) => prepare(given, part, `${place}/oneOf/${at}`));
  const at = (schema: object): Schema => {
    given.places.set(schema, `${place}/oneOf`);
    return schema as Schema;
  };
  const conditions = (is: (n: number) => object) => parts.map((part, n) => at(when(is(n), part)));
  const discriminator = given.discriminators.of(oneOf);
  switch (discriminator.by) {
    case 'tag': {
      const { property, values } = discriminator;
      const is = (of: readonly unknown[] = []) => ({ required: [property], properties: { [property]: { enum: of } } });
      const any = { type: 'object', required: [property], properties: { [property]: at({ enum: values.flat() }) } };
      return at({ allOf: [at(any), ...conditions((n) => is(values[n]))] });
    }
    case 'type':
      return at({
        allOf: [at({ type: discriminator.types.flat() }), ...conditions((n) => ({ type: discriminator.types[n] }))],
      });
    case 'key': {
      const known = discriminator.keys.filter((key) => key !== undefined);
      const has = (key: string) => ({ required: [key] });
      const isRest = { not: { anyOf: known.map(has) } };
      const any = known.length === parts.length ? { type: 'object', not: isRest } : { type: 'object' };
      const is = (key: string | undefined) => (key === undefined ? isRest : has(key));
      return at({ allOf: [at(any), ...conditions((n) => is(discriminator.keys[n]))] });
    }
    case 'nothing':
      return at({ oneOf: parts });
  }
}

function when(condition: object, schema: Schema): object {
  // biome-ignore lint/suspicious/noThenProperty: it is a keyword of JSON Schema
  return { if: condition, then: schema };
}
