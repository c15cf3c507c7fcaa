import { type Address, unboundAddress } from '../core/address.ts';
import type { Change } from '../core/change.ts';
import {
  AuthError,
  DependencyNotReadyError,
  NotThePlatformError,
  RejectedError,
  TransientError,
} from '../core/errors.ts';
import { isObject } from '../core/json.ts';
import { type PlannedRequest, Ref, RefMap } from '../kinds/model/request.ts';
import { normalizeValue } from '../plan/model/diff.ts';
import type { KindRules } from '../plan/model/rules.ts';
import type { Writer } from '../platform/client.ts';
import type { VersionMemory } from './observe/version-memory.ts';

/** Ids by address, growing while a plan is applied. */
export type Bindings = Map<Address, string>;

/** Number of times that a write with a lost answer is looked up and sent again. */
const ATTEMPTS = 3;

export interface SendContext {
  readonly writer: Writer;
  readonly bindings: Bindings;
  readonly signal: AbortSignal;
  /** Finds and binds the resource of a creation whose response was lost; null if it created none. */
  readonly locate: (change: Change) => Promise<string | null>;
  /** Reads a resource again, and returns true if these fields have the values that the change sets. */
  readonly isInPlace: (change: Change, fields: readonly string[]) => Promise<boolean>;
  readonly kinds: readonly KindRules[];
  /** Remembers which operations this version of the platform has. */
  readonly versions: VersionMemory;
}

/**
 * Sends one planned request, or its equivalent on this version of the platform. `onMaybeDone` is called as soon as a
 * request took effect, or may have. Returns notes about values that the platform stored differently.
 */
export async function sendPlanned(
  planned: PlannedRequest,
  change: Change,
  context: SendContext,
  onMaybeDone: () => void,
): Promise<readonly string[]> {
  const { instead } = planned;
  const rules = context.kinds.find(({ name }) => name === change.kind);
  if (instead === null) {
    return storedOtherwise(await sendOne(planned, change, context, onMaybeDone), rules);
  }
  let notes: readonly string[] = [];
  await context.versions.choose(instead.feature, {
    documented: async () => {
      notes = storedOtherwise(await sendOne(planned, change, context, onMaybeDone), rules);
    },
    alternative: async () => {
      const { request } = instead;
      const sent = await sendOne(request, change, context, onMaybeDone);
      if (!instead.isDone(sent.answer, sent.input)) {
        throw new RejectedError(`${request.operation.name}: the platform answered, but the change was not made`, 404);
      }
      notes = storedOtherwise(sent, rules);
    },
  });
  return notes;
}

/** Longest value in a note, in characters. */
const MAX_SHOWN = 100;

/**
 * Compares the strings of a request with those of its answer. A difference that a plan would not see is not reported, and
 * the values of fields that plans show as a hash are not shown.
 */
function storedOtherwise({ input, answer }: Sent, rules: KindRules | undefined): readonly string[] {
  const body = isObject(input) ? input.body : undefined;
  if (!isObject(body) || !isObject(answer) || rules === undefined) {
    return [];
  }
  return Object.entries(body).flatMap(([name, sent]) => {
    const field = Object.hasOwn(rules.fields, name) ? rules.fields[name] : undefined;
    const stored = answer[name];
    const isCompared = field !== undefined && field.compare !== 'base' && field.fixed !== 'create';
    if (!isCompared || field.references !== undefined || typeof sent !== 'string' || typeof stored !== 'string') {
      return [];
    }
    const [wanted, actual] = [normalizeValue(field, sent), normalizeValue(field, stored)];
    if (wanted === actual) {
      return [];
    }
    const values =
      field.normalize === undefined && field.redacted !== true
        ? `${quoted(actual)} instead of ${quoted(wanted)}`
        : 'another value';
    return [
      `the platform stored ${values} for ${field.manifestName ?? name}; write it like this, or every plan will update it again`,
    ];
  });
}

function quoted(value: unknown): string {
  const characters = [...String(value).slice(0, 2 * MAX_SHOWN + 2)];
  return JSON.stringify(
    characters.length > MAX_SHOWN ? `${characters.slice(0, MAX_SHOWN - 1).join('')}…` : characters.join(''),
  );
}

interface Sent {
  readonly input: unknown;
  readonly answer: unknown;
}

