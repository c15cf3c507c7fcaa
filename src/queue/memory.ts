// Defines the rate-limit state that is saved across restarts, and validates it.
import { z } from 'zod';
import { REQUEST_CLASSES, type RequestClass } from './request.ts';

const time = z.number().nonnegative();
const amount = z.number().int().nonnegative();

const rememberedBudget = z.object({
  classes: z.array(z.enum(REQUEST_CLASSES as [RequestClass, ...RequestClass[]])).min(1),
  limit: amount,
  /** Requests remaining, less those in flight. */
  remaining: amount,
  /** End of the window in milliseconds since the epoch, on the server's clock. */
  resetAt: time,
  /** Length of the window in milliseconds, as far as it was seen. */
  window: z.number().positive(),
  /** Refill rate of a token bucket, in requests per second; null for windows. */
  refill: z.number().nullable(),
  /** End of the cooldown after a 429, on the server's clock; null if there is none. */
  closedUntil: time.nullable(),
});

const queueMemory = z.object({
  version: z.literal(1),
  /** Owner of the budgets: a digest of platform and token. */
  owner: z.string().min(1),
  /** Milliseconds since the epoch, on the local clock. */
  savedAt: time,
  /** Milliseconds by which the server's clock is ahead of the local one; null while unknown. */
  ahead: z.number().nullable(),
  budgets: z.array(rememberedBudget),
});

/** Saved state of one budget. */
export type RememberedBudget = z.infer<typeof rememberedBudget>;
/** Saved state of a queue's budgets, as JSON. Contains no secrets. */
export type QueueMemory = z.infer<typeof queueMemory>;

/**
 * Returns the part of a saved state that is still valid. Null if it has another owner or an unknown format, or if it is
 * dated in the future because the clock was set back. Drops budgets whose window has ended, or ends later than its
 * length allows. `now` is the local clock, in milliseconds since the epoch.
 */
export function recall(memory: unknown, owner: string | undefined, now: number): QueueMemory | null {
  const parsed = queueMemory.safeParse(memory);
  if (!parsed.success || parsed.data.owner !== owner || parsed.data.savedAt > now) {
    return null;
  }
  const serverNow = now + (parsed.data.ahead ?? 0);
  const budgets = parsed.data.budgets.filter(
    ({ resetAt, window }) => resetAt > serverNow && resetAt - serverNow <= window,
  );
  return { ...parsed.data, budgets };
}

/**
 * Returns true if a state has something that the one saved last does not tell. Ended windows need not be saved,
 * because reading the state drops them. Neither does a token bucket that fills up by itself.
 */
export function isWorthSaving(memory: QueueMemory | null, saved: QueueMemory | null): boolean {
  const isSaved = (budget: RememberedBudget) => saved?.budgets.some((each) => covers(each, budget)) ?? false;
  return memory !== null && !memory.budgets.every(isSaved);
}

function covers(saved: RememberedBudget, budget: RememberedBudget): boolean {
  const { limit, remaining, resetAt, refill, closedUntil } = saved;
  return (
    saved.classes.join() === budget.classes.join() &&
    limit === budget.limit &&
    (refill === null ? remaining === budget.remaining : remaining <= budget.remaining) &&
    resetAt === budget.resetAt &&
    refill === budget.refill &&
    // A cooldown that is over is null.
    (closedUntil === budget.closedUntil || budget.closedUntil === null)
  );
}
