/** Checks a query or a body against the schema of its operation, with messages that name the field and what it takes. */
import type * as z from 'zod';
import { isObject } from '../../core/json.ts';
import { nearest, quote } from '../../core/text/suggest.ts';
import { fieldName } from './fields.ts';
import { alternativesOf, describeSchema, type SchemaNode, toJsonSchema } from './schema-text.ts';

type Issue = z.core.$ZodIssue;
type Path = readonly (string | number)[];

/** Returns one line for each problem of a value, with what is expected; `label` names the value as a whole. */
export function findProblems(schema: z.ZodType, value: unknown, label: string): readonly string[] {
  const checked = schema.safeParse(value);
  if (checked.success) {
    return [];
  }
  const root = toJsonSchema(schema);
  const issues = checked.error.issues.flatMap((issue) => flattenIssue(issue, [], value));
  return [...new Set(issues.flatMap((found) => describeIssue(found, root, value, label)))];
}

interface LocatedIssue {
  readonly path: Path;
  readonly issue: Issue;
}

/** Resolves an issue of a union to the issues of the alternative that is closest to the value. */
function flattenIssue(issue: Issue, before: Path, value: unknown): readonly LocatedIssue[] {
  const path = [...before, ...(issue.path as Path)];
  if (issue.code !== 'invalid_union' || issue.errors.length === 0) {
    return [{ path, issue }];
  }
  const branches = issue.errors.map((issues) => issues.flatMap((childNodes) => flattenIssue(childNodes, path, value)));
  const [best = []] = branches.toSorted((a, b) => distance(a, path) - distance(b, path));
  // When even the type of the value is wrong, one message lists every alternative.
  return best.some((found) => isAtRoot(found, path)) ? [{ path, issue }] : best;
}

/** Distance of a value from an alternative: a wrong type counts most, then a wrong fixed value. */
function distance(found: readonly LocatedIssue[], path: Path): number {
  const weights = found.map((one) => (isAtRoot(one, path) ? 1000 : one.issue.code === 'invalid_value' ? 30 : 1));
  return weights.reduce((sum, weight) => sum + weight, 0);
}

function isAtRoot({ path, issue }: LocatedIssue, label: Path): boolean {
  return path.length === label.length && (issue.code === 'invalid_type' || issue.code === 'invalid_value');
}

function describeIssue(
  { path, issue }: LocatedIssue,
  root: SchemaNode,
  value: unknown,
  label: string,
): readonly string[] {
  const nodes = nodesAt(root, path);
  if (issue.code === 'unrecognized_keys') {
    const known = [...new Set(nodes.flatMap(alternativesOf).flatMap(({ properties = {} }) => Object.keys(properties)))];
    return issue.keys.map((key) => `${fieldName([...path, key])}: no such field${suggestField(key, known)}`);
  }
  const name = path.length === 0 ? label : fieldName(path);
  const expected = nodes.length === 0 ? null : describeSchema({ anyOf: [...nodes] });
  if (expected === null) {
    return [`${name}: ${issue.message}`];
  }
  const given = valueAt(value, path);
  if (given === undefined) {
    return [`${name}: missing; expected ${expected}`];
  }
  if (issue.code === 'custom' && path.length === 0) {
    return [`${name} ${issue.message}`];
  }
  return [`${name}: must be ${expected}${suggestValue(given, nodes)}`];
}

function suggestField(key: string, known: readonly string[]): string {
  const closest = nearest(key, known);
  return closest === null
    ? known.length === 0
      ? ''
      : `; valid fields: ${known.toSorted().join(', ')}`
    : `; did you mean ${quote(closest)}?`;
}

function suggestValue(given: unknown, nodes: readonly SchemaNode[]): string {
  const values = nodes
    .flatMap(alternativesOf)
    .flatMap((node) => (node.enum ?? [node.const]).filter((one) => typeof one === 'string'));
  const closest = typeof given === 'string' ? nearest(given, values) : null;
  return closest === null ? '' : `; did you mean ${quote(closest)}?`;
}

/** The schemas of the value at a path, from every alternative that has it. */
function nodesAt(root: SchemaNode, path: Path): readonly SchemaNode[] {
  let nodes: readonly SchemaNode[] = [root];
  for (const step of path) {
    nodes = nodes.flatMap(alternativesOf).flatMap((node) => childNodes(node, step));
  }
  return nodes;
}

function childNodes(node: SchemaNode, step: string | number): readonly SchemaNode[] {
  const { properties, items, additionalProperties } = node;
  const member = typeof step === 'number' ? items : (properties?.[step] ?? additionalProperties);
  return typeof member === 'object' && !Array.isArray(member) ? [member as SchemaNode] : [];
}

function valueAt(value: unknown, path: Path): unknown {
  return path.reduce<unknown>((place, step) => {
    if (Array.isArray(place)) {
      return place[Number(step)];
    }
    return isObject(place) && Object.hasOwn(place, step) ? place[step] : undefined;
  }, value);
}
