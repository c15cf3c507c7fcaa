/** Finds fields that a document does not name. */
import type { Discriminators } from './discriminators.ts';
import { type Named, nameOf, type Schema } from './schema.ts';

/** A field that a document does not have. */
export interface Undeclared {
  /** JSON pointer of the object that has it. */
  readonly pointer: string;
  readonly property: string;
  /** Place of that object's schema in the document. */
  readonly place: string;
}

/** The document without the field. */
export interface Knowing {
  readonly named: Named;
  readonly discriminators: Discriminators;
}

interface Described {
  readonly schema: Schema;
  readonly place: string;
}

/** The fields of a value that its schema does not name, even if the schema accepts additional fields. */
export function undeclared(given: Knowing, schema: Schema, place: string, value: unknown): Undeclared[] {
  return [...walk(given, [{ schema, place }], value, '')];
}

function* walk(
  given: Knowing,
  described: readonly Described[],
  value: unknown,
  pointer: string,
): Generator<Undeclared> {
  const parts = described.flatMap((one) => partsOf(given, one, value));
  if (Array.isArray(value)) {
    const items = parts.flatMap(({ schema, place }) => below(schema.items, `${place}/items`));
    for (const [index, item] of value.entries()) {
      yield* walk(given, items, item, `${pointer}/${index}`);
    }
  } else if (typeof value === 'object' && value !== null) {
    // Objects without a description may have any field.
    const closed = parts.some(({ schema }) => Object.keys(schema.properties ?? {}).length > 0);
    for (const [name, field] of Object.entries(value)) {
      const fields = parts.flatMap((part) => fieldOf(part, name));
      if (fields.length > 0) {
        yield* walk(given, fields, field, `${pointer}/${name}`);
      } else if (closed && !parts.some(({ schema }) => schema.additionalProperties === true)) {
        yield { pointer, property: name, place: outermost(given.named, described, parts) };
      }
    }
  }
}

function below(schema: Schema | undefined, place: string): Described[] {
  return schema === undefined ? [] : [{ schema, place }];
}

function fieldOf({ schema, place }: Described, name: string): Described[] {
  const properties = schema.properties ?? {};
  if (Object.hasOwn(properties, name)) {
    return below(properties[name], `${place}/properties/${name}`);
  }
  const rest = schema.additionalProperties;
  return typeof rest === 'object' ? below(rest, `${place}/additionalProperties`) : [];
}

/** The name of the object's type, or else the place of its schema. */
function outermost(named: Named, described: readonly Described[], parts: readonly Described[]): string {
  const [first] = described;
  return first === undefined ? (parts[0]?.place ?? '') : placeOf(named, first);
}

function placeOf(named: Named, { schema, place }: Described): string {
  const own = schema.$ref === undefined ? place : nameOf(schema.$ref);
  const target = schema.$ref === undefined ? schema : (named[own] ?? {});
  const [only, ...others] = target.allOf ?? [];
  return only?.$ref !== undefined && others.length === 0 ? nameOf(only.$ref) : own;
}

/** Every schema that describes the value: through references, combinations, and the intended choice. */
function partsOf(given: Knowing, { schema, place }: Described, value: unknown): Described[] {
  if (schema.$ref !== undefined) {
    const name = nameOf(schema.$ref);
    return partsOf(given, { schema: given.named[name] ?? {}, place: name }, value);
  }
  const { allOf = [], anyOf = [], oneOf = [] } = schema;
  const part = (one: Schema | undefined, name: string) =>
    one === undefined ? [] : partsOf(given, { schema: one, place: `${place}/${name}` }, value);
  return [
    { schema, place },
    ...allOf.flatMap((one, at) => part(one, `allOf/${at}`)),
    ...anyOf.flatMap((one, at) => part(one, `anyOf/${at}`)),
    ...given.discriminators.meant(oneOf, value).flatMap((at) => part(oneOf[at], `oneOf/${at}`)),
  ];
}
