/** TCP proxy that counts how often a client sends something and waits for the answer. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';

export interface RoundTripCounter extends AsyncDisposable {
  readonly port: number;
  /** Answers after which the client sent something, and the last one. Right for one connection at a time. */
  readonly roundTrips: number;
}

export async function countRoundTrips(target: number): Promise<RoundTripCounter> {
  let roundTrips = 0;
  let isWaiting = false;
  const server = createServer((client) => {
    const upstream = connect(target, '127.0.0.1');
    upstream.on('error', () => client.destroy());
    client.on('error', () => upstream.destroy());
    client.on('close', () => upstream.destroy());
    client.on('data', (data) => {
      isWaiting = true;
      upstream.write(data);
    });
    upstream.on('data', (data) => {
      roundTrips += isWaiting ? 1 : 0;
      isWaiting = false;
      client.write(data);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    get roundTrips() {
      return roundTrips;
    },
    [Symbol.asyncDispose]: async () => {
      server.close();
    },
  };
}
