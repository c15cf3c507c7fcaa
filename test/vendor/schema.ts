/** The used parts of a JSON Schema. */
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

/** The named schemas of a document, by name. */
export type Named = Readonly<Record<string, Schema>>;

const PREFIX = '#/components/schemas/';

/** Name of the schema that a reference points to. */
export function nameOf(reference: string): string {
  return reference.slice(PREFIX.length);
}

/** The resolved schema of a reference. */
export function resolve(named: Named, schema: Schema): Schema {
  return schema.$ref === undefined ? schema : resolve(named, named[nameOf(schema.$ref)] ?? {});
}

/** JSON type of a value. */
export function typeOf(value: unknown): string {
  return value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;
}
