/** Connections to the platform for tests. */
import { systemClock } from '../../src/core/clock.ts';
import { type Connection, openConnection } from '../../src/platform/connection.ts';
import type { Timeouts } from '../../src/platform/http/transport.ts';

export const TOKEN = 'secret-token';

/** A connection on the machine's clock, with the shortest possible retry delays. */
export function connectTo(baseUrl: string, timeouts: Partial<Timeouts> = {}): Connection {
  return openConnection({
    baseUrl,
    token: TOKEN,
    userAgent: 'octavo/0.0.0',
    concurrency: 4,
    clock: systemClock,
    random: () => 0,
    timeouts,
  });
}
