import { z } from 'zod';

/** What goes wrong. */
export type Fault =
  /** Answered with an error; nothing was done. */
  | { readonly kind: 'status'; readonly status: number; readonly message?: string | undefined }
  /** The connection is dropped; nothing was done. */
  | { readonly kind: 'reset-before' }
  /** It was done, and the connection is dropped instead of an answer. */
  | { readonly kind: 'reset-after' }
  /** A page instead of an answer, as of a proxy in between; nothing was done. Status 200 unless given. */
  | { readonly kind: 'html'; readonly status?: number | undefined }
  /** It was done; the connection is dropped half way through the answer. */
  | { readonly kind: 'truncate' }
  /** It was done; half an answer is sent as if it were whole. */
  | { readonly kind: 'half' }
  /** It was done; the answer calls itself text. */
  | { readonly kind: 'wrong-content-type' }
  /** The answer comes later. */
  | { readonly kind: 'delay'; readonly ms: number }
  /** Rate limited; nothing was done. */
  | { readonly kind: '429'; readonly retryAfter?: number | undefined }
  /** Something else happens at that moment. */
  | { readonly kind: 'hook'; readonly run: () => void; readonly when: 'before' | 'after' };

/** When something goes wrong. */
export interface FaultRule {
  readonly match?:
    | {
        readonly method?: string | undefined;
        /** Only requests that are not reads, or only those that are. */
        readonly writes?: boolean | undefined;
        /** Name of the operation, as in the request log. */
        readonly operation?: string | undefined;
        /** Part of the path. */
        readonly path?: string | undefined;
        /** Only the nth request that matches otherwise; the first is 1. */
        readonly nth?: number | undefined;
      }
    | undefined;
  /** Share of the matching requests, from 0 to 1; all by default. */
  readonly rate?: number | undefined;
  /** How often at most. */
  readonly times?: number | undefined;
  readonly fault: Fault;
}

const fault = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('status'),
    status: z.number().int().min(200).max(599),
    message: z.string().optional(),
  }),
  z.strictObject({ kind: z.literal('reset-before') }),
  z.strictObject({ kind: z.literal('reset-after') }),
  z.strictObject({ kind: z.literal('html'), status: z.number().int().min(200).max(599).optional() }),
  z.strictObject({ kind: z.literal('truncate') }),
  z.strictObject({ kind: z.literal('half') }),
  z.strictObject({ kind: z.literal('wrong-content-type') }),
  z.strictObject({ kind: z.literal('delay'), ms: z.number().nonnegative() }),
  z.strictObject({ kind: z.literal('429'), retryAfter: z.number().nonnegative().optional() }),
]);

/** What the control over HTTP accepts as faults: everything but hooks. */
export const faultRulesSchema: z.ZodType<FaultRule[]> = z.array(
  z.strictObject({
    match: z
      .strictObject({
        method: z.string().optional(),
        writes: z.boolean().optional(),
        operation: z.string().optional(),
        path: z.string().optional(),
        nth: z.number().int().positive().optional(),
      })
      .optional(),
    rate: z.number().min(0).max(1).optional(),
    times: z.number().int().nonnegative().optional(),
    fault,
  }),
);

/** What rules look at. */
export interface FaultTarget {
  readonly method: string;
  readonly operation: string;
  readonly path: string;
}

type Terminal = Exclude<Fault, { kind: 'delay' } | { kind: 'hook' }>;

/** What goes wrong with one request: any number of delays and hooks, and at most one end. */
export interface Trouble {
  readonly delay: number;
  readonly before: readonly (() => void)[];
  readonly after: readonly (() => void)[];
  readonly end: Terminal | undefined;
}

/** Nothing goes wrong. */
export const NO_TROUBLE: Trouble = { delay: 0, before: [], after: [], end: undefined };

interface Active {
  readonly rule: FaultRule;
  seen: number;
  done: number;
}

/**
 * Chooses faults by rules. The same seed and the same requests give the same faults: what happens to the nth request of
 * one method and path does not depend on the requests in between, so that those sent at the same time may come in any
 * order.
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

  /** What goes wrong with this request. Of several ends the first rule's wins. */
  choose(target: FaultTarget): Trouble {
    if (this.#rules.length === 0) {
      return NO_TROUBLE;
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

/** A number from 0 to 1 that a text decides (FNV-1a). */
function drawn(seed: number, text: string): number {
  let hash = 0x811c9dc5 ^ seed;
  for (let at = 0; at < text.length; at += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  }
  return seededRandom(hash)();
}

/** Numbers from 0 to 1 that repeat with the seed (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
