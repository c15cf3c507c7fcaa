/** Reads request schemas of the vendor's OpenAPI documents, 3.0 and 3.1, as plain JSON Schema, and merges two versions. */
import { isDeepStrictEqual } from 'node:util';
import type { RequestNode } from '../src/platform/operations/model/request-schema.ts';

/** Schema of a document: every keyword that the documents use in requests. */
export type VendorSchema = Readonly<Record<string, unknown>> & {
  readonly $ref?: string;
  readonly allOf?: readonly VendorSchema[];
  readonly anyOf?: readonly VendorSchema[];
  readonly oneOf?: readonly VendorSchema[];
  readonly properties?: Readonly<Record<string, VendorSchema>>;
  readonly items?: VendorSchema;
  readonly additionalProperties?: boolean | VendorSchema;
  readonly nullable?: boolean;
};

/** Components of a document: what its references name. */
export type Components = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** Keywords that are taken as they are. Prose, examples and defaults are not. */
const KEPT = [
  ...['type', 'enum', 'required', 'pattern', 'minLength', 'maxLength', 'minimum', 'maximum'],
  ...['minItems', 'maxItems', 'minProperties', 'maxProperties', 'uniqueItems'],
];
/** Formats that a request is checked for; others, such as `emoji` and `icon`, say what a text is for. */
const FORMATS = ['uri', 'date-time', 'date', 'email', 'uuid'];

/** Schema of a rich document, in place of the vendor's two hundred. The modules of rich text create its nodes. */
export const RICH_DOCUMENT: RequestNode = {
  title: 'rich document',
  type: 'object',
  properties: {
    object: { type: 'string', enum: ['document'] },
    data: { type: 'object' },
    nodes: {
      type: 'array',
      items: { type: 'object', properties: { object: { type: 'string' } }, required: ['object'] },
    },
  },
  required: ['object', 'data', 'nodes'],
};

/** Follows a reference to a component. */
export function resolve<T>(components: Components, value: T): T {
  const { $ref } = (value ?? {}) as { readonly $ref?: string };
  if ($ref === undefined) {
    return value;
  }
  const [, , section = '', name = ''] = $ref.split('/');
  return resolve(components, components[section]?.[name] as T);
}

/** Returns a schema of a document without references and prose; objects are closed unless the document opens them. */
export function readSchema(components: Components, schema: VendorSchema, above: readonly string[] = []): RequestNode {
  const { $ref } = schema;
  if ($ref !== undefined) {
    // A schema within itself: its values are left to the platform.
    return above.includes($ref) ? {} : readSchema(components, resolve(components, schema), [...above, $ref]);
  }
  if (isRichDocument(schema)) {
    return schema.nullable === true ? nullable(RICH_DOCUMENT) : RICH_DOCUMENT;
  }
  const own = ownKeywords(components, schema, above);
  const all = (schema.allOf ?? []).map((part) => readSchema(components, part, above));
  const choices = schema.oneOf ?? schema.anyOf;
  const any = choices === undefined ? [] : [anyOf(choices.flatMap((part) => readChoice(components, part, above)))];
  const parts = [own, ...all, ...any].filter((part) => Object.keys(part).length > 0);
  const joined = parts.length === 0 ? {} : parts.reduce(join);
  return schema.nullable === true ? nullable(joined) : joined;
}

/** Returns no schema for a choice without members, and closes one that is open: it stands for none of the others. */
function readChoice(components: Components, part: VendorSchema, above: readonly string[]): readonly RequestNode[] {
  const choice = readSchema(components, part, above);
  if (choice.properties === undefined || Object.keys(choice.properties).length > 0) {
    return [choice];
  }
  return choice.additionalProperties === true ? [{ ...choice, additionalProperties: false }] : [];
}

function isRichDocument({ properties = {} }: VendorSchema): boolean {
  return isDeepStrictEqual(properties.object?.enum, ['document']) && properties.nodes !== undefined;
}

