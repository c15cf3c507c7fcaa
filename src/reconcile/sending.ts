/** Sends the requests of a change, and finds out on the platform whether a write with a lost answer took effect. */
import { type Address, unboundAddress } from '../core/address.ts';
import type { Change } from '../core/change.ts';
import {
  AuthError,
  DependencyNotReadyError,
  NotThePlatformError,
  RejectedError,
  TransientError,
} from '../core/errors.ts';
import { isObject, sameJson } from '../core/json.ts';
import type { ManifestSecrets } from '../core/manifest-secrets.ts';
import { type Actual, type Declared, type Fields, isIdRef, type Observation } from '../core/resource.ts';
import { type BulkItem, type Kind, type PlannedRequest, Ref, RefMap, SecretText } from '../kinds/model/kind.ts';
import { normalizeValue } from '../plan/diff.ts';
import { type Identity, identify } from '../plan/identity.ts';
import type { KindRules } from '../plan/rules.ts';
import type { Reader, Writer } from '../platform/client.ts';
import { observe, platformSource } from './observe.ts';
import type { Planned, PlanningInput } from './planning.ts';

/** Ids by address, growing while a plan is applied. */
export type Bindings = Map<Address, string>;

/** Number of times that a write with a lost answer is looked up and sent again. */
const ATTEMPTS = 3;

