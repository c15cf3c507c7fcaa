/** Finds what distinguishes the choices of a schema. */
import { type Named, resolve, type Schema, typeOf } from './schema.ts';

/** Discriminator of several schemas; a value is to match one of them. */
export type Discriminator =
  | ({ readonly by: 'tag' } & Tag)
  | { readonly by: 'type'; readonly types: readonly (readonly string[])[] }
  | { readonly by: 'key'; readonly keys: readonly (string | undefined)[] }
  | { readonly by: 'nothing' };

/** Finds the discriminator of choices, once for each of them. */
export class Discriminators {
  readonly #named: Named;
  readonly #known = new WeakMap<readonly Schema[], Discriminator>();

  constructor(named: Named) {
    this.#named = named;
  }

  of(choices: readonly Schema[]): Discriminator {
    const discriminator = this.#known.get(choices) ?? findDiscriminator(this.#named, choices);
    this.#known.set(choices, discriminator);
    return discriminator;
  }

  /** The choices that the value may be intended to match. */
  meant(choices: readonly Schema[], value: unknown): readonly number[] {
    const discriminator = this.of(choices);
    return choices.flatMap((_, at) => (isMeant(discriminator, at, value) ? [at] : []));
  }
}

function isMeant(discriminator: Discriminator, at: number, value: unknown): boolean {
  if (discriminator.by === 'type') {
    return (discriminator.types[at] ?? []).includes(typeOf(value));
  }
  if (discriminator.by === 'nothing' || typeof value !== 'object' || value === null) {
    return true;
  }
  if (discriminator.by === 'tag') {
    return (discriminator.values[at] ?? []).includes((value as Record<string, unknown>)[discriminator.property]);
  }
  const key = discriminator.keys[at];
  return key === undefined ? !discriminator.keys.some((other) => other !== undefined && other in value) : key in value;
}

function findDiscriminator(named: Named, choices: readonly Schema[]): Discriminator {
  const tag = tagOf(named, choices);
  if (tag !== undefined) {
    return { by: 'tag', ...tag };
  }
  const types = distinctTypes(named, choices);
  if (types !== undefined) {
    return { by: 'type', types };
  }
  const keys = distinctKeys(named, choices);
  return keys === undefined ? { by: 'nothing' } : { by: 'key', keys };
}

/** A property whose value alone identifies one of several schemas: its values, one list for each of them. */
interface Tag {
  readonly property: string;
  readonly values: readonly (readonly unknown[])[];
}

/** The values that a schema allows for its required properties, by property. */
function fixedValues(named: Named, schema: Schema): Map<string, readonly unknown[]> {
  const { properties = {}, required = [], allOf = [], oneOf = [] } = resolve(named, schema);
  const fixed = new Map<string, readonly unknown[]>();
  for (const name of required) {
    const property = properties[name];
    const values = property === undefined ? undefined : resolve(named, property).enum;
    if (values !== undefined) {
      fixed.set(name, values);
    }
  }
  for (const part of allOf) {
    for (const [name, values] of fixedValues(named, part)) {
      fixed.set(name, values);
    }
  }
  const choices = oneOf.map((choice) => fixedValues(named, choice));
  for (const name of choices[0]?.keys() ?? []) {
    if (choices.every((choice) => choice.has(name))) {
      fixed.set(name, [...new Set(choices.flatMap((choice) => choice.get(name) ?? []))]);
    }
  }
  return fixed;
}

/** The property that distinguishes these schemas, if there is one. */
function tagOf(named: Named, choices: readonly Schema[]): Tag | undefined {
  const fixed = choices.map((choice) => fixedValues(named, choice));
  for (const property of fixed[0]?.keys() ?? []) {
    const values = fixed.map((of) => of.get(property) ?? []);
    if (values.every((of) => of.length > 0) && new Set(values.flat()).size === values.flat().length) {
      return { property, values };
    }
  }
  return undefined;
}

/** The types of JSON that a schema allows; undefined if unspecified. */
function typesOf(named: Named, schema: Schema): readonly string[] | undefined {
  const { type, nullable, enum: values, allOf = [], properties } = resolve(named, schema);
  if (values !== undefined) {
    return [...new Set(values.map(typeOf))];
  }
  if (type !== undefined) {
    return [type, nullable === true ? 'null' : []].flat();
  }
  return properties === undefined
    ? allOf.map((part) => typesOf(named, part)).find((types) => types !== undefined)
    : ['object'];
}

/** The types that distinguish these schemas, one list for each of them, if they do. */
function distinctTypes(named: Named, choices: readonly Schema[]): readonly (readonly string[])[] | undefined {
  const types = choices.map((choice) => typesOf(named, choice) ?? []);
  const all = types.flat();
  return types.every((of) => of.length > 0) && new Set(all).size === all.length ? types : undefined;
}

/** Properties that exactly one of these schemas requires; one schema may have none and be the default. */
function distinctKeys(named: Named, choices: readonly Schema[]): readonly (string | undefined)[] | undefined {
  const all = choices.map((choice) => resolve(named, choice));
  const keys = all.map(({ required = [] }, at) =>
    required.find((name) => all.every(({ properties = {} }, other) => other === at || properties[name] === undefined)),
  );
  const open = all.some(({ allOf, oneOf, anyOf, type }) => allOf ?? oneOf ?? anyOf ?? type !== 'object');
  return open || keys.filter((key) => key === undefined).length > 1 ? undefined : keys;
}
