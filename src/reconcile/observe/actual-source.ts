import type { Actual } from '../../core/resource.ts';
import type { Detail, DetailRequest, Kind } from '../../kinds/model/kind.ts';
import type { Reader } from '../../platform/client.ts';

/** What is asked of resources besides what their lists tell. */
export interface Asks {
  /** Whether a key that says something of one of these fields may mean this resource. */
  wants(actual: Actual, fields: readonly string[]): boolean;
  /** Whether anything, or anything of one kind, is declared or owned inside what may be this resource. */
  wantsParts(actual: Actual, kind?: string): boolean;
}

/** What was read. */
export interface Found {
  /** Parts come after what they are part of. */
  readonly actuals: readonly Actual[];
  /** Emails and ids of people seen as members of the organization. */
  readonly people: readonly (readonly [email: string, id: string])[];
}

/** Where the actual state is read: the platform, or a snapshot of it. */
export interface ActualSource {
  /** Lists some kinds, all at the same time, and reads of each resource what is asked for besides. Throws AppError. */
  read(kinds: readonly Kind[], asks: Asks): Promise<Found>;
}

/** Whether a key says something of what further requests tell of a resource. */
export function isAsked({ fields, parts }: DetailRequest, actual: Actual, asks: Asks): boolean {
  return (
    (parts !== undefined && asks.wantsParts(actual, parts === 'any' ? undefined : parts)) || asks.wants(actual, fields)
  );
}

/** One resource with all that was told of it. */
export function withTold(actual: Actual, told: readonly Detail[]): Found {
  const fields = Object.assign({}, actual.fields, ...told.map((each) => each.fields ?? {}));
  return {
    actuals: [{ ...actual, fields }, ...told.flatMap((each) => each.parts ?? [])],
    people: told.flatMap((each) => each.people ?? []),
  };
}

/** All that was found, in this order. */
export function together(found: readonly Found[]): Found {
  return { actuals: found.flatMap(({ actuals }) => actuals), people: found.flatMap(({ people }) => people) };
}

/** The platform itself. */
export function platformSource(reader: Reader): ActualSource {
  return {
    read: async (kinds, asks) => together(await settleAll(kinds.map((kind) => readKind(kind, asks, reader)))),
  };
}

async function readKind(kind: Kind, asks: Asks, reader: Reader): Promise<Found> {
  const { actuals, people } = await list(kind, reader);
  const resources = await settleAll(
    actuals.map(async (actual) => withTold(actual, await askAll(kind.details ?? [], actual, asks, reader))),
  );
  return together([{ actuals: [], people }, ...resources]);
}

/** What the list of a kind tells. */
export async function list(kind: Kind, reader: Reader): Promise<Found> {
  const actuals: Actual[] = [];
  const people: (readonly [string, string])[] = [];
  await kind.observe?.({
    reader,
    add: (actual) => actuals.push(actual),
    person: (email, id) => people.push([email, id]),
  });
  return { actuals, people };
}

async function askAll(
  details: readonly DetailRequest[],
  actual: Actual,
  asks: Asks,
  reader: Reader,
): Promise<Detail[]> {
  const due = details.filter((each) => isAsked(each, actual, asks));
  return (await settleAll(due.map((each) => askInTurn(each, actual, asks, reader)))).flat();
}

async function askInTurn(first: DetailRequest, actual: Actual, asks: Asks, reader: Reader): Promise<Detail[]> {
  const told: Detail[] = [];
  let before: Detail = {};
  for (
    let next: DetailRequest | undefined = first;
    next !== undefined && isAsked(next, actual, asks);
    next = next.next
  ) {
    before = await next.read(actual, reader, before);
    told.push(before);
  }
  return told;
}

/** Waits for all, then throws what the first of them failed with: nothing is left running behind an error. */
export async function settleAll<T>(promises: readonly Promise<T>[]): Promise<T[]> {
  const results = await Promise.allSettled(promises);
  const failed = results.find((result) => result.status === 'rejected');
  if (failed !== undefined) {
    throw failed.reason;
  }
  return results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
}