export interface SendContext {
  readonly writer: Writer;
  readonly bindings: Bindings;
  readonly signal: AbortSignal;
  /** Finds out whether a write whose answer was lost took effect. */
  readonly verifier: Pick<WriteVerifier, 'findCreated' | 'isInPlace'>;
  readonly kinds: readonly KindRules[];
  readonly secrets: ManifestSecrets;
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
  const send = (request: PlannedRequest) => sendOne(request, change, context, onMaybeDone);
  const sent =
    instead === null
      ? await send(planned)
      : await context.versions.choose(instead.feature, {
          documented: () => send(planned),
          alternative: async () => {
            const { request } = instead;
            const { input, answer } = await send(request);
            if (!instead.isDone(answer, input)) {
              throw new RejectedError(
                `${request.operation.name}: the platform answered, but the change was not made`,
                404,
              );
            }
            return { input, answer };
          },
        });
  return storedOtherwise(sent, rules);
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

/** Outcome of an item that was sent together with others. */
export type BulkOutcome =
  | { readonly state: 'done' }
  /** It certainly had no effect, and is sent alone to find out why. */
  | { readonly state: 'refused' }
  | { readonly state: 'failed'; readonly error: Error; readonly isMaybeDone: boolean };

/**
 * Sends the requests of several changes as one, and returns what became of each. All are refused where the platform does
 * not take them together, or refuses the request as a whole. The request is idempotent: the queue repeats it after a
 * lost answer.
 */
export async function sendTogether(
  items: readonly { readonly change: Change; readonly bulk: BulkItem }[],
  { request, path }: BulkItem,
  context: SendContext,
): Promise<readonly BulkOutcome[]> {
  const { bindings, versions, signal, writer } = context;
  const [first] = items;
  if (first === undefined) {
    return [];
  }
  const filled = items.map(({ change, bulk }) => fillIn(bulk.body, change, context));
  const input = { path: fillIn(path, first.change, context), body: request.body(filled) };
  let sent = 0;
  const onAttempt = () => {
    sent += 1;
  };
  let answer: unknown;
  try {
    answer = await versions.choose<unknown>(`${request.operation.name} at all`, {
      documented: () => writer.send(request.operation, input as never, { signal, onAttempt }),
      alternative: async () => null,
    });
  } catch (error) {
    if (error instanceof RejectedError && sent === 1) {
      return items.map(() => ({ state: 'refused' }));
    }
    const isMaybeDone = !(sent === 0 || (isRefusal(error) && sent === 1));
    return items.map(() => ({ state: 'failed', error: error as Error, isMaybeDone }));
  }
  if (answer === null) {
    return items.map(() => ({ state: 'refused' }));
  }
  return items.map(({ change }, index): BulkOutcome => {
    const result = request.resultOf(answer, filled[index]);
    if (result === undefined) {
      const error = new TransientError(`${request.operation.name}: the platform did not say what became of it`, true);
      return { state: 'failed', error, isMaybeDone: true };
    }
    if ('error' in result) {
      return { state: 'refused' };
    }
    if (result.id !== null) {
      bindings.set(change.address, result.id);
    }
    return { state: 'done' };
  });
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
    const filled = fillIn(planned.input, change, context);
    const input = planned.complete === null ? filled : await planned.complete(filled, context.writer);
    let sent = 0;
    const onAttempt = () => {
      sent += 1;
    };
    try {
      const options = { signal: context.signal, onAttempt };
      const answer = await context.writer.send(planned.operation, input as never, options);
      onMaybeDone();
      if (!learn(planned, answer, context.bindings)) {
        await context.verifier.findCreated(change, context.bindings);
      }
      return { input, answer };
    } catch (error) {
      // The queue retries idempotent requests itself: only its last attempt is known to have had no effect.
      const nothing = sent === 0 || (isRefusal(error) && (sent === 1 || planned.operation.repeat === 'never'));
      if (!nothing) {
        onMaybeDone();
      }
      if (error instanceof RejectedError && planned.tolerates.includes(error.status)) {
        if (await context.verifier.isInPlace(change, planned.sets, context.bindings)) {
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
      if (attempt === ATTEMPTS || !(error instanceof TransientError) || isSentOnce(planned, change, context)) {
        throw error;
      }
    }
  }
}

/** Returns true for a creation that the platform need not list, such as an invitation: it may have taken effect. */
function isSentOnce({ creates }: PlannedRequest, { kind }: Change, { kinds }: SendContext): boolean {
  return creates && kinds.find(({ name }) => name === kind)?.creatable === 'once';
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
    return (await context.verifier.findCreated(change, context.bindings)) !== null;
  }
  return planned.sets.length > 0 && (await context.verifier.isInPlace(change, planned.sets, context.bindings));
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
 * Replaces every reference in an input with an id, and every reference to a secret with its value; returns the same value if
 * there is none. Throws DependencyNotReadyError if an id is not known yet, and ConfigError if a secret may not be sent.
 */
function fillIn(value: unknown, change: Change, context: Pick<SendContext, 'bindings' | 'secrets'>): unknown {
  const { bindings, secrets } = context;
  if (value instanceof Ref) {
    return idOf(value.address, change, bindings);
  }
  if (value instanceof SecretText) {
    return secrets.fill(value.text, value.address);
  }
  if (value instanceof RefMap) {
    return Object.fromEntries(
      value.entries.map(([key, member]) => [idOf(key.address, change, bindings), fillIn(member, change, context)]),
    );
  }
  if (Array.isArray(value)) {
    const items = value.map((item) => fillIn(item, change, context));
    return items.every((item, index) => item === value[index]) ? value : items;
  }
  if (!isObject(value)) {
    return value;
  }
  const names = Object.keys(value);
  const members = names.map((name) => fillIn(value[name], change, context));
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

/**
 * Two requests with the same effect on different versions of the platform. Each throws AppError if it had no effect.
 */
export interface VersionVariants<T = void> {
  /** The request that the API document describes. */
  documented(): Promise<T>;
  /** The request for versions that answer the documented one with 404. */
  alternative(): Promise<T>;
}

/**
 * Remembers, for one pass, which operations the platform has: no request shows whether a write operation exists. The
 * first change that needs a feature tries it while the others wait, so a missing operation is tried once and not once
 * per change. Source: docs/platform-notes.md#changes-by-version
 */
export class VersionMemory {
  /** The variant that works, by feature. */
  readonly #known = new Map<string, keyof VersionVariants>();
  /** Trials in progress, by feature. */
  readonly #trials = new Map<string, Promise<void>>();

  /** Sends the variant that works on this platform. Throws AppError if neither does; nothing is learned from that. */
  async choose<T>(feature: string, ways: VersionVariants<T>): Promise<T> {
    while (!this.#known.has(feature) && this.#trials.has(feature)) {
      await this.#trials.get(feature);
    }
    const known = this.#known.get(feature);
    if (known !== undefined) {
      return ways[known]();
    }
    const trial = Promise.withResolvers<void>();
    this.#trials.set(feature, trial.promise);
    try {
      const [variant, result] = await tryBoth(ways);
      this.#known.set(feature, variant);
      return result;
    } finally {
      this.#trials.delete(feature);
      trial.resolve();
    }
  }
}

/**
 * A 404 may also mean that the resource no longer exists. Then the alternative fails too, and both errors are reported,
 * since either may give the reason.
 */
async function tryBoth<T>(ways: VersionVariants<T>): Promise<readonly [keyof VersionVariants, T]> {
  try {
    return ['documented', await ways.documented()];
  } catch (error) {
    if (!(error instanceof RejectedError && error.status === 404)) {
      throw error;
    }
    try {
      return ['alternative', await ways.alternative()];
    } catch (second) {
      throw second instanceof RejectedError
        ? new RejectedError(`${error.message}; ${second.message}`, second.status)
        : second;
    }
  }
}

/**
 * Checks on the platform whether a write whose answer was lost took effect. Reads everything again for each check: a
 * lost answer is rare, and resources that were created meanwhile must be distinguished.
 */
export class WriteVerifier {
  readonly #kinds: ReadonlyMap<string, Kind>;
  readonly #declared: ReadonlyMap<Address, Declared>;
  readonly #reader: Reader;
  /** The actual state that the plan was made from. */
  readonly #before: Observation;
  readonly #creations: ReadonlyMap<Address, Change>;

  constructor({ kinds, declared }: Pick<PlanningInput, 'kinds' | 'declared'>, planned: Planned, reader: Reader) {
    this.#kinds = new Map(kinds.map((kind) => [kind.name, kind]));
    this.#declared = declared;
    this.#reader = reader;
    this.#before = planned.observation;
    const creations = planned.plan.changes.filter(({ action }) => action === 'create');
    this.#creations = new Map(creations.map((change) => [change.address, change]));
  }

  /**
   * Finds the resource of a creation whose response was lost, among those that no other key matches, and binds it and
   * the resources that were created inside it. Null if it created none. Throws DependencyNotReadyError if that cannot
   * be determined.
   */
  async findCreated(change: Change, bindings: Bindings): Promise<string | null> {
    // Until its creation is confirmed, an address is bound to the resource that it replaces, which is not the new one.
    const old = bindings.get(change.address);
    const known = new Map([...bindings].filter(([address]) => address !== change.address));
    const { bound, observation } = await this.#identify(
      known,
      (actual) => actual.kind === change.kind && actual.id === old,
    );
    const made = bound.get(change.address) ?? this.#copy(change, observation, bindings);
    if (made === undefined) {
      return null;
    }
    bindings.set(change.address, made.id);
    const seed = this.#kinds.get(change.kind)?.seed?.(change, (address) => this.#creations.get(address));
    const shown = bindings.get(seed?.refersTo ?? '');
    const part = [...observation.kinds.values()]
      .flat()
      .find(({ place, fields }) => place?.list === made.id && refersTo(fields, shown));
    if (seed !== undefined && part !== undefined) {
      bindings.set(seed.address, part.id);
    }
    return made.id;
  }

  /**
   * Reads a resource again, and returns true if these fields have the values that the change sets. A field that this
   * version of the platform does not have counts as in place.
   */
  async isInPlace(change: Change, fields: readonly string[], bindings: Bindings): Promise<boolean> {
    const { bound, fieldsOf } = await this.#identify(bindings, () => false);
    const actual = bound.get(change.address);
    if (actual === undefined) {
      return false;
    }
    const now = fieldsOf(actual);
    const rules = this.#kinds.get(change.kind)?.fields ?? {};
    const isUnknown = (name: string) => rules[name]?.unsupportedNote !== undefined && now[name] === undefined;
    return fields.every((name) => {
      const [declared, actual] = [change.declared[name] ?? null, now[name] ?? null];
      const part = rules[name]?.part?.(declared, actual) ?? { declared, actual };
      return (
        isUnknown(name) ||
        sameJson(normalizeValue(rules[name], part.actual), normalizeValue(rules[name], part.declared))
      );
    });
  }

  /**
   * Finds the copy that a creation has made: the only new resource that has the title of the original and that no other
   * key matches. Throws DependencyNotReadyError if several could be the copy, or if one could be the result of
   * background work of the platform, such as a translation of the original.
   */
  #copy(change: Change, observation: Observation, bindings: Bindings): Actual | undefined {
    const now = observation.kinds.get(change.kind) ?? [];
    const original = now.find(
      ({ id }) => id === bindings.get(this.#kinds.get(change.kind)?.copySource?.(change) ?? ''),
    );
    if (original === undefined) {
      return undefined;
    }
    const all = [...observation.kinds.values()].flat();
    const before = this.#before.kinds.get(change.kind) ?? [];
    const results = all.flatMap(({ aliases }) => aliases ?? []);
    const known = new Set([...before.map(({ id }) => id), ...bindings.values(), ...results]);
    const made = now.filter(({ id, title }) => !known.has(id) && title.includes(original.title));
    const unfinished = all.filter(
      (actual) => refersTo(actual.fields, original.id) && this.#kinds.get(actual.kind)?.unusableReason?.(actual),
    );
    if (made.length > 1 || (made.length === 1 && unfinished.length > 0)) {
      const ids = made.map(({ id }) => id).join(', ');
      throw new DependencyNotReadyError(
        `the answer to its creation was lost, and it is unclear whether ${ids} is the copy; set id to the copy, and delete the others`,
      );
    }
    return made[0];
  }

  async #identify(
    bindings: ReadonlyMap<Address, string>,
    isLeftOut: (actual: Actual) => boolean,
  ): Promise<Identity & { readonly observation: Observation }> {
    const kinds = [...this.#kinds.values()];
    // Match by id first: the title may not have been updated yet.
    const declared = new Map(
      [...this.#declared].map(([address, resource]) => [
        address,
        { ...resource, id: bindings.get(address) ?? resource.id },
      ]),
    );
    const found = await observe({ kinds, declared, base: null, source: platformSource(this.#reader) });
    const left = [...found.kinds].map(([kind, actuals]) => [kind, actuals.filter((each) => !isLeftOut(each))] as const);
    const observation = { ...found, kinds: new Map(left) };
    return { ...identify(kinds, declared, null, observation), observation };
  }
}

function refersTo(fields: Fields, id: string | undefined): boolean {
  return Object.values(fields).some((value) => isIdRef(value) && value.$id === id);
}
