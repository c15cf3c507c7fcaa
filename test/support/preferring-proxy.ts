/** Proxy that asks the platform for minimal answers. */

import { request } from 'node:http';
import { serveLocally } from './local-server.ts';

/** Proxy between a client and the platform. */
export interface Between {
  readonly url: string;
  close(): Promise<void>;
}

/** Proxy that adds `prefer: return=minimal` to every request. Source: docs/platform-notes.md#answers-without-a-body */
export async function preferringProxy(platform: string): Promise<Between> {
  const server = await serveLocally((incoming, outgoing) => {
    const headers = { ...incoming.headers, prefer: 'return=minimal' };
    const target = new URL(incoming.url ?? '/', platform);
    const onward = request(target, { method: incoming.method ?? 'GET', headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    onward.on('error', () => outgoing.destroy());
    incoming.pipe(onward);
  });
  return {
    url: server.url,
    close: () => server.stop(),
  };
}
