/** Takes, writes and reads snapshots of the actual state, and plans from them without the platform. */
import { z } from 'zod';
import { AuthError, ConfigError, DependencyNotReadyError, messageOf, RejectedError } from '../core/errors.ts';
import { isObject, type Json, type JsonObject, shownJson } from '../core/json.ts';
import { compareText } from '../core/lists.ts';
import type { Actual, Fields } from '../core/resource.ts';
import { maskUrlsIn } from '../core/text/safe-url.ts';
import { type Detail, type DetailRequest, type Kind, withoutRefused } from '../kinds/model/kind.ts';
import { normalizeValue } from '../plan/diff.ts';
import type { Reader } from '../platform/client.ts';
import { estimateSeconds } from '../queue/estimate.ts';
import { REQUEST_CLASSES } from '../queue/request.ts';
import type { QueueSnapshot } from '../queue/snapshot.ts';
import {
  type ActualResources,
  type ActualSource,
  combineResources,
  list,
  type RequiredDetails,
  requiredChain,
  settleAll,
  withDetails,
} from './observe.ts';
import type { Estimate } from './planning.ts';

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
  facts: jsonObject.optional(),
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

type KindSnapshot = z.infer<typeof listing>;

type RequestRate = Snapshot['requestRate'];

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

/**
 * Reads everything that any plan may need: every kind, with all details of each resource. Redacted values are stored as
 * their hash, and so are passwords and tokens in URLs. A kind that may not be read is stored as unreadable; any other
 * error is thrown. `queue` returns the learned rate limits, after everything is read.
 */
export async function takeSnapshot(
  kinds: readonly Kind[],
  reader: Reader,
  now: number,
  queue: () => QueueSnapshot,
): Promise<Snapshot> {
  const byName = new Map(kinds.map((kind) => [kind.name, kind]));
  const due = kinds.filter((kind) => kind.observe !== null);
  const listings = await settleAll(
    due.map(
      async (kind) => [kind.name, await takeKind(withoutRefused(kind), byName, reader).catch(asUnreadable)] as const,
    ),
  );
  const failures = listings.flatMap(([, of]) => ('failure' in of ? [of.failure] : []));
  if (failures.length === listings.length) {
    // Not a kind, but the organization cannot be read.
    throw failures[0];
  }
  return {
    organization: reader.organization,
    takenAt: new Date(now).toISOString(),
    requestRate: requestRateOf(queue()),
    kinds: Object.fromEntries(
      listings.map(([name, of]) => [name, 'failure' in of ? { error: messageOf(of.failure) } : of]),
    ),
  };
}

/** Accepts a missing permission or operation as unreadable; throws any other error, such as a rejected token. */
function asUnreadable(error: unknown): { readonly failure: Error } {
  if (error instanceof RejectedError || (error instanceof AuthError && error.status === 403)) {
    return { failure: error };
  }
  throw error;
}

async function takeKind(kind: Kind, kinds: ReadonlyMap<string, Kind>, reader: Reader): Promise<KindSnapshot> {
  const { counted, counts } = counting(reader);
  const { actuals, people } = await list(kind, counted);
  const resources = await settleAll(
    actuals.map(async (actual) => ({
      actual: redacted(actual, kinds),
      details: Object.fromEntries(
        (await settleAll((kind.details ?? []).map((each) => take(each, actual, kinds, reader)))).flat(),
      ),
    })),
  );
  return {
    requests: Object.fromEntries(counts),
    people: people.map(([email, id]) => [email, id]),
    resources: resources.toSorted((a, b) => compareText(a.actual.id, b.actual.id)),
  };
}

async function take(first: DetailRequest, actual: Actual, kinds: ReadonlyMap<string, Kind>, reader: Reader) {
  const taken: [string, KindSnapshot['resources'][number]['details'][string]][] = [];
  let before: Detail = {};
  for (let next: DetailRequest | undefined = first; next !== undefined; next = next.next) {
    const { counted, counts } = counting(reader);
    before = await next.read(actual, counted, before);
    const { fields, parts, people } = before;
    taken.push([
      next.name,
      {
        requests: [...counts.values()].reduce((sum, each) => sum + each, 0),
        ...(fields === undefined ? {} : { fields: redactedFields(fields, kinds.get(actual.kind)) }),
        ...(parts === undefined ? {} : { parts: parts.map((part) => redacted(part, kinds)) }),
        ...(people === undefined ? {} : { people: people.map(([email, id]) => [email, id] as [string, string]) }),
      },
    ]);
  }
  return taken;
}

type SnapshotActual = KindSnapshot['resources'][number]['actual'];