/**
 * Sends a request until it is confirmed. A write whose answer was lost is verified before it is sent again: a creation
 * by the natural key of its resource, any other write by the fields that it sets, so that one request of a change is
 * never mistaken for another. It is not sent again after an unreadable answer, which comes from something else than the
 * platform, such as a proxy. A tolerated refusal counts as success if the fields already have the values.
 */
async function sendOne(
  planned: PlannedRequest,
  change: Change,
  context: SendContext,
  onMaybeDone: () => void,
): Promise<Sent> {
  for (let attempt = 1; ; attempt += 1) {
    const input = fillIn(planned.input, change, context.bindings);
    let sent = 0;
    const onAttempt = () => {
      sent += 1;
    };
    try {
      const options = { signal: context.signal, onAttempt };
      const answer = await context.writer.send(planned.operation, input as never, options);
      onMaybeDone();
      if (!learn(planned, answer, context.bindings)) {
        await context.locate(change);
      }
      return { input, answer };
    } catch (error) {
      // The queue retries idempotent requests itself: only its last attempt is known to have had no effect.
      const nothing = sent === 0 || (isRefusal(error) && (sent === 1 || planned.operation.repeat === 'never'));
      if (!nothing) {
        onMaybeDone();
      }
      if (error instanceof RejectedError && planned.tolerates.includes(error.status)) {
        if (await context.isInPlace(change, planned.sets)) {
          return { input, answer: undefined };
        }
        throw error;
      }
      if (!isLost(error) || planned.operation.repeat !== 'never') {
        throw error;
      }
      if (await wasDone(planned, change, context)) {
        return { input, answer: undefined };
      }
      if (attempt === ATTEMPTS || !(error instanceof TransientError)) {
        throw error;
      }
    }
  }
}

/**
 * Returns true if a request that failed with this error may have taken effect: its answer was lost or cannot be read.
 */
function isLost(error: unknown): boolean {
  return error instanceof NotThePlatformError || (error instanceof TransientError && error.maybeDone);
}

/** Returns true if a write with a lost answer is known to have taken effect. */
async function wasDone(planned: PlannedRequest, change: Change, context: SendContext): Promise<boolean> {
  if (planned.creates) {
    return (await context.locate(change)) !== null;
  }
  return planned.sets.length > 0 && (await context.isInPlace(change, planned.sets));
}

/**
 * Records the ids in an answer. Returns false if something was created whose id is not in the answer, because it has no
 * body. Source: docs/platform-notes.md#answers-without-a-body
 */
function learn({ operation, learns, creates }: PlannedRequest, answer: unknown, bindings: Bindings): boolean {
  if (answer === undefined && operation.answer !== null) {
    return !creates;
  }
  for (const [address, id] of learns(answer)) {
    bindings.set(address, id);
  }
  return true;
}

/** Returns true if a request that failed with this error certainly had no effect: it was refused or never sent. */
function isRefusal(error: unknown): boolean {
  const isUnsent = error instanceof TransientError && !error.maybeDone;
  return error instanceof RejectedError || error instanceof AuthError || isUnsent;
}

/**
 * Replaces every reference in an input with an id; returns the same value if there is none. Throws
 * DependencyNotReadyError if an id is not known yet.
 */
function fillIn(value: unknown, change: Change, bindings: Bindings): unknown {
  if (value instanceof Ref) {
    return idOf(value.address, change, bindings);
  }
  if (value instanceof RefMap) {
    return Object.fromEntries(
      value.entries.map(([key, member]) => [idOf(key.address, change, bindings), fillIn(member, change, bindings)]),
    );
  }
  if (Array.isArray(value)) {
    const items = value.map((item) => fillIn(item, change, bindings));
    return items.every((item, index) => item === value[index]) ? value : items;
  }
  if (!isObject(value)) {
    return value;
  }
  const names = Object.keys(value);
  const members = names.map((name) => fillIn(value[name], change, bindings));
  const isSame = members.every((member, index) => member === value[names[index] ?? '']);
  return isSame ? value : Object.fromEntries(names.map((name, index) => [name, members[index]]));
}

function idOf(address: Address, change: Change, bindings: Bindings): string {
  // A deletion that is half of a replacement refers to the old resource, even if the address is already bound to the
  // new one.
  if (change.action === 'delete' && address === change.address && change.id !== null) {
    return change.id;
  }
  const id = address.startsWith(unboundAddress('')) ? address.slice(1) : bindings.get(address);
  if (id === undefined) {
    throw new DependencyNotReadyError(`${address} does not exist yet`);
  }
  return id;
}
