import { AuthError, messageOf, RejectedError } from '../core/errors.ts';
import type { Actual, Observation } from '../core/resource.ts';
import type { Kind } from '../kinds/model/kind.ts';
import type { Reader } from '../platform/client.ts';
import { type ActualResources, platformSource, settleAll } from '../reconcile/observe/actual-source.ts';

/** All resources of some kinds. */
export interface ReadAll {
  readonly observation: Observation;
  /** Kinds that the token may not read, or the platform does not have, with the reason. */
  readonly unread: readonly { readonly kind: string; readonly reason: string }[];
}

/**
 * Reads the wanted kinds and those that they refer to; an empty list means every kind. Throws errors that are not about
 * a single kind, and errors that affect every kind.
 */
export async function readAll(kinds: readonly Kind[], names: readonly string[], reader: Reader): Promise<ReadAll> {
  const wanted = withNeeded(kinds, names);
  const due = kinds.filter((kind) => kind.observe !== null && wanted.has(kind.name));
  const source = platformSource(reader);
  const all = { needsFields: () => true, needsParts: () => true };
  const answers = await settleAll(
    due.map(async (kind) => ({ kind, answer: await source.read([kind], all).catch(unreadable) })),
  );
  const found = new Map<string, Actual[]>();
  const people = new Map<string, string>();
  const unread: { kind: string; reason: string }[] = [];
  for (const { kind, answer } of answers) {
    if ('reason' in answer) {
      unread.push({ kind: kind.name, reason: answer.reason });
      if (unread.length === answers.length) {
        // Not a kind, but the organization cannot be read.
        throw answer.error;
      }
      continue;
    }
    for (const name of [kind.name, ...kinds.filter((part) => part.partOf === kind.name).map((part) => part.name)]) {
      found.set(name, []);
    }
    for (const actual of answer.actuals) {
      found.get(actual.kind)?.push(actual);
    }
    for (const [email, id] of answer.people) {
      people.set(email, id);
    }
  }
  return { observation: { kinds: found, people }, unread };
}

/** Adds the kinds that these refer to, transitively. */
function withNeeded(kinds: readonly Kind[], names: readonly string[]): ReadonlySet<string> {
  const needed = new Set(names.length === 0 ? kinds.map(({ name }) => name) : names);
  // The set grows during the iteration, which visits the added items too.
  for (const name of needed) {
    for (const kind of kinds.filter((each) => each.name === name || each.partOf === name)) {
      for (const other of kind.dependsOn) {
        needed.add(other);
      }
    }
  }
  return needed;
}

/** Treats a refusal for one kind as missing; throws any other error, such as a token that is not accepted. */
function unreadable(error: unknown): { readonly reason: string; readonly error: Error } | ActualResources {
  if (error instanceof RejectedError || (error instanceof AuthError && error.status !== 401)) {
    return { reason: messageOf(error), error };
  }
  throw error;
}
