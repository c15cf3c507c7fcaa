import { AuthError, messageOf, RejectedError } from '../core/errors.ts';
import type { Actual, Fields } from '../core/resource.ts';
import { maskUrlsIn } from '../core/text/safe-url.ts';
import type { Detail, DetailRequest, Kind } from '../kinds/model/kind.ts';
import { normalizeValue } from '../plan/model/diff.ts';
import type { Reader } from '../platform/client.ts';
import type { QueueSnapshot } from '../queue/snapshot.ts';
import { list, settleAll } from './observe/actual-source.ts';
import type { KindSnapshot, RequestRate, Snapshot } from './snapshot.ts';

export interface TakeOptions {
  readonly kinds: readonly Kind[];
  readonly reader: Reader;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** Returns the learned rate limits; called after everything is read. */
  readonly queue: () => QueueSnapshot;
}

/**
 * Reads everything that any plan may need: every kind, with all details of each resource. Redacted values are stored as
 * their hash, and so are passwords and tokens in URLs. A kind that may not be read is stored as unreadable; any other
 * error is thrown.
 */
export async function takeSnapshot({ kinds, reader, now, queue }: TakeOptions): Promise<Snapshot> {
  const byName = new Map(kinds.map((kind) => [kind.name, kind]));
  const due = kinds.filter((kind) => kind.observe !== null);
  const listings = await settleAll(
    due.map(async (kind) => [kind.name, await takeKind(kind, byName, reader).catch(unreadable)] as const),
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
function unreadable(error: unknown): { readonly failure: Error } {
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
    resources: resources.toSorted((a, b) => (a.actual.id < b.actual.id ? -1 : 1)),
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
