/** Schema of what a person can ask a running daemon to do with deliveries. */
import { z } from 'zod';

/** Schema of a request. `channel`: its name; null: all of them. */
export const deliveryRequest = z.discriminatedUnion('subcommand', [
  z.strictObject({ subcommand: z.literal('retry'), channel: z.string().min(1).max(100).nullable().default(null) }),
]);
export type DeliveryRequest = z.input<typeof deliveryRequest>;
