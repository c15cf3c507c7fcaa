import type * as z from 'zod';
import { isObject } from '../../core/json.ts';
import { nearest, quote } from '../../core/text/suggest.ts';
import { nameOf } from './fields.ts';
import { jsonSchemaOf, optionsOf, type SchemaNode, schemaWords } from './schema-words.ts';

type Issue = z.core.$ZodIssue;
type Path = readonly (string | number)[];

/** What is wrong with a value, and what would be right, a line each; `whole` names the value itself. */
export function faultsOf(schema: z.ZodType, value: unknown, whole: string): readonly string[] {
  const checked = schema.safeParse(value);
  if (checked.success) {
    return [];
  }
  const root = jsonSchemaOf(schema);
  const issues = checked.error.issues.flatMap((issue) => flat(issue, [], value));
  return [...new Set(issues.flatMap((found) => sentences(found, root, value, whole)))];
}

interface Found {
  readonly path: Path;
  readonly issue: Issue;
}

/** Of alternatives the one that is nearest to what was given tells what is wrong with it. */
function flat(issue: Issue, before: Path, value: unknown): readonly Found[] {
  const path = [...before, ...(issue.path as Path)];
  if (issue.code !== 'invalid_union' || issue.errors.length === 0) {
    return [{ path, issue }];
  }
  const branches = issue.errors.map((issues) => issues.flatMap((inner) => flat(inner, path, value)));
  const [best = []] = branches.toSorted((a, b) => distance(a, path) - distance(b, path));
  // Where not even the kind of value is right, all that it may be is told at once.
  return best.some((found) => isWholly(found, path)) ? [{ path, issue }] : best;
}

/** How far a value is from an alternative: another kind of value is farthest, another fixed member comes next. */
function distance(found: readonly Found[], path: Path): number {
  const weights = found.map((one) => (isWholly(one, path) ? 1000 : one.issue.code === 'invalid_value' ? 30 : 1));
  return weights.reduce((sum, weight) => sum + weight, 0);
}

function isWholly({ path, issue }: Found, whole: Path): boolean {
  return path.length === whole.length && (issue.code === 'invalid_type' || issue.code === 'invalid_value');
}

function sentences({ path, issue }: Found, root: SchemaNode, value: unknown, whole: string): readonly string[] {
  const nodes = nodesAt(root, path);
  if (issue.code === 'unrecognized_keys') {
    const known = [...new Set(nodes.flatMap(optionsOf).flatMap(({ properties = {} }) => Object.keys(properties)))];
    return issue.keys.map((key) => `${nameOf([...path, key])}: no such field${hint(key, known)}`);
  }
  const name = path.length === 0 ? whole : nameOf(path);
  const right = nodes.length === 0 ? null : schemaWords({ anyOf: [...nodes] });
  if (right === null) {
    return [`${name}: ${issue.message}`];
  }
  const given = at(value, path);
  if (given === undefined) {
    return [`${name}: missing; expected ${right}`];
  }
  if (issue.code === 'custom' && path.length === 0) {
    return [`${name} ${issue.message}`];
  }
  return [`${name}: must be ${right}${near(given, nodes)}`];
}

function hint(key: string, known: readonly string[]): string {
  const meant = nearest(key, known);
  return meant === null
    ? known.length === 0
      ? ''
      : `; valid fields: ${known.toSorted().join(', ')}`
    : `; did you mean ${quote(meant)}?`;
}

function near(given: unknown, nodes: readonly SchemaNode[]): string {
  const values = nodes
    .flatMap(optionsOf)
    .flatMap((node) => (node.enum ?? [node.const]).filter((one) => typeof one === 'string'));
  const meant = typeof given === 'string' ? nearest(given, values) : null;
  return meant === null ? '' : `; did you mean ${quote(meant)}?`;
}

/** What the schema says of a place, all alternatives that have it. */
function nodesAt(root: SchemaNode, path: Path): readonly SchemaNode[] {
  let nodes: readonly SchemaNode[] = [root];
  for (const step of path) {
    nodes = nodes.flatMap(optionsOf).flatMap((node) => inner(node, step));
  }
  return nodes;
}

function inner(node: SchemaNode, step: string | number): readonly SchemaNode[] {
  const { properties, items, additionalProperties } = node;
  const member = typeof step === 'number' ? items : (properties?.[step] ?? additionalProperties);
  return typeof member === 'object' && !Array.isArray(member) ? [member as SchemaNode] : [];
}

function at(value: unknown, path: Path): unknown {
  return path.reduce<unknown>((place, step) => {
    if (Array.isArray(place)) {
      return place[Number(step)];
    }
    return isObject(place) && Object.hasOwn(place, step) ? place[step] : undefined;
  }, value);
}