function ownKeywords(components: Components, schema: VendorSchema, above: readonly string[]): RequestNode {
  const node: Record<string, unknown> = {};
  for (const key of KEPT) {
    // Some lists have the limits of texts.
    if (schema[key] !== undefined && !(schema.type === 'array' && /Length$/.test(key))) {
      node[key] = schema[key];
    }
  }
  if (node.enum !== undefined && isDeepStrictEqual(node.enum, [null])) {
    return { type: 'null' };
  }
  if (FORMATS.includes(String(schema.format))) {
    node.format = schema.format;
  }
  if (schema.format === 'byte') {
    node.format = 'base64';
  }
  if (schema.items !== undefined) {
    node.items = readSchema(components, schema.items, above);
  }
  const { properties, additionalProperties } = schema;
  if (properties !== undefined) {
    node.type ??= 'object';
    node.properties = Object.fromEntries(
      Object.entries(properties)
        .map(([name, member]) => [name, readSchema(components, member, above)] as const)
        // A text with at least two and at most one character must be left out.
        .filter(([, { minLength = 0, maxLength = Infinity }]) => minLength <= maxLength),
    );
    node.additionalProperties = false;
  }
  if (additionalProperties !== undefined) {
    node.additionalProperties =
      typeof additionalProperties === 'object'
        ? readSchema(components, additionalProperties, above)
        : additionalProperties;
  }
  return node as RequestNode;
}

/** Returns a schema that takes what any of the schemas takes. */
function anyOf(schemas: readonly RequestNode[]): RequestNode {
  const flat = schemas.flatMap((schema) =>
    schema.anyOf !== undefined && Object.keys(schema).length === 1 ? schema.anyOf : [schema],
  );
  const distinct = flat.filter((one, at) => flat.findIndex((other) => isDeepStrictEqual(one, other)) === at);
  const [first = {}, second] = distinct;
  if (second === undefined || distinct.some((one) => Object.keys(one).length === 0)) {
    return second === undefined ? first : {};
  }
  const isNull = (one: RequestNode) => one.type === 'null' || isDeepStrictEqual(one.enum, [null]);
  const rest = distinct.filter((one) => !isNull(one));
  if (rest.length === 1 && rest.length < distinct.length) {
    return nullable(first === rest[0] ? first : (rest[0] ?? {}));
  }
  if (rest.every((one) => one.type === 'string' && one.enum !== undefined)) {
    const values = [...new Set(rest.flatMap((one) => one.enum ?? []))];
    const merged = { type: 'string', enum: values } as RequestNode;
    return rest.length < distinct.length ? nullable(merged) : merged;
  }
  return { anyOf: distinct };
}

function nullable(schema: RequestNode): RequestNode {
  const { type, enum: values, anyOf: choices } = schema;
  if (choices !== undefined) {
    return { anyOf: [...choices, { type: 'null' }] };
  }
  if (schema.title !== undefined || typeof type !== 'string') {
    return Array.isArray(type) || type === undefined ? schema : { anyOf: [schema, { type: 'null' }] };
  }
  const more = values === undefined || values.includes(null) ? {} : { enum: [...values, null] };
  return { ...schema, type: [type, 'null'], ...more } as RequestNode;
}

/** Returns a schema that takes what both take: parts of an object, or its choices. */
function join(a: RequestNode, b: RequestNode): RequestNode {
  if (a.anyOf !== undefined) {
    return { anyOf: a.anyOf.map((choice) => join(choice, b)) };
  }
  if (b.anyOf !== undefined) {
    return { anyOf: b.anyOf.map((choice) => join(a, choice)) };
  }
  const required = [...new Set([...(a.required ?? []), ...(b.required ?? [])])];
  const properties = { ...a.properties, ...b.properties };
  return {
    ...a,
    ...b,
    ...(required.length === 0 ? {} : { required }),
    ...(Object.keys(properties).length === 0
      ? {}
      : { properties, additionalProperties: a.additionalProperties === true || b.additionalProperties === true }),
  };
}

