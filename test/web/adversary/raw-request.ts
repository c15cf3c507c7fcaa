/** Requests as bytes, which no HTTP client would send. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { expect } from 'vitest';

export interface RawAnswer {
  readonly status: number;
  /** Header lines, in lower case. */
  readonly headers: string;
  readonly body: string;
}

/** Sends bytes and returns the answer, until the server or the test closes the connection. */
export async function sendBytes(url: string, ...parts: readonly string[]): Promise<RawAnswer> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  let text = '';
  socket.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  // The server may close the connection before it has read everything.
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  for (const part of parts) {
    if (text !== '' || socket.destroyed) {
      break;
    }
    await new Promise((resolve) => socket.write(part, resolve));
  }
  socket.setTimeout(5000, () => socket.destroy());
  await once(socket, 'close');
  const [head = '', ...rest] = text.split('\r\n\r\n');
  return { status: Number(head.split(' ')[1]), headers: head.toLowerCase(), body: rest.join('\r\n\r\n') };
}

/** Fails if an answer has parts of programs, or may be kept by a cache. Answers of the HTTP parser have no page. */
export function expectSafe({ headers, body }: RawAnswer): void {
  expect(body).not.toMatch(/node_modules|\bat .*\.[jt]s:\d|Error: /);
  expect(headers).not.toMatch(/^(server|x-powered-by|access-control-)/m);
  if (headers.includes('content-type: text/html')) {
    expect(headers).toContain('cache-control: no-store');
    expect(headers).toContain("frame-ancestors 'none'");
    expect(headers).toContain('x-content-type-options: nosniff');
  }
}
