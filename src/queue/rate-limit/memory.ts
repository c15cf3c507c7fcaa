import { z } from 'zod';
import { REQUEST_CLASSES, type RequestClass } from '../model/request.ts';

const time = z.number().nonnegative();
const amount = z.number().int().nonnegative();

const rememberedBudget = z.object({
  classes: z.array(z.enum(REQUEST_CLASSES as [RequestClass, ...RequestClass[]])).min(1),
  limit: amount,
  /** Calls left, those in flight taken off. */
  remaining: amount,
  /** The window's end in milliseconds since the epoch, on the server's clock. */
  resetAt: time,
  /** The window's length in milliseconds, as far as it was seen. */
  window: z.number().positive(),
  /** Calls per second that flow in evenly; null where there are windows. */
  refill: z.number().nullable(),
  /** Until when a refusal (429) keeps it closed, on the server's clock; null: it is open. */
  closedUntil: time.nullable(),
});

const queueMemory = z.object({
  version: z.literal(1),
  /** Whose budgets these are: a digest of platform and token. */
  owner: z.string().min(1),
  /** On the machine's clock, milliseconds since the epoch. */
  savedAt: time,
  /** Milliseconds by which the server's clock is ahead of the machine's; null while not known. */
  ahead: z.number().nullable(),
  budgets: z.array(rememberedBudget),
});

/** What is known of one budget, as it can be kept beyond the process. */
export type RememberedBudget = z.infer<typeof rememberedBudget>;
/** What a queue knows of the platform's limits, as JSON. It has nothing secret in it. */
export type QueueMemory = z.infer<typeof queueMemory>;

/**
 * What of a memory still holds: nothing where it is another owner's, of an unknown form, or from the future of a clock
 * that was set back; and no budget whose window is over or cannot be as long as it says. `now` is the machine's clock.
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
