/** Finds a port for a server whose address must be known before it listens. */
import { once } from 'node:events';
import { createServer } from 'node:net';

/** Returns a port of 127.0.0.1 that nobody listens on. */
export async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return typeof address === 'object' && address !== null ? address.port : 0;
}
