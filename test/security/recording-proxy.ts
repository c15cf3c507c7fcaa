/** Proxy between Octavo and the embedded platform that records the text of every request except its token. */

import { request } from 'node:http';
import { serveLocally } from '../support/local-server.ts';

export interface Recording {
  readonly url: string;
  /** Addresses, headers and bodies so far, without the `Authorization` header. */
  text(): string;
  close(): Promise<void>;
}

export async function recordRequests(platform: string): Promise<Recording> {
  const pieces: string[] = [];
  const server = await serveLocally((incoming, outgoing) => {
    const { authorization, ...headers } = incoming.headers;
    pieces.push(`${incoming.method} ${incoming.url} ${JSON.stringify(headers)}`);
    const onward = request(
      new URL(incoming.url ?? '/', platform),
      { method: incoming.method ?? 'GET', headers: { ...headers, ...(authorization ? { authorization } : {}) } },
      (answer) => {
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(outgoing);
      },
    );
    onward.on('error', () => outgoing.destroy());
    incoming.on('data', (piece: Buffer) => pieces.push(piece.toString('utf8')));
    incoming.pipe(onward);
  });
  return {
    url: server.url,
    text: () => pieces.join('\n'),
    close: () => server.stop(),
  };
}
