/** Describes JSON Schemas in words, for messages, `--list` and the reference page. */
import * as z from 'zod';

/** A part of a JSON Schema, as zod writes it. */
export type SchemaNode = z.core.JSONSchema.BaseSchema;

/** Converts a zod schema to the JSON Schema of its input. */
export function toJsonSchema(schema: z.ZodType): SchemaNode {
  return z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
}

/** Describes the values that a schema accepts, such as `text of 1 to 64 characters`. */
export function describeSchema(node: SchemaNode): string {
  const options = alternativesOf(node);
  const named = options.flatMap(fixedValues);
  const [first] = options;
  if (named.length > 0 && options.every((option) => fixedValues(option).length > 0 || option.type === 'null')) {
    const isNullable = options.some(({ type }) => type === 'null');
    return `${describeValues(named)}${isNullable ? ' or null' : ''}`;
  }
  if (options.length === 1 && first !== undefined) {
    return describeType(first);
  }
  return [...new Set(options.map(describeType))].join(' or ');
}

/** Returns the alternatives of a schema; a list of types counts as one alternative per type. */
export function alternativesOf(node: SchemaNode): readonly SchemaNode[] {
  const { anyOf, oneOf, type } = node;
  const options = anyOf ?? oneOf;
  if (options !== undefined) {
    return options.flatMap((option) => alternativesOf(option as SchemaNode));
  }
  return Array.isArray(type) ? type.map((single) => ({ ...node, type: single }) as SchemaNode) : [node];
}

/** Returns the values of `const` or `enum`. */
export function fixedValues({ const: only, enum: many }: SchemaNode): readonly unknown[] {
  return only === undefined ? (many ?? []) : [only];
}

/** Returns the schema of the items of a list. */
export function itemSchema({ items }: SchemaNode): SchemaNode {
  return typeof items === 'object' && !Array.isArray(items) ? (items as SchemaNode) : {};
}

/** Returns the schema of the values of an object with arbitrary keys; null for other objects. */
export function valueSchema({ additionalProperties }: SchemaNode): SchemaNode | null {
  return typeof additionalProperties === 'object' && Object.keys(additionalProperties).length > 0
    ? (additionalProperties as SchemaNode)
    : null;
}

function describeValues(values: readonly unknown[]): string {
  const all = [...new Set(values)].map((value) => JSON.stringify(value));
  return all.length === 1 ? (all[0] ?? '') : `one of ${all.join(', ')}`;
}

function describeType(node: SchemaNode): string {
  if (node.title !== undefined) {
    return `a ${node.title}`;
  }
  switch (node.type) {
    case 'string':
      return describeString(node);
    case 'integer':
      return `a whole number${describeNumber(node)}`;
    case 'number':
      return `a number${describeNumber(node)}`;
    case 'boolean':
      return 'true or false';
    case 'null':
      return 'null';
    case 'array':
      return describeList(node);
    case 'object':
      return describeObject(node);
    default:
      return 'anything';
  }
}

function describeString({ minLength = 0, maxLength, format, pattern }: SchemaNode): string {
  const range = describeRange(minLength > 0 ? minLength : null, maxLength ?? null, 'of');
  const length = range === '' ? '' : `${range} ${(maxLength ?? minLength) === 1 ? 'character' : 'characters'}`;
  if (format === 'uri') {
    return `a URL${length}`;
  }
  if (format === 'date-time') {
    return 'a time such as 2026-01-31T09:00:00Z';
  }
  return `text${length}${pattern === undefined ? '' : ` like ${pattern}`}`;
}

function describeNumber({ minimum, maximum }: SchemaNode): string {
  // For an unlimited integer, zod writes the largest safe integer.
  const most = maximum === undefined || maximum >= Number.MAX_SAFE_INTEGER ? null : maximum;
  const least = minimum === undefined || minimum <= Number.MIN_SAFE_INTEGER ? null : minimum;
  return describeRange(least, most, 'from');
}

function describeRange(least: number | null, most: number | null, preposition: 'of' | 'from'): string {
  if (least !== null && most !== null) {
    return ` ${preposition} ${least} to ${most}`;
  }
  return least !== null ? ` of at least ${least}` : most !== null ? ` of at most ${most}` : '';
}

function describeList(node: SchemaNode): string {
  const { minItems = 0, maxItems } = node;
  const what = describeSchema(itemSchema(node));
  const least = minItems > 0 ? `, at least ${minItems}` : '';
  return `a list of ${what}${least}${maxItems === undefined ? '' : `, at most ${maxItems}`}`;
}

function describeObject(node: SchemaNode): string {
  const { properties = {}, required = [] } = node;
  const names = required.length > 0 ? required : Object.keys(properties);
  if (names.length > 0) {
    return `an object with ${names.map((name) => describeMember(name, properties[name] as SchemaNode)).join(', ')}`;
  }
  const values = valueSchema(node);
  return values === null ? 'an object' : `an object of ${describeSchema(values)} by name`;
}

/** Formats a member, with its value if it is fixed: `object=site`. */
export function describeMember(name: string, node: SchemaNode): string {
  const fixed = fixedValues(node);
  return fixed.length === 1 ? `${name}=${String(fixed[0])}` : name;
}