function redacted(actual: Actual, kinds: ReadonlyMap<string, Kind>): SnapshotActual {
  const { aliases, facts, ...rest } = actual;
  return {
    ...rest,
    fields: redactedFields(actual.fields, kinds.get(actual.kind)),
    ...(aliases === undefined ? {} : { aliases: [...aliases] }),
    ...(facts === undefined ? {} : { facts: maskUrlsIn(facts) }),
  };
}

/** Public fields that identify resources; they are never masked. */
const NAMES: readonly string[] = ['title', 'label'];

function redactedFields(fields: Fields, kind: Kind | undefined): Fields {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => {
      const rules = kind?.fields[name];
      if (NAMES.includes(name)) {
        return [name, value];
      }
      return [name, rules?.redacted === true && value !== undefined ? normalizeValue(rules, value) : maskUrlsIn(value)];
    }),
  );
}

/** Creates a reader that counts the requests by operation, including those that are shared with another reader. */
function counting(reader: Reader): { readonly counted: Reader; readonly counts: ReadonlyMap<string, number> } {
  const counts = new Map<string, number>();
  const onNeed = ({ name }: { readonly name: string }) => counts.set(name, (counts.get(name) ?? 0) + 1);
  const counted: Reader = {
    organization: reader.organization,
    get: (operation, ...[input, call]) => reader.get(operation, ...([input, { ...call, onNeed }] as never)),
    pages: (operation, ...[input, call]) => reader.pages(operation, ...([input, { ...call, onNeed }] as never)),
  };
  return { counted, counts };
}

/** Returns the request rate with unused limits, because the plan is made later. */
function requestRateOf({ rtt, budgets }: QueueSnapshot): RequestRate {
  const whole = (value: number | null) => (value === null ? null : Math.max(0, Math.round(value)));
  return {
    rtt: whole(rtt),
    budgets: budgets.map(({ limit, window, ...budget }) => ({
      classes: [...budget.classes],
      operations: [...budget.operations],
      limit,
      remaining: limit,
      resetIn: whole(window),
      window: whole(window),
      refillRate: budget.refillRate,
      cooldown: 0,
      rtt: whole(budget.rtt),
      otherClientsRate: 0,
      rate: budget.rate,
    })),
  };
}

/** Source that reads a snapshot instead of the platform: the same details are required, and no request is made. */
export class SnapshotSource implements ActualSource {
  /** Requests that the platform would have received. */
  #requests = 0;
  readonly #snapshot: Snapshot;

  constructor(snapshot: Snapshot) {
    this.#snapshot = snapshot;
  }

  requests(): number {
    return this.#requests;
  }

  async read(kinds: readonly Kind[], required: RequiredDetails): Promise<ActualResources> {
    const listings = kinds.map((kind) => ({ kind, listing: this.#listing(kind) }));
    this.#requests += sharedRequests(listings.map(({ listing }) => listing));
    return combineResources(
      listings.flatMap(({ kind, listing }) => [
        { actuals: [], people: listing.people },
        ...listing.resources.map(({ actual, details }) =>
          withDetails(actual, this.#detailsOf(kind, actual, details, required)),
        ),
      ]),
    );
  }

  #listing(kind: Kind): KindSnapshot {
    const of = this.#snapshot.kinds[kind.name];
    if (of === undefined || 'error' in of) {
      const why = of === undefined ? 'it is not in the snapshot' : `when the snapshot was taken: ${of.error}`;
      throw new DependencyNotReadyError(`${kind.name} could not be read ${why}`);
    }
    return of;
  }

  #detailsOf(
    kind: Kind,
    actual: Actual,
    details: KindSnapshot['resources'][number]['details'],
    required: RequiredDetails,
  ): readonly Detail[] {
    const answers: Detail[] = [];
    for (const first of kind.details ?? []) {
      for (const next of requiredChain(first, actual, required)) {
        const answer = details[next.name];
        this.#requests += answer?.requests ?? 0;
        answers.push((answer ?? {}) as Detail);
      }
    }
    return answers;
  }
}

/** Counts the requests of kinds that are listed at the same time; a request that several kinds need is counted once. */
function sharedRequests(listings: readonly KindSnapshot[]): number {
  const most = new Map<string, number>();
  for (const { requests } of listings) {
    for (const [operation, count] of Object.entries(requests)) {
      most.set(operation, Math.max(most.get(operation) ?? 0, count));
    }
  }
  return [...most.values()].reduce((sum, count) => sum + count, 0);
}

/** Estimates how long work takes at the request rate that was measured when the snapshot was taken. */
export function estimateAtRate({ rtt, budgets }: RequestRate, concurrency: number, parallel: number): Estimate {
  return (work) => estimateSeconds({ work, parallel, rtt, concurrency, budgets });
}
