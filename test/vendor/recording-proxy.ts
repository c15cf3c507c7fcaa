/** Proxy that records exchanges. */

import { type IncomingMessage, request as open, type ServerResponse } from 'node:http';
import { serveLocally } from '../support/local-server.ts';
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
  const server = await serveLocally((request, response) => {
    pass(platform, request, response).then(
      (exchange) => exchanges.push(exchange),
      () => request.socket.destroy(),
    );
  });
  return {
    url: server.url,
    exchanges,
    close: () => server.stop(),
  };
}

async function pass(platform: string, request: IncomingMessage, response: ServerResponse): Promise<Exchange> {
  const requestBody = Buffer.concat(await request.toArray());
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    open(new URL(request.url ?? '/', platform), { method: request.method, headers: request.headers })
      .on('response', resolve)
      .on('error', reject)
      .end(requestBody);
  });
  const answerBody = Buffer.concat(await answer.toArray());
  response.writeHead(answer.statusCode ?? 502, answer.headers);
  response.end(answerBody);
  const { pathname, search } = new URL(request.url ?? '/', platform);
  return {
    method: request.method ?? 'GET',
    path: pathname,
    search,
    requestBody: requestBody.toString(),
    status: answer.statusCode ?? 0,
    answerHeaders: Object.fromEntries(Object.entries(answer.headers).map(([name, value]) => [name, String(value)])),
    answerBody: answerBody.toString(),
  };
}
