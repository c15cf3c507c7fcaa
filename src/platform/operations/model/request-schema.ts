/** Checks the query or the body of a request against the JSON Schema of its operation. */
import * as z from 'zod';

/** Part of the JSON Schema of a request: draft 2020-12 without references. */
export interface RequestNode {
  /** Name of a value that is described by its name instead of its members. */
  readonly title?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly RequestNode[];
  readonly properties?: Readonly<Record<string, RequestNode>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | RequestNode;
  readonly items?: RequestNode;
  readonly minItems?: number;
  readonly maxItems?: number;
  /** In Unicode code points, as in JSON Schema. Source: docs/platform-notes.md#conventions */
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minProperties?: number;
  readonly maxProperties?: number;
  readonly pattern?: string;
  readonly format?: string;
  /** The only version whose document has this member. */
  readonly only?: string;
}

/** Schema of a query or a body. It becomes a validator when it is first used: few commands use more than a few. */
export class RequestSchema {
  readonly json: RequestNode;
  #validator: z.ZodType | undefined;

  constructor(json: RequestNode) {
    this.json = json;
  }

  safeParse(value: unknown): z.ZodSafeParseResult<unknown> {
    this.#validator ??= z.fromJSONSchema(countable(this.json), { registry: z.registry() });
    return this.#validator.safeParse(value, { error: lengthMessage });
  }
}

/** Returns the schemas of the members of an object, by name; the first alternative that has a member decides. */
export function memberSchemas({ properties, anyOf = [] }: RequestNode): Readonly<Record<string, RequestNode>> {
  return properties ?? Object.assign({}, ...anyOf.map(memberSchemas).toReversed());
}

/** Returns true for a schema that takes null. */
export function isNullable({ type, anyOf = [] }: RequestNode): boolean {
  return [type].flat().includes('null') || anyOf.some(isNullable);
}

/** One code point: a pair of surrogates, or a unit that is not part of one. */
const CODE_POINT =
  '(?:[\\ud800-\\udbff][\\udc00-\\udfff]|[^\\ud800-\\udfff]|[\\ud800-\\udbff](?![\\udc00-\\udfff])|(?<![\\ud800-\\udbff])[\\udc00-\\udfff])';

/** Returns the schema with the lengths of texts as patterns, because zod counts UTF-16 units. */
function countable(node: RequestNode): z.core.JSONSchema.JSONSchema {
  const { only: _, title: __, minLength, maxLength, properties, items, anyOf, additionalProperties, ...rest } = node;
  const length =
    minLength === undefined && maxLength === undefined
      ? null
      : { type: node.type, pattern: `^${CODE_POINT}{${minLength ?? 0},${maxLength ?? ''}}$` };
  return {
    ...rest,
    ...(length === null ? {} : node.pattern === undefined ? length : { allOf: [length] }),
    ...(properties === undefined ? {} : { properties: mapValues(properties, countable) }),
    ...(items === undefined ? {} : { items: countable(items) }),
    ...(anyOf === undefined ? {} : { anyOf: anyOf.map(countable) }),
    ...(typeof additionalProperties === 'object' && { additionalProperties: countable(additionalProperties) }),
    ...(additionalProperties === false && { additionalProperties }),
  } as z.core.JSONSchema.JSONSchema;
}

function mapValues<T, U>(values: Readonly<Record<string, T>>, change: (value: T) => U): Record<string, U> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, change(value)]));
}

function lengthMessage(issue: z.core.$ZodRawIssue): string | undefined {
  const pattern = issue.code === 'invalid_format' ? String(issue.pattern ?? '') : '';
  const [, least, most] = pattern.includes(CODE_POINT) ? (/\{(\d+),(\d*)\}\$\/?$/.exec(pattern) ?? []) : [];
  return least === undefined
    ? undefined
    : `must have ${most === '' ? `${least} or more` : `${least} to ${most}`} characters`;
}

/** A problem of a value, and where it is. */
export interface LocatedIssue {
  readonly path: readonly (string | number)[];
  readonly issue: z.core.$ZodIssue;
}

/** Returns the problems that an error reports; for alternatives, those of the one that is closest to the value. */
export function locateIssues({ issues }: { readonly issues: readonly z.core.$ZodIssue[] }): readonly LocatedIssue[] {
  return issues.flatMap((issue) => flattenIssue(issue, []));
}

function flattenIssue(issue: z.core.$ZodIssue, before: LocatedIssue['path']): readonly LocatedIssue[] {
  const path = [...before, ...(issue.path as LocatedIssue['path'])];
  if (issue.code !== 'invalid_union' || issue.errors.length === 0) {
    return [{ path, issue }];
  }
  const branches = issue.errors.map((issues) => issues.flatMap((inner) => flattenIssue(inner, path)));
  const [best = []] = branches.toSorted((a, b) => distance(a, path) - distance(b, path));
  // When even the type of the value is wrong, one problem stands for every alternative.
  return best.some((found) => isAtRoot(found, path)) ? [{ path, issue }] : best;
}

/** Distance of a value from an alternative: a wrong type counts most, then a wrong fixed value. */
function distance(found: readonly LocatedIssue[], path: LocatedIssue['path']): number {
  const weights = found.map((one) => (isAtRoot(one, path) ? 1000 : one.issue.code === 'invalid_value' ? 30 : 1));
  return weights.reduce((sum, weight) => sum + weight, 0);
}

function isAtRoot({ path, issue }: LocatedIssue, root: LocatedIssue['path']): boolean {
  return path.length === root.length && (issue.code === 'invalid_type' || issue.code === 'invalid_value');
}
