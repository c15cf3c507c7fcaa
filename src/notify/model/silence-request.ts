/** Schema of what a person can ask a running daemon to do with silences. */
import { z } from 'zod';
import { CONDITION_CODES } from '../../core/condition-codes.ts';
import { LAST_TIME } from '../../core/last-time.ts';

const MAX_REASON = 500;

/** Schema of a request. `until` is milliseconds since the epoch; null for `code` and `organization`: all of them. */
export const silenceRequest = z.discriminatedUnion('subcommand', [
  z.strictObject({
    subcommand: z.literal('add'),
    code: z
      .enum(CONDITION_CODES as readonly [string, ...string[]] as typeof CONDITION_CODES)
      .nullable()
      .default(null),
    organization: z.string().min(1).max(200).nullable().default(null),
    reason: z.string().trim().min(1, 'is missing; say why').max(MAX_REASON),
    until: z.number().max(LAST_TIME, 'is too late; choose an earlier end'),
  }),
  z.strictObject({ subcommand: z.literal('end'), id: z.string().min(1, 'is missing').max(100) }),
]);
export type SilenceRequest = z.input<typeof silenceRequest>;
