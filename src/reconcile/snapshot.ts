import { z } from 'zod';
import { ConfigError } from '../core/errors.ts';
import { isObject, type Json, type JsonObject, shownJson } from '../core/json.ts';
import type { Kind } from '../kinds/model/kind.ts';
import { REQUEST_CLASSES } from '../queue/request.ts';

const FORMAT = 'octavo.snapshot/2';

/** Maximum size of a snapshot, in bytes. */
export const MAX_SNAPSHOT_BYTES = 256 * 1_048_576;
/** Maximum nesting depth: far more than the platform returns, and safe to traverse. */
const MAX_DEPTH = 100;

const count = z.int().min(0);
const text = z.string().max(1_000_000);
const id = z.string().min(1).max(1000);
const jsonObject = z.custom<JsonObject>(isObject, { error: 'expected an object' });
const people = z.array(z.tuple([text, id]));

const actual = z.strictObject({
  kind: id,
  id,
  title: text,
  fields: jsonObject,
  within: id.nullable(),
  place: z.strictObject({ list: id, index: count }).nullable(),
  aliases: z.array(id).optional(),
  facts: jsonObject.optional(),
});

/** Result of a detail request for one resource, with the number of requests. */
const details = z.strictObject({
  requests: count,
  fields: jsonObject.optional(),
  parts: z.array(actual).optional(),
  people: people.optional(),
});

/** Snapshot of a kind: requests by operation, the resources of its list, and their details. */
const listing = z.strictObject({
  requests: z.record(id, count),
  people,
  resources: z.array(z.strictObject({ actual, details: z.record(id, details) })),
});

/** A kind that could not be read: a plan that needs it cannot be made. */
const unreadable = z.strictObject({ error: text });

const milliseconds = z.number().min(0);
const budget = z.strictObject({
  classes: z.array(z.enum(REQUEST_CLASSES)),
  operations: z.array(id),
  limit: z.number().nullable(),
  remaining: z.number().nullable(),
  resetIn: milliseconds.nullable(),
  window: milliseconds.nullable(),
  refillRate: z.number().nullable(),
  cooldown: milliseconds,
  rtt: milliseconds.nullable(),
  otherClientsRate: z.number(),
  rate: z.number().nullable(),
});

const snapshot = z.strictObject({
  format: z.literal(FORMAT),
  organization: id,
  /** Time at which it was taken. */
  takenAt: z.iso.datetime(),
  /** Request rate, for the estimated time of a plan. */
  requestRate: z.strictObject({ rtt: milliseconds.nullable(), budgets: z.array(budget) }),
  kinds: z.record(id, z.union([listing, unreadable])),
});

/** Actual state of an organization: every kind, with all details of each resource. */
export type Snapshot = Omit<z.infer<typeof snapshot>, 'format'>;
export type KindSnapshot = z.infer<typeof listing>;
export type RequestRate = Snapshot['requestRate'];

/** A snapshot as a file. */
export function writeSnapshot(taken: Snapshot): string {
  return `${shownJson({ format: FORMAT, ...taken }, 1)}\n`;
}

/** Reads a snapshot. Throws ConfigError, without any of its content, if it is not a snapshot of this version. */
export function readSnapshot(file: string, name: string, kinds: readonly Kind[]): Snapshot {
  const wrong = (why: string, cause?: unknown) =>
    new ConfigError(`${name} cannot be used as a snapshot: ${why}; take one with octavo snapshot --out`, { cause });
  let parsed: unknown;
  try {
    parsed = JSON.parse(file);
  } catch (error) {
    throw wrong('it is not JSON', error);
  }
  if (!isObject(parsed) || parsed.format !== FORMAT) {
    throw wrong(`its format is not ${FORMAT}`);
  }
  if (isDeep(parsed as Json)) {
    throw wrong(`it is nested more than ${MAX_DEPTH} deep`);
  }
  const checked = snapshot.safeParse(parsed);
  if (!checked.success) {
    const [issue] = checked.error.issues;
    const place = issue === undefined || issue.path.length === 0 ? 'it' : issue.path.map(String).join('.');
    throw wrong(`${place} is not valid in this version of the format`);
  }
  const { format: _format, ...read } = checked.data;
  const problem = kindProblem(read, kinds);
  if (problem !== null) {
    throw wrong(problem);
  }
  return read;
}

/**
 * Checks that every kind is present, none is unknown, and each contains only resources of its own, without duplicates.
 */
function kindProblem(read: Snapshot, kinds: readonly Kind[]): string | null {
  const listed = kinds.filter((kind) => kind.observe !== null);
  const missing = listed.find((kind) => !Object.hasOwn(read.kinds, kind.name));
  if (missing !== undefined) {
    return `it has no ${missing.name}, so it was taken by another version of Octavo`;
  }
  if (Object.keys(read.kinds).length > listed.length) {
    return 'it has kinds that this version does not know';
  }
  for (const { name, details = [] } of listed) {
    const of = read.kinds[name] as Snapshot['kinds'][string];
    const parts = new Set(kinds.filter((kind) => kind.partOf === name).map((kind) => kind.name));
    const asked = new Set(details.flatMap((first) => (first.next ? [first.name, first.next.name] : [first.name])));
    if ('resources' in of && !isOfKind(of, name, parts, asked)) {
      return `${name}: it contains unexpected resources`;
    }
  }
  return null;
}

function isOfKind(
  { resources }: KindSnapshot,
  name: string,
  parts: ReadonlySet<string>,
  asked: ReadonlySet<string>,
): boolean {
  const ids = new Set(resources.map((resource) => resource.actual.id));
  return (
    ids.size === resources.length &&
    resources.every(
      (resource) =>
        resource.actual.kind === name &&
        Object.keys(resource.details).length === asked.size &&
        Object.entries(resource.details).every(
          ([name, { parts: inside = [] }]) => asked.has(name) && inside.every(({ kind }) => parts.has(kind)),
        ),
    )
  );
}

/** Not recursive, so that deep nesting cannot overflow the stack. */
function isDeep(value: Json): boolean {
  const open: (readonly [Json, number])[] = [[value, 0]];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [each, depth] = next;
    if (typeof each === 'object' && each !== null) {
      if (depth >= MAX_DEPTH) {
        return true;
      }
      for (const member of Object.values(each)) {
        if (typeof member === 'object' && member !== null) {
          open.push([member, depth + 1]);
        }
      }
    }
  }
  return false;
}
