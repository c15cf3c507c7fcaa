/** What is used of a JSON Schema here. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly nullable?: boolean;
  readonly enum?: readonly unknown[];
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: boolean | Schema;
  readonly items?: Schema;
  readonly allOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly propertyNames?: Schema;
}

/** The schemas of a document that have a name, by that name. */
export type Named = Readonly<Record<string, Schema>>;

const PREFIX = '#/components/schemas/';

/** The name that a reference means. */
export function nameOf(reference: string): string {
  return reference.slice(PREFIX.length);
}

/** The schema that is meant, where there is only a reference. */
export function resolve(named: Named, schema: Schema): Schema {
  return schema.$ref === undefined ? schema : resolve(named, named[nameOf(schema.$ref)] ?? {});
}

/** The type of JSON that a value is. */
export function typeOf(value: unknown): string {
  return value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;
}
