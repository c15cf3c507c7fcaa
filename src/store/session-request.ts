/** Schema of what a person can ask a running daemon to do with sessions of the web page. */
import { z } from 'zod';

/** Schema of a request. `user`: name of a person; null: everybody. */
export const sessionRequest = z.discriminatedUnion('subcommand', [
  z.strictObject({ subcommand: z.literal('list') }),
  z.strictObject({
    subcommand: z.literal('end'),
    user: z.string().min(1).max(1000).nullable(),
    reason: z.string().trim().max(500).default(''),
  }),
]);
export type SessionRequest = z.input<typeof sessionRequest>;
