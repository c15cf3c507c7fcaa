/** Proxy that records exchanges. */
import { createServer, type IncomingMessage, request as open, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Exchange } from './judge.ts';

/** Passes requests on and records requests and answers. */
export interface RecordingProxy {
  /** Without a trailing slash. */
  readonly url: string;
  /** In the order of the answers. */
  readonly exchanges: readonly Exchange[];
  close(): Promise<void>;
}

/** A proxy in front of a platform, transparent to its clients. */
export async function startRecordingProxy(platform: string): Promise<RecordingProxy> {
  const exchanges: Exchange[] = [];
  const server = createServer((request, response) => {
    pass(platform, request, response).then(
      (exchange) => exchanges.push(exchange),
      () => request.socket.destroy(),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    exchanges,
    close: () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      return closed;
    },
  };
}

async function pass(platform: string, request: IncomingMessage, response: ServerResponse): Promise<Exchange> {
  const requestBody = await textOf(request);
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    open(new URL(request.url ?? '/', platform), { method: request.method, headers: request.headers })
      .on('response', resolve)
      .on('error', reject)
      .end(requestBody);
  });
  const answerBody = await textOf(answer);
  response.writeHead(answer.statusCode ?? 502, answer.headers);
  response.end(answerBody);
  const { pathname, search } = new URL(request.url ?? '/', platform);
  return {
    method: request.method ?? 'GET',
    path: pathname,
    search,
    requestType: request.headers['content-type']?.split(';')[0]?.trim(),
    requestBody: requestBody.toString(),
    status: answer.statusCode ?? 0,
    answerHeaders: Object.fromEntries(Object.entries(answer.headers).map(([name, value]) => [name, String(value)])),
    answerBody: answerBody.toString(),
  };
}

async function textOf(message: IncomingMessage): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of message) {
    pieces.push(piece as Buffer);
  }
  return Buffer.concat(pieces);
}
