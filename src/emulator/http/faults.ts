/** Injected faults: the rules, and the choice for each request. */

import { z } from 'zod';

const statusCode = z.number().int().min(200).max(599);

const fault = z.discriminatedUnion('kind', [
  /** An error answer; the operation does not run. */
  z.strictObject({ kind: z.literal('status'), status: statusCode, message: z.string().optional() }),
  /** The connection is dropped; the operation does not run. */
  z.strictObject({ kind: z.literal('reset-before') }),
  /** The operation runs, and the connection is dropped instead of an answer. */
  z.strictObject({ kind: z.literal('reset-after') }),
  /** A web page instead of an answer, as of a proxy; the operation does not run. Status 200 by default. */
  z.strictObject({ kind: z.literal('html'), status: statusCode.optional() }),
  /** The operation runs; the connection is dropped halfway through the answer. */
  z.strictObject({ kind: z.literal('truncate') }),
  /** The operation runs; half of the answer is sent as if it were complete. */
  z.strictObject({ kind: z.literal('half') }),
  /** The operation runs; the content type of the answer is text. */
  z.strictObject({ kind: z.literal('wrong-content-type') }),
  /** The answer is delayed. */
  z.strictObject({ kind: z.literal('delay'), ms: z.number().nonnegative() }),
  /** Rate limited; the operation does not run. */
  z.strictObject({ kind: z.literal('429'), retryAfter: z.number().nonnegative().optional() }),
]);

/** A fault. A hook runs code at that moment. */
export type Fault =
  | Readonly<z.output<typeof fault>>
  | { readonly kind: 'hook'; readonly run: () => void; readonly when: 'before' | 'after' };

const faultRule = z.strictObject({
  match: z
    .strictObject({
      method: z.string().optional(),
      /** Only writes, or only reads. */
      writes: z.boolean().optional(),
      /** Name of the operation, as in the request log. */
      operation: z.string().optional(),
      /** Part of the path. */
      path: z.string().optional(),
      /** Only the nth matching request; the first is 1. */
      nth: z.number().int().positive().optional(),
    })
    .optional(),
  /** Share of the matching requests, from 0 to 1; all by default. */
  rate: z.number().min(0).max(1).optional(),
  /** Highest number of times that it is applied. */
  times: z.number().int().nonnegative().optional(),
  fault,
});

/** A fault, and the requests that it applies to. */
export type FaultRule = Readonly<Omit<z.output<typeof faultRule>, 'fault'> & { fault: Fault }>;

/** Fault rules that the control accepts: all but hooks. */
export const faultRulesSchema: z.ZodType<FaultRule[]> = z.array(faultRule);

/** Parts of a request that rules match. */
export interface FaultTarget {
  readonly method: string;
  readonly operation: string;
  readonly path: string;
}

type Terminal = Exclude<Fault, { kind: 'delay' } | { kind: 'hook' }>;

/** Faults of one request: any number of delays and hooks, and at most one that ends it. */
export interface ChosenFaults {
  readonly delay: number;
  readonly before: readonly (() => void)[];
  readonly after: readonly (() => void)[];
  readonly end: Terminal | undefined;
}

/** No fault. */
export const NO_FAULTS: ChosenFaults = { delay: 0, before: [], after: [], end: undefined };

interface Active {
  readonly rule: FaultRule;
  seen: number;
  done: number;
}

/**
 * Chooses faults by rules. The same seed and requests give the same faults. The fault of the nth request of a method
 * and path does not depend on other requests, so that concurrent requests may arrive in any order.
 */
export class FaultInjector {
  #rules: Active[] = [];
  readonly #seed: number;
  #times = new Map<string, number>();

  constructor(rules: readonly FaultRule[], seed: number) {
    this.#seed = seed;
    this.set(rules);
  }

  /** Replaces the rules and starts over. */
  set(rules: readonly FaultRule[]): void {
    this.#rules = rules.map((rule) => ({ rule, seen: 0, done: 0 }));
    this.#times = new Map();
  }

  /** Returns the faults of a request. If several rules would end it, the first wins. */
  choose(target: FaultTarget): ChosenFaults {
    if (this.#rules.length === 0) {
      return NO_FAULTS;
    }
    const name = `${target.method} ${target.path}`;
    const time = (this.#times.get(name) ?? 0) + 1;
    this.#times.set(name, time);
    const before: (() => void)[] = [];
    const after: (() => void)[] = [];
    let delay = 0;
    let end: Terminal | undefined;
    for (const [index, active] of this.#rules.entries()) {
      const { fault } = active.rule;
      const ends = fault.kind !== 'delay' && fault.kind !== 'hook';
      if (
        (ends && end !== undefined) ||
        !this.#fires(active, target, () => drawn(this.#seed, `${index} ${time} ${name}`))
      ) {
        continue;
      }
      if (fault.kind === 'delay') {
        delay += fault.ms;
      } else if (fault.kind === 'hook') {
        (fault.when === 'before' ? before : after).push(fault.run);
      } else {
        end = fault;
      }
    }
    return { delay, before, after, end };
  }

  #fires(active: Active, target: FaultTarget, draw: () => number): boolean {
    const { match, rate, times } = active.rule;
    const matches =
      (match?.method === undefined || match.method === target.method) &&
      (match?.writes === undefined || match.writes === (target.method !== 'GET')) &&
      (match?.operation === undefined || match.operation === target.operation) &&
      (match?.path === undefined || target.path.includes(match.path));
    if (!matches) {
      return false;
    }
    active.seen += 1;
    const fires =
      (match?.nth === undefined || match.nth === active.seen) &&
      (times === undefined || active.done < times) &&
      (rate === undefined || draw() < rate);
    active.done += fires ? 1 : 0;
    return fires;
  }
}

/** Returns a number from 0 to 1 that depends on a text (FNV-1a). */
function drawn(seed: number, text: string): number {
  let hash = 0x811c9dc5 ^ seed;
  for (let at = 0; at < text.length; at += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  }
  return seededRandom(hash)();
}

/** Returns a generator of numbers from 0 to 1 that repeat with the seed (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