/** Returns a schema that takes what either version takes. A member that one version lacks names the one that has it. */
export function mergeVersions(newer: RequestNode, older: RequestNode): RequestNode {
  if (isDeepStrictEqual(newer, older)) {
    return newer;
  }
  if (newer.properties !== undefined && older.properties !== undefined) {
    return mergeObjects(newer, older);
  }
  if (newer.items !== undefined && older.items !== undefined) {
    const { minItems: n = 0, maxItems: m = Infinity } = newer;
    const { minItems = 0, maxItems = Infinity } = older;
    const { minItems: _, maxItems: __, ...rest } = newer;
    return {
      ...rest,
      items: mergeVersions(newer.items, older.items),
      ...(Math.min(n, minItems) === 0 ? {} : { minItems: Math.min(n, minItems) }),
      ...(Math.max(m, maxItems) === Infinity ? {} : { maxItems: Math.max(m, maxItems) }),
    };
  }
  if (newer.enum !== undefined && older.enum !== undefined && newer.type !== 'object') {
    return { type: newer.type ?? older.type, enum: [...new Set([...newer.enum, ...older.enum])] } as RequestNode;
  }
  if (isText(newer) && isText(older)) {
    return mergeTexts(newer, older);
  }
  const choices = [newer.anyOf ?? [newer], older.anyOf ?? [older]] as const;
  const merged = [...choices[0]];
  for (const choice of choices[1]) {
    const same = merged.findIndex((one) => isSameChoice(one, choice));
    if (same < 0) {
      merged.push(choice);
    } else {
      merged[same] = mergeVersions(merged[same] ?? {}, choice);
    }
  }
  return anyOf(merged);
}

function isText({ type, enum: values }: RequestNode): boolean {
  return values === undefined && [type].flat().every((one) => one === 'string' || one === 'null');
}

/** The newer pattern counts: it takes more. */
function mergeTexts(newer: RequestNode, older: RequestNode): RequestNode {
  const types = [...new Set([newer.type, older.type].flat())];
  const minLength = Math.min(newer.minLength ?? 0, older.minLength ?? 0);
  const maxLength = Math.max(newer.maxLength ?? Infinity, older.maxLength ?? Infinity);
  return {
    type: types.length === 1 ? types[0] : types,
    ...(minLength === 0 ? {} : { minLength }),
    ...(maxLength === Infinity ? {} : { maxLength }),
    ...(newer.pattern === undefined || older.pattern === undefined ? {} : { pattern: newer.pattern }),
    ...(newer.format === older.format && newer.format !== undefined ? { format: newer.format } : {}),
  } as RequestNode;
}

function mergeObjects(newer: RequestNode, older: RequestNode): RequestNode {
  const [a, b] = [newer.properties ?? {}, older.properties ?? {}];
  const names = [...new Set([...Object.keys(a), ...Object.keys(b)])];
  const properties = names.map((name) => {
    const [one, other] = [a[name], b[name]];
    const both = one !== undefined && other !== undefined;
    return [
      name,
      both ? mergeVersions(one, other) : { ...(one ?? other), only: one === undefined ? '0.146' : '0.202' },
    ];
  });
  const required = (newer.required ?? []).filter((name) => older.required?.includes(name));
  const { required: _, ...rest } = newer;
  return {
    ...rest,
    properties: Object.fromEntries(properties),
    ...(required.length === 0 ? {} : { required }),
    additionalProperties:
      newer.additionalProperties === true || older.additionalProperties === true
        ? true
        : (newer.additionalProperties ?? false),
  };
}

/** Returns true for choices with the same fixed values, or the same required members. */
function isSameChoice(a: RequestNode, b: RequestNode): boolean {
  const facts = ({ type, properties = {}, required = [] }: RequestNode) => ({
    type,
    fixed: Object.entries(properties).flatMap(([name, member]) =>
      member.enum?.length === 1 ? [[name, member.enum[0]]] : [],
    ),
    required: required.toSorted(),
  });
  return a.properties !== undefined && b.properties !== undefined && isDeepStrictEqual(facts(a), facts(b));
}
