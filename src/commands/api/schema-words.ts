import * as z from 'zod';

/** A part of a JSON Schema, as zod writes it. */
export type SchemaNode = z.core.JSONSchema.BaseSchema;

/** What a schema takes, as JSON Schema. */
export function jsonSchemaOf(schema: z.ZodType): SchemaNode {
  return z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
}

/** What a value must be, in words: `text of 1 to 64 characters`. */
export function schemaWords(node: SchemaNode): string {
  const options = optionsOf(node);
  const named = options.flatMap(namedValues);
  const [first] = options;
  if (named.length > 0 && options.every((option) => namedValues(option).length > 0 || option.type === 'null')) {
    const isNullable = options.some(({ type }) => type === 'null');
    return `${namesWords(named)}${isNullable ? ' or null' : ''}`;
  }
  if (options.length === 1 && first !== undefined) {
    return singleWords(first);
  }
  return [...new Set(options.map(singleWords))].join(' or ');
}

/** What may stand in a place: its alternatives, and a nullable type as two of them. */
export function optionsOf(node: SchemaNode): readonly SchemaNode[] {
  const { anyOf, oneOf, type } = node;
  const options = anyOf ?? oneOf;
  if (options !== undefined) {
    return options.flatMap((option) => optionsOf(option as SchemaNode));
  }
  return Array.isArray(type) ? type.map((single) => ({ ...node, type: single }) as SchemaNode) : [node];
}

/** The values that a place has by name. */
export function namedValues({ const: only, enum: many }: SchemaNode): readonly unknown[] {
  return only === undefined ? (many ?? []) : [only];
}

function namesWords(values: readonly unknown[]): string {
  const all = [...new Set(values)].map((value) => JSON.stringify(value));
  return all.length === 1 ? (all[0] ?? '') : `one of ${all.join(', ')}`;
}

function singleWords(node: SchemaNode): string {
  if (node.title !== undefined) {
    return `a ${node.title}`;
  }
  switch (node.type) {
    case 'string':
      return stringWords(node);
    case 'integer':
      return `a whole number${rangeWords(node)}`;
    case 'number':
      return `a number${rangeWords(node)}`;
    case 'boolean':
      return 'true or false';
    case 'null':
      return 'null';
    case 'array':
      return listWords(node);
    case 'object':
      return objectWords(node);
    default:
      return 'anything';
  }
}

function stringWords({ minLength = 0, maxLength, format, pattern }: SchemaNode): string {
  const length =
    maxLength === undefined
      ? minLength > 0
        ? ` of at least ${minLength} characters`
        : ''
      : minLength > 0
        ? ` of ${minLength} to ${maxLength} characters`
        : ` of at most ${maxLength} characters`;
  if (format === 'uri') {
    return `a URL${length}`;
  }
  if (format === 'date-time') {
    return 'a time such as 2026-01-31T09:00:00Z';
  }
  return `text${length}${pattern === undefined ? '' : ` like ${pattern}`}`;
}

function rangeWords({ minimum, maximum }: SchemaNode): string {
  // Without a limit of its own, zod names the largest whole number there is.
  const most = maximum === undefined || maximum >= Number.MAX_SAFE_INTEGER ? null : maximum;
  const least = minimum === undefined || minimum <= Number.MIN_SAFE_INTEGER ? null : minimum;
  if (least !== null && most !== null) {
    return ` from ${least} to ${most}`;
  }
  return least !== null ? ` of at least ${least}` : most !== null ? ` of at most ${most}` : '';
}

function listWords({ items, minItems = 0, maxItems }: SchemaNode): string {
  const what =
    items === undefined || Array.isArray(items) || items === true ? 'anything' : schemaWords(items as SchemaNode);
  const least = minItems > 0 ? `, at least ${minItems}` : '';
  return `a list of ${what}${least}${maxItems === undefined ? '' : `, at most ${maxItems}`}`;
}

function objectWords({ properties = {}, required = [], additionalProperties }: SchemaNode): string {
  const names = required.length > 0 ? required : Object.keys(properties);
  if (names.length > 0) {
    return `an object with ${names.map((name) => memberWords(name, properties[name] as SchemaNode)).join(', ')}`;
  }
  return typeof additionalProperties === 'object' && Object.keys(additionalProperties).length > 0
    ? `an object of ${schemaWords(additionalProperties as SchemaNode)} by name`
    : 'an object';
}

/** A member, with its value where there is only one. */
export function memberWords(name: string, node: SchemaNode): string {
  const fixed = namedValues(node);
  return fixed.length === 1 ? `${name}=${String(fixed[0])}` : name;
}
