/** Finds a port for a server whose address must be known before it listens. */
import { once } from 'node:events';
import { createServer } from 'node:net';

/** Ports below those that a system gives to connections and to servers without a port of their own. */
const LOWEST = 15_000;
const HIGHEST = 32_000;

/**
 * Returns a port of 127.0.0.1 that nobody listens on, chosen at random. A port that the system chooses may be given to
 * another connection before the server listens on it.
 */
export async function findFreePort(): Promise<number> {
  for (;;) {
    const port = LOWEST + Math.floor(Math.random() * (HIGHEST - LOWEST));
    const server = createServer().listen(port, '127.0.0.1');
    const isFree = await once(server, 'listening').then(
      () => true,
      () => false,
    );
    server.close();
    if (isFree) {
      await once(server, 'close');
      return port;
    }
  }
}
