/** Schema of what a person can ask a running daemon to do with plans and passes. */
import { z } from 'zod';
import { LAST_TIME } from '../../core/last-time.ts';

const MAX_REASON = 500;
const reason = z.string().trim().max(MAX_REASON).default('');
const checksum = z.string().min(1, 'is missing').max(100);
/** Address of a resource; empty for the whole organization. */
const address = z.string().max(1000).default('');

/** Schema of an action. `until` is milliseconds since the epoch; null: until it is resumed. */
export const actionRequest = z.discriminatedUnion('subcommand', [
  z.strictObject({ subcommand: z.literal('approve'), checksum, reason }),
  z.strictObject({ subcommand: z.literal('reject'), checksum, reason }),
  z.strictObject({
    subcommand: z.literal('pause'),
    address,
    reason: z.string().trim().min(1, 'is missing; say why').max(MAX_REASON),
    until: z.number().max(LAST_TIME, 'is too late; choose an earlier end').nullable(),
  }),
  z.strictObject({ subcommand: z.literal('resume'), address, reason }),
  z.strictObject({ subcommand: z.literal('reconcile'), reason }),
]);
export type ActionRequest = z.input<typeof actionRequest>;
