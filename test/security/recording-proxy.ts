/** Proxy between Octavo and the embedded platform that records the text of every request except its token. */
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Recording {
  readonly url: string;
  /** Addresses, headers and bodies so far, without the `Authorization` header. */
  text(): string;
  close(): Promise<void>;
}

export async function recordRequests(platform: string): Promise<Recording> {
  const pieces: string[] = [];
  const server = createServer((incoming, outgoing) => {
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
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    text: () => pieces.join('\n'),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
