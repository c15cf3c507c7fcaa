import type { DeletedContents } from '../../core/change.ts';
import { AppError, CancelledError, InterruptedError } from '../../core/errors.ts';
import type { Actual } from '../../core/resource.ts';
import type { Detail, DetailRequest, Kind } from '../../kinds/model/kind.ts';
import type { Reader } from '../../platform/client.ts';
import { ownUser } from './own-user.ts';

/** Decides which resources need more than their list returns. */
export interface RequiredDetails {
  /** Returns true if a key that sets one of these fields may mean this resource. */
  needsFields(actual: Actual, fields: readonly string[]): boolean;
  /** Returns true if a part, or a part of one kind, is declared or owned inside what may be this resource. */
  needsParts(actual: Actual, kind?: string): boolean;
}

/** Resources and people that were read. */
export interface ActualResources {
  /** Parts come after what they are part of. */
  readonly actuals: readonly Actual[];
  /** Emails and ids of people seen as members of the organization. */
  readonly people: readonly (readonly [email: string, id: string])[];
}

/** Source of the actual state: the platform, or a snapshot of it. */
export interface ActualSource {
  /** Lists some kinds concurrently, and reads the required details of each resource. Throws AppError. */
  read(kinds: readonly Kind[], required: RequiredDetails): Promise<ActualResources>;
  /** Number of requests made so far. */
  requests(): number;
  /**
   * The email of the user whose token is used; null if the platform does not report it. Absent: the source cannot be
   * asked.
   */
  ownUser?(members: readonly Actual[]): Promise<string | null>;
  /**
   * Reads what the deletion of a resource would destroy; null if that cannot be read. Throws AppError if the reader is
   * stopped. Absent: the source cannot be asked.
   */
  contents?(kind: Kind, id: string): Promise<DeletedContents | null>;
}

/** The platform as a source. */
export interface PlatformSource extends ActualSource {
  /** Requests the lists of some kinds early. The next `read` of each kind uses them, and reports their errors. */
  begin(kinds: readonly Kind[]): void;
}

/** Returns true if a key requires what a detail request of a resource returns. */
export function isRequired({ fields, parts }: DetailRequest, actual: Actual, required: RequiredDetails): boolean {
  return (
    (parts !== undefined && required.needsParts(actual, parts === 'any' ? undefined : parts)) ||
    required.needsFields(actual, fields)
  );
}

/** Adds details to a resource. */
export function withDetails(actual: Actual, details: readonly Detail[]): ActualResources {
  const fields = Object.assign({}, actual.fields, ...details.map((each) => each.fields ?? {}));
  return {
    actuals: [{ ...actual, fields }, ...details.flatMap((each) => each.parts ?? [])],
    people: details.flatMap((each) => each.people ?? []),
  };
}

/** Combines resources in this order. */
export function combineResources(found: readonly ActualResources[]): ActualResources {
  return { actuals: found.flatMap(({ actuals }) => actuals), people: found.flatMap(({ people }) => people) };
}

/** Opens the platform as a source; `requests` returns the number of requests that the reader has made. */
export function platformSource(reader: Reader, requests: () => number = () => 0): PlatformSource {
  const begun = new Map<Kind, Promise<ActualResources>>();
  const listOnce = (kind: Kind) => {
    const listing = begun.get(kind) ?? list(kind, reader);
    begun.delete(kind);
    return listing;
  };
  return {
    begin(kinds) {
      for (const kind of kinds.filter((each) => each.observe !== null && !begun.has(each))) {
        const listing = list(kind, reader);
        listing.catch(() => {});
        begun.set(kind, listing);
      }
    },
    read: async (kinds, required) =>
      combineResources(await settleAll(kinds.map((kind) => readKind(kind, listOnce(kind), required, reader)))),
    requests,
    ownUser: (members) => ownUser(reader, members),
    async contents(kind, id) {
      try {
        return (await kind.readContents?.({ id }, reader)) ?? null;
      } catch (error) {
        if (!(error instanceof AppError) || error instanceof CancelledError || error instanceof InterruptedError) {
          throw error;
        }
        return null;
      }
    },
  };
}

async function readKind(
  kind: Kind,
  listing: Promise<ActualResources>,
  required: RequiredDetails,
  reader: Reader,
): Promise<ActualResources> {
  const { actuals, people } = await listing;
  const resources = await readEach(actuals, async (actual) =>
    withDetails(actual, await readDetails(kind.details ?? [], actual, required, reader)),
  );
  return combineResources([{ actuals: [], people }, ...resources]);
}

/** Maximum number of resources that are read at a time: as many as a queue can send requests, to save memory. */
const MAX_READING = 1000;

/** Reads each item; starts no more after an error, and throws it once those that were started have ended. */
async function readEach<T, R>(items: readonly T[], read: (item: T) => Promise<R>): Promise<readonly R[]> {
  const results: R[] = [];
  const remaining = items.entries();
  let hasFailed = false;
  const loop = async () => {
    for (const [index, item] of remaining) {
      if (hasFailed) {
        return;
      }
      try {
        results[index] = await read(item);
      } catch (error) {
        hasFailed = true;
        throw error;
      }
    }
  };
  await settleAll(Array.from({ length: Math.min(MAX_READING, items.length) }, loop));
  return results;
}

/** Lists the resources of a kind. */
export async function list(kind: Kind, reader: Reader): Promise<ActualResources> {
  const actuals: Actual[] = [];
  const people: (readonly [string, string])[] = [];
  await kind.observe?.({
    reader,
    add: (actual) => actuals.push(actual),
    person: (email, id) => people.push([email, id]),
  });
  return { actuals, people };
}

async function readDetails(
  details: readonly DetailRequest[],
  actual: Actual,
  required: RequiredDetails,
  reader: Reader,
): Promise<Detail[]> {
  const due = details.filter((each) => isRequired(each, actual, required));
  return (await settleAll(due.map((each) => readChain(each, actual, required, reader)))).flat();
}

async function readChain(
  first: DetailRequest,
  actual: Actual,
  required: RequiredDetails,
  reader: Reader,
): Promise<Detail[]> {
  const details: Detail[] = [];
  let before: Detail = {};
  for (
    let next: DetailRequest | undefined = first;
    next !== undefined && isRequired(next, actual, required);
    next = next.next
  ) {
    before = await next.read(actual, reader, before);
    details.push(before);
  }
  return details;
}

/** Waits for all, then throws the first error, so that nothing keeps running after a failure. */
export async function settleAll<T>(promises: readonly Promise<T>[]): Promise<T[]> {
  const results = await Promise.allSettled(promises);
  const failed = results.find((result) => result.status === 'rejected');
  if (failed !== undefined) {
    throw failed.reason;
  }
  return results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
}
